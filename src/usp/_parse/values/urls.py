"""URLs: resolving, splitting and checking them.

What surrounds a URL is removed in ``strip_url_junk``; which URLs need no processing at all is
defined in ``plain``.
"""

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from usp._display import excerpt, without_credentials
from usp._parse.diagnostics import Diagnostics
from usp._parse.values.bounded_cache import bounded_cache
from usp._parse.values.html_page import has_html_page
from usp._parse.values.plain import BLANKS, is_plain_path, is_plain_url
from usp._parse.values.strip_url_junk import strip_url_junk
from usp._parse.values.text import CONTROL_CHARACTERS, WHITESPACE, clean_text, decode_entities

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:")
_HTTP: Final = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_names_nothing: Final = re.compile(r"https?:/{0,2}+|//", re.IGNORECASE).fullmatch
"""Tells whether nothing is left of a URL but its beginning: to resolve it would give another URL,
that of the document itself or of its site."""
_LONG_AUTHORITY: Final = re.compile(r"(?:[^:/?#]*+:)?//[^/?#]{512}")
"""Longer than any host with a user and a port. ``urlsplit`` normalizes it as Unicode, which takes
quadratic time (CPython's ``unicodedata``)."""
_MAX_BASE: Final = 1024
_MAX_SLASHES: Final = 64
"""A base URL with more is ignored, unless only its directory is shorter, which relative URLs take
over: each of them would become as long, and take as long to resolve. Real ones are much shorter,
but a site may choose any: by a redirect, or in an ``xml:base``."""
_MAX_LONG_BASE: Final = 8192
"""Nothing is looked for in a longer one."""
_PATH: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*+:)?+(?://)?+[^?#]")
"""A relative URL that takes over the directory of its base URL, and nothing else."""
_MARKUP: Final = re.compile(r"<[A-Za-z/!?]")
"""In a URL: a tag that was escaped, or is in a CDATA section that ends in a later entry."""
GLUED_URL: Final = re.compile(r"http(?<=[A-Za-z0-9]http)(?<!%[0-9A-Fa-f]{2}http)s?://")
"""The start of a URL directly after a word: one that contains another has a character between."""
_LINE_BREAKS: Final = re.compile(r"(?<! ) *+[\t\r\n]\s*+")
_MAX_CLEANED: Final = 1024
"""How many short texts are remembered with the URL in each."""
_MAX_SHOWN: Final = 200
"""How many characters of a URL a message quotes."""


def resolve_url(text: str | None, base: str | None, *, keep_userinfo: bool = False) -> str:
    """Return the URL in a text: cleaned, and resolved against ``base`` if it is relative.

    There is none in a text that an HTML page interrupts, or in ``http:`` alone.
    Its user and password are removed: they would be printed and exported with it. The request for
    a sitemap needs them (``keep_userinfo``).
    """
    if not text:
        return ""
    stripped = text.strip(BLANKS)
    if is_plain_url(stripped):
        return stripped
    if is_plain_path(stripped):
        url = stripped
    elif keep_userinfo:
        url = _cleaned(text)
        url = url if _has_host(url) else without_credentials(url)
    else:
        url = _cleaned_without_credentials(text)
    if base is None or not url or (_SCHEME.match(url) and not _needs_base(url)):
        return url
    return _join(base, url)


def _cleaned(text: str) -> str:
    """Return the URL in a text, without what surrounds it; empty if there is none."""
    cleaned = clean_text(text)
    if has_html_page(cleaned):
        return ""
    url = _LINE_BREAKS.sub("", strip_url_junk(cleaned))
    return "" if _names_nothing(url) else url


@bounded_cache(_MAX_CLEANED)
def _cleaned_without_credentials(text: str) -> str:
    """Return the same without user and password; what is odd in a URL is judged several times."""
    return without_credentials(_cleaned(text))


def _join(base: str, url: str) -> str:
    """Return what ``urljoin`` does, and the relative URL if the base URL is too long for that."""
    if _is_too_long(base):
        base = _directory(base) if _PATH.match(url) else ""
    if not base or _LONG_AUTHORITY.match(url):
        return url
    try:
        return urljoin(base, url)
    except ValueError:  # for example an incomplete IPv6 address
        return url


def _is_too_long(base: str) -> bool:
    return len(base) > _MAX_BASE or base.count("/") > _MAX_SLASHES


@bounded_cache(16, _MAX_LONG_BASE)
def _directory(base: str) -> str:
    """Return the directory of a long base URL, which may have a long query; empty if it is long."""
    if len(base) > _MAX_LONG_BASE:
        return ""
    try:
        parts = urlsplit(base)
    except ValueError:
        return ""
    path = parts.path[: parts.path.rfind("/") + 1]
    directory = parts._replace(path=path, query="", fragment="").geturl()
    return "" if _is_too_long(directory) else directory


def inner_base(text: str, base: str | None) -> str | None:
    """Return the base URL inside an element, given its ``xml:base`` and the base URL around it.

    It is looked at for each link inside, so one that is too long is dropped for its length alone:
    otherwise a long one with many links would take quadratic time.
    """
    if not text or _names_nothing(text.strip(BLANKS)):
        return base
    inner = "" if _is_too_long(text) else resolve_url(text, base)
    return inner if inner and not _is_too_long(inner) else None


def joined_base(outer: str | None, written: str | None) -> str | None:
    """Return the ``xml:base`` inside an element: as it is written there, relative to one around it.

    Both may be relative to the URL of the document. An empty one changes nothing (RFC 3986, 4.4).
    What is too long to be applied stays too long.
    """
    if not written or not outer or _is_too_long(written):
        return written or outer
    if _names_nothing(written.strip(BLANKS)):
        return outer
    if not _is_too_long(outer):
        return resolve_url(written, outer)
    return written if _SCHEME.match(written.strip(BLANKS)) else outer


def _has_host(url: str) -> bool:
    """Tell whether a URL has a host, so that a user and password before it are told from a path."""
    return is_http_url(f"http:{url}" if url.startswith("//") else url)


def _needs_base(url: str) -> bool:
    """Tell whether a URL with a scheme is relative: ``http:path``, see RFC 3986 5.2.2."""
    scheme, _, rest = url.partition(":")
    return scheme.lower() in {"http", "https"} and not rest.startswith("//")


def split_userinfo(url: str) -> tuple[str, str]:
    """Return a URL without its user and password, and those of an HTTP(S) one as written."""
    bare = without_credentials(url)
    is_used = bare != url and is_http_url(url)
    return bare, urlsplit(url).netloc.rpartition("@")[0] if is_used else ""


def split_urls(text: str) -> list[str]:
    """Return the URLs of a text that consists of several, else the text itself."""
    words = text.split()
    # The last word tells most URLs with a blank in them from several URLs.
    are_several = len(words) > 1 and _HTTP.match(words[-1]) and all(map(is_http_url, words))
    return words if are_several else [text]


def is_http_url(text: str) -> bool:
    """Tell whether the text is an HTTP(S) URL with a host."""
    if not _HTTP.match(text) or _LONG_AUTHORITY.match(text):
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:
        return False


def check_url(
    text: str, base: str | None, diagnostics: Diagnostics, *, is_own_base: bool = False
) -> None:
    """Report what is wrong with a URL as it is written.

    :param is_own_base: whether an ``xml:base`` gives the base: it is there for relative URLs.
    """
    stripped = text.strip(BLANKS)
    if is_plain_url(stripped):
        return
    is_resolved = is_own_base and is_http_url(resolve_url(text, base))
    if is_plain_path(stripped) and not is_resolved:
        diagnostics.report("SM302", f"URL {stripped[:_MAX_SHOWN]!r} is relative")
        return
    if decode_entities(text) != text:
        shown = excerpt(text.strip(), _MAX_SHOWN)
        diagnostics.report("SM306", f"URL {shown!r} is escaped twice")
    cleaned = clean_text(text)
    if has_html_page(cleaned):
        shown = excerpt(cleaned, _MAX_SHOWN)
        diagnostics.report("SM211", f"there is an HTML page or a message in URL {shown!r}")
        return
    if (url := strip_url_junk(cleaned)) != cleaned:
        shown = excerpt(url, _MAX_SHOWN)
        diagnostics.report("SM311", f"other text surrounds URL {shown!r}")
        text = url
    written = text.strip(WHITESPACE)
    shown = repr(excerpt(written, _MAX_SHOWN))
    if problem := _problem_with_blanks(text, written, shown):
        diagnostics.report(*problem)
    if _MARKUP.search(url):
        diagnostics.report("SM211", f"there is markup in URL {shown}")
    # Else it is relative, as its xml:base is there for.
    if not is_resolved and (problem := _problem_with_scheme(text, base, written, shown)):
        diagnostics.report(*problem)


def _problem_with_scheme(
    text: str, base: str | None, written: str, shown: str
) -> tuple[str, str] | None:
    """Return the problem with the scheme of a URL, if there is one."""
    if not _SCHEME.match(written) or _needs_base(written):
        return "SM302", f"URL {shown} is relative"
    is_http = is_http_url(resolve_url(text, base))
    return None if is_http else ("SM303", f"URL {shown} is not HTTP")


def _problem_with_blanks(text: str, written: str, shown: str) -> tuple[str, str] | None:
    """Return the problem with the blanks around a URL or in it, if there is one."""
    if (
        text.strip(" \t\r\n") != written
        or _LINE_BREAKS.search(written)
        or CONTROL_CHARACTERS.search(written)
    ):
        message = f"URL {shown} contains line breaks, control characters or unusual spaces"
        return "SM307", message
    return ("SM308", f"URL {shown} contains a space") if " " in written else None
