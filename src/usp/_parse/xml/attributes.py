"""The attributes of a start tag that is not well-formed XML, and whether one of them is damaged.

Where a piece of a document is missing, the quote that ends a value may be that of another one:
``href="http://h/12="http://h/b"``. Then the value is the beginning of a URL at most, and nobody
knows of which. Such a URL is no page, and neither is any of several that the tag of a page has.
"""

import re
from typing import Final

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


def parse_attributes(written: bytes, *, has_page: bool) -> tuple[dict[str, str], bool]:
    """Return the first value of each attribute, and whether a URL is damaged, which has none.

    :param has_page: whether a URL in an attribute may be that of a page: there is only one then.
    """
    if not written:  # as most tags
        return {}, False
    text = written.decode("utf-8", "replace")
    attributes: dict[str, str] = {}
    damaged: set[str] = set()
    for found in _ATTRIBUTE.finditer(text):
        name = found[1]
        value = decode_entities(remove_control_characters(_value(found)))
        known = attributes.setdefault(name, value)
        is_url = name.rpartition(":")[2].lower() in _URLS
        is_other = has_page and known != value
        if is_url and (is_other or not _is_whole(found, text)):
            damaged.add(name)
    return {name: attributes[name] for name in attributes if name not in damaged}, bool(damaged)


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
