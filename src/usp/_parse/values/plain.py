"""Plain values: those that need no cleaning or resolving, as nearly all do.

The pattern reader and the expat reader both take them as they are written, but for references.
"""

import re
from typing import Final

LETTERS: Final = (
    # Outside of ASCII, without blanks, controls, zero-width characters and private ones.
    r"\u00a1-\u00ac\u00ae-\u167f\u1681-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff"
    r"\u3001-\ud7ff\uf900-\ufdff\ufe10-\ufefe\uff00-\ufffc"
)
_HOST: Final = r"https?://[A-Za-z0-9.-]++(?::[0-9]++)?"
is_plain_url: Final = re.compile(
    # With both an & and a ; it may contain an entity.
    rf"{_HOST}(?:[/?#](?:[!-%'-;=?-~]*+|[!-:=?-~]*+))?"
).fullmatch
"""Tells whether a URL is plain."""

_PLAIN_REFERENCE: Final = (
    # Such that decoding creates no new reference: of ASCII, only spaces and quotes.
    r"(?:amp;(?![#A-Za-z0-9]*+;)|(?:lt|gt|quot|apos);"
    r"|#(?:0{0,3}3[249]|x2[027]|1[6-9][0-9]|[2-9][0-9]{2}|[1-9][0-9]{3}|[1-4][0-9]{4}"
    r"|12[89][0-9]{3}|x(?:[A-Fa-f][0-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f]{2}"
    r"|[1-9A-Ca-c][0-9A-Fa-f]{3}|1[Ff][0-9A-Fa-f]{3}));)"
)
NOT_PLAIN: Final = (
    # Blanks, controls and zero-width characters outside of ASCII; references that need care. Each
    # with the bytes that it can begin with, which are fast to search for.
    (re.compile("[\x80-\xa0\xad]"), (b"\xc2",)),
    (re.compile("[\u2000-\u200f\u2028-\u202f\u205f-\u206f]"), (b"\xe2\x80", b"\xe2\x81")),
    (re.compile("[\u1680\u3000\ufeff\ufffe\uffff]"), (b"\xe1\x9a", b"\xe3\x80\x80", b"\xef")),
    (re.compile(f"&(?!{_PLAIN_REFERENCE})"), (b"&",)),
)
"""What no plain value contains. It is searched for in a block at once: in each pattern, it would
take milliseconds to compile."""

# Patterns of plain values as they are written in a document.
_IN_PATH: Final = "[!#-%(-;=?-~]*+"
_PATH: Final = rf"{_IN_PATH}(?:&amp;(?![#A-Za-z0-9]*+;){_IN_PATH})*+"
"""The only reference in it is ``&amp;``, and decoding that creates no new reference."""
PLAIN_URL: Final = rf"{_HOST}(?:[/?#]{_PATH})?+"
_NOT_IN_TEXT: Final = r"\x00-\x1f<>\]\x7f"
PLAIN_TEXT: Final = (
    # In an element: "]]>" is not allowed there.
    rf"(?:[^ &{_NOT_IN_TEXT}]|&(?!#)|\](?!\]))(?:[^{_NOT_IN_TEXT}]++|(?<!\])>|\])*+(?<! )"
)
"""A text that begins with something visible and doesn't end in a space. It may have references:
after these are decoded, it is cleaned like any other."""
PLAIN_ATTRIBUTE: Final = r"[^\x00-\x20\x22&'<>\x7f][^\x00-\x1f\x22&'<>\x7f]*+(?<! )"
"""The same in quotes, without references."""
SAFE_TEXT: Final = r"[ !#-%(-;=?-~]*+"
"""A text in ASCII that may be empty or have spaces around it: for values that are parsed anyway."""

ANY_TEXT: Final = r"[^<\]]*+(?:\](?!\]>)[^<\]]*+)*+"
"""Without ``]]>``, which is not allowed in a text."""
_CDATA: Final = "<![CDATA["
_CDATA_END: Final = "]]>"
_START: Final = re.escape(_CDATA)
_END: Final = re.escape(_CDATA_END)
ANY_TEXT_OR_CDATA: Final = (
    # An unclosed section extends to the end, so that no search begins in it.
    rf"(?:[^<\]]++|\](?!\]>)|{_START}[^\]]*+(?:\](?!\]>)[^\]]*+)*+(?:{_END}|\Z))*+"
)
_PLAIN_IN_CDATA: Final = {
    # As in ``is_plain_url``, but a ] may be the end.
    PLAIN_URL: rf"{_HOST}(?:[/?#](?:[!-%'-;=?-\\^-~]*+(?=\])|[!-:=?-\\^-~]*+))?+",
    PLAIN_TEXT: rf"[^ &{_NOT_IN_TEXT}][^&{_NOT_IN_TEXT}]*+(?<! )",
}


def or_in_cdata(pattern: str) -> str:
    """Return the pattern of a plain value that may be in CDATA, where nothing is a reference."""
    inside = _PLAIN_IN_CDATA.get(pattern)
    return rf"(?:{pattern}|{_START}{inside}{_END})" if inside else pattern


def unescape_plain_url(url: str) -> str:
    """Return a plain URL as it is, given as it is written in a document."""
    if url.startswith(_CDATA):
        return url[len(_CDATA) : -len(_CDATA_END)]
    return url.replace("&amp;", "&") if "&" in url else url


def needs_unescaping(urls: str) -> bool:
    """Tell whether any of some plain URLs, in one string, is not just what is written."""
    return "&" in urls or "<" in urls
