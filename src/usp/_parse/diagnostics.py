"""Where readers report what is wrong, and how they tell where: bounded, whatever the document."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from usp.objects.problem import CODES, Problem, Severity

KEPT_PROBLEMS: Final = 300
"""So many problems of one document are told, the first ones; the rest are counted."""
KEPT_OF_A_CODE: Final = 100
"""So many of one kind are kept, so that a common one leaves room for the others."""

Position = tuple[int | None, int | None]
"""A line and a byte offset in the unpacked document, where they are known."""


@dataclass(frozen=True, slots=True)
class ReadPosition:
    """How far a reader has come in the document as it came, which may be in another encoding."""

    line: int = 1
    offset: int = 0
    length: Callable[[bytes], int] = len
    """Tells how long a part of what is read was, as it came."""

    @property
    def position(self) -> Position:
        """The line and the offset."""
        return self.line, self.offset

    def past(self, read: bytes) -> "ReadPosition":
        """Return where that is which follows."""
        line, offset = self.line + read.count(b"\n"), self.offset + self.length(read)
        return replace(self, line=line, offset=offset)


START: Final = ReadPosition()


class Diagnostics:
    """The problems of one reading of one document."""

    def __init__(self, *, collecting: bool = True) -> None:
        self.collecting = collecting
        """Whether anybody will look at them: if not, places needn't be counted."""
        self._kept: list[Problem] = []
        self._seen: Counter[str] = Counter()
        self._told_once: set[str] = set()
        self.complete = True
        self.here: int | None = None
        """Where the entry begins that is being looked at, as the reader counts."""
        self.position_of: Callable[[int], Position] | None = None
        """Tells line and offset of such a position, while the reader still has it at hand."""

    def report(
        self, code: str, message: str, *, at: int | None = None, position: Position | None = None
    ) -> None:
        """Take note of a problem; an error means that something of the document was lost.

        Where no position is given, it is that of the entry that is being looked at.
        """
        if not self.collecting:
            return
        self._seen[code] += 1
        if CODES[code].severity is Severity.ERROR:
            self.complete = False
        # Of all kinds the first are chosen at the end: a reader may be ahead of who looks at its
        # entries, by more in one pattern_reader than in another.
        if self._seen[code] <= KEPT_OF_A_CODE:
            self._kept.append(Problem(code, message, *(position or self.position(at))))

    def position(self, at: int | None = None) -> Position:
        """Return line and offset of a position, or of the entry that is being looked at."""
        at = self.here if at is None else at
        return self.position_of(at) if self.position_of and at is not None else (None, None)

    def report_once(self, code: str, message: str, *, at: int | None = None) -> None:
        """Take note of a problem that says the same of the whole document however often it is."""
        if code not in self._told_once:
            self._told_once.add(code)
            self.report(code, message, at=at)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The first, in the document's order; where there are more, the last says how many."""
        in_order = sorted(self._kept, key=lambda found: (found.offset or 0, found.code))
        in_order = in_order[:KEPT_PROBLEMS]
        dropped = self._seen.total() - len(in_order)
        if dropped:
            in_order.append(Problem("SM702", f"{dropped} more problems are not listed"))
        return tuple(in_order)
