"""The figures of a report: exact, whatever comes in whatever order, in bounded memory."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.strategies import examples
from usp._check.findings import Finding, FindingExample
from usp._check.rules import CheckSeverity
from usp._report.collect import ReportCollector
from usp._report.counting import DifferentUrls, First, NameCounts
from usp._report.dates import DateCounts, NewsAges
from usp._report.figures import Folder, ReportFigures
from usp._report.folders import FolderCounts, folder_of, hosts_of, largest
from usp._sync.changes import microseconds_of
from usp._tables.batch import Batch
from usp._tables.schema import TABLES

NOW = datetime(2026, 11, 17, 9, 30, tzinfo=UTC)
HOSTS = st.sampled_from(
    ["example.org", "EXAMPLE.org", "a.example", "a-b.example", "user:pw@x.example"]
)
NAMES = st.sampled_from(["a", "a-b", "b", "B", "ä", "a b", "c%20d", "", "\u202e", "x" * 40])
SCHEMES = st.sampled_from(["https", "http"])
ENDS = st.sampled_from(["", "/", "?q=/x/y", "#/z/"])


@st.composite
def urls(draw: st.DrawFn) -> str:
    path = "/".join(draw(st.lists(NAMES, max_size=6)))
    return f"{draw(SCHEMES)}://{draw(HOSTS)}/{path}{draw(ENDS)}"


def counted(found: Sequence[str], max_entries: int = 300_000) -> FolderCounts:
    counts = FolderCounts(max_entries)
    for at in range(0, len(found), 3):
        counts.add(found[at : at + 3])
    return counts


def walk(folder: Folder, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Folder]]:
    names = (*above, folder.name)
    yield names, folder
    for child in folder.children:
        yield from walk(child, names)


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("https://example.org/blog/2026/post", "https://example.org/blog/2026"),
        ("https://example.org/blog/2026/post/", "https://example.org/blog/2026"),
        ("https://example.org/blog/?next=/a/b/c", "https://example.org"),
        ("https://example.org/a/b#/c/d", "https://example.org/a"),
        ("https://example.org/", "https://example.org"),
        ("https://example.org", "https://example.org"),
        ("https://example.org?q", "https://example.org"),
        ("http://a/b", "http://a"),
        ("a/b/c", "a/b"),
        ("page", ""),
    ],
)
def test_the_last_segment_of_a_url_is_no_folder(url: str, folder: str) -> None:
    assert folder_of(url) == folder


@examples(200)
@given(st.lists(urls(), max_size=60))
def test_each_folder_has_the_pages_that_are_in_it_or_below_it(found: list[str]) -> None:
    expected: Counter[tuple[str, ...]] = Counter()
    own: Counter[tuple[str, ...]] = Counter()
    for url in found:
        rest = folder_of(url).partition("://")[2].replace("\u202e", "%E2%80%AE")
        host, *segments = rest.split("/")
        names = ("", host.rpartition("@")[2].lower(), *segments)
        own[names] += 1
        expected.update(names[: depth + 1] for depth in range(len(names)))
    tree = counted(found).tree()
    assert {names: folder.pages for names, folder in walk(tree) if folder.pages} == expected
    assert {names: folder.own for names, folder in walk(tree) if folder.own} == own
    assert all(folder.folders == len(folder.children) for _, folder in walk(tree))


@examples(100)
@given(st.lists(urls(), max_size=60), st.integers(1, 5))
def test_folders_that_do_not_fit_in_memory_are_counted_the_same(
    found: list[str], max_entries: int
) -> None:
    assert counted(found, max_entries).tree() == counted(found).tree()


def test_only_the_largest_folders_stay_and_the_others_are_counted() -> None:
    found = [f"https://example.org/f{number % 2000}/page" for number in range(5000)]
    tree = largest(counted(found).tree(), 30)
    (host,) = tree.children
    assert (host.pages, host.folders, host.own) == (5000, 2000, 0)
    assert len(list(walk(tree))) <= 31
    assert host.others_pages == 5000 - sum(folder.pages for folder in host.children)


def test_many_hosts_are_ranked_and_the_rest_is_counted() -> None:
    hosts = hosts_of(counted([f"https://h{number}.example/" for number in range(300)] * 2).tree())
    assert (len(hosts.top), hosts.others, hosts.others_count) == (100, 200, 400)


def test_a_path_of_a_thousand_segments_counts_at_the_eighth() -> None:
    tree = counted(["https://example.org/" + "d/" * 1000 + "page"]).tree()
    assert max(len(names) for names, _ in walk(tree)) == 2 + 8


def test_no_password_of_a_url_reaches_a_report() -> None:
    tree = counted(["https://me:secret@example.org/a/b"]).tree()
    assert [folder.name for _, folder in walk(tree)] == ["", "example.org", "a"]


@examples(100)
@given(st.lists(st.text(max_size=3), max_size=50))
def test_different_urls_are_counted_once(found: list[str]) -> None:
    different = DifferentUrls()
    different.add(found)
    different.add(found)
    assert different.count() == len(set(found))


@examples(100)
@given(st.lists(st.integers(0, 50)), st.integers(1, 10))
def test_the_first_of_an_order_are_kept(numbers: list[int], limit: int) -> None:
    first: First[int] = First(limit, key=lambda number: -number)
    for number in numbers:
        first.add(number)
    assert first.items() == sorted(numbers, reverse=True)[:limit]


def test_names_beyond_ten_thousand_are_counted_together() -> None:
    names = NameCounts()
    names.add(f"name-{number}" for number in range(12_000))
    names.add(["name-7", None, ""])
    ranking = names.ranking(2)
    assert ranking.top == (("name-7", 2), ("name-0", 1))
    assert ranking.others_count == 12_001 - 3


def day_times(days: Sequence[int]) -> list[int]:
    return [microseconds_of(NOW - timedelta(days=number)) for number in days]


@examples(100)
@given(st.lists(st.integers(-40, 9000)))
def test_every_page_with_a_date_is_in_one_month_or_earlier_or_in_the_future(
    ages: list[int],
) -> None:
    counts = DateCounts(NOW)
    counts.add([*day_times(ages), None])
    dates = counts.dates(NOW)
    moments = [NOW - timedelta(days=age) for age in ages]
    past = [moment for moment in moments if moment <= NOW]
    shown = [moment for moment in past if f"{moment:%Y-%m}" in dates.months]
    assert {name: number for name, number in dates.months.items() if number} == Counter(
        f"{moment:%Y-%m}" for moment in shown
    )
    assert dates.future == len(moments) - len(past)
    assert dates.earlier == len(past) - len(shown)
    assert (dates.dated, dates.undated) == (len(ages), 1)
    recent = Counter(moment.date() for moment in past if (NOW - moment).days < 90)
    assert {day: number for day, number in dates.days.items() if number} == recent
    assert dates.oldest == min((moment.date() for moment in moments), default=None)


def test_months_and_days_have_no_gaps() -> None:
    counts = DateCounts(NOW)
    counts.add(day_times([0, 400]))
    dates = counts.dates(NOW)
    assert next(iter(dates.months)) == "2025-10"
    assert list(dates.months)[-1] == "2026-11"
    assert len(dates.months) == 14
    assert len(dates.days) == 90
    assert max(dates.days) == NOW.date()
    assert dates.newest == NOW.date()


def test_times_that_no_calendar_has_do_not_end_a_report() -> None:
    counts = DateCounts(NOW)
    counts.add([2**63 - 1, -(2**63)])
    dates = counts.dates(NOW)
    assert (dates.future, dates.earlier, dates.oldest) == (1, 1, date(1, 1, 1))


def test_days_of_an_old_export_are_those_before_it_was_read() -> None:
    counts = DateCounts(NOW)
    counts.add(day_times([200, 210, 1]))
    dates = counts.dates(NOW - timedelta(days=199))
    assert sum(dates.days.values()) == 2
    assert dates.future == 1


def test_news_is_counted_by_age() -> None:
    ages = NewsAges(NOW)
    hours = [0, 3, 12, 30, 100, 500, 5000, -5]
    ages.add([microseconds_of(NOW - timedelta(hours=hour)) for hour in hours] + [None], ["A"] * 9)
    found = ages.freshness(NOW)
    assert found is not None
    assert [number for _, number in found.ages] == [1] * 8
    assert (found.stories, found.undated) == (9, 1)
    assert found.publications.top == (("A", 9),)


def batch(table: str, *rows: Mapping[str, Any]) -> Batch:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Batch.of_rows(TABLES[table].only(names), rows)


def report_of(*items: Batch | Finding, is_check: bool = False) -> ReportFigures:
    collector = ReportCollector(NOW, is_check=is_check)
    for item in items:
        collector.add(item)
    found = collector.report("example.org", None, NOW)
    collector.close()
    return found


def test_pages_are_counted_by_what_they_have() -> None:
    image = ("https://example.org/a.jpg", None, None, None, None)
    found = report_of(
        batch(
            "pages",
            {"url": "https://example.org/a", "images": [image, image], "changefreq": "daily"},
            {
                "url": "https://example.org/b",
                "alternates": [("DE", "x"), ("de ", "y"), ("fr", "z")],
            },
            {"url": "https://example.org/c", "news_publication": "Times", "news_language": "EN"},
        )
    )
    assert found.kinds == (("news", 1), ("images", 1), ("videos", 0), ("alternates", 1))
    assert found.parts == (("images", 2), ("videos", 0), ("alternates", 3))
    assert found.alternate_languages.top == (("de", 2), ("fr", 1))
    assert found.news_languages.top == (("en", 1),)
    assert found.changefreqs.top == (("daily", 1),)
    assert not found.has_dates


def test_sitemaps_that_failed_come_first_then_damaged_ones_then_the_largest() -> None:
    rows = [
        {"url": f"https://example.org/{at}", "state": "ok", "pages": at, "complete": True}
        for at in range(9)
    ]
    rows[3]["complete"] = False
    rows[5] |= {"state": "failed", "complete": False, "pages": None}
    found = report_of(batch("sitemaps", *rows, {"url": "r", "kind": "robots", "state": "ok"}))
    assert [line.url[-1] for line in found.sitemaps.lines] == list("538764210")
    assert (found.sitemaps.total, found.sitemaps.failed, found.sitemaps.damaged) == (9, 1, 1)


def test_a_list_has_at_most_two_thousand_sitemaps_and_all_are_counted() -> None:
    rows = [{"url": f"u{at}", "state": "ok", "pages": at} for at in range(5000)]
    found = report_of(*(batch("sitemaps", *rows[at : at + 100]) for at in range(0, 5000, 100)))
    assert (found.sitemaps.total, len(found.sitemaps.lines)) == (5000, 2000)
    assert found.sitemaps.lines[0].url == "u4999"


def test_findings_of_all_sitemaps_are_one_of_their_rule() -> None:
    def finding(code: str, severity: CheckSeverity, sitemap: str, count: int) -> Finding:
        places = tuple(
            FindingExample(f"{sitemap}#{at}", at, None, "") for at in range(min(count, 5))
        )
        return Finding(code, "name", severity, "", sitemap, count, places)

    found = report_of(
        finding("SM460", CheckSeverity.INFO, "a", 9),
        finding("SM101", CheckSeverity.ERROR, "a", 1),
        finding("SM460", CheckSeverity.WARNING, "b", 2),
        is_check=True,
    ).findings
    assert found is not None
    assert [(rule.code, rule.severity, rule.count, rule.sitemaps) for rule in found.rules] == [
        ("SM101", "error", 1, 1),
        ("SM460", "warning", 11, 2),
    ]
    assert [len(rule.places) for rule in found.rules] == [1, 5]
    assert (found.occurrences("error"), found.occurrences("warning")) == (1, 11)


def test_recorded_problems_are_the_findings_of_an_export() -> None:
    row = {"sitemap_url": "s", "code": "SM208", "severity": "error", "message": "m", "line": 3}
    found = report_of(batch("problems", row, row)).findings
    assert found is not None
    assert not found.is_check
    assert [(rule.code, rule.count, rule.sitemaps) for rule in found.rules] == [("SM208", 2, 1)]


def test_without_documents_and_problems_there_are_no_findings() -> None:
    assert report_of(batch("pages", {"url": "https://example.org/"})).findings is None


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([], None),
        (["found"], "found"),
        (["found", "found"], "found"),
        (["found", "none"], "partial"),
        (["blocked", "unreachable"], "blocked"),
        (["none"], "none"),
    ],
)
def test_several_sites_have_one_outcome(outcomes: list[str], expected: str | None) -> None:
    rows = [{"site": f"s{at}", "outcome": outcome} for at, outcome in enumerate(outcomes)]
    found = report_of(batch("sites", *rows)) if rows else report_of()
    assert found.sites.outcome == expected


def test_the_discovery_log_keeps_all_stages_before_what_indexes_list() -> None:
    rows = [{"stage": "indexes", "url": f"i{at}", "result": "sitemap"} for at in range(1000)]
    late = {"stage": "feeds", "url": "feed", "result": "missing"}
    found = report_of(batch("attempts", *rows, late)).discovery
    assert (found.total, len(found.lines)) == (1001, 300)
    assert found.lines[-1].url == "feed"
