"""robots.txt: the sitemaps that it declares. Its rules for agents are in ``robots_rules``."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._display import redact, without_credentials
from usp._parse.diagnostics import START, Diagnostics, ReadPosition
from usp._parse.formats.script_lines import LineSyntax, lines_without_messages
from usp._parse.values.deduplicate import Deduplicator
from usp._parse.values.html_page import (
    INTERRUPTED,
    begins_html_page,
    has_html_page,
    has_written_html_page,
)
from usp._parse.values.strip_url_junk import strip_quotes
from usp._parse.values.text import clean_line, clean_text
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
_KEY_LINE: Final = re.compile(
    r"(?:user-?agent|disallow|allow|crawl-delay|clean-param|host|site-?map[\w-]*+)\s*+:",
    re.IGNORECASE,
)
_GLUED_LINE: Final = re.compile(
    # Directly after a value. A URL may contain the words, but no colon with a blank after it.
    r"(?<=[A-Za-z0-9/*$])(?:user-?agent|disallow|(?<!s)allow|crawl-delay|clean-param|host|site-?map)"
    r"\s{0,9}+:(?=\s|\Z)"
    r"|(?<=[A-Za-z0-9*$])(?:(?:user-agent|disallow|crawl-delay|clean-param)\s{0,9}+:"
    r"|site-?map\s{0,9}+:\s{0,9}+(?=https?://))",
    re.IGNORECASE,
)
"""The key of a line inside of another one: files were joined, the first without a line break."""
_LINE_AFTER_JUNK: Final = re.compile(
    r"(?<=[}\])>])site-?map\s{0,9}+:\s{0,9}+(?=https?://)", re.IGNORECASE
)
"""The same after the output of a script."""
_COMMENT_OR_KEY: Final = re.compile(rf"#|(?:[-*\u2022]\s++)?{_KEY_LINE.pattern}", re.IGNORECASE)
_URL_OR_SITEMAP: Final = re.compile(r"https?://|site-?map", re.IGNORECASE)
_TAGS: Final = re.compile(r"<[^<>]*+>?+")
_CUT_KEY: Final = re.compile(r"s(?:i(?:t(?:e-?+(?:m(?:ap?)?)?)?)?)?", re.IGNORECASE)
"""The beginning of the key of a sitemap, or all of it."""


def _completes(line: str, rest: str) -> bool:
    """Tell whether a line is certainly the rest of one that ends in the key of a sitemap."""
    if _CUT_KEY.fullmatch(line):
        return _SITEMAP.match(line + rest) is not None
    return line.endswith(":") and is_http_url(rest)


_SYNTAX: Final = LineSyntax(
    has_url=lambda line: _URL_OR_SITEMAP.search(line) or _CUT_KEY.fullmatch(line),
    begins=_COMMENT_OR_KEY.match,
    completes=_completes,
    code="SM607",
)


def sitemaps_in_robots(
    chunks: Iterable[bytes],
    base: str | None,
    diagnostics: Diagnostics,
    start: ReadPosition = START,
) -> Iterator[str]:
    """Yield the URL of each sitemap that a robots.txt declares, in order, without duplicates.

    :param start: the position of the first line in the document as received.
    """
    seen = Deduplicator()
    url_expected = False
    lines = lines_without_messages(chunks, diagnostics, start, _SYNTAX)
    for line in _split_lines(lines, diagnostics):
        if "<" in line and not _SITEMAP.match(line) and _page_hides_lines(line.partition("#")[0]):
            diagnostics.report(*INTERRUPTED)  # what follows an error page is missing
            continue
        if not url_expected and not _NAMES_SITEMAP.search(line):
            continue  # as nearly all lines
        match = _SITEMAP.match(line)
        # Some sites break the line after the colon.
        value = match["value"] if match else line if url_expected and is_http_url(line) else ""
        if _is_page_in(value):
            diagnostics.report(*INTERRUPTED)
            url_expected = False
            continue
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


def _page_hides_lines(line: str) -> bool:
    """Tell whether a page in a line may hide others: with a key or a URL, any part of one does."""
    may_lose = _KEY_LINE.match(line) or _URL_OR_SITEMAP.search(line)
    return begins_html_page(line) or (may_lose is not None and has_html_page(line))


def _split_lines(lines: Iterable[str], diagnostics: Diagnostics) -> Iterator[str]:
    """Yield the lines without control characters; where several are written as one, as many."""
    for written in lines:
        line = clean_line(written)
        if line != written and _NAMES_SITEMAP.search(line):
            diagnostics.report("SM307", "a Sitemap line contains control characters")
        if "<" not in line and "\\" not in line:
            if line.count(":") <= 1:
                yield line  # as nearly all
            else:
                yield from _split_glued(line, diagnostics)
            continue
        parts = _ESCAPED_LINE_BREAK.split(line)
        if len(parts) > 1:
            diagnostics.report_once(
                "SM607", "line breaks are written as markup or escape sequences"
            )
        for part in parts:
            yield from _split_glued(part.strip(), diagnostics)


def _split_glued(line: str, diagnostics: Diagnostics) -> list[str]:
    """Return the lines of which one follows another without a line break."""
    comment = line.find("#")
    end = comment if comment >= 0 else len(line)
    is_field = _KEY_LINE.match(line)
    pattern, begin = (_GLUED_LINE, is_field.end()) if is_field else (_LINE_AFTER_JUNK, 0)
    starts = [found.start() for found in pattern.finditer(line, begin, end)]
    if not starts:
        return [line]
    diagnostics.report("SM607", "several lines are written as one")
    ends = [*starts, len(line)]
    return [line[at:ended].strip() for at, ended in zip([0, *starts], ends, strict=True)]


def _is_page_in(value: str) -> bool:
    """Tell whether a page interrupts the URL of a value, which may have a comment.

    Markup after a blank, after an end tag or without a text is beside a URL that is whole.
    """
    unquoted = strip_quotes(value.partition("#")[0].strip())
    url, _, markup = unquoted.partition("<")
    if not markup:
        return has_written_html_page(unquoted)  # it may be escaped
    if begins_html_page(value):
        return True
    is_beside = url[-1:].isspace() or markup.startswith("/")
    has_text = _TAGS.sub("", clean_text(f"<{markup}")).strip()
    # The sign of a comment may be a part of the page.
    return bool(has_text) and not is_beside and has_written_html_page(strip_quotes(value))


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
