"""Columns have the values of page objects: on drawn documents, on every format, on real ones."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.json_feeds import feed
from tests.parse.pattern.readers import documents
from tests.parse.reading import ALL, u, urlset
from tests.parse.strategies import anything, chunkings, encoded, examples
from tests.parse.strategies_rich import Rich, rich_documents
from tests.tables.page_rows import microseconds, page_row
from usp._parse import PageColumns, Pages, Source, columns_of_pages
from usp._parse.pattern.forget import forget_patterns
from usp._parse.values.timestamps import parse_timestamp
from usp._parse.values.usual_times import parse_usual_times
from usp._tables.schema import TABLES
from usp.objects.page import SitemapImage, SitemapNewsStory, SitemapPage, SitemapPageChangeFrequency

URL: Final = "https://h.example/a/sitemap.xml"
NAMES: Final = tuple(name for name in TABLES["pages"].names if name not in {"site", "sitemap_url"})


def rows(batches: Iterable[PageColumns], names: Iterable[str] = NAMES) -> list[dict[str, Any]]:
    found = []
    for batch in batches:
        assert set(batch) == {"url", *names}
        columns = [batch[name] for name in names]
        found += [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return found


def assert_columns_are_pages(chunks: list[bytes], *, expat_only: bool = False) -> None:
    source = Source(chunks, URL, expat_only=expat_only)
    by_columns, by_pages, asked = Pages(source), Pages(source), Pages(source)
    pages = list(by_pages)
    expected = [{**page_row(page), "position": at} for at, page in enumerate(pages, 1)]
    expected = [{name: row[name] for name in NAMES} for row in expected]
    assert rows(by_columns.columns(NAMES)) == expected
    assert rows(by_columns.columns(NAMES, rows=3)) == expected, "in small batches"
    assert rows(columns_of_pages(pages, NAMES)) == expected, "from page objects"
    assert by_columns.known_errors == by_pages.known_errors
    found = by_columns.problems, by_columns.complete, by_columns.document_bytes
    assert found == (asked.problems, asked.complete, asked.document_bytes)


@pytest.mark.slow
@examples(200)
@given(documents())
def test_the_columns_of_sitemaps_are_what_page_objects_say(data: bytes) -> None:
    forget_patterns()
    assert_columns_are_pages([data])
    assert_columns_are_pages([data])
    assert_columns_are_pages([data], expat_only=True)


@examples(100)
@given(rich_documents)
def test_the_columns_of_videos_and_feeds_are_what_page_objects_say(document: Rich) -> None:
    assert_columns_are_pages([document.data])


@examples(200)
@given(st.data(), st.one_of(anything, encoded().map(lambda one: one.data)))
def test_the_columns_of_any_bytes_are_what_page_objects_say(
    draw: st.DataObject, data: bytes
) -> None:
    assert_columns_are_pages(draw.draw(chunkings(data)))


@pytest.mark.slow
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.thorough)])
def test_the_columns_of_real_documents_are_what_page_objects_say(corpus: Path, every: int) -> None:
    files = [path for path in sorted(corpus.glob("*/*")) if path.suffix != ".md"]
    for path in files[::every]:
        try:
            assert_columns_are_pages([path.read_bytes()])
        except Exception as error:
            error.add_note(f"while reading {path.name}")
            raise
    assert files


def only(document: str, *names: str) -> list[Any]:
    (row,) = rows(Pages(Source.of(document, URL)).columns(names), names)
    return [row[name] for name in names]


@pytest.mark.parametrize(
    ("entry", "column", "value"),
    [
        ("", "priority", None),
        ("<priority>0.5</priority>", "priority", 0.5),
        ("<priority>7</priority>", "priority", None),
        ("<priority> 0.25 </priority>", "priority", 0.25),
        ("<changefreq>Weekly</changefreq>", "changefreq", "weekly"),
        ("<changefreq>often</changefreq>", "changefreq", None),
        ("<lastmod>2024-05-01</lastmod>", "lastmod", 1_714_521_600_000_000),
        ("<lastmod>2024-05-01T02:00:00.5+02:00</lastmod>", "lastmod", 1_714_521_600_500_000),
        ("<lastmod>1969-12-31T23:59:59.9Z</lastmod>", "lastmod", -100_000),
        ("<lastmod>soon</lastmod>", "lastmod", None),
        ("<lastmod> soon </lastmod>", "lastmod_raw", "soon"),
        ("<lastmod>https://me:secret@h.example/</lastmod>", "lastmod_raw", "https://h.example/"),
        ("<lastmod> </lastmod>", "lastmod_raw", None),
        ("<lastmod>0001-01-01T00:00:00+14:00</lastmod>", "lastmod", -62_135_596_800_000_000),
    ],
)
def test_absent_and_invalid_values_are_null(entry: str, column: str, value: object) -> None:
    document = urlset(u("https://h.example/1", entry))
    assert only(document, column) == [value]


def test_a_number_that_no_column_has_is_null() -> None:
    """The decimal of an object can be larger than the largest number of a column, 1.8e308."""
    price = '<video:video><video:price currency="EUR">{}</video:price></video:video>'
    document = urlset(u("https://h.example/1", price.format("1e999") + price.format("1e300")))
    (page,) = Pages(Source.of(document, URL))
    amounts = [one.prices[0].amount for one in page.videos or ()]
    assert amounts == [Decimal("1e999"), Decimal("1e300")]
    (videos,) = only(document, "videos")
    at = TABLES["videos"].names.index("prices") - TABLES["videos"].names.index("thumbnail_loc")
    assert [video[at] for video in videos] == [
        [(None, "EUR", None, None)],
        [(1e300, "EUR", None, None)],
    ]
    assert_columns_are_pages([document.encode()])
    own = SitemapPage("https://h.example/1", priority=Decimal("NaN"))
    assert rows(columns_of_pages([own], ["priority"]), ["priority"]) == [{"priority": None}]


def test_a_story_without_a_readable_date_keeps_its_elements() -> None:
    story = (
        "<news:news><news:publication><news:name>The Paper</news:name><news:language>en"
        "</news:language></news:publication><news:publication_date>soon</news:publication_date>"
        "<news:title>T</news:title><news:keywords>a, b</news:keywords></news:news>"
    )
    document = urlset(u("https://h.example/1", story))
    names = ("title", "published_at", "news_publication", "news_language", "news_keywords")
    assert only(document, *names, "news_genres", "is_news") == [
        *("T", None, "The Paper", "en", ["a", "b"]),
        *(None, False),
    ]
    assert only(document, "news") == [
        ("T", None, "The Paper", "en", None, None, ["a", "b"], None),
    ]


def test_the_items_of_feeds_have_titles_but_no_news_elements() -> None:
    document = feed({"url": "https://h.example/1", "title": "T", "date_published": "2024-05-01"})
    assert only(document, "title", "news", "is_news", "updated_at") == [
        *("T", None, True),
        1_714_521_600_000_000,
    ]


def test_only_the_wanted_columns_are_read() -> None:
    pages = Pages(Source.of(urlset(u("https://h.example/1", "<priority>1</priority>")), URL))
    assert list(pages.columns([])) == [{"url": ["https://h.example/1"]}]
    assert list(pages.columns(["priority"])) == [{"url": ["https://h.example/1"], "priority": [1]}]


def test_a_batch_of_long_entries_has_fewer_rows() -> None:
    story = f"<news:news><news:title>{'x' * 10_000}</news:title></news:news>"
    entries = [u(f"https://h.example/{at}", story) for at in range(1000)]
    pages = Pages(Source.of(urlset(*entries), URL))
    sizes = [len(batch["url"]) for batch in pages.columns(["title"])]
    assert sum(sizes) == 1000
    assert max(sizes) < 500


def test_what_was_read_before_the_time_was_up_is_not_lost() -> None:
    entries = [u(f"https://h.example/{at}", f"<lastmod>{'x' * 60}</lastmod>") for at in range(3000)]
    asked = 0

    def ended() -> bool:
        nonlocal asked
        asked += 1
        return asked > 1

    reading = Pages(Source.of(urlset(*entries), URL)).columns(["lastmod_raw"], ended)
    found = next(reading)
    assert 0 < len(found["url"]) < len(entries)
    with pytest.raises(TimeoutError):
        next(reading)


def test_pages_that_were_built_by_hand_have_the_values_that_they_were_given() -> None:
    story = SitemapNewsStory("T", None, "The Paper", "en", keywords=["a"])
    frequency = SitemapPageChangeFrequency.DAILY
    page = SitemapPage(
        "https://h.example/1", change_frequency=frequency, news_story=story,
        images=[SitemapImage("https://h.example/i.png")],
    )  # fmt: skip
    names = ("changefreq", "priority", "title", "news_publication", "news_keywords", "images")
    (row,) = rows(columns_of_pages([page], names), names)
    assert list(row.values()) == [
        *("daily", None, "T", "The Paper", ["a"]),
        [("https://h.example/i.png", None, None, None, None)],
    ]


def test_pages_that_were_pickled_have_the_columns_of_their_document() -> None:
    entry = "<lastmod>soon</lastmod><priority>7</priority><changefreq>often</changefreq>"
    document = f"<urlset {ALL}>{u('https://h.example/1', entry)}</urlset>"
    pages = list(Pages(Source.of(document, URL)))
    again = pickle.loads(pickle.dumps(pages))
    expected = rows(Pages(Source.of(document, URL)).columns(NAMES))
    assert rows(columns_of_pages(again, NAMES)) == expected


CENTURY = date(2000, 1, 1), date(2100, 1, 1)
USUAL_TIMES = {
    "in UTC": ["2024-05-01T10:00:00Z", "1969-12-31T23:59:59Z", "0003-01-01T00:00:00Z"],
    "in one zone": ["2024-05-01T10:00:00-05:30", "1969-12-31T23:59:59-05:30"],
    "in two zones": ["2024-05-01T10:00:00-05:30", "2024-05-01T10:00:00+14:00"],
    "one that isn't a time": ["2024-05-01T10:00:00Z", "2024-05-01T10:00:60Z"],
    "one that looks alike": ["2024-05-01T10:00:00Z", "2024-05-01T10:00.00Z"],
    "an offset that is none": ["2024-05-01T10:00:00+25:00"],
    "an offset of 60 minutes": ["2024-05-01T10:00:00+01:60"],
    "a leap day": ["2024-02-29T23:59:59Z", "2000-02-29T00:00:00Z", "2023-02-28T00:00:00Z"],
    "a leap day that is none": ["2023-02-29T00:00:00Z"],
    "the ends of months": [
        f"2023-{m:02}-{d}T00:00:00+01:00" for m in range(1, 13) for d in (28, 31)
    ],
    "a month that is none": ["2023-13-01T00:00:00Z"],
    "the month 0": ["2023-00-01T00:00:00Z"],
    "the day 0": ["2023-01-00T00:00:00Z"],
    "midnight at the end of a day": ["2023-01-01T24:00:00Z"],
    "digits of other scripts": ["2024-05-01T10:00:00Z", "2024-05-0\u0661T10:00:00Z"],
    "a character that moved": [
        *("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z2", "024-05-01T10:00:00Z"),
    ],
    "the ends of the century": ["2000-01-01T00:00:00+13:59", "2099-12-31T23:59:59-13:59"],
}


def test_every_day_of_a_century_is_that_day() -> None:
    days = [date.fromordinal(at) for at in range(*map(date.toordinal, CENTURY))]
    offsets = ["Z", "+00:00", "+05:45", "-03:30"]
    for offset in offsets:
        texts = [
            f"{day}T{at % 24:02}:{at % 60:02}:{at % 59:02}{offset}" for at, day in enumerate(days)
        ]
        expected = [microseconds(datetime.fromisoformat(text)) for text in texts]
        assert parse_usual_times(texts) == expected


@pytest.mark.parametrize("texts", USUAL_TIMES.values(), ids=USUAL_TIMES)
def test_times_of_a_whole_column_are_those_of_its_pages(texts: list[str]) -> None:
    assert parse_usual_times(texts) in (None, list(map(parse_timestamp, texts)))
    document = urlset(
        *(
            u(f"https://h.example/{at}", f"<lastmod>{text}</lastmod>")
            for at, text in enumerate(texts)
        )
    )
    pages = Pages(Source.of(document, URL))
    found = [row["lastmod"] for row in rows(pages.columns(["lastmod"]), ["lastmod"])]
    assert found == [microseconds(page.last_modified) for page in pages]


def test_timestamps_are_exact_to_the_microsecond() -> None:
    texts = ["9999-12-31T23:59:59.999999Z", "0001-01-01", "2024-02-29T12:00:00.000001Z"]
    document = urlset(
        *(
            u(f"https://h.example/{at}", f"<lastmod>{text}</lastmod>")
            for at, text in enumerate(texts)
        )
    )
    pages = Pages(Source.of(document, URL))
    found = [row["lastmod"] for row in rows(pages.columns(["lastmod"]), ["lastmod"])]
    assert found == [microseconds(page.last_modified) for page in pages]
    assert found[0] == 253_402_300_799_999_999


@pytest.mark.parametrize("together", [False, True])
def test_a_link_without_a_language_among_others_is_a_link(together: bool) -> None:
    first = '<xhtml:link rel="alternate" hreflang="de" href="http://h.example/de"/>'
    second = '<xhtml:link rel="alternate" href="http://h.example/print"/>'
    listed = [
        u(f"http://h.example/{number}", first + second if together else (first, second)[number % 2])
        for number in range(300)
    ]
    data = f"<urlset {ALL}>{''.join(listed)}</urlset>".encode()
    assert_columns_are_pages([data])
    (batch,) = Pages(Source([data], URL)).columns(["links"])
    assert sum(bool(links) for links in batch["links"]) == (300 if together else 150)


@pytest.mark.parametrize(
    "kind", ["<lastmod>2020-05-06</lastmod>", "<lastmod>2020<!-- c --></lastmod>"]
)
def test_the_columns_of_many_entries_that_are_alike_are_what_page_objects_say(kind: str) -> None:
    listed = "\n".join(u(f"http://h.example/{number}?a&amp;b", kind) for number in range(700))
    forget_patterns()
    assert_columns_are_pages([f"<urlset {ALL}>\n{listed}</urlset>".encode()])
