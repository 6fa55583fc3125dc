"""Patterns of robots.txt with a wildcard or an end, and which of very many may match a path.

A few are tried one by one. A robots.txt may have 40,000, and a site as many pages; so each of very
many patterns is kept under a piece of its text that few others have, and only the pieces that a
path has are looked up. So what it takes to judge a path doesn't grow with the number of patterns,
only with the number of those whose piece the path has.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from usp.objects.robots import RobotsRule

_FEW: Final = 128
"""So many are tried in less time than it takes to look up the pieces of a path."""
_SIZES: Final = (8, 4, 2, 1, 0)
"""The lengths of pieces; a pattern without any text is kept under the empty one, which all have."""
_STARS: Final = re.compile(r"\*++")


class Wildcard(NamedTuple):
    """A pattern with a wildcard or an end."""

    priority: int
    rule: RobotsRule
    parts: tuple[str, ...]
    is_anchored: bool

    @classmethod
    def of(cls, pattern: str, rule: RobotsRule) -> "Wildcard":
        """Return a pattern in the compared form."""
        parts = tuple(_STARS.sub("*", pattern.removesuffix("$")).split("*"))
        return cls(len(pattern), rule, parts, pattern.endswith("$"))

    def matches(self, path: str) -> bool:
        """Tell whether it matches a path in the compared form."""
        first, *others = self.parts
        if not path.startswith(first):
            return False
        if not others:
            return path == first  # without a wildcard, it is a pattern with an end
        at = len(first)
        for part in others[:-1]:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        last = others[-1]
        if self.is_anchored:
            return len(path) - len(last) >= at and path.endswith(last)
        return path.find(last, at) >= 0


class Wildcards:
    """The patterns of one agent, in the order in which they decide."""

    __slots__ = ("_ordered", "_pieces", "_sizes", "_without_escapes")

    def __init__(self, patterns: Iterable[Wildcard]) -> None:
        # The longest pattern decides, and of two that are as long, the one that allows.
        ordered = sorted(patterns, key=lambda each: (-each.priority, not each.rule.allows))
        self._ordered = [(max(each.parts, key=len), each) for each in ordered]
        # Most patterns with a wildcard are about parameters, and "?" is an escape when compared.
        self._without_escapes = [each for each in self._ordered if "%" not in each[0]]
        self._pieces = _by_piece(ordered) if len(ordered) > _FEW else None
        self._sizes = {len(piece) for piece in self._pieces or ()}

    @property
    def rules(self) -> list[RobotsRule]:
        """The lines that have the patterns."""
        return [each.rule for _, each in self._ordered]

    def that_may_match(self, path: str) -> list[Wildcard]:
        """Return the patterns whose longest text is in a path, in order."""
        if self._pieces is not None:
            some = [self._ordered[place] for place in self._places(path, self._pieces)]
        else:
            some = self._ordered if "%" in path else self._without_escapes
        return [each for literal, each in some if literal in path]

    def _places(self, path: str, known: Mapping[str, Sequence[int]]) -> list[int]:
        """Return where the patterns are whose piece is in a path, in order."""
        places: list[int] = []
        for size in self._sizes:
            pieces = {path[at : at + size] for at in range(len(path) - size + 1)}
            for piece in known.keys() & pieces:
                places += known[piece]
        return sorted(places)


def _by_piece(ordered: Sequence[Wildcard]) -> dict[str, list[int]]:
    """Return where the patterns are, each under the piece of it that the fewest have."""
    pieces = [{piece for part in each.parts for piece in _pieces(part)} for each in ordered]
    counts = Counter(piece for some in pieces for piece in some)
    found: dict[str, list[int]] = {}
    for place, some in enumerate(pieces):
        rarest = min(some, key=lambda piece: (counts[piece], -len(piece), piece))
        found.setdefault(rarest, []).append(place)
    return found


def _pieces(part: str) -> Iterable[str]:
    """Return the pieces of a text: one after the other, and the last one."""
    size = next(size for size in _SIZES if size <= len(part))
    starts = range(0, len(part) - size + 1, size or 1)
    return [*(part[at : at + size] for at in starts), part[len(part) - size :]]
