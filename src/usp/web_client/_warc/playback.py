"""Playback: which fetch of a recording comes next for a URL, whatever the order of requests.

The fetches of a URL by one method come in the order in which they were recorded, the last one again
and again.
Each crawl begins anew with the fetches of the crawl of the same homepage. A URL that the recording
doesn't have is a permanent failure.
"""

import math
import threading
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from itertools import chain
from typing import Final
from urllib.parse import urljoin, urlsplit

from usp._display import without_credentials
from usp.exceptions import NoWebClientException, ReplayedError
from usp.web_client._http import encodings, error_responses
from usp.web_client._http.defaults import MAX_REDIRECTS, SUCCESS_STATUSES
from usp.web_client._http.urls import location_text, prepare_url
from usp.web_client._warc.fetch_record import BodyEnd, FetchOutcome, FetchRecord
from usp.web_client._warc.reader import Recording, StoredResponse, url_key
from usp.web_client.abstract_client import WebClientErrorResponse, WebClientNotModifiedResponse

__all__ = ["Playback", "PlaybackScope", "ReplayedDocument"]

FetchesByUrl = dict[str, list[tuple[int, FetchRecord]]]
"""The fetches of each URL, each with its number in the recording."""
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CUT: Final = "ReplayedError: the recording ends in the middle of the body"


@dataclass(frozen=True, slots=True)
class ReplayedDocument:
    """A response that brings a document, before it is read."""

    recording: Recording
    stored: StoredResponse | None
    """The response in the file; None if it has no body."""
    url: str
    redirects: tuple[str, ...]
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...] = ()
    """What the client returned for these names; for others, the response has them."""
    error: ReplayedError | None = None
    """What ended the body, if it didn't end by itself."""

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None if it is missing."""
        wanted = name.lower()
        for known, value in self.headers:
            if known.lower() == wanted:
                return value
        return self.stored.header(name) if self.stored else None

    def header_values(self, name: str) -> tuple[str, ...]:
        """Return all values of a header, as they were received if that is known."""
        received = self.stored.header_values(name) if self.stored else ()
        value = self.header(name)
        return received or (() if value is None else (value,))

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as the client on a network does, and raise what ended it."""
        raw_deflate = encodings.RawDeflate(self.header("Content-Encoding"))
        for received in self.recording._body(self.stored) if self.stored else ():
            yield from raw_deflate.feed(received)
        if self.error is not None:
            raise self.error


