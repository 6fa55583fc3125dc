"""How our connections read the head of a response: status line and headers.

This is ``http.client`` but for four things: it takes an interim response (102, 103; RFC 9110 15.2)
for the final one and a truncated head for a complete one, waits for the chunks of a 304, and takes
``Content-Length: +5`` for 5.
"""

import http.client
import re
from http import HTTPStatus
from typing import IO, Any, Final, cast

from usp.web_client._http.error_responses import DROPPED_IN_HEAD

__all__ = ["CheckedResponse"]

_INTERIM: Final = frozenset({100, *range(102, 200)})
"""Statuses that another response follows. 101 is not one: no request asks to switch protocols."""
_MAX_INTERIM: Final = 100
_WITHOUT_BODY: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_LENGTHS: Final = re.compile(r"[0-9]++(?:[ \t]*+,[ \t]*+[0-9]++)*+")
"""A ``Content-Length``; one that is repeated may arrive as a list (RFC 9110, 8.6)."""


class _HeadReader:
    """The lines of a head: the first may be missing (no response at all), but no other."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._started = False

    def readline(self, limit: int = -1) -> bytes:
        line = self._file.readline(limit)
        if self._started and not line:
            raise ConnectionResetError(DROPPED_IN_HEAD)
        self._started = True
        return line

    def close(self) -> None:
        self._file.close()


class CheckedResponse(http.client.HTTPResponse):
    """A response whose head is complete and final."""

    def begin(self) -> None:
        """Read the head."""
        file = self.fp
        self.fp = cast("Any", _HeadReader(file))
        try:
            super().begin()
        finally:
            if self.fp is not None:  # else it was closed: this is not HTTP
                self.fp = file
        if self.status == HTTPStatus.NOT_MODIFIED:
            self.chunked, self.length = False, 0  # Transfer-Encoding is about the document here
        self._ignore_malformed_length()

    def _ignore_malformed_length(self) -> None:
        """Read a body until the connection is closed if its length is not written in digits.

        ``int()`` takes ``+5`` and ``1_0`` as well, and nothing would show that the rest is missing.
        urllib3 reads the header again, so it goes.
        """
        written = self.headers.get("Content-Length")
        if written is None or _LENGTHS.fullmatch(written.strip()):
            return
        del self.headers["Content-Length"]
        has_body = self.status not in _WITHOUT_BODY and self._method != "HEAD"  # type: ignore[attr-defined]  # not in stubs
        if has_body and not self.chunked:
            self.length, self.will_close = None, True

    def _read_status(self) -> tuple[str, int, str]:
        """Read the status line of the final response; ``begin()`` continues from there."""
        for _ in range(_MAX_INTERIM):
            status: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]  # not in stubs
            if status[1] not in _INTERIM:
                return status
            http.client.parse_headers(self.fp)
        raise http.client.HTTPException(f"more than {_MAX_INTERIM} interim responses")
