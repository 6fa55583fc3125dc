"""What is fuzzed, and what must hold of every input.

Rules of this room: a target takes bytes and returns nothing; ``expect`` says what doesn't hold.
Warnings are errors here, and whatever is printed is one as well.
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
from usp._crawl.assembly import sitemap_for_document
from usp._parse.diagnostics import Diagnostics
from usp._parse.document import Child, Document, Source, inspect
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


class BrokenError(AssertionError):
    """Something that must hold doesn't."""


def expect(holds: object, message: str) -> None:
    """Insist."""
    if not holds:
        raise BrokenError(message)


@dataclass(frozen=True, slots=True)
class Reading:
    """All that can be known of a document."""

    kind: Kind
    children: tuple[Child, ...]
    pages: list[dict[str, Any]]
    problems: tuple[Problem, ...]
    complete: bool

    @property
    def urls(self) -> list[str]:
        """What it lists."""
        return [child.url for child in self.children] + [page["url"] for page in self.pages]


def opened(
    chunks: Iterable[bytes], url: str | None = None, charset: str | None = None
) -> tuple[Document, AbstractSitemap]:
    """Read a document as a crawl does, without fetching."""
    source = Source(list(chunks), url, charset=charset, limit=limits.UNPACKED)
    document = inspect(source)
    return document, sitemap_for_document(document.url, document, [])


def read(chunks: Iterable[bytes], url: str | None = None, charset: str | None = None) -> Reading:
    """Read all of a document."""
    document, sitemap = opened(chunks, url, charset)
    pages = [page.to_dict() for page in sitemap.all_pages()]
    problems, complete = sitemap.problems, sitemap.complete
    return Reading(document.kind, document.children, pages, problems, complete)


def chunks_of(data: bytes) -> list[bytes]:
    """Cut data up: always the same for the same data, sometimes into single bytes."""
    size = zlib.crc32(data) % 61 + 1
    return [data[at : at + size] for at in range(0, len(data), size)]


# Documents


def document(data: bytes) -> None:
    """Any bytes: they are read to the end, the same however they arrive and how often."""
    whole = read([data])
    expect(read([data]) == whole, "reading again gives something else")
    expect(read(chunks_of(data)) == whole, "another chunking gives something else")
    expect(len(set(whole.urls)) == len(whole.urls), "a URL is listed twice")
    expect(all(whole.urls), "an empty URL")
    expect(not any(map(has_controls, whole.urls)), "a control character in a URL")
    check_problems(whole, data)
    check_object(data)


def check_problems(reading: Reading, data: bytes) -> None:
    """Problems are bounded, named and placed, and nothing is mended in silence."""
    lost = [problem for problem in reading.problems if problem.severity is Severity.ERROR]
    if reading.kind is not Kind.INVALID:
        expect(reading.complete == (not lost), "complete and the problems disagree")
    expect(reading.problems or reading.complete, "incomplete, and no problem says why")
    for problem in reading.problems:
        expect(problem.code in CODES, "a problem without a row in the table")
        expect(problem.line is None or problem.line >= 1, "a line before the first")
        expect(problem.offset is None or problem.offset >= 0, "an offset before the first byte")
    if reading.kind in _XML and is_plain(data):
        codes = {problem.code for problem in reading.problems}
        damage = codes & {"SM206", "SM207", "SM208", "SM209"}
        if not is_well_formed(data):
            expect(codes, "XML that is not well-formed, and no problem")
        elif not codes & {"SM205", "SM221"}:
            expect(not damage, f"well-formed XML, and problems {sorted(damage)}")
        places = [problem.offset for problem in reading.problems if problem.offset is not None]
        expect(max(places, default=0) <= len(data), "an offset behind the document")


def is_plain(data: bytes) -> bool:
    """Tell whether these are the characters themselves: UTF-8, not packed, no other name given."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data and b"encoding" not in data and not is_compressed(data)


def is_well_formed(data: bytes) -> bool:
    """Ask the judge."""
    try:
        expat.ParserCreate("utf-8").Parse(data, True)
    except expat.ExpatError:
        return False
    return True


def has_controls(text: str) -> bool:
    """Tell whether there are characters that no URL can hold."""
    return bool(_CONTROLS.search(text))


def check_object(data: bytes) -> None:
    """The sitemap object survives what users do with it, and is quiet."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("error")
        _, sitemap = opened([data])
        again = pickle.loads(pickle.dumps(sitemap))  # noqa: S301 -- our own
        expect(again == sitemap, "a pickle brings back something else")
        expect(again.to_dict() == sitemap.to_dict(), "a pickle says something else")
        expect(again.problems == sitemap.problems, "a pickle has other problems")
        expect(isinstance(hash(sitemap), int) and repr(sitemap), "no repr")
    expect(not out.getvalue() and not err.getvalue(), "something was printed")


