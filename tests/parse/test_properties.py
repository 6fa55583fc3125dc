"""Properties: what holds for every document, whoever wrote it and however it arrived.

Rules of this room: a claim is made about any input that a strategy draws, never about a chosen one
(an input that broke a claim becomes an ``@example``). The same inputs are drawn in every run, so
that a failure belongs to a change; ``USP_EXPLORE=5000`` draws so many new ones instead, and
``fuzz/`` searches for hours.
"""

from __future__ import annotations

import gzip
import io
import os
import pickle
import sys
import tracemalloc
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from email.utils import format_datetime
from typing import Any
from xml.parsers import expat

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

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
    formats,
    urls,
    xml_formats,
)
from usp._parse.document import Child, Source, inspect
from usp._parse.input.sniff import Kind
from usp._parse.values.dates import parse_date
from usp._parse.values.enumerations import parse_change_frequency
from usp._parse.values.numbers import parse_priority, priority_or_default
from usp._parse.values.text import split_commas
from usp._parse.values.urls import resolve_url
from usp.helpers import parse_iso8601_date
from usp.objects.abstract_sitemap import HasProblems
from usp.objects.page import SitemapPageChangeFrequency
from usp.objects.problem import CODES, Problem, Severity
from usp.objects.sitemap import InvalidSitemap, PagesTextSitemap
from usp.tree import sitemap_from_str

EXPLORE = int(os.environ.get("USP_EXPLORE", "0"))
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


def examples(count: int) -> settings:
    return settings(max_examples=EXPLORE or count, derandomize=not EXPLORE)


@dataclass(frozen=True, slots=True)
class Reading:
    """All that can be known of a document."""

    kind: Kind
    reason: str
    children: tuple[Child, ...]
    pages: tuple[dict[str, Any], ...]
    problems: tuple[Problem, ...]
    complete: bool

    @property
    def found(self) -> list[dict[str, Any] | Child]:
        """What the document lists: the children of an index, else its pages."""
        return list(self.children if self.kind is Kind.INDEX else self.pages)

    @property
    def urls(self) -> list[str]:
        return [child.url for child in self.children] or [page["url"] for page in self.pages]


def read(*chunks: bytes, url: str | None = None, charset: str | None = None) -> Reading:
    document = inspect(Source(list(chunks), url, charset=charset))
    pages = tuple(page.to_dict() for page in document.pages)
    assert isinstance(document.pages, HasProblems)
    return Reading(
        document.kind,
        document.reason,
        document.children,
        pages,
        document.pages.problems,
        complete=document.kind is not Kind.INVALID and document.pages.complete,
    )


def sound(kind: Format, entries: list[bytes]) -> Reading:
    """What a document without damage says: the measure for the damaged one."""
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
        pages, told = sitemap.pages, sitemap.to_dict()
        again = pickle.loads(pickle.dumps(sitemap))
    assert (out.getvalue(), err.getvalue()) == ("", "")
    assert len({page.url for page in pages}) == len(pages)
    assert all(page.url for page in pages)
    assert told.get("pages", []) == [page.to_dict() for page in pages]
    if isinstance(sitemap, PagesTextSitemap | InvalidSitemap) and not pages:
        assert sitemap.problems
        assert not sitemap.complete
    assert (again, again.to_dict()) == (sitemap, told)
    assert (again.problems, again.complete) == (sitemap.problems, sitemap.complete)


@examples(300)
@given(anything, st.sampled_from([None, ROBOTS]))
def test_problems_have_a_place_and_decide_whether_a_document_is_complete(
    data: bytes, url: str | None
) -> None:
    reading = read(data, url=url)
    for problem in reading.problems:
        assert problem.code in CODES
        assert problem.message
        assert problem.line is None or problem.line >= 1
        assert problem.offset is None or problem.offset >= 0
    lost = [problem for problem in reading.problems if problem.severity is Severity.ERROR]
    if reading.kind is not Kind.INVALID:
        assert reading.complete == (not lost)


