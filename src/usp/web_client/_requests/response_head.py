"""How our connections read the head of a response: status line and headers.

This is ``http.client`` but for five things: it takes an interim response (102, 103; RFC 9110 15.2)
for the final one and a truncated head for a complete one, drops all headers after a malformed line,
waits for the chunks of a 304, and takes ``Content-Length: +5`` for 5.
"""

import http.client
import re
from http import HTTPStatus
from typing import IO, Any, Final, cast

from urllib3.exceptions import InvalidHeader

from usp.web_client._http.error_responses import DROPPED_IN_HEAD

__all__ = ["CheckedResponse"]

_INTERIM: Final = frozenset({100, *range(102, 200)})
"""Statuses that another response follows. 101 is not one: no request asks to switch protocols."""
_MAX_INTERIM: Final = 100
_WITHOUT_BODY: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_LENGTHS: Final = re.compile(r"[0-9]++(?:[ \t]*+,[ \t]*+[0-9]++)*+")
"""A ``Content-Length``; one that is repeated may arrive as a list (RFC 9110, 8.6)."""

_MAX_MALFORMED: Final = 100
"""As many lines as ``http.client`` takes headers."""
_HEADER: Final = re.compile(rb"[!-9;-~]++:[^\r]*+")
"""What ``http.client`` can read, without its line end. A CR inside would end the line there."""
_CONTINUED: Final = re.compile(rb"[ \t][^\r]*+")
"""A line that continues the one before it (RFC 9112, 5.2)."""
_FRAMING: Final = re.compile(rb"content-length|transfer-encoding", re.IGNORECASE)
"""What says where a body ends, and so where the next response begins."""
_LINE_END: Final = b"\r\n"


class _HeadReader:
    """The lines of a head: the first may be missing (no response at all), but no other.

    Malformed lines are left out, since ``http.client`` reads no header after one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._started = False
        self._in_headers = False
        self._kept = False
        """Whether the last header was well-formed."""
        self._malformed = 0

    def readline(self, limit: int = -1) -> bytes:
        line = self._read(limit)
        if not self._in_headers:
            self._in_headers, self._kept = True, False
            return line
        while not self._is_usable(line):
            self._leave_out(line)
            line = self._read(limit)
        self._in_headers = line != _LINE_END
        return line

    def _read(self, limit: int) -> bytes:
        line = self._file.readline(limit)
        if self._started and not line:
            raise ConnectionResetError(DROPPED_IN_HEAD)
        self._started = True
        # A line may end with more than one CR; without a line end it is too long, or truncated.
        return line.rstrip(_LINE_END) + _LINE_END if line.endswith(b"\n") else line

    def _is_usable(self, line: bytes) -> bool:
        """Tell whether ``http.client`` can read a line, or has a reason of its own to reject it."""
        header = line.removesuffix(_LINE_END)
        if not header or header == line:  # the end of the head; a line without an end
            return True
        if _CONTINUED.fullmatch(header) is None:
            self._kept = _HEADER.fullmatch(header) is not None
        return self._kept

    def _leave_out(self, line: bytes) -> None:
        """Count a malformed line.

        :raises InvalidHeader: if it may be about the length of the body. A proxy may see another
            length than we do, and what is left would be taken for the next response.
        """
        if framing := _FRAMING.search(line):
            raise InvalidHeader(f"the line of its {framing[0].decode().title()} header")
        self._malformed += 1
        if self._malformed > _MAX_MALFORMED:
            raise InvalidHeader(f"more than {_MAX_MALFORMED} lines of its head")

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
