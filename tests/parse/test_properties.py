"""Properties of parsing that hold for every document and every chunking.

A property is tested with any input that a strategy draws; an input that once failed is an
``@example``. ``fuzz/`` searches for hours with the same properties.
"""

from __future__ import annotations

import gzip
import io
import pickle
import sys
import tracemalloc
import warnings
from contextlib import redirect_stderr, redirect_stdout
from xml.parsers import expat

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.parse.reading import Reading, read
from tests.parse.strategies import (
    ATOM,
    DECLARATION,
    INDEX,
    JSON,
    MEDIA,
    RSS,
    URLSET,
    VIDEOS,
    Damaged,
    Encoded,
    Format,
    anything,
    chunkings,
    damaged,
    encoded,
    examples,
    formats,
    urls,
    xml_formats,
)
from usp._parse.document import Source, inspect
from usp._parse.input.sniff import Kind
from usp.objects.problem import CODES, Severity
from usp.objects.sitemap import InvalidSitemap, PagesTextSitemap
from usp.tree import sitemap_from_str

ROBOTS = "https://h.example/robots.txt"
KINDS = {
    URLSET: Kind.URLSET,
    INDEX: Kind.INDEX,
    RSS: Kind.RSS,
    ATOM: Kind.ATOM,
    VIDEOS: Kind.URLSET,
    MEDIA: Kind.RSS,
    JSON: Kind.JSON_FEED,
}


def read_valid(kind: Format, entries: list[bytes]) -> Reading:
    """The reading of a valid document, to compare that of a malformed one with."""
    whole = read(kind.document(entries))
    assert whole.kind is KINDS[kind]
    assert (whole.problems, whole.complete) == ((), True)
    assert len(whole.found) == len(entries)
    return whole


# Any bytes


@examples(400)
@given(anything)
def test_any_bytes_are_read_to_the_end(data: bytes) -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("error")
        sitemap = sitemap_from_str(data)
        pages, dictionary = sitemap.pages, sitemap.to_dict()
        again = pickle.loads(pickle.dumps(sitemap))
    assert (out.getvalue(), err.getvalue()) == ("", "")
    assert len({page.url for page in pages}) == len(pages)
    assert all(page.url for page in pages)
    assert dictionary.get("pages", []) == [page.to_dict() for page in pages]
    if isinstance(sitemap, PagesTextSitemap | InvalidSitemap) and not pages:
        assert sitemap.problems
        assert not sitemap.complete
    assert (again, again.to_dict()) == (sitemap, dictionary)
    assert (again.problems, again.complete) == (sitemap.problems, sitemap.complete)


@examples(300)
@given(anything, st.sampled_from([None, ROBOTS]))
def test_problems_have_a_position_and_decide_whether_a_document_is_complete(
    data: bytes, url: str | None
) -> None:
    reading = read(data, url=url)
    for problem in reading.problems:
        assert problem.code in CODES
        assert problem.message
        assert problem.line is None or problem.line >= 1
        assert problem.offset is None or problem.offset >= 0
    errors = [problem for problem in reading.problems if problem.severity is Severity.ERROR]
    if reading.kind is not Kind.INVALID:
        assert reading.complete == (not errors)


def test_a_problem_of_the_root_element_has_its_position() -> None:
    entries = b"".join(b"<url><loc>http://h/%d</loc></url>\n" % number for number in range(9))
    (problem,) = read(b"\n\n<urlset>\n" + entries + b"</urlset>").problems
    assert (problem.line, problem.offset) == (3, 2)


@examples(300)
@given(st.data(), anything, st.sampled_from([None, ROBOTS]))
def test_any_chunking_gives_the_same_result(
    draw: st.DataObject, data: bytes, url: str | None
) -> None:
    chunks = draw.draw(chunkings(data))
    assert read(*chunks, url=url) == read(data, url=url)


CHUNKED = [
    # Each once gave different results whole and byte by byte.
    (
        "a replacement character",
        b"<urlset><url><loc>http://h/\xef\xbf\xbd</loc></url></urlset>",
    ),
    (
        "a replacement character and an invalid byte",
        b"<urlset><url><loc>http://h/\xef\xbf\xbd\xff</loc></url></urlset>",
    ),
    ("a child in a urlset", b"<urlset><sitemap><loc>http://h/1</loc></sitemap></urlset>"),
    ("a late declaration", b"<urlset><url><loc>http://h/\xe9<?xml encoding='cp1251'?></loc></url>"),
]


@pytest.mark.parametrize(("what", "data"), CHUNKED, ids=[row[0] for row in CHUNKED])
def test_chunks_of_one_byte_give_the_same_result(what: str, data: bytes) -> None:
    padded = data.replace(b">", b">" + b" " * 1100, 1)
    assert read(*(bytes([byte]) for byte in padded)) == read(padded), what


