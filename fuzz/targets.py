"""The targets of fuzzing, and the properties that hold for every input.

A target takes bytes and returns nothing; ``expect`` raises if a property doesn't hold. Warnings and
output are failures too.
"""

from __future__ import annotations

import gzip
import io
import pickle
import re
import unicodedata
import warnings
import zlib
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, Final
from xml.parsers import expat

from fuzz import limits
from fuzz.growth import growth
from usp._crawl.assembly import sitemap_for_document
from usp._parse.children import Child
from usp._parse.diagnostics import Diagnostics
from usp._parse.document import Document, Source, inspect
from usp._parse.input.decompress import decompress, is_compressed
from usp._parse.input.sniff import Kind
from usp._parse.values.dates import parse_date
from usp._parse.values.text import clean_text
from usp.objects.problem import CODES, Problem, Severity
from usp.objects.sitemap import AbstractSitemap

Check = Callable[[bytes], None]
ROBOTS_URL: Final = "https://h.example/robots.txt"
_XML: Final = frozenset({Kind.URLSET, Kind.INDEX, Kind.RSS, Kind.ATOM})
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class PropertyError(AssertionError):
    """A property doesn't hold."""


def expect(holds: object, message: str) -> None:
    """Raise unless the property holds."""
    if not holds:
        raise PropertyError(message)


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that is read from a document."""

    kind: Kind
    children: tuple[Child, ...]
    pages: list[dict[str, Any]]
    problems: tuple[Problem, ...]
    complete: bool

    @property
    def urls(self) -> list[str]:
        """The URLs that it lists."""
        return [child.url for child in self.children] + [page["url"] for page in self.pages]


def opened(
    chunks: Iterable[bytes], url: str | None = None, charset: str | None = None
) -> tuple[Document, AbstractSitemap]:
    """Read a document as a crawl does, without fetching."""
    source = Source(list(chunks), url, charset=charset, limit=limits.DECOMPRESSED)
    document = inspect(source)
    return document, sitemap_for_document(document.url, document, [])


def read(chunks: Iterable[bytes], url: str | None = None, charset: str | None = None) -> Reading:
    """Read all of a document."""
    document, sitemap = opened(chunks, url, charset)
    pages = [page.to_dict(extended=True) for page in sitemap.all_pages()]
    problems, complete = sitemap.problems, sitemap.complete
    return Reading(document.kind, document.children, pages, problems, complete)


def chunks_of(data: bytes) -> list[bytes]:
    """Split data into chunks: always the same ones for the same data, sometimes single bytes."""
    size = zlib.crc32(data) % 61 + 1
    return [data[at : at + size] for at in range(0, len(data), size)]


# Documents


def document(data: bytes) -> None:
    """Any bytes are read to the end, with the same result again and in any chunking."""
    whole = read([data])
    expect(read([data]) == whole, "reading again gives another result")
    expect(read(chunks_of(data)) == whole, "another chunking gives another result")
    children, pages = [child.url for child in whole.children], [page["url"] for page in whole.pages]
    expect(len(set(children)) == len(children), "a child sitemap is listed twice")
    expect(len(set(pages)) == len(pages), "a page is listed twice")
    expect(all(whole.urls), "an empty URL")
    expect(not any(map(has_controls, whole.urls)), "a control character in a URL")
    check_problems(whole, data)
    check_object(data)


def check_problems(reading: Reading, data: bytes) -> None:
    """Problems have a known code and a valid position, and every repair is reported."""
    errors = [problem for problem in reading.problems if problem.severity is Severity.ERROR]
    if reading.kind is not Kind.INVALID:
        expect(reading.complete == (not errors), "complete and the problems disagree")
    expect(reading.problems or reading.complete, "incomplete, and no problem is reported")
    for problem in reading.problems:
        expect(problem.code in CODES, "a problem with an unknown code")
        expect(problem.line is None or problem.line >= 1, "a line below 1")
        expect(problem.offset is None or problem.offset >= 0, "an offset below 0")
    if reading.kind in _XML and is_plain(data):
        codes = {problem.code for problem in reading.problems}
        damage = codes & {"SM206", "SM207", "SM208", "SM209"}
        if not is_well_formed(data):
            expect(codes, "malformed XML, and no problem")
        elif not codes & {"SM205", "SM221"}:
            expect(not damage, f"well-formed XML, and problems {sorted(damage)}")
        offsets = [problem.offset for problem in reading.problems if problem.offset is not None]
        expect(max(offsets, default=0) <= len(data), "an offset behind the document")


def is_plain(data: bytes) -> bool:
    """Tell whether this is UTF-8, not compressed, and declares no other encoding."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data and b"encoding" not in data and not is_compressed(data)


def is_well_formed(data: bytes) -> bool:
    """Tell whether expat accepts the document."""
    try:
        expat.ParserCreate("utf-8").Parse(data, True)
    except expat.ExpatError:
        return False
    return True


def has_controls(text: str) -> bool:
    """Tell whether there are characters that no URL can contain."""
    return bool(_CONTROLS.search(text))


