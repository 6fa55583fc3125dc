"""What a text means as a value: URLs, numbers, words, lists. Dates have a file of their own.

A value that isn't understood is None, never an exception and never a guess.
"""

import re
from collections.abc import Callable
from decimal import Decimal, DecimalException
from html import unescape
from html.entities import html5
from typing import Final
from urllib.parse import urljoin, urlsplit

from usp._parse.diagnostics import Diagnostics
from usp._parse.values.bounded_cache import bounded_cache
from usp._parse.values.plain import is_plain_url
from usp._parse.values.strip_url_junk import strip_url_junk
from usp.objects.page import SITEMAP_PAGE_DEFAULT_PRIORITY, SitemapPageChangeFrequency

# Zero-width blanks and the byte order mark, which str.strip() doesn't know, and those it does.
_BLANKS: Final = "\u200b\u200c\u200d\u2060\ufeff" + "".join(
    filter(str.isspace, map(chr, range(0x3001)))
)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_ENTITY: Final = re.compile(
    r"&(?:#([0-9]{1,9})|#[xX]([0-9A-Fa-f]{1,8})|([A-Za-z][A-Za-z0-9]{0,31}));"
)
_MARKUP: Final = re.compile(r"</?[A-Za-z!][^<>]*>")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_HTTP: Final = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_LINE_BREAKS: Final = re.compile(r"(?<! ) *+[\t\r\n]\s*+")
_NUMBER: Final = re.compile(
    r"[+-]?(?:[0-9]{1,20}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?"
)
_WHOLE: Final = re.compile(r"[0-9]{1,18}(?:\.0*)?")
_CLOCK: Final = re.compile(
    # 1:30 and 1:02:03, and ISO 8601's PT1H2M3S, which Media RSS and JSON generators write
    r"(?:(?P<h>[0-9]{1,4}):)?(?P<m>[0-9]{1,4}):(?P<s>[0-9]{2})(?:\.[0-9]*)?"
    r"|P(?:0*D)?T(?=[0-9])(?:(?P<H>[0-9]{1,4})H)?(?:(?P<M>[0-9]{1,6})M)?"
    r"(?:(?P<S>[0-9]{1,8})(?:\.[0-9]*)?S)?",
    re.ASCII,
)
_FLAGS: Final = {
    **dict.fromkeys(("yes", "true", "1", "y"), True),
    **dict.fromkeys(("no", "false", "0", "n"), False),
}
_BEST_RATING: Final = 5
_MOST_DIGITS: Final = 18
_LAST_CODE_POINT: Final = 0x10FFFF


def drop_controls(text: str) -> str:
    """Remove the characters that XML can't hold."""
    return _CONTROLS.sub("", text) if _CONTROLS.search(text) else text


def decode_entities(text: str) -> str:
    """Decode what ends in ``;`` and has a meaning; leave all else as it is written."""
    return _ENTITY.sub(_entity, text) if "&" in text and ";" in text else text


