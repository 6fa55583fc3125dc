"""Documents made of lines: robots.txt and plain text sitemaps."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.values import text as values
from usp._parse.values.deduplicate import Deduplicator
from usp._parse.values.strip_url_junk import strip_quotes

_LINE_END: Final = re.compile(rb"\r\n?|\n")
_LONGEST: Final = 64 * 1024
_SITEMAP: Final = re.compile(
    # Any word that begins so, as Google's parser has it; sites also leave the colon out.
    r"(?:[-*\u2022]\s+)?site-?map(?:[\w-]*|\s+(?:url|index))"
    r"(?P<mark>\s*[:=\uff1a]+\s*|\s+(?=https?://|/))(?P<value>.*)",
    re.IGNORECASE,
)
_PLAIN_WORD: Final = re.compile(r"site-?map[\w-]*\s*:", re.IGNORECASE)
_PARTS: Final = re.compile(r"<br\s*/?>|(?:\\[rn])+(?=[a-z-]+\s*:|\Z)", re.IGNORECASE)
"""Line breaks that were written for a browser, or never became any."""
_BETWEEN: Final = re.compile(r"[\s,;]+(?:site-?map\s*:\s*)?", re.IGNORECASE)
_NOT_IN_URLS: Final = re.compile(r"[\s<>\"]")


def lines(chunks: Iterable[bytes], diagnostics: Diagnostics) -> Iterator[str]:
    """Yield the lines, trimmed, with their indexes; one that is far too long is left out."""
    position: Position = (1, 0)
    diagnostics.position_of = lambda _at: position
    diagnostics.here = 0
    for number, (line, offset) in enumerate(_bounded_lines(chunks), 1):
        position = (number, offset)
        if line is None:
            diagnostics.report("SM310", f"a line is longer than {_LONGEST} bytes")
        yield "" if line is None else values.clean_line(line)


def _bounded_lines(chunks: Iterable[bytes]) -> Iterator[tuple[bytes | None, int]]:
    """Yield each line and its offset, None for one that is too long: no more is ever held."""
    held, too_long = b"", False
    start = read = 0
    after_return = False
    for chunk in chunks:
        begin = int(after_return and chunk.startswith(b"\n"))  # the other half of a line's end
        start += begin
        for end in _LINE_END.finditer(chunk, begin):
            line = held + chunk[begin : end.start()]
            yield (None if too_long or len(line) > _LONGEST else line), start
            held, too_long = b"", False
            begin = end.end()
            start = read + begin
        held = b"" if too_long else held + chunk[begin:]
        too_long = too_long or len(held) > _LONGEST
        held = b"" if too_long else held
        read += len(chunk)
        after_return = chunk.endswith(b"\r") if chunk else after_return
    yield (None if too_long else held), start


def sitemaps_in_robots(
    chunks: Iterable[bytes], base: str | None, diagnostics: Diagnostics
) -> Iterator[str]:
    """Yield the URL of each sitemap that a robots.txt declares, each once, in its order."""
    seen: set[str] = set()
    expected = False
    for line in _parts(lines(chunks, diagnostics), diagnostics):
        match = _SITEMAP.match(line)
        # Some sites break the line after the colon.
        value = match["value"] if match else line if expected and values.is_http_url(line) else ""
        value = value.partition("#")[0].strip()
        plain = match and match["mark"].strip() == ":" and _PLAIN_WORD.match(line)
        if value and (not plain or _unquoted(value) != value):
            diagnostics.report("SM607", f"{line[:200]!r} is not written as it should be")
        expected = bool(match and not value) or (expected and not line)
        for text in _several(_unquoted(value), diagnostics):
            values.check_url(text, base, diagnostics)
            url = values.url(text, base)
            if url in seen:
                diagnostics.report("SM305", f"sitemap {url[:200]!r} is declared again")
            elif url:
                seen.add(url)
                yield url


def _parts(found: Iterable[str], diagnostics: Diagnostics) -> Iterator[str]:
    """Yield the lines that were meant, where several were written as one."""
    for line in found:
        parts = _PARTS.split(line)
        if len(parts) > 1:
            diagnostics.report_once("SM607", "lines are not broken as they should be")
        yield from (part.strip() for part in parts)


def _unquoted(value: str) -> str:
    """Take off quotes around a value, and markup behind it."""
    value = strip_quotes(value)
    return value.partition("<")[0].strip() or value


def _several(value: str, diagnostics: Diagnostics) -> list[str]:
    """Return the URLs of one line: some sites write several."""
    words = [word for word in _BETWEEN.split(value) if word]
    if len(words) > 1 and all(map(values.is_http_url, words)):
        diagnostics.report("SM607", "several sitemaps stand on one line")
        return words
    return [value] if value else []


def urls_in_text(chunks: Iterable[bytes], diagnostics: Diagnostics) -> Iterator[str]:
    """Yield each line that is an HTTP(S) URL with a host, each once, in order."""
    seen = Deduplicator()
    ignored = 0
    first_ignored: Position | None = None
    for written in lines(chunks, diagnostics):
        line = strip_quotes(written)
        if not values.is_http_url(line) or _NOT_IN_URLS.search(line):
            if line:
                ignored += 1
                first_ignored = first_ignored or diagnostics.position()
        elif not seen.take(line):
            diagnostics.report("SM305", f"URL {line[:200]!r} is listed again")
        else:
            if line != written:
                diagnostics.report("SM311", f"something stands around URL {line[:200]!r}")
            yield line
    if not seen:
        diagnostics.report("SM204", "nothing in the document is a URL", position=(1, 0))
    elif ignored:
        diagnostics.report("SM309", f"{ignored} lines are no URLs", position=first_ignored)
