"""Reads the fields of a page from the groups of a match.

A page of the pattern reader holds the groups of its match. Which groups a field needs is the same
for all entries of a layout, so it is decided once. A field for which that isn't clear is read from
the record, as the expat reader's are.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Final

from usp._parse.formats.field_reader import FieldReader, GroupedField
from usp._parse.pattern.groups import NOWHERE, GroupLayout, Groups, MatchRecord
from usp._parse.pattern.text_conversion import TextConversion
from usp._parse.values.bounded_cache import MAX_CACHED_LENGTH
from usp.objects.page import PageFieldReader, SitemapPage

Read = Callable[[Groups], object]

_FIELDS: Final = frozenset(
    vars(PageFieldReader).keys() & {*SitemapPage._fields, *SitemapPage._uncompared}
)
_REMEMBERED: Final = 1024
"""How many different short texts of one field are cached."""


class MatchFieldReaders:
    """Reads the fields of pages from matches of one layout: a function of groups for each field."""

    def __init__(
        self, fields: FieldReader, layout: GroupLayout, conversion: TextConversion
    ) -> None:
        self._meaning = fields
        self._layout = layout
        self._conversion = conversion

    def __getattr__(self, name: str) -> Read:
        """Return the function of a field; made on first access, since most are never read."""
        if name not in _FIELDS:
            raise AttributeError(name)
        read = self._quick_reader(name) or self._reader(name)
        setattr(self, name, read)
        return read

    def has_later_fields(self, _groups: Groups) -> bool:
        """Tell whether there may be fields that 1.8.1 doesn't read."""
        return any(map(self._layout.may_have, self._meaning.more_keys))

    def _reader(self, field: str) -> Read:
        fields, layout, conversion = getattr(self._meaning, field), self._layout, self._conversion
        return lambda groups: fields(MatchRecord(layout, groups, conversion))

    def _quick_reader(self, field: str) -> Read | None:
        """Return the function of a field whose groups are known; None if they aren't."""
        if grouped := self._meaning.grouped.get(field):
            return self.group_reader(grouped)
        key, understand = self._meaning.single_texts.get(field, ("", str))
        return self._text_reader(key, understand) if key else None

    def _text_reader(self, key: str, understand: Callable[[str], object]) -> Read | None:
        place = self._layout.only(key)
        if key not in self._layout.keys:
            nothing = understand("")
            return lambda _: nothing
        if place is None:
            return None
        if key in self._meaning.repeated_keys:
            known = _Known(understand, self._conversion)
            return lambda groups: known[groups[place]]
        if self._layout.plain:
            return lambda groups: understand(groups[place] or "")
        mark, convert = self._conversion

        def read(groups: Groups) -> object:
            text = groups[place] or ""
            return understand(convert(text) if mark in text else text)

        return read

    def group_reader(self, grouped: GroupedField) -> Read | None:
        """Return the function of a field that is built from groups; None if it isn't clear."""
        keys = (grouped.plain_keys if self._layout.plain else ()) or grouped.keys
        part = self._layout.part(grouped.start, grouped.prefix, keys)
        make, base = grouped.make, self._meaning.base
        if part is NOWHERE:
            return lambda _: None
        constant = set(grouped.keys).difference(keys)
        if part is None or not constant <= self._layout.keys:  # such as a link without rel
            return None
        rows = part.rows(plain=self._layout.plain)
        if self._layout.plain:
            make_plain = grouped.make_plain(part.indexes)
            return lambda groups: make_plain(rows(groups))
        pick, (mark, convert) = itemgetter(*part.indexes), self._conversion
        return lambda groups: make(
            [
                tuple([convert(text) if text and mark in text else text for text in pick(row)])
                for row in rows(groups)
            ],
            base,
        )


class _Known(dict[str | None, object]):
    """A bounded cache of parsed texts."""

    def __init__(self, understand: Callable[[str], object], conversion: TextConversion) -> None:
        super().__init__()
        self._understand = understand
        self._conversion = conversion

    def __missing__(self, text: str | None) -> object:
        value = self._understand(self._conversion.text(text or ""))
        if len(self) < _REMEMBERED and len(text or "") <= MAX_CACHED_LENGTH:
            self[text] = value
        return value
