"""Plain text sitemaps: one URL per line."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from usp._display import without_credentials
from usp._parse.diagnostics import START, Diagnostics, Position, ReadPosition
from usp._parse.formats.script_lines import LineSyntax, ScriptLines
from usp._parse.formats.table_header import is_table_header
from usp._parse.input.lines import MAX_LINE, LineReader, split_between_lines
from usp._parse.input.other_documents import report_other_document
from usp._parse.values.deduplicate import Deduplicator, repeated_problem
from usp._parse.values.html_page import INTERRUPTED, begins_html_page, has_html_page
from usp._parse.values.plain import CUT_SCHEME, are_plain_urls, is_plain_url
from usp._parse.values.strip_url_junk import strip_quotes
from usp._parse.values.text import WHITESPACE, clean_line
from usp._parse.values.urls import GLUED_URL, is_http_url

_NOT_IN_URLS: Final = re.compile(r"[\s<>\"]")
_MAY_BE_URL: Final = re.compile(
    # What stands before the URL may be trimmed, and control characters inside of it are removed.
    rb"(?:\A|[\r\n])[^A-Za-z0-9\r\n]*+https?://"
    rb"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xef\xbf[\xbe\xbf]",
    re.IGNORECASE,
)
_URL_START: Final = re.compile(r"[\"'<]?https?://", re.IGNORECASE)
_URL_IN_LINE: Final = re.compile(r"https?://", re.IGNORECASE)
_CUT_SCHEME: Final = re.compile(CUT_SCHEME, re.IGNORECASE)
_CUT_BY_MARKUP: Final = re.compile(f"{CUT_SCHEME}<", re.IGNORECASE)
"""The beginning of a URL, and then what may be a page."""
_OTHER_LINE_BREAK: Final = re.compile(
    # As markup, as escape sequences (PHP in single quotes), or as control characters.
    r"(?:\\[rn]|<br\s*+/?>)(?=\s*+(?:\\[rn]|<br|https?://|[\"'>]?\Z))"
    r"|[\0\v\f](?=https?://)",
    re.IGNORECASE,
)
"""Line breaks between URLs that are no line breaks of a text."""
_MAY_HAVE_OTHER_BREAK: Final = re.compile(r"[\\<\0\v\f]")
_SYNTAX: Final = LineSyntax(
    has_url=lambda line: _URL_START.match(line) or _CUT_SCHEME.fullmatch(line),
    begins=_URL_START.match,
    completes=lambda _line, _rest: False,
    code="SM311",
)
_SCHEME: Final = len("https://")
_MAX_PLAIN: Final = 512
"""Characters of a URL that can't have an authority that is too long (``is_http_url``)."""
_MARKUP: Final = re.compile(r"[<{](?![<\s]*+https?://)", re.IGNORECASE)
_MAX_LOOKED_AT: Final = 16
"""How many lines with markup are looked at: whether another document begins there."""


def urls_in_text(
    chunks: Iterable[bytes], diagnostics: Diagnostics, start: ReadPosition = START
) -> Iterator[str]:
    """Yield each line that is an HTTP(S) URL with a host, in order, without duplicates.

    A table (CSV, TSV) has none: its rows, and what is left of one that is cut off, are other URLs.

    :param start: the position of the first line in the document as received.
    """
    reading = _TextReading(diagnostics)
    lines = LineReader(diagnostics, start)
    messages = ScriptLines(lines, diagnostics, _SYNTAX)
    last = b""  # the last URL: what follows may show that it was interrupted
    for following in split_between_lines(_unless_hopeless(chunks, diagnostics)):
        piece = last + following
        plain = piece.rfind(b"\nhttp") + 1
        is_likely = plain and lines.is_between_lines and piece.startswith(b"http")
        if is_likely:  # which shows that nothing interrupted the line before
            yield from reading.urls(messages.end())
        if is_likely and (urls := reading.plain_urls(piece[:plain])):
            lines.skip(piece[:plain])
            last = piece[plain:]
            yield from urls
        else:
            last = b""
            yield from reading.urls(messages.feed(lines.read(piece)))
        if reading.is_table:
            return
    if last:
        yield from reading.urls(messages.feed(lines.read(last)))
    yield from reading.urls(messages.feed(reading.end(lines.end())))
    yield from reading.urls(messages.end())
    reading.finish()


