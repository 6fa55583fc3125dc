"""The transcript of one fetch: every request and response of it, as they went over the wire.

Our clients write one if somebody wants it: whoever records a crawl puts a ``Transcript`` into the
context variable for the time of a ``get()``. Nothing here knows about files or formats of
recordings; that is in ``_warc``.
"""

import tempfile
from collections.abc import Iterable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Final

__all__ = ["TRANSCRIPT", "Exchange", "Transcript"]

_MAX_IN_MEMORY: Final = 64 * 1024
"""Bytes of one body in memory; a longer one goes to a temporary file, which has no name."""

Headers = list[tuple[str, str]]


@dataclass(slots=True, eq=False)
class Exchange:
    """One request and its response; a redirect is one of its own."""

    url: str
    status: int
    reason: str = ""
    headers: Headers = field(default_factory=list)
    request_headers: Headers = field(default_factory=list)
    method: str = "GET"
    body: IO[bytes] | None = None
    """What arrived of the body, before its content encoding is decoded."""
    is_whole: bool = False
    """Whether the body was read to its end."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When the head of the response was there."""


class Transcript:
    """The exchanges of one fetch, in order. One thread or task writes it."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.error: OSError | None = None
        """What the system said when there was no room for a body: no fault of the site."""

    def add_head(self, exchange: Exchange) -> None:
        """Add a request and the head of its response."""
        self.exchanges.append(exchange)

    def add_body(self, chunk: bytes) -> None:
        """Add bytes to the body of the last response; no bytes mean that it has ended."""
        if not self.exchanges:
            return
        last = self.exchanges[-1]
        if not chunk:
            last.is_whole = True
            return
        if self.error is not None:
            return
        try:
            if last.body is None:
                last.body = tempfile.SpooledTemporaryFile(_MAX_IN_MEMORY)  # noqa: SIM115 -- until close()
            last.body.write(chunk)
        except OSError as error:
            self.error = error

    def close(self) -> None:
        """Drop the bodies."""
        for exchange in self.exchanges:
            if exchange.body is not None:
                with suppress(OSError):  # it writes what is left, and there may be no room
                    exchange.body.close()
        self.exchanges.clear()


def header_list(headers: Iterable[tuple[object, object]]) -> Headers:
    """Return headers as text, each on one line: a folded value may have line breaks."""
    return [(_one_line(name), _one_line(value)) for name, value in headers]


def _one_line(value: object) -> str:
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return " ".join(text.split("\r\n")).replace("\n", " ").replace("\r", " ")


TRANSCRIPT: Final[ContextVar[Transcript | None]] = ContextVar("TRANSCRIPT", default=None)
"""The transcript of the current ``get()``, if it is wanted."""
