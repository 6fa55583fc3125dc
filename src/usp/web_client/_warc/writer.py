"""Writes a recording: WARC 1.1, each record compressed on its own.

A ``warcinfo`` record comes first. Each fetch is a response and a request for every redirect and for
the last response, then a ``metadata`` record that says what came of it. The last record says how
many fetches there were, so that a file which was cut off later is noticed.
"""

import json
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from usp._display import redact, without_credentials
from usp._version import __version__
from usp._whole_file import whole_file
from usp.exceptions import StorageError
from usp.web_client._http.errors import LIBRARY_BUGS
from usp.web_client._http.transcript import Exchange, Transcript
from usp.web_client._warc import warcio_module
from usp.web_client._warc.fetch_record import BodyEnd, FetchRecord
from usp.web_client._warc.heads import head_class
from usp.web_client._warc.redaction import redacted_response_headers, sent_headers

__all__ = ["END_FORMAT", "RecordingFile"]

END_FORMAT: Final = "usp-end/1"
_FAILURES: Final = (OSError, ValueError, *LIBRARY_BUGS)
"""What may be raised while a record is written; it would be told as a failed fetch."""
_JSON: Final = "application/json"
_CONFORMS_TO: Final = (
    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
)
_MEANT_FOR_THE_WIRE: Final = {"transfer-encoding": "X-Orig-Transfer-Encoding"}
"""Headers that get another name, since bodies are recorded without their transfer encoding."""


class RecordingFile:
    """A recording that is being written; several threads may write to it."""

    def __init__(self, path: Path, source: str | None, *, replace: bool) -> None:
        """Create the file under a temporary name.

        :param source: what is recorded, as the user named it.
        :raises MissingExtraError: if warcio is not installed.
        :raises UsageError: if the file can't be written.
        """
        self._headers: Any = head_class()
        make_writer: Any = warcio_module("warcwriter").WARCWriter
        self._source = source
        self._name = _as_text(path.name)
        self._whole = ExitStack()
        file = self._whole.enter_context(whole_file(path, replace=replace))
        self._writer = make_writer(file, gzip=True, warc_version="1.1")
        self._lock = threading.Lock()
        self._fetches = 0
        self._crawls = 0
        self._error: Exception | None = None
        self._is_closed = False

    def next_crawl(self) -> int:
        """Return the number of a crawl that begins."""
        with self._lock:
            self._crawls += 1
            return self._crawls

    def write(self, fetch: FetchRecord, transcript: Transcript) -> None:
        """Write one fetch. What fails is raised by ``close()``: the site can't help it."""
        with self._lock:
            if self._error is None:
                self._error = transcript.error
            if self._error is not None or self._is_closed:
                return
            try:
                self._write(fetch, transcript.exchanges)
            except _FAILURES as error:
                self._error = error

    def close(self, interrupted: str = "") -> None:
        """Finish the recording, and give the file its name.

        :param interrupted: what ended the crawl early, if something did.
        :raises StorageError: if it could not be written; then there is no file.
        """
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            with self._whole:
                if isinstance(self._error, OSError):
                    raise self._error
                if self._error is not None:
                    name = type(self._error).__name__
                    message = f"cannot write the recording {self._name}: {name}: {self._error}"
                    raise StorageError(message) from self._error
                self._write_end(interrupted)

    def _write_end(self, interrupted: str) -> None:
        if not self._fetches:
            self._write_info("")
        end: dict[str, object] = {"format": END_FORMAT, "fetches": self._fetches}
        if interrupted:
            end["interrupted"] = interrupted
        self._write_json(json.dumps(end).encode())

    def _write(self, fetch: FetchRecord, exchanges: Sequence[Exchange]) -> None:
        if not self._fetches:
            self._write_info(fetch.homepage or fetch.url)
        self._fetches += 1
        last = len(exchanges) - 1
        ids = tuple(
            self._write_exchange(exchange, fetch, is_last=number == last)
            for number, exchange in enumerate(exchanges)
        )
        note = replace(fetch, responses=ids)
        url = exchanges[-1].url if exchanges else fetch.url
        self._write_json(note.to_json(), without_credentials(url), ids[-1] if ids else "")

    def _write_info(self, homepage: str) -> None:
        info = {
            "software": f"usp/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": _CONFORMS_TO,
            "usp-source": _as_text(redact(self._source or homepage)),
            "usp-homepage": without_credentials(homepage),
        }
        self._writer.write_record(self._writer.create_warcinfo_record(self._name, info))

    def _write_exchange(self, exchange: Exchange, fetch: FetchRecord, *, is_last: bool) -> str:
        """Write the response and the request of an exchange; return the ID of the response."""
        url = without_credentials(exchange.url)
        body = exchange.body or BytesIO()
        length = body.tell() if exchange.body else 0
        body.seek(0)
        truncated = _truncation(exchange, fetch, is_last=is_last)
        response = self._writer.create_warc_record(
            url,
            "response",
            payload=body,
            length=length,
            http_headers=self._headers(
                f"{exchange.status} {_reason(exchange)}".rstrip(),
                [
                    (_MEANT_FOR_THE_WIRE.get(name.lower(), name), value)
                    for name, value in redacted_response_headers(exchange.headers)
                ],
                protocol="HTTP/1.1",
            ),
            warc_headers_dict={
                "WARC-Date": f"{exchange.at:%Y-%m-%dT%H:%M:%S.%fZ}",
                **({"WARC-Truncated": truncated} if truncated else {}),
            },
        )
        request = self._writer.create_warc_record(
            url,
            "request",
            http_headers=self._headers(
                f"{exchange.method} {_target(url)} HTTP/1.1",
                _with_host(url, sent_headers(exchange.request_headers)),
                is_http_request=True,
            ),
        )
        self._writer.write_request_response_pair(request, response)
        return str(response.rec_headers.get_header("WARC-Record-ID"))

    def _write_json(self, data: bytes, url: str = "", concurrent_to: str = "") -> None:
        record = self._writer.create_warc_record(
            url,
            "metadata",
            payload=BytesIO(data),
            length=len(data),
            warc_content_type=_JSON,
            warc_headers_dict={"WARC-Concurrent-To": concurrent_to} if concurrent_to else {},
        )
        self._writer.write_record(record)


def _truncation(exchange: Exchange, fetch: FetchRecord, *, is_last: bool) -> str | None:
    """Return why a body is not whole, in the words of WARC (5.13); None if it is."""
    if exchange.is_whole or (not is_last and exchange.body is None):
        return None
    if is_last and fetch.body == BodyEnd.FAILED:
        return "disconnect"
    return "length" if is_last and fetch.body == BodyEnd.CUT else "unspecified"


def _as_text(name: str) -> str:
    """Return a name as a header can have it: that of a file needn't be UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


def _reason(exchange: Exchange) -> str:
    reason = exchange.reason.replace("\r", " ").replace("\n", " ")
    return redact(reason)  # some servers quote the URL in it


def _target(url: str) -> str:
    parts = urlsplit(url)
    path = parts.path or "/"
    return f"{path}?{parts.query}" if parts.query else path


def _with_host(url: str, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Add the ``Host`` header, which requests leaves to the layer below."""
    if any(name.lower() == "host" for name, _ in headers):
        return headers
    return [("Host", urlsplit(url).netloc), *headers]
