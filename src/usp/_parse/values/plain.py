"""Values that mean just what is written, as nearly all of them do.

There is nothing to clean, to decode or to resolve in them, so that both lanes may take them as
they are.
"""

import re
from typing import Final

_HOST: Final = r"https?://[A-Za-z0-9.-]++(?::[0-9]++)?"
is_plain_url: Final = re.compile(
    # With an & and a ; there may be an entity in it.
    rf"{_HOST}(?:[/?#](?:[!-%'-;=?-~]*+|[!-:=?-~]*+))?"
).fullmatch
"""Tells whether a URL is plain."""

# As they are written in a document, in an element or between quotes of either kind.
_PATH: Final = r"[!#-%(-;=?-~]*+(?:&amp;(?![#A-Za-z0-9]*+;)[!#-%(-;=?-~]*+)*+"
"""The only reference in it is ``&amp;``, and what comes of that is no reference again."""
PLAIN_URL: Final = rf"{_HOST}(?:[/?#]{_PATH})?+"
_ORIGIN: Final = re.compile(rf"{_HOST}/")
ANY_TEXT: Final = "[^<]*+"
PLAIN_TEXT: Final = r"[!#-%(-;=?-~][ !#-%(-;=?-~]*+(?<! )"
SAFE_TEXT: Final = r"[ !#-%(-;=?-~]*+"
"""The same with blanks around it, or without anything: what is read by its meaning anyway."""


def plain_url_like(url: str) -> str:
    """Return the pattern of a plain URL, for a document in which most are of the same site."""
    provenance = _ORIGIN.match(url)
    return rf"(?:{re.escape(provenance[0])}{_PATH}|{PLAIN_URL})" if provenance else PLAIN_URL


def unescaped(url: str) -> str:
    """Return the URL that is meant by a plain one as it is written in a document."""
    return url.replace("&amp;", "&") if "&" in url else url
