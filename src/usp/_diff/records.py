"""The rows of both sides as lines: sorted, the rows of one URL follow each other.

A line is the key of a URL, then the row: its side and number, so that rows keep their order; the
URL, if it isn't the key; the number of what lists it; the date; the other fields.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, count, repeat
from string import ascii_letters
from typing import Any, Final, NamedTuple

from usp._export.values import is_absent
from usp._inputs.state import FINGERPRINT
from usp._tables.batch import Batch

COMPARED: Final = (
    *("changefreq", "priority", "published_at", "title", "news_publication", "news_language"),
    *("news_genres", "news_keywords", "news_stock_tickers", "images", "videos", "alternates"),
    *("links", FINGERPRINT.name),
)
"""The columns of pages that are compared, beside the date. A state has a fingerprint of all."""
_END: Final = "\0"
"""Between the parts of a line; no key has it."""
_NEXT: Final = "\1"
"""Between the fields of a row."""
_BY_LETTER: Final = dict(zip(ascii_letters, COMPARED, strict=False))
_PAIR: Final = 2
_NUMBER: Final = 10
"""The digits of a row's number: a trillion of them."""
_AFTER_NUMBER: Final = 1 + _NUMBER + len(_END)
_DIGEST: Final = 8
_MAX_KNOWN: Final = 65_536


class PageRow(NamedTuple):
    """One row of a side."""

    url: str
    place: int | None
    """The number of its sitemap; of its site, if no sitemap is known."""
    lastmod: int | None
    fields: str
    """The other fields, as a text that is the same where they are."""

    @property
    def values(self) -> dict[str, str]:
        """What stands for the value of each field that isn't absent."""
        return {_BY_LETTER[one[0]]: one[1:] for one in self.fields.split(_NEXT) if one}


class RowGroup(NamedTuple):
    """All rows of one URL, those of each side in their order."""

    a: list[PageRow]
    b: list[PageRow]


class RecordWriter:
    """Makes the lines of a side."""

    def __init__(self, side: str) -> None:
        """Begin a side.

        :param side: ``a`` or ``b``.
        """
        self._side = side
        self._numbers = count()
        self._known: dict[tuple[str, Any], str] = {}

    def lines(
        self, keys: Sequence[str], urls: Sequence[str], places: Sequence[int | str], batch: Batch
    ) -> list[str]:
        """Return the lines of some rows."""
        side = self._side
        shown = repeat("") if keys is urls else map(_unless_key, urls, keys)
        dates = batch.columns.get("lastmod")
        texts = repeat("") if dates is None else ("" if at is None else at for at in dates)
        rows = zip(keys, self._numbers, shown, places, texts, self._fields(batch), strict=False)
        return [
            f"{key}\0{side}{number:0{_NUMBER}x}\0{url}\0{place}\0{date}\0{fields}"
            for key, number, url, place, date, fields in rows
        ]

    def _fields(self, batch: Batch) -> Iterator[str]:
        columns = [
            [self._token(letter, value) for value in values]
            for letter, name in _BY_LETTER.items()
            if (values := batch.columns.get(name)) is not None and not is_absent(values)
        ]
        return map(_NEXT.join, zip(*columns, strict=True)) if columns else repeat("")

    def _token(self, letter: str, value: Any) -> str:  # noqa: ANN401 -- of any column
        """Return what stands for the value of a field: the letter of the field, and a hash."""
        if value is None:
            return ""
        if isinstance(value, list | tuple):
            return letter + _hashed(_as_tuples(value))
        known = self._known.get((letter, value))
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            known = self._known[letter, value] = letter + _hashed(value)
        return known


def _hashed(value: object) -> str:
    data = repr(value).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=_DIGEST).hexdigest()


def _as_tuples(value: Any) -> Any:  # noqa: ANN401 -- any value of a list
    """Return lists as tuples: one source has the one, another the other."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list | tuple) else value


def _unless_key(url: str, key: str) -> str:
    return "" if url == key else url


def differing_groups(blocks: Iterable[Sequence[str]], found: "SideCounts") -> Iterator[RowGroup]:
    """Yield the rows of each URL whose rows aren't the same in A and B, in the order of the keys.

    :param blocks: the lines in order.
    :param found: counts all URLs.
    """
    key, rows = None, list[str]()
    for line in chain.from_iterable(blocks):
        key_of_line, _, row = line.partition(_END)
        if key_of_line != key:
            if key is not None and not found.are_same(rows):
                yield _group(key, rows)
            key, rows = key_of_line, []
        rows.append(row)
    if key is not None and not found.are_same(rows):
        yield _group(key, rows)


@dataclass(slots=True)
class SideCounts:
    """How many different URLs each side has, and both."""

    a: int = 0
    b: int = 0
    same: int = 0
    """Those that are the same in A and B, with all that is compared."""

    def are_same(self, rows: list[str]) -> bool:
        """Count a URL; tell whether each side has it once, with the same fields."""
        has_a, has_b = rows[0][0] == "a", rows[-1][0] == "b"
        self.a += has_a
        self.b += has_b
        is_pair = len(rows) == _PAIR and has_a and has_b
        if is_pair and rows[0][_AFTER_NUMBER:] == rows[1][_AFTER_NUMBER:]:
            self.same += 1
            return True
        return False


def _group(key: str, rows: list[str]) -> RowGroup:
    sides: dict[str, list[PageRow]] = {"a": [], "b": []}
    for row in rows:
        number, url, place, lastmod, fields = row.split(_END)
        sides[number[0]].append(
            PageRow(
                url or key,
                int(place) if place else None,
                int(lastmod) if lastmod else None,
                fields,
            )
        )
    return RowGroup(sides["a"], sides["b"])
