"""Reads the columns of a table from rows of the pattern reader, many pages at a time.

The rows are turned by 90 degrees: a column of the table is the texts of one column of them, parsed.
Texts that repeat (dates, frequencies, languages) are parsed once. Which column is needed is the
same for all rows of a layout, so it is decided once; a column of the table for which that isn't
clear is read from the records, as those of the expat reader are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from usp._parse.formats.columns import (
    IMAGE_ROWS,
    NEWS,
    PARSE_NEWS,
    READ,
    STORY_ROW,
    priority_value,
    raw_text,
)
from usp._parse.formats.field_reader import FieldReader, GroupedField
from usp._parse.formats.row_fields import grouped_plan
from usp._parse.formats.urlset import ALTERNATES, LINK, is_language
from usp._parse.pattern.layout import EntryRun, RowLayout
from usp._parse.values.bounded_cache import MAX_CACHED_LENGTH
from usp._parse.values.enumerations import change_frequency_word
from usp._parse.values.plain import SEPARATOR
from usp._parse.values.text import text_or_none
from usp._parse.values.timestamps import parse_timestamp

ReadColumn = Callable[[EntryRun], list[Any]]
"""Returns a column of a table, given some entries."""

_PUBLISHED: Final = ("news:publication_date", parse_timestamp)
_TITLE: Final = "news:title"
_TEXTS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "lastmod": ("lastmod", parse_timestamp),
    "lastmod_raw": ("lastmod", raw_text),
    "changefreq": ("changefreq", change_frequency_word),
    "priority": ("priority", priority_value),
    "published_at": _PUBLISHED,
}
"""The columns that are one text of an entry: its key, and its parser."""
_STORY_TEXTS: Final = dict(zip(STORY_ROW.keys, PARSE_NEWS, strict=True))
_STORY_COLUMNS: Final = {name: STORY_ROW.keys[at] for name, at in NEWS.items()}
_PLAIN_LINK: Final = frozenset({LINK, f"{LINK}@rel", f"{LINK}@hreflang", f"{LINK}@href"})
_MAX_CACHED: Final = 4096
"""How many different short texts of one column are cached."""


class RowColumnReader:
    """Reads some columns of a table from rows of one layout."""

    def __init__(self, fields: FieldReader, layout: RowLayout, names: Iterable[str]) -> None:
        self._fields = fields
        self._layout = layout
        self._memo: dict[tuple[str, Callable[[str], Any]], list[Any]] = {}
        """The columns of the rows that are being read: some are used twice."""
        self._has_one_story = not layout.may_have((STORY_ROW.prefix,)) or (
            layout.only(STORY_ROW.start) is not None and grouped_plan(STORY_ROW, layout) is not None
        )
        self._quick: dict[str, ReadColumn] = {}
        self._slow: list[str] = []
        for name in names:
            read = self._reader(name)
            if read is None:
                self._slow.append(name)
            elif read is not _nothing:
                self._quick[name] = read

    def read(self, run: EntryRun) -> dict[str, list[Any]]:
        """Return the columns of some entries, without those that have no values in this layout."""
        self._memo.clear()
        columns = {name: read(run) for name, read in self._quick.items()}
        if self._slow:
            fields = self._fields
            records = list(map(self._layout.record, run.rows))
            for name in self._slow:
                read = READ[name]
                columns[name] = [read(fields, record) for record in records]
        return columns

    def _reader(self, name: str) -> ReadColumn | None:
        """Return what reads a column of the table, if it is clear from which columns of rows."""
        if name in _TEXTS:
            return self._text_reader(*_TEXTS[name])
        if name in _STORY_COLUMNS:
            return self._story_reader(_STORY_COLUMNS[name])
        makers: dict[str, Callable[[], ReadColumn | None]] = {
            "title": self._title_reader,
            "updated_at": self._updated_at_reader,
            "news": self._news_reader,
            "is_news": self._is_news_reader,
            "images": partial(self._group_reader, IMAGE_ROWS),
            "alternates": partial(self._group_reader, ALTERNATES),
            "videos": lambda: None if self._layout.may_have(("video:",)) else _nothing,
            "links": self._links_reader,
        }
        return makers[name]()

    def _text_reader(self, key: str, parse: Callable[[str], Any]) -> ReadColumn | None:
        column = self._layout.only(key)
        if column is None:
            return None if key in self._layout.keys else _nothing
        look_up, memo, name = _Cache(parse).__getitem__, self._memo, (key, parse)
        parse_usual = _ALL_AT_ONCE.get(parse)

        def read(run: EntryRun) -> list[Any]:
            if name not in memo:
                usual = parse_usual(run, column) if parse_usual else None
                memo[name] = usual or list(map(look_up, run.columns[column]))
            return memo[name]

        return read

    def _title_reader(self) -> ReadColumn | None:
        column = self._layout.only(_TITLE)
        if column is None:
            return None if _TITLE in self._layout.keys else _nothing
        return lambda run: list(map(text_or_none, run.columns[column]))

    def _updated_at_reader(self) -> ReadColumn | None:
        lastmod, published = (self._text_reader(*_TEXTS[name]) for name in _DATES)
        if lastmod is None or published is None:
            return None
        if published is _nothing:
            return lastmod
        return lambda run: [
            changed if changed is not None else first
            for changed, first in zip(lastmod(run), published(run), strict=True)
        ]

    def _story_reader(self, key: str) -> ReadColumn | None:
        if not self._has_one_story:
            return None
        return self._title_reader() if key == _TITLE else self._text_reader(key, _STORY_TEXTS[key])

    def _news_reader(self) -> ReadColumn | None:
        readers = [self._story_reader(key) for key in STORY_ROW.keys]
        known = [read for read in readers if read]
        if len(known) < len(readers):
            return None
        nothing = (None,) * len(known)

        def read(run: EntryRun) -> list[Any]:
            stories = zip(*(column(run) for column in known), strict=True)
            return [None if story == nothing else story for story in stories]

        return read

    def _is_news_reader(self) -> ReadColumn | None:
        title, published = self._story_reader(_TITLE), self._story_reader(_PUBLISHED[0])
        if title is None or published is None:
            return None
        return lambda run: [
            headline is not None and date is not None
            for headline, date in zip(title(run), published(run), strict=True)
        ]

    def _group_reader(self, grouped: GroupedField) -> ReadColumn | None:
        if not self._layout.may_have((grouped.prefix,)):
            return _nothing
        plan = grouped_plan(grouped, self._layout)
        if plan is None:
            return None
        fields = self._fields
        columns = [at for at, key in enumerate(self._layout.keys) if key in grouped.url_keys]

        def read(run: EntryRun) -> list[Any]:
            plain = frozenset(filter(run.has_plain_urls, columns))
            return list(map(plan(fields, plain), run.rows))

        return read

    def _links_reader(self) -> ReadColumn | None:
        """Return what reads the links; alternates with just a language and a URL are none."""
        keys, fields, record = self._layout.keys, self._fields, self._layout.record
        if not self._layout.may_have((LINK,)):
            return _nothing
        # A link without a language is another element of the layout.
        links = [{*keys} for keys in self._layout.elements if any(map(_is_of_link, keys))]
        if any(found != _PLAIN_LINK for found in links):
            return None
        rels, languages = (
            [at for at, key in enumerate(keys) if key == f"{LINK}@{name}"]
            for name in ("rel", "hreflang")
        )

        def read(run: EntryRun) -> list[Any]:
            texts = run.columns
            plain = all({"alternate", None}.issuperset(texts[at]) for at in rels) and all(
                is_language(text) for at in languages for text in texts[at] if text is not None
            )
            if plain:
                return _nothing(run)
            return [READ["links"](fields, record(row)) for row in run.rows]

        return read


_DATES: Final = ("lastmod", "published_at")


def _is_of_link(key: str) -> bool:
    return key.startswith(LINK)


def _usual_raw_texts(run: EntryRun, column: int) -> list[str] | None:
    """Return texts that are all just what is written, with nothing to strip; None if one isn't."""
    texts = run.columns[column]
    if run.times(column):
        return list(texts)  # type: ignore[arg-type]  # there is no None in it
    if None in texts:
        return None
    known: Sequence[str] = texts  # type: ignore[assignment]  # there is no None in it
    together = SEPARATOR.join(known)
    is_usual = together.isascii() and not together.encode().translate(None, _USUAL_BYTES)
    return list(known) if is_usual and "" not in known else None


_USUAL_BYTES: Final = bytes({0, *range(ord("!"), ord("~") + 1)} - {*b"@&<"})
"""What texts consist of that need no cleaning, and the separator."""
_ALL_AT_ONCE: Final[Mapping[Callable[[str], Any], Callable[[EntryRun, int], Any]]] = {
    parse_timestamp: EntryRun.times,
    raw_text: _usual_raw_texts,
}
"""What parses a whole column, if all its texts are of the usual form; None if they aren't."""


def _nothing(run: EntryRun) -> list[Any]:
    return [None] * len(run)


class _Cache(dict[str | None, Any]):
    """A bounded cache of parsed texts."""

    def __init__(self, parse: Callable[[str], Any]) -> None:
        super().__init__({None: None})
        self._parse = parse

    def __missing__(self, text: str) -> object:
        value = self._parse(text)
        if len(text) <= MAX_CACHED_LENGTH:
            if len(self) >= _MAX_CACHED:
                self.clear()
                self[None] = None
            self[text] = value
        return value
