"""Lines of text made of columns.

A value that is the same in all rows, as most are in a batch of one sitemap, becomes part of the
line; only the others are filled in for each row. This takes a third of the time of ``csv`` and
``json``, which go from value to value.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from usp._tables.batch import Values

CellTexts = str | Sequence[Any]
"""The text of a column: one for all rows, or one for each (whose ``str()`` it is)."""


def is_constant(values: Values) -> bool:
    """Tell whether all values of a column are the same."""
    return values.count(values[0]) == len(values)


def join_lines(columns: Iterable[tuple[str, CellTexts]], end: str, length: int) -> str:
    """Return the lines of some rows.

    :param columns: for each column, what comes before its value, and the values.
    :param end: what comes after the last value of a line.
    :param length: the number of rows.
    """
    pieces: list[tuple[str, Sequence[Any]]] = []  # each with what is the same in all rows before it
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
        parts[2 * at + 1 :: width] = _strings(texts)
    return "".join(parts)


def _strings(values: Sequence[Any]) -> Sequence[str]:
    kinds = set(map(type, values))
    if kinds == {str}:
        return values
    if kinds == {float} and 0 not in (known := {value: str(value) for value in set(values)}):
        return [known[value] for value in values]  # 0.0 is also -0.0
    return list(map(str, values))
