"""Many entries of one shape at once: split together, and turned into rows column by column.

Where all entries of a stretch have the same tags, each tag and each text stands at the same
distance from the last one of its kind. So a column of texts is a slice with a step.
"""

from itertools import repeat
from typing import Final

from usp._parse.pattern.fits import ABSENT, Fit
from usp._parse.pattern.layout import Row
from usp._parse.pattern.shape import MARKED, TAG
from usp._parse.pattern.text_conversion import convert_column
from usp._parse.pattern.unsafe import BAD_REFERENCE

_STRETCH: Final = 16 * 1024
"""How many characters are split at once."""


def uniform_rows(text: str, begin: int, end: int, fit: Fit, end_tag: str) -> tuple[list[Row], int]:
    """Return the rows of the next entries, and where they end, if all have the shape of a fit.

    There are no rows if any has another shape, or something that is left to expat.
    """
    stop = text.rfind(end_tag, begin, min(begin + _STRETCH, end)) + len(end_tag)
    stretch = text[begin:stop]
    marked = stretch.replace("<", MARKED)
    parts = marked.split(">")
    period = fit.length + 1
    count, rest = divmod(len(parts) - 1, period)
    expected = [*fit.tag_texts, TAG + end_tag[1:-1]]
    # A "<" that begins no tag would begin a text.
    if count < 1 or rest or len(marked) - len(stretch) != count * len(expected):
        return [], begin
    length = count * period
    for at, tag in enumerate(expected):
        if parts[2 * at + 1 : length : period].count(tag) != count:
            return [], begin
    if "".join(["".join(parts[at:length:period]) for at in fit.gap_parts]).strip():
        return [], begin
    columns = [
        parts[at:length:period] if at >= 0 else repeat(ABSENT[at], count) for at in fit.text_parts
    ]
    if "&" in stretch or "\r" in stretch:
        if BAD_REFERENCE.search(marked):
            return [], begin
        columns = [
            convert_column(column) if isinstance(column, list) else column for column in columns
        ]
    return list(zip(*columns, strict=True)), stop
