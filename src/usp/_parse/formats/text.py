"""Plain text sitemaps: one URL per line."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._display import without_credentials
from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.input.lines import read_lines
from usp._parse.values.deduplicate import Deduplicator
from usp._parse.values.strip_url_junk import strip_quotes
from usp._parse.values.urls import is_http_url

_NOT_IN_URLS: Final = re.compile(r"[\s<>\"]")


def urls_in_text(chunks: Iterable[bytes], diagnostics: Diagnostics) -> Iterator[str]:
    """Yield each line that is an HTTP(S) URL with a host, in order, without duplicates."""
    seen = Deduplicator()
    skipped = 0
    first_skipped: Position | None = None
    for line in read_lines(chunks, diagnostics):
        quoted = strip_quotes(line)
        url = without_credentials(quoted)
        if not is_http_url(url) or _NOT_IN_URLS.search(url):
            if url:
                skipped += 1
                first_skipped = first_skipped or diagnostics.position()
        elif not seen.add(url):
            diagnostics.report("SM305", f"URL {url[:200]!r} is listed again")
        else:
            if quoted != line:
                diagnostics.report("SM311", f"other text surrounds URL {url[:200]!r}")
            yield url
    if not seen:
        diagnostics.report("SM204", "no line of the document is a URL", position=(1, 0))
    elif skipped:
        diagnostics.report("SM309", f"{skipped} lines are not URLs", position=first_skipped)