def test_what_is_odd_about_the_root_is_reported_at_the_root() -> None:
    entries = b"".join(b"<url><loc>http://h/%d</loc></url>\n" % number for number in range(9))
    (problem,) = read(b"\n\n<urlset>\n" + entries + b"</urlset>").problems
    assert (problem.line, problem.offset) == (3, 2)


@examples(300)
@given(st.data(), anything, st.sampled_from([None, ROBOTS]))
def test_any_chunking_gives_the_same(draw: st.DataObject, data: bytes, url: str | None) -> None:
    chunks = draw.draw(chunkings(data))
    assert read(*chunks, url=url) == read(data, url=url)


CHUNKED = [
    # what, bytes: each was once read in one way whole and in another byte by byte
    (
        "a character that means damage",
        b"<urlset><url><loc>http://h/\xef\xbf\xbd</loc></url></urlset>",
    ),
    ("that and damage", b"<urlset><url><loc>http://h/\xef\xbf\xbd\xff</loc></url></urlset>"),
    ("a child in a urlset", b"<urlset><sitemap><loc>http://h/1</loc></sitemap></urlset>"),
    ("a late declaration", b"<urlset><url><loc>http://h/\xe9<?xml encoding='cp1251'?></loc></url>"),
]


@pytest.mark.parametrize(("what", "data"), CHUNKED, ids=[row[0] for row in CHUNKED])
def test_chunks_of_one_byte(what: str, data: bytes) -> None:
    roomy = data.replace(b">", b">" + b" " * 1100, 1)
    assert read(*(bytes([byte]) for byte in roomy)) == read(roomy), what


def test_what_decides_the_kind_is_looked_for_in_the_same_bytes_in_any_chunking() -> None:
    data = b"words\n" * 12_000 + b"<urlset><url><loc>http://h.example/a</loc></url></urlset>"
    assert read(*(data[at : at + 100] for at in range(0, len(data), 100))) == read(data)


@examples(100)
@given(anything)
def test_reading_twice_gives_the_same_twice(data: bytes) -> None:
    document = inspect(Source([data]))
    side_by_side = list(zip(document.pages, document.pages, strict=True))
    assert [one.to_dict() for one, _ in side_by_side] == [two.to_dict() for _, two in side_by_side]
    assert read(data) == read(data)


# Damage


@examples(600)
@given(damaged())
@example(Damaged(URLSET, URLSET.entries(["http://h/1", "http://h/2"]), 0, b"<e xmlns='x'>"))
def test_damage_inside_one_entry_costs_no_other(case: Damaged) -> None:
    others = sound(case.kind, case.sound).found
    del others[case.which]
    reading = read(case.document)
    assert reading.kind is KINDS[case.kind]
    assert [found for found in reading.found if found in others] == others


@examples(200)
@given(damaged(xml_formats))
def test_nothing_is_mended_in_silence(case: Damaged) -> None:
    try:
        expat.ParserCreate("utf-8").Parse(case.document, True)
    except expat.ExpatError:
        assert read(case.document).problems


@pytest.mark.parametrize("junk", [b"<", b"words", b"<!-- a -- b -->", b"<?xml?>"])
def test_nothing_before_the_root_is_passed_over_in_silence(junk: bytes) -> None:
    assert read(junk + URLSET.document([])[len(DECLARATION) :]).problems


@examples(300)
@given(formats, urls(most=3), st.integers(0, 1 << 16), st.sampled_from([b"", b"\n", b" \r\n\t\n"]))
def test_a_document_cut_off_anywhere_gives_every_complete_entry(
    kind: Format, listed: list[str], place: int, blanks: bytes
) -> None:
    entries = kind.entries(listed)
    whole = sound(kind, entries)
    document = kind.document(entries)
    cut = (document + blanks)[: place % (len(document) + len(blanks) + 1)]
    reading = read(cut)
    assert reading.urls == whole.urls[: cut.count(kind.kept_from)]
    assert reading.complete == (len(cut) >= len(document))


# Work and memory: four times as much must cost about four times as much, never sixteen times

