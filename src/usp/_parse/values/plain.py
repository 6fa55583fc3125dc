"""Plain values: those that need no cleaning or resolving, as nearly all do.

They are taken as they are written.
"""

import re
from collections.abc import Sequence
from typing import Final, cast

LETTERS: Final = (
    # Outside of ASCII, without blanks, controls, zero-width characters and private ones.
    r"\u00a1-\u00ac\u00ae-\u167f\u1681-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u2fff"
    r"\u3001-\ud7ff\uf900-\ufdff\ufe10-\ufefe\uff00-\ufffc"
)
_HOST: Final = r"https?://[A-Za-z0-9.-]++(?::[0-9]{1,5}+)?"
is_plain_url: Final = re.compile(
    # With both an & and a ; it may contain an entity.
    rf"{_HOST}(?:[/?#](?:[!-%'-;=?-~]*+|[!-:=?-~]*+))?"
).fullmatch
"""Tells whether a URL is plain."""

is_plain_path: Final = re.compile(r"[A-Za-z0-9./_~-][A-Za-z0-9./_~?=%#+,$*-]*+").fullmatch
"""Tells whether a relative URL is plain."""

BLANKS: Final = " \t\r\n"
"""The whitespace of XML: where it surrounds a URL or a date, it means nothing."""
SEPARATOR: Final = "\0"
"""Stands between texts that are matched at once: no text of a document contains it."""
_are_plain_urls: Final = re.compile(
    rf"(?:{_HOST}(?:[/?#](?:[!-%'-;=?-~]*+(?={SEPARATOR})|[!-:=?-~]*+))?+{SEPARATOR})*+"
).fullmatch


_origin: Final = re.compile(rf"{SEPARATOR}https?://[A-Za-z0-9.-]++/").match
_PLAIN_BYTES: Final = bytes({0, *range(ord("!"), ord("~") + 1)} - {*b"<>"})
"""What plain URLs consist of, and the separator."""


def are_plain_urls(urls: Sequence[str]) -> bool:
    """Tell whether all of these URLs are plain: much faster than one by one."""
    together = SEPARATOR.join(["", *urls])
    return _are_usual(together, len(urls)) or (
        _are_plain_urls(together[1:] + SEPARATOR) is not None
    )


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
