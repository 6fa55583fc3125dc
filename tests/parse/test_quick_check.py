"""Problems are collected while pages are iterated, the same as by the full check of every entry."""

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.pattern.readers import WORTH_LEARNING, assert_readers_agree
from tests.parse.strategies import examples
from usp._parse import Pages, Source, inspect

URL = "http://h.example/s.xml"
NS = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
    ' xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)


class CountedChunks:
    """A body that counts how often it is read to its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.readings = 0

    def __iter__(self) -> Iterator[bytes]:
        yield self._data
        self.readings += 1


def urlset(entries: list[str]) -> bytes:
    return f"<urlset {NS}>{''.join(entries)}{WORTH_LEARNING}</urlset>".encode()


def entry(number: int, more: str = "") -> str:
    return f"<url><loc>http://h.example/{number}</loc>{more}</url>\n"


def pages_of(data: bytes) -> tuple[Pages, CountedChunks]:
    chunks = CountedChunks(data)
    pages = inspect(Source(chunks, URL)).pages
    assert isinstance(pages, Pages)
    chunks.readings = 0  # inspect has read it for its children
    return pages, chunks


BAD_DATE = urlset(
    [entry(n, f"<lastmod>{'soon' if n == 70 else '2024-05-01'}</lastmod>") for n in range(99)]
)


def test_problems_after_a_walk_that_collects_them_need_no_second_parse() -> None:
    pages, chunks = pages_of(BAD_DATE)
    assert len(list(pages.walk(with_problems=True))) == 99
    assert [problem.code for problem in pages.problems] == ["SM401"]
    assert pages.complete
    assert pages.document_bytes == len(BAD_DATE)
    assert chunks.readings == 1


def test_an_iteration_looks_for_no_problems_but_knows_what_was_lost() -> None:
    pages, chunks = pages_of(BAD_DATE)
    assert len(list(pages)) == 99
    assert pages.complete
    assert pages.document_bytes == len(BAD_DATE)
    assert chunks.readings == 1
    assert [problem.code for problem in pages.problems] == ["SM401"]
    assert pages.problems
    assert chunks.readings == 2


def test_problems_alone_need_one_parse() -> None:
    pages, chunks = pages_of(BAD_DATE)
    assert [problem.code for problem in pages.problems] == ["SM401"]
    assert pages.complete
    assert chunks.readings == 1


def test_problems_are_complete_after_an_iteration_that_stopped_early() -> None:
    pages, _ = pages_of(BAD_DATE)
    assert next(iter(pages)).url == "http://h.example/0"
    assert [problem.code for problem in pages.problems] == ["SM401"]


@pytest.mark.parametrize("time_of_day", ["", "T10:00+00:00", " 10:00:00", "T10:00:00.5-0500"])
def test_problems_alone_cost_at_most_twice_an_iteration(time_of_day: str) -> None:
    data = urlset(
        [
            entry(
                n,
                f"<lastmod>2024-05-{n % 28 + 1:02}{time_of_day}</lastmod>"
                f"<priority>0.{n % 9}</priority>",
            )
            for n in range(5000)
        ]
    )

    def seconds(*, iterate: bool) -> float:
        times = []
        for _ in range(7):
            pages, _chunks = pages_of(data)
            start = time.process_time()
            if iterate:
                assert sum(1 for _ in pages) == 5000
            else:
                assert pages.problems == ()
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(iterate=False) < 2 * seconds(iterate=True)


def test_many_odd_entries_are_checked_in_the_iteration_too() -> None:
    data = urlset([entry(n, "<lastmod>soon</lastmod>") for n in range(3000)])
    pages, chunks = pages_of(data)
    assert len(list(pages.walk(with_problems=True))) == 3000
    assert pages.problems[-1].message == "2900 more problems are not listed"
    assert chunks.readings == 1


@pytest.mark.parametrize(
    "odd",
    [
        *("2024-05-01T10:00:00+00:80", "2024-05-01T10:00:00+14:00", "2024-05-01T10:00:00+13:59"),
        *("0999-05-01T10:00:00+00:00", "3000-05-01T10:00:00+00:00", "2024-02-30T10:00:00+00:00"),
        *("2024-05-01T24:00:00+00:00", "2024-05-01T10:00:60+00:00", "2024-W18-3T10:00:00+00:00"),
        *("2024-05-01T10:00:00-00:60", "2024-05-01 10:00:00+00:00", "2024-05-01T10:00:00+00:5x"),
    ],
)
def test_times_that_are_parsed_together_are_checked_as_they_are_alone(odd: str) -> None:
    times = ["2024-05-01T10:00:00+02:00"] * 30
    for texts in ([*times, odd], [odd] * 30):
        data = urlset([entry(n, f"<lastmod>{text}</lastmod>") for n, text in enumerate(texts)])
        found, columns = [], []
        for expat_only in (False, True):
            pages = inspect(Source([data], URL, expat_only=expat_only)).pages
            assert isinstance(pages, Pages)
            columns.append(list(pages.columns(["lastmod", "lastmod_raw"], with_problems=True)))
            found.append(pages.problems)
        assert found[0] == found[1]
        assert [one["lastmod"] for one in columns[0]] == [one["lastmod"] for one in columns[1]]
        assert columns[0][0]["lastmod_raw"] == columns[1][0]["lastmod_raw"]


VALUES = st.sampled_from(
    [
        *(
            "",
            " ",
            "2024-05-01",
            "2024-02-30",
            "2024-05-01 10:00",
            "2024-05-01T10:00+0100",
            "2024-05-01T10:00:00Z",
            "2024-05-01T25:00:00Z",
        ),
        *("soon", "0.5", "1", "1.5", "daily", "Daily", "never ", "x", "&amp;", "&amp;amp;"),
        *("\u00e9", "\u200b", "http://h.example/i.jpg", "i.jpg", "ftp://h/i"),
        *("http://h.example/\u00e9", "http://h/a b"),
        *("\n  http://h.example/p\n", " 2024-05-01T10:00:00Z\n", "\u00a0http://h.example/q"),
        *("/a/b.html", "..", "//h/p", "Warning:x", "http://h/?a&amp;b;c "),
    ]
)
FIELDS = st.sampled_from(
    [
        "<lastmod>{}</lastmod>",
        "<priority>{}</priority>",
        "<changefreq>{}</changefreq>",
        (
            "<news:news><news:publication_date>{}</news:publication_date>"
            "<news:title>{}</news:title></news:news>"
        ),
        "<news:news><news:title>{}</news:title></news:news>",
        "<image:image><image:loc>{}</image:loc></image:image>",
        (
            "<image:image><image:loc>http://h.example/i</image:loc></image:image>"
            "<image:image><image:caption>{}</image:caption></image:image>"
        ),
        '<xhtml:link rel="alternate" hreflang="de" href="{}"/>',
        '<xhtml:link rel="{}" href="http://h.example/de"/>',
        '<xhtml:link hreflang="{}" href="http://h.example/de"/>',
        "<video:video><video:title>{}</video:title><video:live>{}</video:live></video:video>",
        '<xhtml:link rel="alternate" hreflang="{}"/>',
        "<loc>{}</loc>",
        "<lastmod/>",
        "<priority/>",
        "<news:news><news:title/></news:news>",
    ]
)


@examples(200)
@given(
    st.lists(FIELDS, max_size=3),
    st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=6),
    st.integers(0, 60),
)
def test_the_quick_check_finds_what_the_full_check_finds(
    fields: list[str], values: list[tuple[str, str, str]], good: int
) -> None:
    def filled(number: int) -> str:
        chosen = values[number % len(values)] if number >= good else ("2024-05-01", "1", "daily")
        texts = iter(chosen * 2)
        return "".join(
            field.replace("{}", next(texts), 1).replace("{}", next(texts), 1) for field in fields
        )

    assert_readers_agree([urlset([entry(n, filled(n)) for n in range(80)])])


@pytest.mark.parametrize("more", ["<lastmod/>", "<lastmod>2024-05-01</lastmod>"])
def test_an_empty_element_beside_another_of_its_name_is_found(more: str) -> None:
    data = urlset([entry(n, f"<lastmod/><priority>0.5</priority>{more}") for n in range(60)])
    pages, _ = pages_of(data)
    assert [problem.code for problem in pages.problems] == ["SM404"] * 60
    assert_readers_agree([data])


@pytest.mark.parametrize("name", ["rss", "atom"])
@examples(150)
@given(st.lists(VALUES, min_size=1, max_size=6))
def test_the_quick_check_of_feeds(name: str, values: list[str]) -> None:
    item = {
        "rss": "<item><title>{0}</title><link>{1}</link><pubDate>{2}</pubDate></item>",
        "atom": '<entry><title>{0}</title><link rel="alternate" href="{1}"/><updated>{2}</updated>'
        "</entry>",
    }[name]
    filled = "".join(
        item.format(*(values[(n + k) % len(values)] if n > 40 else g for k, g in enumerate(GOOD)))
        for n in range(80)
    )
    root = {
        "rss": f"<rss><channel>{filled}{WORTH_LEARNING}</channel></rss>",
        "atom": f'<feed xmlns="http://www.w3.org/2005/Atom">{filled}{WORTH_LEARNING}</feed>',
    }[name]
    assert_readers_agree([root.encode()])


GOOD = ("T", "http://h.example/1", "2024-05-01")
