"""Reads the fields of a page from a row of the pattern reader.

Which columns a field needs is the same for all rows of a layout, and for all documents of a format,
so it is decided once. A field for which that isn't clear is read from the record, as those of the
expat reader are.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Final

from usp._parse.formats.field_reader import FieldReader, GroupedField, Texts, resolve_against
from usp._parse.pattern.layout import Element, EntryRun, Row, RowLayout
from usp._parse.values.bounded_cache import MAX_CACHED_LENGTH
from usp.objects.page import CORE_FIELDS, PageFieldReader, SitemapPage

Read = Callable[[Row], object]
Plain = frozenset[int]
"""The columns that have plain URLs only, or None."""
Plan = Callable[[FieldReader, Plain], Read]
"""Makes the function of a field, for the documents of a format."""

_FIELDS: Final = frozenset(
    vars(PageFieldReader).keys() & {*SitemapPage._fields, *SitemapPage._uncompared}
)
_NONE_PLAIN: Final[Plain] = frozenset()
_REMEMBERED: Final = 1024
"""How many different short texts of one field are cached."""


class RowFieldReader:
    """Reads the fields of pages of one document from rows with one layout and these plain columns.

    A field is a function of a row; it is made on first access, since most are never read. Those
    that need nothing of the document are made once for all documents.
    """

    def __init__(self, fields: FieldReader, layout: RowLayout, plain: Plain) -> None:
        shared: dict[str, Read] = layout.notes.setdefault(type(fields), {})
        self.__dict__.update(shared)
        key = type(fields), "first values"
        if key not in layout.notes:
            layout.notes[key] = _first_values(fields, layout)
        self.first_values: tuple[object, ...] = layout.notes[key]
        self._fields = fields
        self._layout = layout
        self._plain = plain

    def __getattr__(self, name: str) -> Read:
        if name not in _FIELDS:
            raise AttributeError(name)
        fields, layout = self._fields, self._layout
        read = _shared_reader(name, fields, layout)
        if read:
            layout.notes[type(fields)][name] = read
        else:
            key = type(fields), name
            plan: Plan | None = layout.notes.get(key)
            if plan is None:
                plan = layout.notes[key] = _plan(name, fields, layout)
            read = plan(fields, self._plain)
        setattr(self, name, read)
        return read

    def has_later_fields(self, _row: Row) -> bool:
        """Tell whether there may be fields that 1.8.1 doesn't read."""
        return self._layout.may_have(self._fields.more_keys)


def _first_values(fields: FieldReader, layout: RowLayout) -> tuple[object, ...]:
    """Return what the fields of pages are before they are read: those that no row has are known."""
    found: list[object] = []
    for name, known in zip(CORE_FIELDS, fields.first_values, strict=True):
        grouped, single = fields.grouped.get(name), fields.single_texts.get(name)
        if grouped and not layout.may_have((grouped.prefix,)):
            found.append(None)
        elif single and single[0] not in layout.keys:
            found.append(single[1](""))
        else:
            found.append(known)
    return tuple(found)


def plain_columns(fields: FieldReader, run: EntryRun) -> Plain:
    """Return which columns of URLs in groups, such as those of images, have plain ones only."""
    key = type(fields), "urls"
    columns: list[int] | None = run.layout.notes.get(key)
    if columns is None:
        url_keys = frozenset[str]().union(*(field.url_keys for field in fields.grouped.values()))
        keys = enumerate(run.layout.keys)
        columns = run.layout.notes[key] = [column for column, name in keys if name in url_keys]
    if not columns:
        return _NONE_PLAIN
    return frozenset(filter(run.has_plain_urls, columns))


def _shared_reader(name: str, fields: FieldReader, layout: RowLayout) -> Read | None:
    """Return the function of a field that needs nothing of the document; None for another."""
    if name not in fields.single_texts:
        return None
    key, parse = fields.single_texts[name]
    column = layout.only(key)
    if column is None:
        return None
    if key in fields.repeated_keys:
        known = _Known(parse)
        return lambda row: known[row[column]]
    return lambda row: parse(row[column] or "")


def _plan(name: str, fields: FieldReader, layout: RowLayout) -> Plan:
    """Return how a field is read from the rows of a layout."""
    grouped = fields.grouped.get(name)
    plan = grouped_plan(grouped, layout) if grouped else None
    return plan or _record_plan(name, layout)


def _record_plan(name: str, layout: RowLayout) -> Plan:
    def plan(fields: FieldReader, _plain: Plain) -> Read:
        read, record = getattr(fields, name), layout.record
        return lambda row: read(record(row))

    return plan


def grouped_plan(grouped: GroupedField, layout: RowLayout) -> Plan | None:
    """Return how a field that is built from groups is read; None if that isn't clear."""
    found: list[tuple[int, Callable[[Row], Texts]]] = []
    all_columns: list[list[int | None]] = []
    urls: set[int] = set()
    for element, column in layout.columns():
        if not any(key.startswith(grouped.prefix) for key in element):
            continue
        if not _is_whole(grouped, element):
            return None
        indexes = [element.index(key) if key in element else None for key in grouped.keys]
        columns = [None if at is None else column + at for at in indexes]
        found.append((column, _picker(columns)))
        all_columns.append(columns)
        urls.update(column + at for at, key in enumerate(element) if key in grouped.url_keys)
    if not found:
        return lambda _, _plain: lambda _: None
    make, make_plain = grouped.make, grouped.make_plain
    by_key = [_picker(list(columns)) for columns in zip(*all_columns, strict=True)]

    def plan(fields: FieldReader, plain: Plain) -> Read:
        is_plain = plain.issuperset(urls)
        resolve = _as_written if is_plain else resolve_against(fields.base)

        def read(row: Row) -> object:
            return make([pick(row) for at, pick in found if row[at] is not None], resolve)

        def read_plain(row: Row) -> object:
            return (make_plain and make_plain(*[pick(row) for pick in by_key])) or read(row)

        chosen = read_plain if make_plain and is_plain else read
        if len(found) > 1:
            return chosen
        only = found[0][0]  # which most entries lack where some have one image
        return lambda row: None if row[only] is None else chosen(row)

    return plan


def _as_written(text: str | None) -> str:
    return text or ""


def _is_whole(grouped: GroupedField, element: Element) -> bool:
    """Tell whether an element of a layout is one group of a field, and nothing else."""
    if element.count(grouped.start) != 1:
        return False
    if grouped.is_of_attributes:
        *attributes, last = element
        return last == grouped.start and all("@" in key for key in attributes)
    return element[0] == grouped.start


def _picker(columns: list[int | None]) -> Callable[[Row], Texts]:
    """Return a function that picks these columns of a row; None gives None."""
    present = [column for column in columns if column is not None]
    if len(present) == len(columns) > 1:
        return itemgetter(*present)
    if len(columns) == 1:
        return lambda row: (row[present[0]],) if present else (None,)
    pick = itemgetter(*[-1 if column is None else column for column in columns])
    return lambda row: pick((*row, None))


class _Known(dict[str | None, object]):
    """A bounded cache of parsed texts."""

    def __init__(self, parse: Callable[[str], object]) -> None:
        super().__init__()
        self._parse = parse

    def __missing__(self, text: str | None) -> object:
        value = self._parse(text or "")
        if len(self) < _REMEMBERED and len(text or "") <= MAX_CACHED_LENGTH:
            self[text] = value
        return value
