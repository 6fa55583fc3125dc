"""Plain text sitemaps: one URL per line."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from usp._display import without_credentials
from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.formats.table_header import is_table_header
from usp._parse.input.lines import MAX_LINE, read_lines
from usp._parse.values.deduplicate import Deduplicator, repeated_problem
from usp._parse.values.plain import is_plain_url
from usp._parse.values.strip_url_junk import strip_quotes
from usp._parse.values.text import clean_line
from usp._parse.values.urls import is_http_url

_NOT_IN_URLS: Final = re.compile(r"[\s<>\"]")
_MAY_BE_URL: Final = re.compile(
    # What stands before the URL may be trimmed, and control characters inside of it are removed.
    rb"(?:\A|[\r\n])[^A-Za-z0-9\r\n]*+https?://"
    rb"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xef\xbf[\xbe\xbf]",
    re.IGNORECASE,
)
_MAX_PLAIN: Final = 512
"""Characters of a URL that can't have an authority that is too long (``is_http_url``)."""


def urls_in_text(chunks: Iterable[bytes], diagnostics: Diagnostics) -> Iterator[str]:
    """Yield each line that is an HTTP(S) URL with a host, in order, without duplicates.

    A table (CSV, TSV) has none: its rows, and what is left of one that is cut off, are other URLs.
    """
    seen = Deduplicator()
    skipped = 0
    first_skipped: Position | None = None
    lines = read_lines(_unless_hopeless(chunks, diagnostics), diagnostics)
    first = next(filter(None, lines), "")
    if is_table_header(first):
        diagnostics.report("SM204", "the document is a table (CSV, TSV), not a list of URLs")
        return
    for line in chain([first], lines):
        if is_plain_url(line) and len(line) <= _MAX_PLAIN and '"' not in line and seen.add(line):
            yield line
            continue
        cleaned = clean_line(line)
        unquoted = strip_quotes(cleaned)
        url = without_credentials(unquoted)
        if not is_http_url(url) or _NOT_IN_URLS.search(url):
            if url:
                skipped += 1
                first_skipped = first_skipped or diagnostics.position()
        elif not seen.add(url):
            diagnostics.report(*repeated_problem(url))
        else:
            _report_other_text(url, line, cleaned, unquoted, diagnostics)
            yield url
    if not seen:
        diagnostics.report("SM204", "no line of the document is a URL", position=(1, 0))
    elif skipped:
        diagnostics.report("SM309", f"{skipped} lines are not URLs", position=first_skipped)


def _report_other_text(
    url: str, line: str, cleaned: str, unquoted: str, diagnostics: Diagnostics
) -> None:
    """Report what was removed from a line to get its URL."""
    if cleaned != line:
        diagnostics.report("SM307", f"URL {url[:200]!r} contains control characters")
    if unquoted != cleaned:
        diagnostics.report("SM311", f"other text surrounds URL {url[:200]!r}")


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
