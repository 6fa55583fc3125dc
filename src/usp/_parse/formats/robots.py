"""robots.txt: the sitemaps that it declares. Its rules for agents are in ``robots_rules``."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._display import redact, without_credentials
from usp._parse.diagnostics import START, Diagnostics, ReadPosition
from usp._parse.formats.script_lines import LineSyntax, lines_without_messages
from usp._parse.values.deduplicate import Deduplicator
from usp._parse.values.html_page import INTERRUPTED, begins_page, has_page, is_interrupted
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
_START_TAG_IN_URL: Final = re.compile(r"<[A-Za-z][^<>]*+>(?!(?:\s*+<[^<>]*+>?+)*+\s*+\Z)")
"""A tag directly after a part of a URL, if there is not just other markup behind it."""
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
        if "<" in line and not _SITEMAP.match(line) and _is_interrupted(line.partition("#")[0]):
            diagnostics.report(*INTERRUPTED)  # what follows an error page is missing
            continue
        if not url_expected and not _NAMES_SITEMAP.search(line):
            continue  # as nearly all lines
        match = _SITEMAP.match(line)
        # Some sites break the line after the colon.
        value = match["value"] if match else line if url_expected and is_http_url(line) else ""
        value = _without_comment(value)
        is_regular = match and match["separator"].strip() == ":" and _REGULAR_FIELD.match(line)
        if value and (not is_regular or _unquote(value) != value):
            shown = redact(line.replace(value, without_credentials(value)))[:200]
            diagnostics.report("SM607", f"{shown!r} is not a regular Sitemap line")
        url_expected = bool(match and not value) or (url_expected and not line)
        for text in _split_urls(_unquote(value), diagnostics):
            if is_interrupted(text):
                diagnostics.report(*INTERRUPTED)
                continue
            check_url(text, base, diagnostics)
            url = resolve_url(text, base, keep_userinfo=True)
            if url and not seen.add(url):
                shown = without_credentials(url)[:200]
                diagnostics.report("SM305", f"sitemap {shown!r} is declared again")
            elif url:
                yield url


def _is_interrupted(line: str) -> bool:
    """Tell whether a page begins in a line: where it has a key or a URL, any part of one is."""
    may_lose = _KEY_LINE.match(line) or _URL_OR_SITEMAP.search(line)
    return begins_page(line) or (may_lose is not None and has_page(line))


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


def _without_comment(value: str) -> str:
    """Return a value without a comment; a page in the value may contain the sign of one."""
    before = value.partition("#")[0]
    is_in_page = "<" in before and not is_interrupted(before) and is_interrupted(value)
    return (value if is_in_page else before).strip()


def _unquote(value: str) -> str:
    """Remove quotes around a value, and markup after it, which neither interrupts it nor has text.

    What stands before a text in markup need not be the whole URL.
    """
    value = strip_quotes(value)
    before = value.partition("<")[0]
    is_in_url = _START_TAG_IN_URL.match(value, len(before.rstrip())) is not None
    return value if is_in_url or is_interrupted(value) else before.strip() or value


def _split_urls(value: str, diagnostics: Diagnostics) -> list[str]:
    """Return the URLs of one line: some sites declare several."""
    words = [word for word in _URL_SEPARATOR.split(value) if word]
    if len(words) > 1 and all(map(is_http_url, words)) and not is_interrupted(value):
        diagnostics.report("SM607", "one line declares several sitemaps")
        return words
    return [value] if value else []
