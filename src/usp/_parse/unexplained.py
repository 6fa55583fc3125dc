"""Faults that have no harmless cause: damage, or a template that is written so.

Damage by a disk or a transfer hits an entry here and there. What is the same in several entries of
a document was written by its generator, and costs nothing. So what such a fault means is known when
it has recurred, or at the end of the document.
"""

from collections import Counter
from typing import Final

from usp._parse.diagnostics import Diagnostics, Position

REPAIRED: Final = ("SM208", "a malformed entry was repaired")
PART_MISSING: Final = (
    "SM209",
    "a malformed entry was read, but a part of it or of another is missing",
)
_CODES: Final = frozenset({REPAIRED[0], PART_MISSING[0]})
"""What a malformed entry may turn out to be."""
_Held = tuple[str, Position]
"""Why an entry was malformed, and where."""
TEMPLATE: Final = 3
"""What is the same in so many entries is a template's."""
_MAX_KINDS: Final = 64
"""How many kinds of faults are told apart: a template has few."""


class UnexplainedFaults:
    """The entries of one document with such faults."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._counts: Counter[str] = Counter()
        """In how many entries each kind of fault was found."""
        self._held: list[tuple[frozenset[str], _Held]] = []
        """Entries of which it is not known yet whether all their faults recur: few of each kind."""

    def report(
        self, verdict: tuple[str, str], kinds: frozenset[str], cause: str, offset: int
    ) -> None:
        """Report what a malformed entry means, unless it is not known yet.

        :param kinds: its faults of this kind, if it has any.
        """
        diagnostics = self._diagnostics
        is_located = diagnostics.locating and any(map(diagnostics.keeps, _CODES))
        found = cause, diagnostics.position(offset) if is_located else (None, None)
        if verdict is not REPAIRED or not kinds:
            self._report(verdict, found)
        elif len(self._counts.keys() | kinds) > _MAX_KINDS:
            self._report(PART_MISSING, found)
        else:
            self._counts.update(kinds)
            if any(self._counts[kind] == TEMPLATE for kind in kinds):
                self._release()
            if self._recur(kinds):
                self._report(REPAIRED, found)
            else:
                self._held.append((kinds, found))

    def finish(self) -> None:
        """Report what has not recurred by the end of the document."""
        for _, found in self._held:
            self._report(PART_MISSING, found)
        self._held.clear()

    def _recur(self, kinds: frozenset[str]) -> bool:
        return all(self._counts[kind] >= TEMPLATE for kind in kinds)

    def _release(self) -> None:
        """Report the entries that are known to be a template's."""
        held, self._held = self._held, []
        for kinds, found in held:
            if self._recur(kinds):
                self._report(REPAIRED, found)
            else:
                self._held.append((kinds, found))

    def _report(self, verdict: tuple[str, str], found: _Held) -> None:
        code, message = verdict
        cause, position = found
        self._diagnostics.report(code, f"{message}: {cause}", position=position)