# Damage inside one entry

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
    """Bytes inside one entry, opening nothing and without tags of entries: the others are kept."""
    if not data or _NOT_LOCAL.search(data):
        return
    root, tag, fields = _FORMATS[data[0] % len(_FORMATS)]
    first, last = (b"<%b>%b</%b>" % (tag, fields % name, tag) for name in (b"first", b"last"))
    wanted = ["http://h.example/first", "http://h.example/last"]
    # The damage replaces what the entry says, then its end as well, then all of it.
    for damaged in (b"<%b>%b</%b>" % (tag, data, tag), b"<%b>%b" % (tag, data), data):
        reading = read([root % (first + damaged + last)], charset="utf-8")
        kept = [url for url in reading.urls if url in wanted]
        expect(kept == wanted, f"damage in one entry costs another: {root % damaged!r}")


# Lines


def robots(data: bytes) -> None:
    """Any robots.txt: its declarations are found whatever stands on other lines."""
    before = b"User-agent: *\n"
    last = b"\nDisallow:\nSitemap: https://h.example/last.xml\n"
    reading = read([before, data, last], ROBOTS_URL, "utf-8")
    expect(reading.kind is Kind.ROBOTS, "not a robots.txt")
    expect("https://h.example/last.xml" in reading.urls, "a declaration is lost")
    expect(len(set(reading.urls)) == len(reading.urls), "a sitemap is declared twice")
    expect(not any(map(has_controls, reading.urls)), "a control character in a URL")
    expect(read(chunks_of(before + data + last), ROBOTS_URL, "utf-8") == reading, "chunking")
    lines = re.split(rb"\r\n?|\n", data)
    for end in (b"\r\n", b"\r"):
        other = read([before, end.join(lines), last], ROBOTS_URL, "utf-8")
        expect(other.urls == reading.urls, "other line ends give something else")
    expect(read(chunks_of(data), ROBOTS_URL) == read([data], ROBOTS_URL), "chunking as it is")


# Values

_WEEK: Final = re.compile(r"\d{4}-?W\d", re.IGNORECASE)


def dates(data: bytes) -> None:
    """Any text as a date: none, or one whose year the text names."""
    written = data.decode("utf-8", "replace")
    text = clean_text(written)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = parse_date(written)
    if found is None or _WEEK.search(text):
        return
    digits = "".join(str(unicodedata.digit(letter, letter)) for letter in text)
    expect(f"{found.year % 100:02}" in digits, f"a year that was made up: {text!r} is {found}")
    expect(found.isoformat(), "a date that can't be written")
    expect(parse_date(found.isoformat()) == found, f"{found} isn't read as it was written")


# Packing


def unpacking(data: bytes) -> None:
    """Any bytes: what comes out is bounded, the same in any chunking, and what gzip says."""
    out = unpacked(data)
    expect(len(out) <= limits.UNPACKED, "more came out than is allowed")
    expect(unpacked(*chunks_of(data)) == out, "another chunking gives something else")
    if is_compressed(data):
        return
    expect(out == data, "what isn't packed is changed")
    packed = gzip.compress(data, mtime=0)
    expect(unpacked(packed) == data, "gzip doesn't come back")
    expect(unpacked(zlib.compress(data)) == data, "zlib doesn't come back")
    for length in (len(packed) // 2, len(packed) - 8, len(packed) - 1):
        cut = packed[:length]
        if not is_compressed(zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(cut)):
            expect(data.startswith(unpacked(cut)), "a cut gzip gives no beginning")


def unpacked(*chunks: bytes) -> bytes:
    """Return what comes out."""
    return b"".join(decompress(chunks, Diagnostics(), limits.UNPACKED))


TARGETS: Final[dict[str, Check]] = {
    "document": document,
    "entry": entry,
    "robots": robots,
    "dates": dates,
    "decompress": unpacking,
}
