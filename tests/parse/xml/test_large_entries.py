"""A malformed entry of nearly a megabyte: it is read in one step, which must not take long."""

import re
import threading
import time
from datetime import UTC, datetime
from itertools import pairwise

import pytest

import usp
from tests.speed import Stopwatch
from usp._parse import Pages, Source, inspect
from usp._parse.diagnostics import START
from usp._parse.xml.entry_builder import MAX_DEPTH
from usp._parse.xml.read_buffer import ReadBuffer

URLSET = (
    "<urlset><url><loc>http://h/first</loc></url>%s<url><loc>http://h/last</loc></url></urlset>"
)
SIZE = 1_000_000
PIECES = {
    "open tags": "<b>",
    "open tags with attributes": "<a b=c>",
    "end tags": "</b>",
    "pairs": "<b><c></b></c>",
    "fields": "<loc>",
    "groups": "<image:image>",
    "angle brackets": "<",
    "entities": "&foo;",
    "links": "<link href=x>",
}
LONGEST = 1.5
"""Seconds of a nominal machine between two looks at the time: a crawl has two."""


def looks_at_the_time(document: bytes) -> list[float]:
    """Return the CPU time of each look at the time while a document is read."""
    times: list[float] = [time.process_time()]

    def ended() -> bool:
        times.append(time.process_time())
        return False

    read = inspect(Source([document], "http://h/s.xml"), ended=ended)
    assert isinstance(read.pages, Pages)
    urls = [page.url for page in read.pages.walk(ended, with_problems=True)]
    assert urls[0] == "http://h/first"
    assert urls[-1] == "http://h/last"
    return [*times, time.process_time()]


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("inside", ["loc", "url"])
@pytest.mark.parametrize("piece", PIECES)
def test_the_time_is_looked_at_inside_of_a_malformed_entry(piece: str, inside: str) -> None:
    many = PIECES[piece] * (SIZE // len(PIECES[piece]))
    form = "<url><loc>%s</loc></url>" if inside == "loc" else "<url><loc>http://h/</loc>%s</url>"
    document = (URLSET % (form % many)).encode()
    with Stopwatch() as watch:
        times = looks_at_the_time(document)
    longest = max(later - before for before, later in pairwise(times))
    assert longest / watch.slowness < LONGEST


@pytest.mark.parametrize("depth", [MAX_DEPTH - 5, MAX_DEPTH, MAX_DEPTH + 5, 5 * MAX_DEPTH])
def test_fields_behind_tags_that_are_nested_too_deep_are_read(depth: int) -> None:
    tags = "<b>" * depth
    malformed = f"<url><loc>http://h/deep{tags}</i></loc><lastmod>2026-01-02</lastmod></url>"
    sitemap = usp.parse(URLSET % malformed)
    pages = sitemap.pages
    assert [page.url for page in pages] == ["http://h/first", "http://h/deep", "http://h/last"]
    too_deep = [one for one in sitemap.problems if "nested more than" in one.message]
    assert bool(too_deep) is (depth >= MAX_DEPTH)
    assert pages[1].updated_at == datetime(2026, 1, 2, tzinfo=UTC)


def test_a_search_in_pieces_finds_what_a_search_at_once_finds() -> None:
    patterns = [rb"<url(?=[^\w])", rb"-->|<!--", rb"<\?", rb"[<>]", rb"</url\s*>", rb"x\Z"]
    for filling in (b".", b"<", b"< ", b"<b>", b"-"):
        for size in (65_530, 65_536, 65_540, 131_072, 200_000):
            for end in (b"<url>", b"-->", b"<?x", b"</url   >", b"<url", b"x", b""):
                data = filling * (size // len(filling)) + end
                buffer = ReadBuffer(START)
                buffer.append(data)
                for pattern in map(re.compile, patterns):
                    found, expected = buffer.search(pattern, 0), pattern.search(data)
                    assert (found and found.span()) == (expected and expected.span())


def test_a_search_in_a_large_buffer_lets_other_threads_run() -> None:
    """A search holds the interpreter lock to its end; one in pieces gives it away in between."""
    buffer = ReadBuffer(START)
    buffer.append(b"<" * 30_000_000)
    slow = re.compile(rb"<(?:a|b|c)\s*>|<(?:d|e|f)\s*>")
    turns = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal turns
        while not ended.wait(0.001):
            turns += 1

    other = threading.Thread(target=count)
    other.start()
    try:
        assert buffer.search(slow, 0) is None
    finally:
        ended.set()
        other.join()
    assert turns > 20, "a search at once would let it run when it is over"
