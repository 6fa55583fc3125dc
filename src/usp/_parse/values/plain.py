"""Plain values: those that need no cleaning, decoding or resolving, as nearly all do.

The pattern reader and the expat reader both take them as they are written.
"""

import re
from typing import Final

_HOST: Final = r"https?://[A-Za-z0-9.-]++(?::[0-9]++)?"
is_plain_url: Final = re.compile(
    # With both an & and a ; it may contain an entity.
    rf"{_HOST}(?:[/?#](?:[!-%'-;=?-~]*+|[!-:=?-~]*+))?"
).fullmatch
"""Tells whether a URL is plain."""

# Patterns of values as they are written in a document, in an element or in quotes of either kind.
_PATH: Final = r"[!#-%(-;=?-~]*+(?:&amp;(?![#A-Za-z0-9]*+;)[!#-%(-;=?-~]*+)*+"
"""The only reference in it is ``&amp;``, and decoding that creates no new reference."""
PLAIN_URL: Final = rf"{_HOST}(?:[/?#]{_PATH})?+"
_ORIGIN: Final = re.compile(rf"{_HOST}/")
ANY_TEXT: Final = "[^<]*+"
PLAIN_TEXT: Final = r"[!#-%(-;=?-~][ !#-%(-;=?-~]*+(?<! )"
SAFE_TEXT: Final = r"[ !#-%(-;=?-~]*+"
"""The same, but it may be empty or have spaces around it: for values that are parsed anyway."""


def plain_url_like(url: str) -> str:
    """Return the pattern of a plain URL, for a document in which most have the same origin."""
    origin = _ORIGIN.match(url)
    return rf"(?:{re.escape(origin[0])}{_PATH}|{PLAIN_URL})" if origin else PLAIN_URL


def unescape_plain_url(url: str) -> str:
    """Return a plain URL as it is, given as it is written in a document."""
    return url.replace("&amp;", "&") if "&" in url else url
