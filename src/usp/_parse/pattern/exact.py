"""Exact patterns: for entries that are written alike to the last blank, as generators write them.

Most sitemaps consist of nothing else. One regular expression splits many such entries at once, into
columns of their texts: that takes a third of the time of splitting them into tags and texts. To
compile it takes as long as it saves with some hundred entries, so it is compiled when as many were
seen, in one document or in several.

An entry that it matches has the tags of a known shape, and nothing but the same blanks where there
is no text. What expat would reject in its texts is excluded by the pattern (``<``), or looked for
in the whole block: see ``PatternReader``.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from usp._parse.pattern.fits import ABSENT, Fit
from usp._parse.pattern.layout import ColumnTexts
from usp._parse.pattern.shape import MARKED, TAG, declares_namespace
from usp._parse.pattern.text_conversion import convert_texts
from usp._parse.values.bounded_cache import keep

_ENTRIES: Final = 250
"""So many entries that are written alike must have been seen."""
_MAX_KEPT: Final = 256
_MAX_LENGTH: Final = 4096
"""How many exact patterns are kept, and how long an entry is that has one."""
_TEXT: Final = "[^<]*+"
_VALUE: Final = '[^<"\n\t\r]*+'
"""XML makes blanks of line ends in a value."""


@dataclass(frozen=True, slots=True)
class ExactPattern:
    """Splits entries of one fit that are written alike."""

    fit: Fit
    split: Callable[[str], list[str | None]]
    """Returns what is before each entry, which must be nothing, and the texts of that entry."""
    groups: tuple[int, ...]
    """The number of the group with the text of each column; negative for one of ``ABSENT``."""
    width: int
    """How many strings an entry becomes."""

    def columns(self, written: str, *, is_literal: bool) -> tuple[list[ColumnTexts], int, bool]:
        """Return the columns of the first entries of a text, how many these are, and if all are.

        :param is_literal: whether there are no references or line ends to convert.
        """
        parts, width = self.split(written), self.width
        gaps = parts[::width]
        count = len(gaps) - 1
        is_whole = gaps.count("") == len(gaps)
        if not is_whole:
            count = next(at for at, gap in enumerate(gaps) if gap)
        columns: list[ColumnTexts] = []
        for group in self.groups:
            if group < 0:
                columns.append([ABSENT[group]] * count)
                continue
            texts: list[str] = parts[group : count * width : width]  # type: ignore[assignment]
            columns.append(texts if is_literal else convert_texts(texts, []))
        return columns, count, is_whole


class _Repetition:
    """How often entries were seen that are written alike, and their pattern."""

    __slots__ = ("count", "pattern")

    def __init__(self) -> None:
        self.count = 0
        self.pattern: ExactPattern | None = None


_repetitions: dict[tuple[Fit, tuple[str, ...]], _Repetition] = {}
"""By the fit of entries, and the blanks in them."""


def exact_pattern(fit: Fit, written: str, texts: Sequence[str], count: int) -> ExactPattern | None:
    """Return the exact pattern of an entry; None if there is none, or not yet.

    :param written: the entry, and the blanks before it.
    :param texts: the texts of it.
    :param count: how many entries of this fit were read together with it.
    """
    if len(written) > _MAX_LENGTH:
        return None
    key = fit, tuple(texts[at] for at in fit.gap_texts)
    known = _repetitions.get(key)
    if known is None:
        known = _Repetition()
        keep(_repetitions, key, known, _MAX_KEPT)
    before, known.count = known.count, known.count + count
    if before < _ENTRIES <= known.count:
        known.pattern = _compile(fit, written)
    return known.pattern


def _compile(fit: Fit, written: str) -> ExactPattern | None:
    """Return the pattern of entries that are written as this one is."""
    *parts, _ = written.replace("<", MARKED).split(">")
    texts, tags = parts[::2], [tag.removeprefix(TAG) for tag in parts[1::2]]
    if any("'" in tag for tag in tags):
        return None
    used = {at for at in fit.row_texts if at >= 0}
    order: list[int] = []
    pieces = list(_pieces(fit, texts, tags, used, order))
    if not order:
        return None
    groups = tuple(order.index(at) + 1 if at >= 0 else at for at in fit.row_texts)
    return ExactPattern(fit, re.compile("".join(pieces)).split, groups, len(order) + 1)


def _pieces(
    fit: Fit, texts: Sequence[str], tags: Sequence[str], used: set[int], order: list[int]
) -> Iterator[str]:
    """Yield the pieces of the expression; add the texts and values that have groups, in order."""
    gaps, value = {*fit.gap_texts}, fit.length

    def free(at: int, expression: str) -> str:
        if at not in used:
            return expression
        order.append(at)
        return f"({expression})"

    for at, (text, tag) in enumerate(zip(texts, tags, strict=True)):
        yield re.escape(text) if at in gaps else free(at, _TEXT)
        before, *others = tag.split('"')
        yield f"<{re.escape(before)}"
        for number, other in enumerate(others):
            # Names depend on a namespace: it is a part of the shape.
            if number % 2 or declares_namespace(f'{before}"'):
                yield f'"{re.escape(other)}'
            else:
                yield f'"{free(value, _VALUE)}'
                value += 1
            before = other
        yield ">"


def forget_exact_patterns() -> None:
    """Forget all of them."""
    _repetitions.clear()