class Playback:
    """A recording as clients use it; several threads may."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._crawls = _crawls_by_homepage(recording._fetches)
        self._opened: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._silent = _silent_origins(recording._fetches)
        self._by_url, self._by_crawl = _by_url(recording._fetches)

    def scope(self, homepage: str) -> "PlaybackScope":
        """Return the playback of one crawl: the next one of its homepage that was recorded."""
        key = url_key(homepage) if homepage else ""
        recorded = self._crawls.get(key, [])
        with self._lock:
            number = min(self._opened[key], len(recorded) - 1)
            self._opened[key] += 1
        own = self._by_crawl[recorded[number]] if recorded else {}
        return PlaybackScope(self._recording, own, self._by_url, self._silent)


def _crawls_by_homepage(fetches: Iterable[FetchRecord]) -> dict[str, list[int]]:
    found: dict[str, dict[int, None]] = {}
    for fetch in fetches:
        key = url_key(fetch.homepage) if fetch.homepage else ""
        found.setdefault(key, {})[fetch.crawl] = None
    return {homepage: sorted(numbers) for homepage, numbers in found.items()}


def _by_url(
    fetches: Iterable[FetchRecord],
) -> tuple[FetchesByUrl, dict[int, FetchesByUrl]]:
    """Return the fetches of each URL, in order: those of all crawls, and those of each crawl."""
    of_all: FetchesByUrl = {}
    of_crawls: dict[int, FetchesByUrl] = {}
    for number, fetch in enumerate(fetches):
        key = url_key(fetch.url)
        for found in (of_all, of_crawls.setdefault(fetch.crawl, {})):
            found.setdefault(key, []).append((number, fetch))
    return of_all, of_crawls


def _silent_origins(fetches: Iterable[FetchRecord]) -> dict[str, FetchRecord]:
    """Return the hosts that never responded, each with the failure of its last fetch.

    How many URLs of such a host were requested before it was given up depends on time. So one that
    was not requested fails like those that were.
    """
    last: dict[str, FetchRecord] = {}
    responded: set[str] = set()
    for fetch in fetches:
        origin = _origin(fetch.url)
        last[origin] = fetch
        if not fetch.no_response:
            responded.add(origin)
    return {origin: fetch for origin, fetch in last.items() if origin not in responded}


def _origin(url: str) -> str:
    return urljoin(url_key(url), "/")


class PlaybackScope:
    """The fetches that one crawl replays."""

    def __init__(
        self,
        recording: Recording,
        own: FetchesByUrl,
        others: FetchesByUrl,
        silent: dict[str, FetchRecord],
    ) -> None:
        self._recording = recording
        self._silent = silent
        self._by_url = ChainMap(own, others)
        self._replayed: Counter[tuple[str, str]] = Counter()
        """By URL and method, how many of the fetches were replayed."""
        self._lock = threading.Lock()

    def get(
        self, url: str, *, conditional: bool, method: str = "GET"
    ) -> ReplayedDocument | WebClientNotModifiedResponse | WebClientErrorResponse:
        """Return what the recording has for a request.

        :raises ReplayedError: if the client raised an error when it was recorded.
        """
        if not self._recording._fetches:
            return self._derived(url)
        fetches = self._fetches(url, method, conditional=conditional)
        if not fetches:
            return self._missing(url)
        return self._noted(fetches[self._take(url, len(fetches), method)][1])

    def order(self, url: str, *, conditional: bool, method: str = "GET") -> float:
        """Return when the next fetch of a URL comes, in the order of the ends of fetches."""
        fetches = self._fetches(url, method, conditional=conditional)
        if not fetches:
            return math.inf
        with self._lock:
            next_one = self._replayed[url_key(url), method]
        return fetches[min(next_one, len(fetches) - 1)][0]

    def _fetches(
        self, url: str, method: str, *, conditional: bool
    ) -> list[tuple[int, FetchRecord]]:
        """Return the fetches that answer a request."""
        found = self._by_url.get(url_key(url), [])
        if not conditional:  # a 304 is no answer to a request without validators
            found = [each for each in found if each[1].outcome != FetchOutcome.NOT_MODIFIED]
        # A response to HEAD has no document; one to GET has a head, too.
        return _by_method(found, method) or _by_method(found, "GET")

    def _take(self, url: str, count: int, method: str = "GET") -> int:
        """Return which of the fetches of a URL comes next; the last one comes again and again."""
        key = url_key(url), method
        with self._lock:
            number = self._replayed[key]
            self._replayed[key] += 1
        return min(number, count - 1)

    def _noted(
        self, fetch: FetchRecord
    ) -> ReplayedDocument | WebClientNotModifiedResponse | WebClientErrorResponse:
        """Return what a note says that the client returned."""
        if fetch.outcome == FetchOutcome.RAISED:
            if not fetch.message:
                raise NoWebClientException(f"{fetch.url} can't be fetched")
            raise ReplayedError(fetch.message)
        if fetch.outcome == FetchOutcome.NOT_MODIFIED:
            url, headers = fetch.final_url or fetch.url, dict(fetch.headers)
            return WebClientNotModifiedResponse(url, headers, fetch.redirects)
        if fetch.outcome == FetchOutcome.ERROR:
            return WebClientErrorResponse(
                fetch.message,
                fetch.retryable,
                status_code=fetch.status,
                retry_after=fetch.retry_after,
                no_response=fetch.no_response,
                untrusted=fetch.untrusted,
                headers=dict(fetch.headers),
                redirects=fetch.redirects,
            )
        stored = self._recording._response(fetch.responses[-1]) if fetch.responses else None
        return ReplayedDocument(
            self._recording,
            stored,
            fetch.final_url or fetch.url,
            fetch.redirects,
            fetch.status or HTTPStatus.OK.value,
            fetch.reason,
            fetch.headers,
            _body_error(fetch),
        )

    def _missing(self, url: str) -> WebClientErrorResponse:
        silent = self._silent.get(_origin(url))
        known = self._by_url.get(url_key(url), ())
        if silent is None and any(one.outcome == FetchOutcome.NOT_MODIFIED for _, one in known):
            return WebClientErrorResponse(
                f"the recording says only that {without_credentials(url)} was not modified (304) "
                "since an earlier run, whose document is not known here",
                retryable=False,
            )
        if silent is None:
            return WebClientErrorResponse(
                f"{without_credentials(url)} is not in the recording", retryable=False
            )
        return WebClientErrorResponse(
            silent.message,
            retryable=silent.retryable,
            no_response=True,
            untrusted=silent.untrusted,
        )

    def _derived(self, url: str) -> ReplayedDocument | WebClientErrorResponse:
        """Return what a client would make of the responses that another tool recorded."""
        passed: list[str] = []
        turn: int | None = None
        for _ in range(MAX_REDIRECTS + 1):
            found = self._stored(url)
            if not found:
                return self._missing(url)
            if turn is None:
                turn = self._take(url, len(found))
            stored = found[min(turn, len(found) - 1)]
            location = next(iter(stored.header_values("Location")), "")
            if stored.status not in _REDIRECTS or not location:
                return self._derived_result(stored, url, tuple(passed))
            passed.append(without_credentials(url))
            url = urljoin(url, location_text(location.encode("latin-1")))
        return WebClientErrorResponse(f"Exceeded {MAX_REDIRECTS} redirects.", retryable=False)

    def _stored(self, url: str) -> list[StoredResponse]:
        """Return the responses of a URL; other tools name URLs as they are sent."""
        by_url = self._recording._by_url
        found = by_url.get(url_key(url))
        if found is None and urlsplit(url).scheme in {"http", "https"}:
            found = by_url.get(url_key(prepare_url(without_credentials(url))))
        return [each for each in found or [] if each.status != HTTPStatus.NOT_MODIFIED]

    def _derived_result(
        self, stored: StoredResponse, url: str, redirects: tuple[str, ...]
    ) -> ReplayedDocument | WebClientErrorResponse:
        headers = {name.title(): value for name, value in stored.headers}
        if stored.status not in SUCCESS_STATUSES:
            return error_responses.status_response(
                WebClientErrorResponse, stored.status, stored.reason, headers, redirects
            )
        url = without_credentials(url)
        document = ReplayedDocument(
            self._recording, stored, url, redirects, stored.status, stored.reason
        )
        encoding = encodings.undecodable(stored.header("Content-Encoding"))
        if encoding and not encodings.is_readable(next(chain(document.chunks(), [b""]))):
            return error_responses.encoding_response(
                WebClientErrorResponse, encoding, stored.status, headers, redirects
            )
        return document


def _by_method(
    fetches: Iterable[tuple[int, FetchRecord]], method: str
) -> list[tuple[int, FetchRecord]]:
    return [each for each in fetches if each[1].method == method]


def _body_error(fetch: FetchRecord) -> ReplayedError | None:
    if fetch.body == BodyEnd.WHOLE:
        return None
    if fetch.body == BodyEnd.CUT:
        return ReplayedError(_CUT)
    return ReplayedError(fetch.message, transient=fetch.retryable)
