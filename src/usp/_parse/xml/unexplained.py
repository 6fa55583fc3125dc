"""Faults of tags that have no harmless cause: damage, or a template that is written so.

Damage by a disk or a transfer hits an entry here and there. What is the same in several entries of
a document was written by its generator, and costs nothing. So what such a fault means is known when
it has recurred, or at the end of the document.
"""

from typing import Final

from usp._parse.diagnostics import Diagnostics, Position

REPAIRED: Final = ("SM208", "a malformed entry was repaired")
PART_MISSING: Final = (
    "SM209",
    "a malformed entry was read, but a part of it or of another is missing",
)
_Held = tuple[str, Position]
"""Why an entry was malformed, and where."""
_TEMPLATE: Final = 3
"""What is the same in so many entries is a template's."""
_MAX_KINDS: Final = 64
"""How many kinds of faults are told apart: a template has few."""


class UnexplainedFaults:
    """The entries of one document with such faults."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._held: dict[frozenset[str], list[_Held]] = {}

    def report(
        self, verdict: tuple[str, str], kinds: frozenset[str], cause: str, offset: int
    ) -> None:
        """Report what a malformed entry means, unless it is not known yet.

        :param kinds: its faults of this kind, if it has any.
        """
        diagnostics = self._diagnostics
        held = [(cause, diagnostics.position(offset) if diagnostics.locating else (None, None))]
        if verdict is REPAIRED and kinds:
            verdict, held = self._judge(kinds, held)
        self._report(verdict, held)

    def _judge(
        self, kinds: frozenset[str], found: list[_Held]
    ) -> tuple[tuple[str, str], list[_Held]]:
        """Return what an entry with such faults means, and which entries are known to mean that."""
        if kinds not in self._held and len(self._held) >= _MAX_KINDS:
            return PART_MISSING, found
        held = self._held.setdefault(kinds, [])
        if len(held) >= _TEMPLATE:
            return REPAIRED, found
        held += found
        return REPAIRED, held if len(held) == _TEMPLATE else []

    def finish(self) -> None:
        """Report what has not recurred by the end of the document."""
        for held in self._held.values():
            if len(held) < _TEMPLATE:
                self._report(PART_MISSING, held)
        self._held.clear()

    def _report(self, verdict: tuple[str, str], held: list[_Held]) -> None:
        code, message = verdict
        for cause, position in held:
            self._diagnostics.report(code, f"{message}: {cause}", position=position)
