"""Plain values: those that need no cleaning or resolving, as nearly all do.

They are taken as they are written.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, cast

LETTERS: Final = (
    # Outside of ASCII, without blanks, controls, zero-width characters and private ones.
    r"\u00a1-\u00ac\u00ae-\u167f\u1681-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff"
    r"\u3001-\ud7ff\uf900-\ufdff\ufe10-\ufefe\uff00-\ufffc"
)
_HOST: Final = r"https?://[A-Za-z0-9.-]++(?::[0-9]{1,5}+)?"
_ASCII: Final = "!-%'-:=?-~"
"""What a URL consists of, but for ``&`` and ``;``: with both of them, it may contain an entity."""
_is_plain_ascii: Final = re.compile(rf"{_HOST}(?:[/?#](?:[{_ASCII};]*+|[{_ASCII}&]*+))?").fullmatch

CUT_SCHEME: Final = r"h(?:t(?:t(?:p(?:s?:/{0,2}+|s)?)?)?)?"
"""The pattern of what is left of a URL that ends inside of its scheme, or right after it."""

is_plain_path: Final = re.compile(r"(?!//)[A-Za-z0-9./_~-][A-Za-z0-9./_~?=%#+,$*-]*+").fullmatch
"""Tells whether a relative URL is plain: one without a host."""

BLANKS: Final = " \t\r\n"
"""The whitespace of XML: where it surrounds a URL or a date, it means nothing."""
SEPARATOR: Final = "\0"
"""Stands between texts that are matched at once: no text of a document contains it."""
_origin: Final = re.compile(rf"{SEPARATOR}https?://[A-Za-z0-9.-]++/").match
_PLAIN_BYTES: Final = bytes({0, *range(ord("!"), ord("~") + 1)} - {*b"<>"})
"""What plain URLs consist of, and the separator."""


def is_plain_url(url: str) -> bool:
    """Tell whether a URL is plain."""
    if url.isascii():
        return _is_plain_ascii(url) is not None
    return SEPARATOR not in url and are_plain_urls([url])


def are_plain_urls(urls: Sequence[str]) -> bool:
    """Tell whether all of these URLs are plain: much faster than one by one."""
    together = SEPARATOR.join(["", *urls])
    if _are_usual(together, len(urls)):
        return True
    letters = "" if together.isascii() else LETTERS
    return _match_of_plain_urls(letters)(together[1:] + SEPARATOR) is not None


@cache
def _match_of_plain_urls(letters: str) -> Callable[[str], object]:
    """Return what matches plain URLs, each with a separator after it.

    It is compiled when it is needed: most URLs are known to be plain without it.
    """
    path = rf"[{_ASCII}{letters};]*+(?={SEPARATOR})|[{_ASCII}{letters}&]*+"
    return re.compile(rf"(?:{_HOST}(?:[/?#](?:{path}))?+{SEPARATOR})*+").fullmatch


def are_plain_or_absent(texts: Sequence[str | None]) -> bool:
    """Tell whether all of these texts are plain URLs, but for those that are None."""
    if None not in texts:
        return are_plain_urls(cast("Sequence[str]", texts))
    urls = [text for text in texts if text is not None]
    return not urls or are_plain_urls(urls)


def _are_usual(together: str, count: int) -> bool:
    """Tell whether URLs are plain and of one origin, as nearly always: half of the time."""
    origin = _origin(together)
    return (
        origin is not None
        and together.isascii()
        and together.count(origin[0]) == count
        and not together.encode().translate(None, _PLAIN_BYTES)
        and ("&" not in together or ";" not in together)
    )
