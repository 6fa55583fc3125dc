"""Opens a recording: one pass finds every response; bodies are read from the file when needed.

Recordings of other tools are read, too: bodies with a transfer or content encoding, revisit
records, redirects. They have no notes of fetches, so what a client would make of a response is
derived from it (``playback``).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from usp._crawl.resource_table import normalized
from usp._display import without_credentials
from usp._json import parse_json
from usp._lazy import lazy_property
from usp.exceptions import UsageError
from usp.web_client._warc import warcio_module
from usp.web_client._warc.fetch_record import FetchRecord
from usp.web_client._warc.records import iter_records, record_at
from usp.web_client._warc.writer import END_FORMAT

__all__ = ["Recording", "StoredResponse", "url_key"]

_CHUNK: Final = 64 * 1024
_MAX_NOTE: Final = 4 * 1024 * 1024
"""The longest metadata record that may be a note of ours, in bytes."""
_SITE_PATHS: Final = frozenset({"", "/", "/robots.txt", "/favicon.ico"})
"""Paths that a recording of a site begins with, rather than one of a single sitemap."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response in a recording."""

    url: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    offset: int
    """Where the record with its body is in the file."""

    def header(self, name: str) -> str | None:
        """Return the value of a header; several of one name are joined."""
        values = self.header_values(name)
        return ", ".join(values) if values else None

    def header_values(self, name: str) -> tuple[str, ...]:
        """Return all values of a header."""
        wanted = name.lower()
        return tuple(value for known, value in self.headers if known.lower() == wanted)


@dataclass(slots=True)
class _Index:
    """What one pass through a file finds."""

    fetches: list[FetchRecord] = field(default_factory=list)
    by_id: dict[str, StoredResponse] = field(default_factory=dict)
    by_digest: dict[str, int] = field(default_factory=dict)
    by_url_and_date: dict[tuple[str, str], int] = field(default_factory=dict)
    info: dict[str, str] = field(default_factory=dict)
    end: dict[str, object] | None = None

    def add(self, record: Any, offset: int) -> None:  # noqa: ANN401 -- warcio has no types
        """Add a record."""
        kind = record.rec_type
        if kind == "warcinfo" and not self.info:
            self.info = dict(_warc_fields(record.raw_stream.read(_MAX_NOTE)))
        elif kind == "metadata":
            self._add_note(record.raw_stream.read(_MAX_NOTE))
        elif kind in {"response", "revisit"}:
            self._add_response(record, offset)

    def _add_note(self, data: bytes) -> None:
        fetch = FetchRecord.from_json(data)
        if fetch is not None:
            self.fetches.append(fetch)
        elif END_FORMAT.encode() in data:
            self.end = parse_json(data)

    def _add_response(self, record: Any, offset: int) -> None:  # noqa: ANN401 -- no types
        get = record.rec_headers.get_header
        url, digest = get("WARC-Target-URI") or "", get("WARC-Payload-Digest")
        if record.rec_type == "revisit":
            refers_to = (get("WARC-Refers-To-Target-URI") or url, get("WARC-Refers-To-Date") or "")
            original = self.by_id.get(get("WARC-Refers-To") or "")
            at = original.offset if original else self.by_url_and_date.get(refers_to)
            offset = at if at is not None else self.by_digest.get(digest or "", offset)
        else:
            self.by_url_and_date[url, get("WARC-Date") or ""] = offset
            if digest:
                self.by_digest.setdefault(digest, offset)
        heads = record.http_headers
        status, _, reason = heads.statusline.partition(" ") if heads else ("", "", "")
        if not status.isdecimal():
            return  # not HTTP: a DNS record, or a revisit without headers
        headers = tuple((str(name), str(value)) for name, value in heads.headers)
        stored = StoredResponse(without_credentials(url), int(status), reason, headers, offset)
        self.by_id[get("WARC-Record-ID") or str(len(self.by_id))] = stored


class Recording:
    """A recording that was opened: ``source`` says what of, ``ReplayWebClient`` replays it."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Open a recording, ``.warc.gz`` or ``.warc``.

        :param path: the file.
        :raises MissingExtraError: if warcio is not installed.
        :raises UsageError: if the file can't be read, is not a recording, or is damaged.
        """
        self.path = Path(path)
        warcio_module("recordloader")
        self._index = _Index()
        try:
            with self.path.open("rb") as file:
                for offset, record in iter_records(file):
                    self._index.add(record, offset)
        except OSError as error:
            raise UsageError(f"{self.path} can't be read: {error.strerror or error}.") from error
        except ValueError as error:
            raise self._error(str(error)) from error
        if self._index.fetches and self._index.end is None:
            raise self._error("it was cut off: its last record is missing")
        if not self._index.by_id and not self._index.fetches and not self._index.info:
            raise self._error("it has no record of a response")

    @property
    def _fetches(self) -> list[FetchRecord]:
        """The notes of fetches, in the order in which they ended; none if another tool wrote it."""
        return self._index.fetches

    @property
    def software(self) -> str | None:
        """The program that wrote the recording, if it says so."""
        return self._index.info.get("software")

    @property
    def urls(self) -> tuple[str, ...]:
        """The URLs of all responses and failures, each once, in order."""
        noted = (fetch.url for fetch in self._fetches)
        return tuple(dict.fromkeys([*noted, *(each.url for each in self._index.by_id.values())]))

    @property
    def source(self) -> str | None:
        """What was recorded: the source that was named, or what the first URL belongs to.

        None if the recording is empty.
        """
        named = self._index.info.get("usp-source")
        if named or not self.urls:
            return named
        first = self.urls[0]
        parts = urlsplit(first)
        is_page = not parts.path.lower().endswith((".xml", ".gz", ".txt", ".rss", ".json"))
        return urljoin(first, "/") if parts.path in _SITE_PATHS or is_page else first

    @property
    def sites(self) -> tuple[str, ...]:
        """The hosts of the homepages whose crawls were recorded; none if another tool wrote it."""
        hosts = (urlsplit(fetch.homepage).netloc for fetch in self._fetches)
        return tuple(dict.fromkeys(filter(None, hosts)))

    def _response(self, record_id: str) -> StoredResponse | None:
        """Return the response of a record."""
        return self._index.by_id.get(record_id)

    @lazy_property
    def _by_url(self) -> dict[str, list[StoredResponse]]:
        """The responses by URL, in order; every redirect is one."""
        found: dict[str, list[StoredResponse]] = {}
        for stored in self._index.by_id.values():
            found.setdefault(url_key(stored.url), []).append(stored)
        return found

    def _body(self, stored: StoredResponse) -> Iterator[bytes]:
        """Yield the body of a response, without its transfer encoding.

        :raises UsageError: if the file has changed since it was opened.
        """
        with self.path.open("rb") as file:
            try:
                record = record_at(file, stored.offset)
            except ValueError as error:
                raise self._error("it has changed since it was opened") from error
            stream = record.raw_stream
            heads = record.http_headers
            encoding = (heads and heads.get_header("Transfer-Encoding")) or ""
            if encoding.strip().lower() == "chunked":
                stream = warcio_module("bufferedreaders").ChunkedDataReader(stream)
            while chunk := stream.read(_CHUNK):
                yield chunk

    def _error(self, reason: str) -> UsageError:
        return UsageError(f"{self.path} is not a recording that can be read: {reason}.")


def _warc_fields(data: bytes) -> Iterator[tuple[str, str]]:
    for line in data.decode("utf-8", "replace").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip(), value.strip()


def url_key(url: str) -> str:
    """Return the same text for all spellings of a URL."""
    return normalized(without_credentials(url))[0]
