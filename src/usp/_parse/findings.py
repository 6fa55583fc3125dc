"""Where readers report what is wrong: bounded, whatever the document."""

from collections.abc import Callable
from typing import Final

from usp.objects.problem import CODES, Problem, Severity

KEPT_PROBLEMS: Final = 300
"""So many problems of one document are kept; the rest are counted."""


class Findings:
    """The problems of one reading of one document."""

    def __init__(self) -> None:
        self._kept: list[Problem] = []
        self._dropped = 0
        self._codes: set[str] = set()
        self.complete = True
        self.here: int | None = None
        """Where the entry begins that is being looked at."""
        self.line_of: Callable[[int], int] | None = None
        """Tells the line of an offset, while the reader still has it at hand."""

    def report(
        self, code: str, message: str, *, line: int | None = None, offset: int | None = None
    ) -> None:
        """Take note of a problem; an error means that something of the document was lost.

        Where no place is given, it is that of the entry that is being looked at.
        """
        self._codes.add(code)
        if CODES[code].severity is Severity.ERROR:
            self.complete = False
        if len(self._kept) >= KEPT_PROBLEMS:
            self._dropped += 1
            return
        if offset is None:
            offset = self.here
        if line is None and offset is not None and self.line_of:
            line = self.line_of(offset)
        self._kept.append(Problem(code, message, line, offset))

    def report_once(self, code: str, message: str, *, offset: int | None = None) -> None:
        """Take note of a problem that says the same of the whole document however often it is."""
        if code not in self._codes:
            self.report(code, message, offset=offset)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was kept; where some were not, the last one says how many."""
        if not self._dropped:
            return tuple(self._kept)
        more = Problem("SM702", f"{self._dropped} more problems in this document are not listed")
        return (*self._kept, more)
