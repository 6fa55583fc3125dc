"""Lines of text made of columns.

A value that is the same in all rows, as most are in a batch of one sitemap, becomes part of the
line; only the others are filled in for each row. This takes a third of the time of ``csv`` and
``json``, which go from value to value.
"""

from collections.abc import Iterable, Sequence

from usp._tables.batch import Values

CellTexts = str | Sequence[str]
"""The text of a column: one for all rows, or one for each."""


def is_constant(values: Values) -> bool:
    """Tell whether all values of a column are the same."""
    # Of those that differ, the last is rarely like the first: that one look is enough for most.
    return values[0] == values[-1] and values.count(values[0]) == len(values)


def join_lines(columns: Iterable[tuple[str, CellTexts]], end: str, length: int) -> str:
    """Return the lines of some rows.

    :param columns: for each column, what comes before its value, and the values.
    :param end: what comes after the last value of a line.
    :param length: the number of rows.
    """
    pieces: list[tuple[str, Sequence[str]]] = []  # each with what is the same in all rows before it
    same = ""
    for before, texts in columns:
        if isinstance(texts, str):
            same += before + texts
        else:
            pieces.append((same + before, texts))
            same = ""
    same += end
    width = 2 * len(pieces) + 1
    parts = [same] * (width * length)
    for at, (before, texts) in enumerate(pieces):
        parts[2 * at :: width] = [before] * length
        parts[2 * at + 1 :: width] = texts
    return "".join(parts)


def number_texts(values: Values, absent: str) -> Sequence[str]:
    """Return numbers as text; the same few priorities are in most rows."""
    kinds = {*map(type, values)}
    if kinds == {float} and 0 not in (known := {value: str(value) for value in {*values}}):
        return [known[value] for value in values]  # 0.0 is also -0.0
    if type(None) in kinds:
        return [absent if value is None else str(value) for value in values]
    return list(map(str, values))