def test_the_kind_is_detected_in_the_same_bytes_in_any_chunking() -> None:
    data = b"words\n" * 12_000 + b"<urlset><url><loc>http://h.example/a</loc></url></urlset>"
    assert read(*(data[at : at + 100] for at in range(0, len(data), 100))) == read(data)


@examples(100)
@given(anything)
def test_reading_again_gives_the_same_result(data: bytes) -> None:
    document = inspect(Source([data]))
    pairs = list(zip(document.pages, document.pages, strict=True))
    assert [one.to_dict(extended=True) for one, _ in pairs] == [
        two.to_dict(extended=True) for _, two in pairs
    ]
    assert read(data) == read(data)


# Malformed documents


@examples(600)
@given(damaged())
@example(Damaged(URLSET, URLSET.entries(["http://h/1", "http://h/2"]), 0, b"<e xmlns='x'>"))
def test_a_malformed_entry_does_not_affect_the_others(case: Damaged) -> None:
    others = read_valid(case.kind, case.valid).found
    del others[case.which]
    reading = read(case.document)
    assert reading.kind is KINDS[case.kind]
    assert [found for found in reading.found if found in others] == others


@examples(200)
@given(damaged(xml_formats))
def test_every_repair_is_reported(case: Damaged) -> None:
    try:
        expat.ParserCreate("utf-8").Parse(case.document, True)
    except expat.ExpatError:
        assert read(case.document).problems


@pytest.mark.parametrize("junk", [b"<", b"words", b"<!-- a -- b -->", b"<?xml?>"])
def test_junk_before_the_root_is_reported(junk: bytes) -> None:
    assert read(junk + URLSET.document([])[len(DECLARATION) :]).problems


@examples(300)
@given(formats, urls(most=3), st.integers(0, 1 << 16), st.sampled_from([b"", b"\n", b" \r\n\t\n"]))
def test_a_truncated_document_gives_every_complete_entry(
    kind: Format, listed: list[str], length: int, blanks: bytes
) -> None:
    entries = kind.entries(listed)
    whole = read_valid(kind, entries)
    document = kind.document(entries)
    truncated = (document + blanks)[: length % (len(document) + len(blanks) + 1)]
    reading = read(truncated)
    assert reading.urls == whole.urls[: truncated.count(kind.counts_after)]
    assert reading.complete == (len(truncated) >= len(document))


# Work and memory: four times the input must take about four times the work, not sixteen times

HOSTILE = [
    ("URLs in one child", b"<sitemapindex><sitemap>", b"<loc>http://h/%d</loc>", b"</sitemap>"),
    ("start tags and other end tags", b"<urlset><url>", b"<a%d></b>", b"</url>"),
    ("unclosed elements and faults", b"<urlset>", b"<e%d><url><loc>http://h/</lo></url>", b""),
    ("prefixes", b"<urlset>", b"<p%d:url><loc>http://h/</loc></p0:url>", b""),
    ("attributes that are not closed", b"<urlset>", b"<url a%d='", b""),
    ("nested namespaces", b"<urlset>", b"<x xmlns:p%d='u'>", b""),
    ("many namespaces", b"<urlset>", b"<x xmlns:p%d='u'/>", b""),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("what", "head", "grows", "tail"), HOSTILE, ids=[row[0] for row in HOSTILE]
)
def test_work_is_linear(what: str, head: bytes, grows: bytes, tail: bytes) -> None:
    def work(times: int) -> int:
        """Count the function calls of a reading: the same on every machine, unlike seconds."""
        data = head + b"".join(grows % number for number in range(times)) + tail
        calls = 0

        def count(_frame: object, _event: str, _argument: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(count)
        try:
            assert not read(data).complete
        finally:
            sys.setprofile(None)
        return calls

    assert work(4000) < 5 * work(1000), what


def test_memory_is_bounded() -> None:
    data = b"<urlset>" + b"".join(b"<x xmlns:p%d='u'>" % number for number in range(2500))
    tracemalloc.start()
    try:
        assert not read(data).complete
        assert tracemalloc.get_traced_memory()[1] < 16 * 1024 * 1024
    finally:
        tracemalloc.stop()


# Encodings and compression


@examples(200)
@given(encoded())
def test_every_encoding_gives_the_same_pages(document: Encoded) -> None:
    reading = read(document.data, charset=document.charset)
    assert reading.urls == [f"http://h.example/{document.word}"]
    assert reading.problems == ()


@examples(200)
@given(formats, urls(), st.integers(0, 1 << 16))
def test_a_truncated_gzip_gives_the_first_pages(
    kind: Format, listed: list[str], length: int
) -> None:
    entries = kind.entries(listed)
    whole = read_valid(kind, entries)
    compressed = gzip.compress(kind.document(entries), mtime=0)
    reading = read(compressed[: length % len(compressed)])
    assert reading.urls == whole.urls[: len(reading.urls)]
    assert not reading.complete
    assert read(compressed).found == whole.found
