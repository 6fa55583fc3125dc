"""Documents made of lines: robots.txt and plain text sitemaps."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._parse import values

_LINE_END: Final = re.compile(rb"\r\n?|\n")
_LONGEST: Final = 64 * 1024
_SITEMAP: Final = re.compile(
    # Any word that begins so, as Google's parser has it; sites also leave the colon out.
    r"site-?map[^\s:]*(?:\s*:\s*|\s+(?=https?://))(?P<value>.*)",
    re.IGNORECASE,
)
_QUOTES: Final = "\"'<>"


def lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines, trimmed; of one without an end only the beginning."""
    left = b""
    for chunk in chunks:
        parts = _LINE_END.split(left + chunk)
        left = parts.pop()[:_LONGEST]
        yield from (values.clean_line(part) for part in parts)
    yield values.clean_line(left)


def sitemaps_in_robots(chunks: Iterable[bytes], base: str | None) -> Iterator[str]:
    """Yield the URL of each sitemap that a robots.txt declares, each once, in its order."""
    seen: set[str] = set()
    expected = False
    for line in lines(chunks):
        match = _SITEMAP.match(line)
        # Some sites break the line after the colon.
        value = match["value"] if match else line if expected and values.is_http_url(line) else ""
        value = value.partition("#")[0].strip().strip(_QUOTES)
        expected = bool(match and not value) or (expected and not line)
        words = value.split()
        several = len(words) > 1 and all(map(values.is_http_url, words))
        for text in words if several else [value]:
            url = values.url(text, base)
            if url and url not in seen:
                seen.add(url)
                yield url


def urls_in_text(chunks: Iterable[bytes]) -> Iterator[str]:
    """Yield each line that is an HTTP(S) URL with a host, each once, in order."""
    seen: set[str] = set()
    for line in lines(chunks):
        if values.is_http_url(line) and len(line.split()) == 1 and line not in seen:
            seen.add(line)
            yield line
