"""robots.txt: the sitemaps that it declares. Its rules for agents are in ``robots_rules``."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._display import redact, without_credentials
from usp._parse.diagnostics import Diagnostics
from usp._parse.input.lines import read_lines
from usp._parse.values.deduplicate import Deduplicator
from usp._parse.values.strip_url_junk import strip_quotes
from usp._parse.values.text import clean_line
from usp._parse.values.urls import check_url, is_http_url, resolve_url

_SITEMAP: Final = re.compile(
    # Any word that starts so, as in Google's parser; sites also omit the colon.
    r"(?:[-*\u2022]\s++)?site-?map(?:[\w-]*+|\s++(?:url|index))"
    r"(?P<separator>\s*+[:=\uff1a]++\s*+|\s++(?=https?://|/))(?P<value>.*)",
    re.IGNORECASE,
)
_REGULAR_FIELD: Final = re.compile(r"site-?map[\w-]*+\s*+:", re.IGNORECASE)
_ESCAPED_LINE_BREAK: Final = re.compile(
    r"<br\s*+/?>|(?<!\\[rn])(?:\\[rn])++(?=[a-z-]++\s*+:|\Z)", re.IGNORECASE
)
"""Line breaks as HTML, or as escape sequences: a run of them is looked at once, from its start."""
_NAMES_SITEMAP: Final = re.compile(r"site-?map", re.IGNORECASE)
_URL_SEPARATOR: Final = re.compile(r"[\s,;]++(?:site-?map\s*+:\s*+)?", re.IGNORECASE)


def sitemaps_in_robots(
    chunks: Iterable[bytes], base: str | None, diagnostics: Diagnostics
) -> Iterator[str]:
    """Yield the URL of each sitemap that a robots.txt declares, in order, without duplicates."""
    seen = Deduplicator()
    url_expected = False
    for line in _split_lines(map(clean_line, read_lines(chunks, diagnostics)), diagnostics):
        if not url_expected and not _NAMES_SITEMAP.search(line):
            continue  # as nearly all lines
        match = _SITEMAP.match(line)
        # Some sites break the line after the colon.
        value = match["value"] if match else line if url_expected and is_http_url(line) else ""
        value = value.partition("#")[0].strip()
        is_regular = match and match["separator"].strip() == ":" and _REGULAR_FIELD.match(line)
        if value and (not is_regular or _unquote(value) != value):
            shown = redact(line.replace(value, without_credentials(value)))[:200]
            diagnostics.report("SM607", f"{shown!r} is not a regular Sitemap line")
        url_expected = bool(match and not value) or (url_expected and not line)
        for text in _split_urls(_unquote(value), diagnostics):
            check_url(text, base, diagnostics)
            url = resolve_url(text, base, keep_userinfo=True)
            if url and not seen.add(url):
                shown = without_credentials(url)[:200]
                diagnostics.report("SM305", f"sitemap {shown!r} is declared again")
            elif url:
                yield url


def _split_lines(lines: Iterable[str], diagnostics: Diagnostics) -> Iterator[str]:
    """Yield the lines, where several are written as one."""
    for line in lines:
        if "<" not in line and "\\" not in line:
            yield line
            continue
        parts = _ESCAPED_LINE_BREAK.split(line)
        if len(parts) > 1:
            diagnostics.report_once(
                "SM607", "line breaks are written as markup or escape sequences"
            )
        yield from (part.strip() for part in parts)


def _unquote(value: str) -> str:
    """Remove quotes around a value, and markup after it."""
    value = strip_quotes(value)
    return value.partition("<")[0].strip() or value


def _split_urls(value: str, diagnostics: Diagnostics) -> list[str]:
    """Return the URLs of one line: some sites declare several."""
    words = [word for word in _URL_SEPARATOR.split(value) if word]
    if len(words) > 1 and all(map(is_http_url, words)):
        diagnostics.report("SM607", "one line declares several sitemaps")
        return words
    return [value] if value else []