def check_object(data: bytes) -> None:
    """The sitemap object can be pickled, compared and printed, and prints nothing itself."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("error")
        _, sitemap = opened([data])
        again = pickle.loads(pickle.dumps(sitemap))  # noqa: S301 -- our own
        expect(again == sitemap, "a pickle gives another object")
        expect(again.to_dict() == sitemap.to_dict(), "a pickle gives another dictionary")
        expect(again.problems == sitemap.problems, "a pickle gives other problems")
        expect(isinstance(hash(sitemap), int) and repr(sitemap), "no repr")
    expect(not out.getvalue() and not err.getvalue(), "something was printed")


# Malformed entries

_FORMATS: Final = (
    (b"<urlset>%b</urlset>", b"url", b"<loc>http://h.example/%b</loc>"),
    (b"<sitemapindex>%b</sitemapindex>", b"sitemap", b"<loc>http://h.example/%b</loc>"),
    (b"<rss><channel>%b</channel></rss>", b"item", b"<title>T</title><link>http://h.example/%b</link>"),
    (b"<feed>%b</feed>", b"entry", b"<title>T</title><link href='http://h.example/%b'/>"),
)  # fmt: skip
_NOT_LOCAL: Final = re.compile(
    rb"<[!?]|</?(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|rdf|channel|feed|url|sitemap|item|entry)"
    rb"(?![\w.-])",
    re.IGNORECASE,
)


def entry(data: bytes) -> None:
    """Any bytes inside one entry, without tags of entries or comments: the others are read."""
    if not data or _NOT_LOCAL.search(data):
        return
    root, tag, fields = _FORMATS[data[0] % len(_FORMATS)]
    first, last = (b"<%b>%b</%b>" % (tag, fields % name, tag) for name in (b"first", b"last"))
    expected = ["http://h.example/first", "http://h.example/last"]
    # The bytes replace the content of the entry, then its end tag as well, then all of it.
    for malformed in (b"<%b>%b</%b>" % (tag, data, tag), b"<%b>%b" % (tag, data), data):
        reading = read([root % (first + malformed + last)], charset="utf-8")
        urls = [url for url in reading.urls if url in expected]
        expect(urls == expected, f"a malformed entry affects another: {root % malformed!r}")


# robots.txt


def robots(data: bytes) -> None:
    """Any robots.txt: a declaration is found whatever other lines contain."""
    before = b"User-agent: *\n"
    last = b"\nDisallow:\nSitemap: https://h.example/last.xml\n"
    reading = read([before, data, last], ROBOTS_URL, "utf-8")
    expect(reading.kind is Kind.ROBOTS, "not detected as robots.txt")
    expect("https://h.example/last.xml" in reading.urls, "a declaration is missing")
    expect(len(set(reading.urls)) == len(reading.urls), "a sitemap is declared twice")
    expect(not any(map(has_controls, reading.urls)), "a control character in a URL")
    expect(
        read(chunks_of(before + data + last), ROBOTS_URL, "utf-8") == reading,
        "another chunking gives another result",
    )
    lines = re.split(rb"\r\n?|\n", data)
    for end in (b"\r\n", b"\r"):
        other = read([before, end.join(lines), last], ROBOTS_URL, "utf-8")
        expect(other.urls == reading.urls, "other line ends give another result")
    expect(
        read(chunks_of(data), ROBOTS_URL) == read([data], ROBOTS_URL),
        "another chunking gives another result",
    )


# Values

_WEEK: Final = re.compile(r"\d{4}-?W\d", re.IGNORECASE)


def dates(data: bytes) -> None:
    """Any text is no date, or one whose year is in the text."""
    written = data.decode("utf-8", "replace")
    text = clean_text(written)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        date = parse_date(written)
    if date is None or _WEEK.search(text):
        return
    digits = "".join(str(unicodedata.digit(letter, letter)) for letter in text)
    expect(f"{date.year % 100:02}" in digits, f"a guessed year: {text!r} is {date}")
    expect(date.isoformat(), "a date that can't be formatted")
    expect(parse_date(date.isoformat()) == date, f"{date} is not parsed as it was formatted")


# Compression


def decompression(data: bytes) -> None:
    """Any bytes: the result is bounded, the same in any chunking, and that of gzip."""
    out = decompressed(data)
    expect(len(out) <= limits.DECOMPRESSED, "more bytes than the limit")
    expect(decompressed(*chunks_of(data)) == out, "another chunking gives another result")
    if is_compressed(data):
        return
    expect(out == data, "data that isn't compressed is changed")
    compressed = gzip.compress(data, mtime=0)
    expect(decompressed(compressed) == data, "gzip is not decompressed")
    expect(decompressed(zlib.compress(data)) == data, "zlib is not decompressed")
    for length in (len(compressed) // 2, len(compressed) - 8, len(compressed) - 1):
        truncated = compressed[:length]
        if not is_compressed(zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(truncated)):
            message = "truncated gzip gives other bytes"
            expect(data.startswith(decompressed(truncated)), message)


def decompressed(*chunks: bytes) -> bytes:
    """Return the decompressed bytes."""
    return b"".join(decompress(chunks, Diagnostics(), limits.DECOMPRESSED))


TARGETS: Final[dict[str, Check]] = {
    "document": document,
    "entry": entry,
    "robots": robots,
    "dates": dates,
    "decompress": decompression,
    "growth": growth,
}
