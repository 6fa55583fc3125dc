"""Where readers report what is wrong: bounded, whatever the document."""

from typing import Final

from usp.objects.problem import CODES, Problem, Severity

KEPT_PROBLEMS: Final = 300
"""So many problems of one document are kept; the rest are counted."""


class Findings:
    """The problems of one reading of one document."""

    def __init__(self) -> None:
        self._kept: list[Problem] = []
        self._dropped = 0
        self.complete = True

    def report(
        self, code: str, message: str, *, line: int | None = None, offset: int | None = None
    ) -> None:
        """Take note of a problem; an error means that something of the document was lost."""
        if CODES[code].severity is Severity.ERROR:
            self.complete = False
        if len(self._kept) < KEPT_PROBLEMS:
            self._kept.append(Problem(code, message, line, offset))
        else:
            self._dropped += 1

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was kept; where some were not, the last one says how many."""
        if not self._dropped:
            return tuple(self._kept)
        more = Problem("SM702", f"{self._dropped} more problems in this document are not listed")
        return (*self._kept, more)
