"""Unknown elements of an entry, recorded as they are written, where the grammar wants them."""

from collections.abc import Mapping
from typing import Final

from usp._parse.xml.grammar import UNKNOWN, UNKNOWN_END, UNKNOWN_TEXT

_Record = list[tuple[str, str]]
_MAX_DEPTH: Final = 16
"""How many nested unknown elements are recorded. Real documents have fewer."""


class UnknownElements:
    """Adds the unknown elements of an entry to its record, with the texts that were read so far."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self.open = 0
        """How many are open."""

    def start(
        self, record: _Record, name: str, namespace: str | None, attributes: Mapping[str, str]
    ) -> None:
        """Record a start tag."""
        self.open += 1
        if self.open <= _MAX_DEPTH:
            self._add_text(record)
            record.append((UNKNOWN, f"{namespace or ''} {name}"))
            record.extend((f"{UNKNOWN}@{key}", value) for key, value in attributes.items())

    def end(self, record: _Record) -> None:
        """Record an end tag."""
        if self.open <= _MAX_DEPTH:
            self._add_text(record)
            record.append((UNKNOWN_END, ""))
        self.open -= 1

    def _add_text(self, record: _Record) -> None:
        if text := "".join(self._texts).strip():
            record.append((UNKNOWN_TEXT, text))
        self._texts.clear()
