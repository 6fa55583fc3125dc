"""Documents made of lines: robots.txt and plain text sitemaps."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._parse import values
from usp._parse.findings import Findings

_LINE_END: Final = re.compile(rb"\r\n?|\n")
_LONGEST: Final = 64 * 1024
_SITEMAP: Final = re.compile(
    # Any word that begins so, as Google's parser has it; sites also leave the colon out.
    r"(?P<word>site-?map[^\s:]*)(?P<mark>\s*:\s*|\s+(?=https?://))(?P<value>.*)",
    re.IGNORECASE,
)
_QUOTES: Final = "\"'<>"
_NOT_IN_URLS: Final = re.compile(r"[\s<>\"]")


def lines(chunks: Iterable[bytes], findings: Findings) -> Iterator[str]:
    """Yield the lines, trimmed, with their places; of one without an end only the beginning."""
    left = b""
    number = 0
    findings.place_of = lambda line: (line, None)
    for chunk in chunks:
        parts = _LINE_END.split(left + chunk)
        left = parts.pop()[:_LONGEST]
        for part in parts:
            number += 1
            findings.here = number
            yield values.clean_line(part)
    findings.here = number + 1
    yield values.clean_line(left)


def sitemaps_in_robots(
    chunks: Iterable[bytes], base: str | None, findings: Findings
) -> Iterator[str]:
    """Yield the URL of each sitemap that a robots.txt declares, each once, in its order."""
    seen: set[str] = set()
    expected = False
    for line in lines(chunks, findings):
        match = _SITEMAP.match(line)
        # Some sites break the line after the colon.
        value = match["value"] if match else line if expected and values.is_http_url(line) else ""
        value = value.partition("#")[0].strip()
        if value and (not match or ":" not in match["mark"] or value[0] in _QUOTES):
            findings.report("SM607", f"{line[:200]!r} is not written as it should be")
        expected = bool(match and not value) or (expected and not line)
        for text in _several(value.strip(_QUOTES), findings):
            values.check_url(text, base, findings)
            url = values.url(text, base)
            if url in seen:
                findings.report("SM305", f"sitemap {url[:200]!r} is declared again")
            elif url:
                seen.add(url)
                yield url


def _several(value: str, findings: Findings) -> list[str]:
    """Return the URLs of one line: some sites write several."""
    words = [word for word in re.split(r"[\s,]+", value) if word]
    if len(words) > 1 and all(map(values.is_http_url, words)):
        findings.report("SM607", "several sitemaps stand on one line")
        return words
    return [value] if value else []


def urls_in_text(chunks: Iterable[bytes], findings: Findings) -> Iterator[str]:
    """Yield each line that is an HTTP(S) URL with a host, each once, in order."""
    seen: set[str] = set()
    ignored: list[int | None] = []
    for line in lines(chunks, findings):
        if not values.is_http_url(line) or _NOT_IN_URLS.search(line):
            if line:
                ignored.append(findings.here)
        elif line in seen:
            findings.report("SM305", f"URL {line[:200]!r} is listed again")
        else:
            seen.add(line)
            yield line
    if not seen:
        findings.report("SM204", "nothing in the document is a URL", at=1)
    elif ignored:
        findings.report("SM309", f"{len(ignored)} lines are no URLs", at=ignored[0])