HOSTILE = [
    ("URLs in one child", b"<sitemapindex><sitemap>", b"<loc>http://h/%d</loc>", b"</sitemap>"),
    ("start tags and other end tags", b"<urlset><url>", b"<a%d></b>", b"</url>"),
    ("unclosed elements and faults", b"<urlset>", b"<e%d><url><loc>http://h/</lo></url>", b""),
    ("prefixes", b"<urlset>", b"<p%d:url><loc>http://h/</loc></p0:url>", b""),
    ("attributes that never end", b"<urlset>", b"<url a%d='", b""),
    ("namespaces in one another", b"<urlset>", b"<x xmlns:p%d='u'>", b""),
    ("namespaces beside one another", b"<urlset>", b"<x xmlns:p%d='u'/>", b""),
]


@pytest.mark.parametrize(
    ("what", "head", "grows", "tail"), HOSTILE, ids=[row[0] for row in HOSTILE]
)
def test_work_does_not_explode(what: str, head: bytes, grows: bytes, tail: bytes) -> None:
    def work(times: int) -> int:
        """Count the calls that reading takes: the same on every machine, unlike seconds."""
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


def test_memory_does_not_explode() -> None:
    data = b"<urlset>" + b"".join(b"<x xmlns:p%d='u'>" % number for number in range(2500))
    tracemalloc.start()
    try:
        assert not read(data).complete
        assert tracemalloc.get_traced_memory()[1] < 16 * 1024 * 1024
    finally:
        tracemalloc.stop()


# Bytes before they are text


@examples(200)
@given(encoded())
def test_every_encoding_gives_the_same_pages(document: Encoded) -> None:
    reading = read(document.data, charset=document.charset)
    assert reading.urls == [f"http://h.example/{document.word}"]
    assert reading.problems == ()


@examples(200)
@given(formats, urls(), st.integers(0, 1 << 16))
def test_a_gzip_cut_off_anywhere_gives_the_first_pages(
    kind: Format, listed: list[str], place: int
) -> None:
    entries = kind.entries(listed)
    whole = sound(kind, entries)
    packed = gzip.compress(kind.document(entries), mtime=0)
    reading = read(packed[: place % len(packed)])
    assert reading.urls == whole.urls[: len(reading.urls)]
    assert not reading.complete
    assert read(packed).found == whole.found


# Values

TEXTS = st.text(max_size=40) | st.text("0123456789-+:/., TZWGMTEapmJan", max_size=30)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
LEAST = datetime(1000, 1, 1)  # noqa: DTZ001 -- Hypothesis adds the zone
DATES = st.datetimes(LEAST) | st.datetimes(LEAST, timezones=ZONES)


@examples(500)
@given(TEXTS)
@example("6:99999999999999999999999999999")  # decimal's own exceptions
@example("0 \x08")  # a blank that is the last once the control character is gone
def test_values_of_any_text(text: str) -> None:
    found = parse_date(text)
    assert found is None or isinstance(found, datetime)
    if text:
        assert parse_iso8601_date(text) == found
    priority = parse_priority(text)
    assert priority is None or 0 <= priority <= 1
    assert isinstance(priority_or_default(text), Decimal)
    frequency = parse_change_frequency(text)
    assert frequency is None or isinstance(frequency, SitemapPageChangeFrequency)
    assert all(part.strip() for part in split_commas(text))
    assert resolve_url(text, None) == resolve_url(text, None).strip()
    assert isinstance(resolve_url(text, "https://h.example/a/"), str)


@examples(200)
@given(DATES, st.sampled_from("T "))
def test_a_date_is_read_as_it_was_written(when: datetime, between: str) -> None:
    assert parse_date(when.isoformat(between)) == when
    assert parse_date(when.date().isoformat()) == datetime(when.year, when.month, when.day)  # noqa: DTZ001 -- no zone was named
    whole = when.replace(microsecond=0, tzinfo=when.tzinfo or UTC)
    assert parse_date(format_datetime(whole)) == whole
