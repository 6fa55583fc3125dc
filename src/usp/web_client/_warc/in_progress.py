"""One fetch while it is recorded: what the client returns is noted, and then written.

The same for threads and asyncio: nothing here waits for a network.
"""

import time
from contextvars import Token
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, Self

from usp._display import redact, without_credentials
from usp.exceptions import NoWebClientException
from usp.objects.fetch_info import Validators
from usp.web_client._http.challenges import CHALLENGE_HEADERS
from usp.web_client._http.described import described
from usp.web_client._http.error_responses import CANCELLED_MESSAGE
from usp.web_client._http.foreign_response import has_methods, is_error
from usp.web_client._http.transcript import TRANSCRIPT, Exchange, Transcript
from usp.web_client._warc.fetch_record import BodyEnd, FetchOutcome, FetchRecord
from usp.web_client._warc.writer import RecordingFile
from usp.web_client.abstract_client import WebClientNotModifiedResponse

__all__ = ["FetchInProgress", "RecordedCrawl"]

_NOTED_HEADERS: Final = (
    *("Content-Type", "Content-Encoding", "ETag", "Last-Modified", "Link"),
    *("X-Robots-Tag", *CHALLENGE_HEADERS),
)
"""The headers that a crawl looks at, and those that a check of a page does."""
_OK: Final = 200


@dataclass(frozen=True, slots=True)
class RecordedCrawl:
    """A crawl that is recorded, or requests outside of one: number 0."""

    file: RecordingFile
    number: int = 0
    homepage: str = ""

    def begin(
        self, url: str, validators: Validators | None = None, method: str = "GET"
    ) -> "FetchInProgress":
        """Begin to record a fetch."""
        record = FetchRecord(
            without_credentials(url),
            FetchOutcome.DOCUMENT,
            self.number,
            without_credentials(self.homepage),
            method,
            conditional=bool(validators),
        )
        return FetchInProgress(self.file, record)


class FetchInProgress:
    """One fetch: a context manager around it, and the recorder of the body after it."""

    def __init__(self, file: RecordingFile, record: FetchRecord) -> None:
        self._file = file
        self._record = record
        self._transcript = Transcript()
        self._token: Token[Transcript | None] | None = None
        self._started = time.monotonic()
        self._is_written = False
        self._is_wire = False
        self.has_ended = False
        """Whether it is known how the body ended."""

    def __enter__(self) -> Self:
        self._token = TRANSCRIPT.set(self._transcript)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._token is not None:
            TRANSCRIPT.reset(self._token)
        if isinstance(error, NoWebClientException):
            self._note(outcome=FetchOutcome.RAISED)
            self.write()
        elif isinstance(error, Exception):
            self._note(outcome=FetchOutcome.RAISED, message=described(error))
            self.write()

    def note_document(self, response: Any) -> None:  # noqa: ANN401 -- of any client
        """Note the head of a response that brings a document; its body follows."""
        self._note_head(response)
        self._is_wire = bool(self._transcript.exchanges)
        if not self._is_wire:
            self._add_exchange(self._record.headers)

    def note_without_document(self, response: Any) -> None:  # noqa: ANN401 -- of any client
        """Note a response without a document, and write it; anything else is ignored."""
        if isinstance(response, WebClientNotModifiedResponse):
            self._note_head(response)
            self._note(outcome=FetchOutcome.NOT_MODIFIED)
        elif is_error(response):
            message = redact(str(response.message()))
            if message == CANCELLED_MESSAGE:
                return  # what would have come of it is not known
            self._note(
                outcome=FetchOutcome.ERROR,
                message=message,
                headers=_noted_headers(response),
                redirects=_redirects(response),
                retryable=bool(response.retryable()),
                status=_called(response, "status_code"),
                retry_after=_called(response, "retry_after"),
                no_response=_called(response, "no_response") is True,
                untrusted=_called(response, "untrusted") is True,
            )
        else:
            return
        if not self._transcript.exchanges and isinstance(self._record.status, int):
            self._add_exchange(self._record.headers)
        self.write()

    def add_chunk(self, chunk: bytes) -> None:
        """Add a part of the body, unless the client writes what it receives."""
        if not self._is_wire:
            self._transcript.add_body(bytes(chunk))

    def end_body(self, error: BaseException | None = None, *, transient: bool = False) -> None:
        """Note that the body has ended: here, or by an error."""
        self.has_ended = True
        if error is not None:
            self._note(body=BodyEnd.FAILED, message=described(error), retryable=transient)
        elif not self._is_wire:
            self._transcript.add_body(b"")

    def cut_body(self) -> None:
        """Note that nobody reads the body any further."""
        self.has_ended = True
        self._note(body=BodyEnd.CUT)

    @property
    def size(self) -> int:
        """The bytes of the last body, so far."""
        body = self._transcript.exchanges[-1].body if self._transcript.exchanges else None
        return body.tell() if body else 0

    def write(self) -> None:
        """Write the fetch, once."""
        if self._is_written:
            return
        self._is_written = True
        self._note(seconds=round(time.monotonic() - self._started, 6))
        try:
            self._file.write(self._record, self._transcript)
        finally:
            self._transcript.close()

    def _note(self, **changes: Any) -> None:  # noqa: ANN401 -- fields of the record
        self._record = replace(self._record, **changes)

    def _note_head(self, response: Any) -> None:  # noqa: ANN401 -- of any client
        self._note(
            final_url=without_credentials(str(response.url())),
            redirects=_redirects(response),
            status=_called(response, "status_code"),
            reason=redact(str(_called(response, "status_message") or "")),
            headers=_noted_headers(response),
        )

    def _add_exchange(self, headers: tuple[tuple[str, str], ...]) -> None:
        """Add what is known of the response of a client that writes no transcript."""
        record = self._record
        status = record.status if isinstance(record.status, int) else _OK
        url = record.final_url or record.url
        exchange = Exchange(url, status, record.reason, list(headers), method=record.method)
        self._transcript.add_head(exchange)


def _noted_headers(response: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401 -- of any client
    """Return the headers that a crawl looks at; the error of an older client has none."""
    if not has_methods(response, "header"):
        return ()
    found = ((name, response.header(name)) for name in _NOTED_HEADERS)
    return tuple((name, redact(value)) for name, value in found if isinstance(value, str))


def _redirects(response: object) -> tuple[str, ...]:
    return tuple(without_credentials(str(url)) for url in _called(response, "redirects") or ())


def _called(response: object, name: str) -> Any:  # noqa: ANN401 -- whatever it returns
    """Return what a method returns; None if a response doesn't have it, or it returns a mock."""
    method = getattr(response, name, None)
    value = method() if callable(method) else None
    return value if isinstance(value, int | float | str | tuple | list) else None