class _TextReading:
    """The URLs of one document so far."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self._diagnostics = diagnostics
        self._seen = Deduplicator(resolved=False)
        self._skipped = 0
        self._first_skipped: Position | None = None
        self._looked_at = 0  # how many of those lines may begin another document
        self._cut_at: Position | None = None  # the last line, if it is the beginning of a URL
        self._is_first = True
        self.is_table = False

    def plain_urls(self, piece: bytes) -> list[str]:
        """Return the URLs of lines that are nothing but new plain ones, else none.

        Looking at many at once takes a quarter of the time.
        """
        if not piece.endswith(b"\n") or not piece.isascii():
            return []
        if b"\0" in piece or b'"' in piece or b"\\" in piece:
            return []
        text = piece.decode()
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        urls = list(filter(None, text.split("\n")))
        is_usual = urls and max(map(len, urls)) <= _MAX_PLAIN and are_plain_urls(urls)
        if not is_usual or (text.count("://") != len(urls) and GLUED_URL.search(text)):
            return []
        if not self._seen.add_all(urls):
            return []
        self._is_first = False
        return urls

    def urls(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the new URLs of lines."""
        return filter(None, map(self.url, self.split(lines)))

    def split(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines; where several URLs are written as one line, as many."""
        for line in lines:
            is_odd = _MAY_HAVE_OTHER_BREAK.search(line) and _URL_START.match(line)
            parts = _OTHER_LINE_BREAK.split(strip_quotes(line)) if is_odd else ()
            if len(parts) > 1:
                message = "line breaks are written as markup, escape sequences or controls"
                self._diagnostics.report_once("SM311", message)
                yield from (part.strip(WHITESPACE) for part in parts)
            else:
                yield line

    def url(self, line: str) -> str | None:
        """Return the URL of a line, if it has one that is new."""
        if self.is_table or not line:
            return None
        if self._is_first and is_table_header(line):
            self.is_table = True
            message = "the document is a table (CSV, TSV), not a list of URLs"
            self._diagnostics.report("SM204", message)
            return None
        self._is_first = False
        is_usual = len(line) <= _MAX_PLAIN and is_plain_url(line) and '"' not in line
        if "://" in line[_SCHEME:] and GLUED_URL.search(line):
            is_usual = False
        return line if is_usual and self._seen.add(line) else self._odd_url(line)

    def _odd_url(self, line: str) -> str | None:
        diagnostics = self._diagnostics
        cleaned = clean_line(line)
        unquoted = strip_quotes(cleaned)
        url = without_credentials(unquoted)
        is_url = is_http_url(url)
        if (is_url or _CUT_BY_MARKUP.match(url)) and has_html_page(url):
            diagnostics.report(*INTERRUPTED)
        elif self._seen and (
            begins_html_page(url) or (_URL_IN_LINE.search(url) and has_html_page(url))
        ):
            diagnostics.report_once("SM209", "an HTML page interrupts the list of URLs")
        if not is_url or _NOT_IN_URLS.search(url):
            self._skipped += bool(url)
            if url and self._first_skipped is None:
                self._first_skipped = diagnostics.position()
            if _MARKUP.match(url) and self._looked_at < _MAX_LOOKED_AT:
                self._looked_at += 1
                report_other_document(url.encode("utf-8", "replace"), diagnostics)
        elif not self._seen.add(url):
            diagnostics.report(*repeated_problem(url))
        else:
            _report_other_text(url, line, cleaned, unquoted, diagnostics)
            return url
        return None

    def end(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the last line, which has no end: a URL is cut off if only its scheme is there."""
        for line in lines:
            if _CUT_SCHEME.fullmatch(line):
                self._cut_at = self._diagnostics.position()
            yield line

    def finish(self) -> None:
        """Report what is known at the end of the document."""
        if not self._seen:
            message = "no line of the document is a URL"
            self._diagnostics.report("SM204", message, position=(1, 0))
            return
        if self._cut_at:
            message = "the last line is truncated and was skipped"
            self._diagnostics.report("SM209", message, position=self._cut_at)
        if self._skipped:
            message = f"{self._skipped} lines are not URLs"
            self._diagnostics.report("SM309", message, position=self._first_skipped)


def _report_other_text(
    url: str, line: str, cleaned: str, unquoted: str, diagnostics: Diagnostics
) -> None:
    """Report what was removed from a line to get its URL, and what may be missing in it."""
    if cleaned != line:
        diagnostics.report("SM307", f"URL {url[:200]!r} contains control characters")
    if unquoted != cleaned:
        diagnostics.report("SM311", f"other text surrounds URL {url[:200]!r}")
    if GLUED_URL.search(url):
        # Which URLs they are is a guess: a site may list such a page.
        message = f"URL {url[:200]!r} may be two, without a line break between them"
        diagnostics.report("SM209", message)


def _unless_hopeless(chunks: Iterable[bytes], diagnostics: Diagnostics) -> Iterable[bytes]:
    """Return the chunks, or none of a short document without a URL, as most of those are.

    One search takes a fraction of the time of reading the lines.
    """
    later = iter(chunks)
    first, second = next(later, b""), next(later, None)
    is_short = second is None and len(first) <= MAX_LINE
    if is_short and not diagnostics.truncated and not _MAY_BE_URL.search(first):
        return ()
    return chain([first, second or b""], later)
