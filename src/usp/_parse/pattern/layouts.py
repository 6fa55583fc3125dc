"""Layouts of rows that several shapes of entries share, and those that are kept across documents.

Entries with and without a date fit into one layout, so that they are one run.
"""

from typing import Final

from usp._parse.pattern.layout import Element, RowLayout
from usp._parse.values.bounded_cache import keep

MAX_COLUMNS: Final = 64
"""How many columns a layout of several shapes has, and any layout that is kept."""
_MAX_KEPT: Final = 1024
_MAX_LAYOUTS: Final = 16
"""How many layouts are kept in all, and in one table."""

LayoutElements = tuple[Element, ...]

_layouts: dict[LayoutElements, RowLayout] = {}


def layout_of(elements: LayoutElements) -> RowLayout:
    """Return the layout of these elements, the same as in other documents."""
    layout = _layouts.get(elements)
    if layout is None:
        layout = RowLayout(elements)
        if len(layout.keys) <= MAX_COLUMNS:
            keep(_layouts, elements, layout, _MAX_KEPT)
    return layout


def forget_layouts() -> None:
    """Forget everything: what is read next starts as in a new process."""
    _layouts.clear()


class LayoutTable:
    """Few layouts that cover the elements of many shapes."""

    def __init__(self) -> None:
        self._layouts: list[LayoutElements] = []

    def cover(self, elements: LayoutElements) -> tuple[LayoutElements, bool]:
        """Return a layout with these elements: one that is there or grows, or a new one.

        Also return whether those of other shapes have changed.
        """
        layouts = self._layouts
        for layout in layouts:
            if positions_in(layout, elements) is not None:
                return layout, False
        for at, layout in enumerate(layouts):
            merged = _merged(layout, elements)
            if sum(map(len, merged)) <= MAX_COLUMNS and _repeats_nothing(merged, layout, elements):
                layouts[at] = merged
                return merged, True
        is_full = len(layouts) >= _MAX_LAYOUTS
        if is_full:
            layouts.clear()
        if sum(map(len, elements)) <= MAX_COLUMNS:
            layouts.append(elements)
        return elements, is_full


def _repeats_nothing(merged: LayoutElements, *parts: LayoutElements) -> bool:
    """Tell whether no element is in a layout twice because two shapes have another order."""
    return all(
        merged.count(element) <= max(part.count(element) for part in parts) for element in merged
    )


def positions_in(layout: LayoutElements, elements: LayoutElements) -> list[int] | None:
    """Return where elements are among those of a layout, in order; None if some aren't there."""
    found: list[int] = []
    at = 0
    for element in elements:
        try:
            at = layout.index(element, at)
        except ValueError:
            return None
        found.append(at)
        at += 1
    return found


def _merged(ours: LayoutElements, theirs: LayoutElements) -> LayoutElements:
    """Return elements that cover both, each in its own order."""
    merged: list[Element] = []
    at = 0
    for element in theirs:
        if element not in ours[at:]:
            merged.append(element)
            continue
        found = ours.index(element, at)
        merged += ours[at : found + 1]
        at = found + 1
    return (*merged, *ours[at:])
