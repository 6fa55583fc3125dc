"""The attributes of a start tag that is not well-formed XML, and whether one of them is damaged.

Where a piece of a document is missing, the quote that ends a value may be that of another one:
``href="http://h/12="http://h/b"``. Then the value is the beginning of a URL at most, and nobody
knows of which. Such a URL is no page, and neither is any of several that the tag of a page has.
"""

import re
from typing import Final, NamedTuple

from usp._parse.values.text import decode_entities, remove_control_characters

_NAME: Final = r"[A-Za-z_][\w.:-]*+\s*+="
_ATTRIBUTE: Final = re.compile(
    r"""(?<![\w.:-])([A-Za-z_][\w.:-]*+)\s*+=\s*+(?:"([^"]*)("?)|'([^']*)('?)"""
    r"""|\\["']([^"']*?)\\["']|&quot;(.*?)&quot;"""
    "|[\u2018-\u201f]([^\u2018-\u201f]*)[\u2018-\u201f]"
    r"""|([^\s"'>]+))"""
)
_VALUES: Final = (2, 4, 6, 7, 8, 9)
"""The groups of the values; the quote that ends one of the first two is in the next group."""
_AFTER_VALUE: Final = re.compile(rf"[\s/?]|\Z|{_NAME}")
"""What follows a value: in HTML, another attribute may follow without a space."""
_URLS: Final = frozenset({"href", "url", "about"})
"""The attributes whose value is a URL, by their names without a prefix."""
_RELATION: Final = "rel"
"""The attribute that says whether a link is the page."""
_BETWEEN: Final = re.compile(r"[\s/?,;]*+")
"""What may stand between attributes; some templates write them as a list."""
_WORDS: Final = re.compile(r"(?:[\s/?,;]++|[A-Za-z_][\w.:-]*+)*+")
"""The same with words, which are attributes without a value in HTML."""


class WrittenAttributes(NamedTuple):
    """The attributes of a start tag."""

    values: dict[str, str]
    """The first value of each."""
    lost_url: bool = False
    """Whether a URL is damaged: it has no value then."""
    has_junk: bool = False
    """Whether there is something between them that is no attribute, or a quote is not closed."""


def parse_attributes(written: bytes, *, has_page: bool) -> WrittenAttributes:
    """Return the attributes of a start tag.

    :param has_page: whether a URL in an attribute may be that of a page: there is only one then,
        and its other attributes decide whether it is.
    """
    if not written:  # as most tags
        return WrittenAttributes({})
    text = written.decode("utf-8", "replace")
    attributes: dict[str, str] = {}
    damaged: set[str] = set()
    urls: set[str] = set()
    end, has_junk, is_broken = 0, False, False
    # Whether the URL, or what says that it is the page, comes after junk; whether it has no quotes.
    is_guess, is_bare = False, False
    for found in _ATTRIBUTE.finditer(text):
        name = found[1]
        value = decode_entities(remove_control_characters(_value(found)))
        known = attributes.setdefault(name, value)
        local = name.rpartition(":")[2].lower()
        is_other = has_page and known != value
        has_junk |= not _BETWEEN.fullmatch(text, end, found.start())
        is_broken |= not _WORDS.fullmatch(text, end, found.start())
        is_broken |= is_other and local == _RELATION
        is_guess |= is_broken and (local in _URLS or local == _RELATION)
        is_broken |= not _is_closed(found)
        end = found.end()
        if local in _URLS:
            urls.add(name)
            is_bare |= found[_VALUES[-1]] is not None
            if is_other or not _is_whole(found, text):
                damaged.add(name)
    has_junk |= not _BETWEEN.fullmatch(text, end)
    is_broken |= not _WORDS.fullmatch(text, end)
    if has_page and (is_guess or (is_bare and is_broken)):  # which value is whose
        damaged = urls
    values = {name: attributes[name] for name in attributes if name not in damaged}
    return WrittenAttributes(values, bool(damaged), has_junk or is_broken)


def _is_closed(found: re.Match[str]) -> bool:
    """Tell whether a value has its second quote."""
    return found[3] != "" and found[5] != ""


def _value(found: re.Match[str]) -> str:
    return next(value for group in _VALUES if (value := found[group]) is not None)


def _is_whole(found: re.Match[str], text: str) -> bool:
    """Tell whether a value in quotes ends where it should."""
    if found[3] is None and found[5] is None:
        return True  # in other quotes, or in none
    if not (found[3] or found[5]):
        return False
    after = _AFTER_VALUE.match(text, found.end())
    if after is None:
        return False
    # Else the quote may be the first one of another value.
    return not after[0].endswith("=") or not _value(found).endswith("=")
