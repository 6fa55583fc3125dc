"""Where entries start and end, by the form of their tags in bytes, whatever they contain."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from usp._parse.values.text import CONTROL_BYTES
from usp._parse.xml.grammar import Grammar

_PREFIX: Final = rb"(?!(?:image|news|video|media|itunes):)(?:[\w.-]+:)?"
"""Any prefix but those of extensions, which have elements of the same names."""
_MAX_TAG: Final = 64
"""How many bytes of a start tag are looked at, if there are control characters in it."""
_ROOT_END: Final = rb"</(?:[\w.-]+:)?(?:urlset|sitemapindex|channel|rss|rdf|feed)\s*>"


@dataclass(frozen=True, slots=True)
class EntryBoundaries:
    """Patterns of the tags of one format's entries."""

    starts: re.Pattern[bytes]
    roots: re.Pattern[bytes]
    """The start tag of a root element, up to the end of its name."""
    root_ends: re.Pattern[bytes]
    starts_or_roots: re.Pattern[bytes]
    starts_or_root_ends: re.Pattern[bytes]
    resume_inside: re.Pattern[bytes]
    """Where reading may resume after a fault between entries, inside of a root element: at an
    entry, at a URL, or where the root element ends."""
    resume_outside: re.Pattern[bytes]
    """The same outside of it: at an entry, at a URL, or where another root element starts."""
    ends: re.Pattern[bytes]
    """An entry's end tag (group 1)."""
    any_boundary: re.Pattern[bytes]
    """An entry's end tag (group 1), or what shows that it is missing: the start of the next entry,
    the end of the root element, or the start of another one."""

    def resume_points(self, *, in_root: bool, many: bool) -> re.Pattern[bytes]:
        """Return where reading may resume after a fault between entries, or after many of them."""
        if many:
            return self.starts_or_root_ends if in_root else self.starts_or_roots
        return self.resume_inside if in_root else self.resume_outside

    def is_start(self, data: bytes, at: int) -> bool:
        """Tell whether an entry or a root element starts here.

        A control character in the tag of an entry is no part of it: ``recovery`` removes it.
        """
        if self.starts_or_roots.match(data, at):
            return True
        if not data.startswith(b"<", at):
            return False
        tag = data[at : at + _MAX_TAG]
        without = tag.translate(None, CONTROL_BYTES)
        return len(without) < len(tag) and self.starts.match(without) is not None

    def occur_in(self, written: str) -> bool:
        """Tell whether what looks like the start or the end of an entry is in a text."""
        if "<" not in written:
            return False
        data = written.encode("utf-8", "surrogateescape")
        return bool(self.starts.search(data) or self.ends.search(data))


def boundaries_for(grammar: Grammar) -> EntryBoundaries:
    """Return the boundaries of the entries of a format."""
    roots = tuple(sorted(grammar.roots))
    return _boundaries(tuple(grammar.entries), roots, grammar.implied_entry is not None)


@cache
def _boundaries(entries: tuple[str, ...], roots: tuple[str, ...], implied: bool) -> EntryBoundaries:
    names, root_names = "|".join(entries).encode(), "|".join(roots).encode()
    start = rb"<\s{0,9}+%s(?:%s)(?=[^\w.:-])" % (_PREFIX, names)
    start_or_loc = rb"<\s{0,9}+%s(?:%s|loc)(?=[^\w.:-])" % (_PREFIX, names)
    end = rb"<(\s{0,9}+/\s{0,9}+%s(?:%s)\s*>)" % (_PREFIX, names)
    root = rb"<\s{0,9}+(?:[A-Za-z_][\w.-]*:)?(?:%s)(?=[^\w.:-])" % root_names
    root_end = rb"<\s{0,9}+/\s{0,9}+(?:[\w.-]+:)?(?:%s)\s*>" % root_names
    point = start_or_loc if implied else start
    patterns = (
        start,
        root,
        root_end,
        _any_of(start, root),
        _any_of(start, root_end),
        _any_of(point, root_end),
        _any_of(point, root),
        end,
        _any_of(end, start, _ROOT_END, root),
    )
    return EntryBoundaries(*(re.compile(pattern, re.IGNORECASE) for pattern in patterns))


def _any_of(*tags: bytes) -> bytes:
    """Return a pattern of several tags that tries nothing at the first of two ``<``."""
    return rb"<(?!<)(?:%s)" % b"|".join(tag.removeprefix(b"<") for tag in tags)


_BLANKS: Final = re.compile(rb"(?:[ \t\r\n]++|<!--(?:[!-,.-~ \t\r\n]|-[!-,.-~ \t\r\n])*+-->)*+")
"""Blanks and comments."""
_NEXT_END_TAG: Final = re.compile(_BLANKS.pattern + rb"</([^<>/\s]++)>")


def only_ends_are_left(data: bytes, begin: int, path: Sequence[str]) -> bool:
    """Whether nothing follows but the end tags of these elements, given from the outermost on.

    There may be blanks and comments between them.
    """
    for name in reversed(path):
        tag = _NEXT_END_TAG.match(data, begin)
        if tag is None or tag[1] != name.encode():
            return False
        begin = tag.end()
    return _BLANKS.fullmatch(data, begin) is not None