def _entity(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name:
        return html5.get(f"{name};", match[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return drop_controls(chr(code)) if code <= _LAST_CODE_POINT else ""


def clean(text: str) -> str:
    """Read a text as all of them are read: trimmed, entities decoded once more."""
    if "&" in text:
        text = decode_entities(text)
    if text.isascii() and text.isprintable():
        return text.strip(" ")  # as most are: there is nothing to drop
    return drop_controls(text).strip(_BLANKS)


def plain_words(html: str) -> str:
    """Return the words of a text that is HTML."""
    return " ".join(unescape(_MARKUP.sub("", html)).split())


def text_or_none(text: str | None) -> str | None:
    """Return the cleaned text, or None if nothing is left of it."""
    return (text and clean(text)) or None


def word(text: str | None) -> str | None:
    """Return the same of a text that many entries of a document share."""
    return _word(text) if text else None


@bounded_cache(1024)
def _word(text: str) -> str | None:
    return clean(text) or None


def url(text: str | None, base: str | None) -> str:
    """Return the URL that was meant: cleaned, and resolved where it is relative."""
    if not text:
        return ""
    if is_plain_url(text):
        return text
    found = _LINE_BREAKS.sub("", strip_url_junk(clean(text)))
    if base is None or not found or (_SCHEME.match(found) and not _needs_base(found)):
        return found
    try:
        return urljoin(base, found)
    except ValueError:  # an unfinished IPv6 address, say
        return found


def _needs_base(found: str) -> bool:
    """Tell apart ``http:path``, which RFC 3986 5.2.2 resolves, and ``http://…``, which is whole."""
    scheme, _, rest = found.partition(":")
    return scheme.lower() in {"http", "https"} and not rest.startswith("//")


def several(text: str) -> list[str]:
    """Return the URLs in a text that holds more than one, or the text as it is."""
    words = text.split()
    return words if len(words) > 1 and all(map(is_http_url, words)) else [text]


def check_url(text: str, base: str | None, diagnostics: Diagnostics) -> None:
    """Report what is odd about a URL as it is written."""
    if is_plain_url(text):
        return
    if decode_entities(text) != text:
        diagnostics.report("SM306", f"URL {text.strip()[:200]!r} is escaped twice")
    if (found := strip_url_junk(clean(text))) != clean(text):
        diagnostics.report("SM311", f"something stands around URL {found[:200]!r}")
        text = found
    written = text.strip(_BLANKS)
    if (
        text.strip(" \t\r\n") != written
        or _LINE_BREAKS.search(written)
        or _CONTROLS.search(written)
    ):
        diagnostics.report("SM307", f"odd blanks in or around URL {written[:200]!r}")
    elif " " in written:
        diagnostics.report("SM308", f"URL {written[:200]!r} has a blank in it")
    if not _SCHEME.match(written) or _needs_base(written):
        diagnostics.report("SM302", f"URL {written[:200]!r} is relative")
    elif not is_http_url(url(text, base)):
        diagnostics.report("SM303", f"URL {written[:200]!r} is not HTTP")


def is_http_url(text: str) -> bool:
    """Tell whether this is an HTTP(S) URL with a host."""
    if not _HTTP.match(text):
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False


def number(text: str) -> Decimal | None:
    """Return a number that isn't negative."""
    found = clean(text)
    if not _NUMBER.fullmatch(found):
        return None
    try:
        value = Decimal(found)
    except DecimalException:
        return None
    return value if value >= 0 else None


@bounded_cache(1024)
def priority(text: str) -> Decimal | None:
    """Return a priority from 0 to 1."""
    value = number(text)
    return value if value is not None and value <= 1 else None


def rating(text: str) -> Decimal | None:
    """Return a rating from 0 to 5."""
    value = number(text)
    return value if value is not None and value <= _BEST_RATING else None


def whole(text: str) -> int | None:
    """Return a whole number that isn't negative."""
    found = clean(text)
    return int(found.partition(".")[0]) if _WHOLE.fullmatch(found) else None


def seconds(text: str) -> int | None:
    """Return a duration in whole seconds, given as a number or as a clock shows it."""
    value = number(text)
    if value is not None:
        return int(value) if value.adjusted() < _MOST_DIGITS else None
    clock = _CLOCK.fullmatch(clean(text).upper())
    if clock is None:
        return None
    said = {unit.lower(): int(digits) for unit, digits in clock.groupdict().items() if digits}
    return said.get("h", 0) * 3600 + said.get("m", 0) * 60 + said.get("s", 0)


def flag(text: str) -> bool | None:
    """Return what yes or no says."""
    return _FLAGS.get(clean(text).lower())


def one_of(*words: str) -> Callable[[str], str | None]:
    """Return what reads one of these words, in lower case."""
    return lambda text: found if (found := clean(text).lower()) in words else None


def word_list(text: str) -> tuple[str, ...]:
    """Return the parts of a list such as ``video:restriction``: blanks or commas between them."""
    return tuple(clean(text).replace(",", " ").split())


@bounded_cache(1024)
def priority_or_default(text: str) -> Decimal:
    """Return a priority, or 0.5 as 1.8.1 does where there is none."""
    value = priority(text)
    return SITEMAP_PAGE_DEFAULT_PRIORITY if value is None else value


_FREQUENCIES: Final = {item.value: item for item in SitemapPageChangeFrequency}


@bounded_cache(1024)
def change_frequency(text: str) -> SitemapPageChangeFrequency | None:
    """Return the frequency, ALWAYS (as 1.8.1 does) for a word that is none, None for no word."""
    word = clean(text).lower()
    return _FREQUENCIES.get(word, SitemapPageChangeFrequency.ALWAYS) if word else None


def is_change_frequency(text: str) -> bool:
    """Tell whether this is one of the seven words."""
    return clean(text).lower() in _FREQUENCIES


def comma_list(text: str | None) -> list[str]:
    """Return the parts of a list such as ``news:keywords``."""
    if not text:
        return []
    cleaned = clean(text)
    if cleaned.isascii():
        return list(filter(None, map(str.strip, cleaned.split(","))))
    return [part for piece in cleaned.split(",") if (part := piece.strip(_BLANKS))]


def plain_list(text: str) -> list[str]:
    """Return the same of a text that means what is written."""
    return list(filter(None, map(str.strip, text.split(","))))


def clean_line(line: bytes) -> str:
    """Read a line of a text document: trimmed, without characters that no URL can hold."""
    return drop_controls(line.decode("utf-8", "replace")).strip(_BLANKS)
