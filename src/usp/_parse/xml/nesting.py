"""What is nested: elements too deep to be distinguished, and names of entries inside of an entry.

An extension may have an element of its own with the name of an entry: ``<data><url>…``. It is told
from an entry whose predecessor isn't closed by the unknown element, or the group, around it.
"""

from collections.abc import Callable, Sequence
from typing import Final

from usp._parse.xml.builder_state import OpenElement

_MAX_INNER: Final = 16
"""An entry with more elements that have the name of an entry isn't closed: they are entries."""
_MAX_REPAIRS: Final = 256
"""After so many entries that have others in them, each name of an entry begins one: no extension is
meant, and a repair takes several times as long."""
_MAX_PATH: Final = 16
_MAX_PATH_NAMES: Final = 1024
"""How many elements around the entries are kept after a fault, and their names in all, which each
new parser reads. Real documents have fewer."""


def is_long_path(path: Sequence[OpenElement]) -> bool:
    """Tell whether more elements are around the entries than are kept after a fault."""
    return len(path) > _MAX_PATH or sum([len(place[3]) for place in path]) > _MAX_PATH_NAMES


class Nesting:
    """The open elements that an entry builder doesn't keep on its stack, or that look odd there."""

    def __init__(self) -> None:
        self.around = 0
        """How many elements beyond the limit are open around the entries."""
        self.inside = 0
        """How many are inside the current entry."""
        self.last_tag = -1
        """The offset of the last start or end tag in an entry that has the name of an entry."""
        self.refuse: Callable[[], None] | None = None
        """Ends the reading of an entry, so that it can be repaired; None if nobody can."""
        self._inner_depth = -1  # the depth of the open element with the name of an entry
        self._inner_count = 0  # how many such elements the current entry has
        self._repairs = 0

    def leave_entry(self) -> None:
        """Forget what is inside the current entry."""
        self.inside = self._inner_count = 0
        self._inner_depth = -1

    def start_inner(self, depth: int, offset: int) -> bool:
        """Open an element with the name of an entry, inside of an entry.

        False if one is open, or there are many: no extension has that. Something before it isn't
        closed, and all of them are entries.
        """
        is_one_of_many = self._inner_count >= _MAX_INNER or self._repairs >= _MAX_REPAIRS
        if self._inner_depth >= 0 or is_one_of_many:
            return False
        self._inner_count += 1
        self._inner_depth, self.last_tag = depth, offset
        return True

    def asks_for_repair(self) -> bool:
        """End the reading of the current entry, so that it is repaired; False if nobody can."""
        if self.refuse is None or self._repairs >= _MAX_REPAIRS:
            return False
        self._repairs += 1
        self.refuse()
        return True

    def is_inner(self, depth: int) -> bool:
        """Tell whether the open element at this depth is such an element."""
        return depth == self._inner_depth

    def end_inner(self, offset: int) -> None:
        """Close it."""
        self._inner_depth, self.last_tag = -1, offset

    def start_deep(self, *, is_around: bool) -> None:
        """Count an element that is nested too deep."""
        if is_around:
            self.around += 1
        else:
            self.inside += 1

    def end_deep(self, *, is_around: bool) -> bool:
        """Tell whether an end tag is that of an element that was only counted."""
        if self.inside:
            self.inside -= 1
        elif self.around and is_around:
            self.around -= 1
        else:
            return False
        return True
