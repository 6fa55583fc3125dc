"""How the head of an answer is read over a connection of ours.

Rules of this room: this is ``http.client``, but for two things that it lets pass. It takes an
interim answer (102, 103; RFC 9110 15.2) for the last one, and a head that breaks off for a whole
one.
"""

import http.client
from typing import IO, Any, Final, cast

from usp.web_client._http.error_responses import DROPPED_IN_HEAD

__all__ = ["Answer"]

_INTERIM: Final = frozenset({100, *range(102, 200)})
"""Answers that another one follows. 101 is none: nobody asked to switch protocols."""
_MOST_INTERIM: Final = 100


class _Lines:
    """The lines of a head: the first may be missing, as where a host says nothing, but no other."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._begun = False

    def readline(self, limit: int = -1) -> bytes:
        line = self._file.readline(limit)
        if self._begun and not line:
            raise ConnectionResetError(DROPPED_IN_HEAD)
        self._begun = True
        return line

    def close(self) -> None:
        self._file.close()


class Answer(http.client.HTTPResponse):
    """An answer, from its last status line on."""

    def begin(self) -> None:
        """Read the head."""
        file = self.fp
        self.fp = cast("Any", _Lines(file))
        try:
            super().begin()
        finally:
            if self.fp is not None:  # else it was closed: this is no HTTP
                self.fp = file

    def _read_status(self) -> tuple[str, int, str]:
        """Read the status line of the last answer: http.client reads on from there."""
        for _ in range(_MOST_INTERIM):
            said: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]  # not in stubs
            if said[1] not in _INTERIM:
                return said
            http.client.parse_headers(self.fp)
        raise http.client.HTTPException("one interim answer follows another")
