"""Selection against a loopback server: which pages and sitemaps, how many, and skip counts."""

import pickle
import re
import time
from collections import Counter
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, get_type_hints

import pytest

import usp
from tests.loops import run
from tests.server import Handler, LoopbackServer, index
from usp import Outcome, Policy, aio
from usp._crawl.policy import PolicyFields
from usp.exceptions import SitemapException
from usp.objects.page import SitemapNewsStory, SitemapPage
from usp.tree import sitemap_tree_for_homepage

NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
VIDEO = "<video:video><video:title>T</video:title></video:video>"
IMAGE = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'


def entry(url: str, lastmod: str = "", extensions: str = "") -> str:
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return f"<url><loc>{url}</loc>{date}{extensions}</url>"


def story(published: str) -> str:
    return (
        "<news:news><news:title>T</news:title>"
        f"<news:publication_date>{published}</news:publication_date></news:news>"
    )


PICTURE = "<image:image><image:loc>http://i/1.png</image:loc></image:image>"


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/index.xml")
    children = {"/old.xml": "2020-05-01", "/new.xml": "2024-06-01T10:00:00Z", "/none.xml": ""}
    listed = "".join(
        f"<sitemap><loc>{server.at(path)}</loc><lastmod>{lastmod}</lastmod></sitemap>"
        for path, lastmod in children.items()
    )
    server.site["/index.xml"] = f"<sitemapindex>{listed}</sitemapindex>"
    at = server.at
    server.site["/old.xml"] = (
        f"<urlset {NEWS} {IMAGE}>"
        + entry(at("/a/1"), "2020-04-30")
        + entry(at("/a/2"), "2020-05-01")
        + entry(at("/b/3"), "2024-01-01T00:30:00+01:00")
        + "</urlset>"
    )
    server.site["/new.xml"] = (
        f"<urlset {NEWS} {IMAGE}>"
        + entry(at("/a/4"), extensions=story("2024-06-01"))
        + entry(at("/b/5"), extensions=PICTURE + VIDEO)
        + "</urlset>"
    )
    server.site["/none.xml"] = f"<urlset>{entry(at('/a/6'), '2025-01-01')}</urlset>"
    return server


def select(site: LoopbackServer, **fields: Any) -> tuple[str, dict[str, int]]:
    """Return the last letters of the selected pages, and how many were skipped for which reason.

    A stream, a tree and a pickled tree agree.
    """
    stream = usp.iter_pages(site.url, use_known_paths=False, **fields)
    streamed = "".join(page.url[-1] for page in stream)
    tree = sitemap_tree_for_homepage(site.url, use_known_paths=False, **fields)
    assert "".join(page.url[-1] for page in tree.all_pages()) == streamed
    assert tree.tree_skipped == stream.skipped
    assert tree.outcome is stream.outcome
    assert [problem.code for problem in tree.problems] == [p.code for p in stream.problems]
    unpickled = pickle.loads(pickle.dumps(tree))
    assert "".join(page.url[-1] for page in unpickled.all_pages()) == streamed
    assert unpickled.tree_skipped == stream.skipped
    return streamed, {str(reason): count for reason, count in stream.skipped.items()}


SELECTIONS: list[tuple[dict[str, Any], str, dict[str, int]]] = [
    ({}, "123456", {}),
    ({"since": "2020-05-01"}, "23456", {"page-date": 1}),
    ({"since": date(2020, 5, 1)}, "23456", {"page-date": 1}),
    ({"since": datetime(2020, 5, 1, 0, 0, 1, tzinfo=UTC)}, "3456", {"page-date": 2}),
    ({"since": "2024"}, "456", {"page-date": 3}),  # 3 is in 2023, in UTC
    ({"until": "2020-05"}, "125", {"page-date": 3, "page-kind": 0}),
    ({"until": date(2020, 4, 30)}, "15", {"page-date": 4}),
    ({"until": "2023"}, "1235", {"page-date": 2}),
    ({"since": "2020-05-01", "until": "2024-06-01"}, "2345", {"page-date": 2}),
    ({"since": "2020-05-01", "undated": "drop"}, "2346", {"page-date": 1, "page-undated": 1}),
    ({"include": "/a/"}, "1246", {"page-pattern": 2}),
    ({"include": ["/a/", re.compile("/B/", re.IGNORECASE)]}, "123456", {}),
    ({"exclude": r"/\d$"}, "", {"page-pattern": 6}),
    ({"include": "/a/", "exclude": ["4$", "6$"]}, "12", {"page-pattern": 4}),
    ({"kind": "news"}, "4", {"page-kind": 5}),
    ({"kind": ["news", "image"]}, "45", {"page-kind": 4}),
    ({"kind": "video"}, "5", {"page-kind": 5}),
    ({"include_sitemaps": "new|none"}, "456", {"sitemap-pattern": 1}),
    ({"exclude_sitemaps": "new"}, "1236", {"sitemap-pattern": 1}),
    ({"trust_index_lastmod": True}, "123456", {}),
    ({"since": "2020-05-01", "trust_index_lastmod": True}, "23456", {"page-date": 1}),
    ({"since": "2020-05-02", "trust_index_lastmod": True}, "456", {"sitemap-lastmod": 1}),
    ({"since": "2024-06-01T10:00:01Z", "trust_index_lastmod": True}, "6", {"sitemap-lastmod": 2}),
]


@pytest.mark.parametrize(("fields", "expected", "skipped"), SELECTIONS)
def test_pages_and_sitemaps_are_selected_and_skips_are_counted(
    site: LoopbackServer, fields: dict[str, Any], expected: str, skipped: dict[str, int]
) -> None:
    assert select(site, **fields) == (expected, +Counter(skipped))


def test_skipped_sitemaps_are_not_requested(site: LoopbackServer) -> None:
    tree = sitemap_tree_for_homepage(
        site.url, since="2024-06-02", trust_index_lastmod=True, exclude_sitemaps=[r"news", r"\.gz$"]
    )
    assert "/old.xml" not in site.requested
    assert "/new.xml" not in site.requested
    assert "/none.xml" in site.requested
    assert not [path for path in site.requested if "news" in path or path.endswith(".gz")]
    assert tree.skipped == {"sitemap-pattern": 7}, "known paths; newer paths were not needed"
    assert tree.outcome is Outcome.FOUND
    assert all(sitemap.complete for sitemap in tree.all_sitemaps()), "a skip is no failure"


def test_patterns_to_include_sitemaps_do_not_apply_to_robots_txt_and_what_it_declares(
    site: LoopbackServer,
) -> None:
    found = sitemap_tree_for_homepage(site.url, use_known_paths=False, include_sitemaps="new")
    assert [sub.url for sub in found.all_sitemaps()] == [
        site.at(path) for path in ("/robots.txt", "/index.xml", "/new.xml")
    ]


@pytest.mark.parametrize("count", range(1, 8))
def test_a_limit_gives_the_first_pages_and_a_problem(site: LoopbackServer, count: int) -> None:
    pages, _ = select(site, limit=count)
    assert pages == "123456"[:count]
    tree = sitemap_tree_for_homepage(site.url, use_known_paths=False, limit=count)
    limited = ["pages-limit"] if count <= 6 else []
    assert [problem.name for problem in tree.problems] == limited


def test_a_limit_counts_selected_pages_only(site: LoopbackServer) -> None:
    assert select(site, limit=3, include="/a/")[0] == "124"


def test_a_limit_applies_to_a_crawl_of_the_callers_own_driver(site: LoopbackServer) -> None:
    crawl = usp.Crawl(site.at("/x.xml"), Policy(limit=2, exclude="a$"))
    (request,) = crawl.take(0.0)
    crawl.deliver(request, b"http://h/a\nhttp://h/b\nhttp://h/c\nhttp://h/d\n", 0.0)
    tree = crawl.tree()
    assert [page.url for page in tree.all_pages()] == ["http://h/b", "http://h/c"]


def test_a_stop_callback_ends_the_crawl_at_its_page(site: LoopbackServer) -> None:
    called_with = ""

    def stop_at_5(page: SitemapPage) -> bool:
        nonlocal called_with
        called_with += page.url[-1]
        return page.url.endswith("5")

    assert select(site, stop_callback=stop_at_5, include="/b/|4$")[0] == "34"
    assert called_with == "345345", "once for the stream, once for the tree"
    tree = sitemap_tree_for_homepage(site.url, stop_callback=stop_at_5)
    assert tree.outcome is Outcome.PARTIAL
    assert [problem.name for problem in tree.problems] == ["stopped"]
    assert "/none.xml" not in {sub.url for sub in tree.all_sitemaps()}


@pytest.mark.parametrize(
    ("last", "fields", "skipped"),
    [
        ("1", {}, {}),
        ("3", {"include": "/b/"}, {"page-pattern": 2}),  # the first two pages of that sitemap
        ("5", {"include": "/b/"}, {"page-pattern": 3}),
        ("5", {"include": "/b/", "limit": 1}, {"page-pattern": 2}),  # the limit ends it at 3
        ("3", {"include": "/b/", "limit": 1}, {"page-pattern": 2}),
        ("6", {"since": "2024-06-01"}, {"page-date": 3}),
        ("2", {"exclude_sitemaps": "none|new"}, {"sitemap-pattern": 2}),
    ],
)
def test_pages_skipped_before_the_end_of_a_crawl_are_counted(
    site: LoopbackServer, last: str, fields: dict[str, Any], skipped: dict[str, int]
) -> None:
    assert select(site, stop_callback=lambda page: page.url.endswith(last), **fields)[1] == skipped


@pytest.mark.parametrize("end", [{"stop_callback": lambda page: True}, {"limit": 1}])
def test_sitemaps_skipped_after_the_end_of_a_crawl_are_not_counted(
    site: LoopbackServer, end: dict[str, Any]
) -> None:
    """How far a stream prefetches depends on time, and must not change the counts."""
    old = site.site["/old.xml"]
    assert isinstance(old, str)

    def delayed(handler: Handler) -> str:
        while "/later.xml" not in handler.owner.requested:
            time.sleep(0.005)
        handler.owner.closing.wait(0.1)
        return old

    site.robots("/old.xml", "/later.xml")
    site.site["/old.xml"] = delayed
    site.site["/later.xml"] = index(site.at("/none.xml"), site.at("/new.xml"))
    assert select(site, exclude_sitemaps="none", **end)[1] == {}
    assert select(site, exclude_sitemaps="none", max_sitemaps=4, **end)[1] == {}


def test_an_exception_in_a_stop_callback_reaches_the_caller(site: LoopbackServer) -> None:
    def faulty(page: SitemapPage) -> bool:
        raise KeyError(page.url)

    with pytest.raises(KeyError):
        sitemap_tree_for_homepage(site.url, stop_callback=faulty)
    with pytest.raises(KeyError):
        list(usp.iter_pages(site.url, stop_callback=faulty))


def test_each_sitemap_of_an_index_has_the_lastmod_that_the_index_gives(
    site: LoopbackServer,
) -> None:
    site.site["/new.xml"] = 404
    tree = pickle.loads(pickle.dumps(sitemap_tree_for_homepage(site.url)))
    lastmods = {sub.url: sub.index_lastmod for sub in tree.all_sitemaps()}
    assert lastmods[site.at("/old.xml")] == datetime(2020, 5, 1, tzinfo=UTC)
    assert lastmods[site.at("/new.xml")] == datetime(2024, 6, 1, 10, tzinfo=UTC), "fetched or not"
    assert lastmods[site.at("/none.xml")] is None
    assert lastmods[site.at("/index.xml")] is None


EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("modified", "published", "expected"),
    [
        (None, None, None),
        (datetime(2024, 5, 1), None, datetime(2024, 5, 1, tzinfo=UTC)),  # noqa: DTZ001
        (datetime(2024, 5, 1, 1, tzinfo=EAST), None, datetime(2024, 4, 30, 23, tzinfo=UTC)),
        (None, datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 5, 1, tzinfo=UTC)),
        (
            datetime(2024, 5, 2, tzinfo=UTC),
            datetime(2024, 5, 1, tzinfo=UTC),
            datetime(2024, 5, 2, tzinfo=UTC),
        ),
        (datetime.min.replace(tzinfo=EAST), None, datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_a_page_was_updated_at_its_lastmod_or_publication_date_in_utc(
    modified: datetime | None, published: datetime | None, expected: datetime | None
) -> None:
    page = SitemapPage("u", last_modified=modified, news_story=SitemapNewsStory("t", published))
    assert page.updated_at == expected
    assert expected is None or (page.updated_at is not None and page.updated_at.tzinfo is UTC)


WRONG: list[dict[str, Any]] = [
    {"since": "yesterday"},
    {"until": 5},
    {"since": "2024-02", "until": "2024-01"},
    {"include": "("},
    {"exclude": 5},
    {"include_sitemaps": [None]},
    {"kind": "podcast"},
    {"limit": 0},
    {"undated": "no"},
    {"trust_index_lastmod": 1},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_selection_raises_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(SitemapException, match=next(iter(wrong))):
        usp.iter_pages("https://example.org/", **wrong)


def test_every_field_of_a_policy_is_a_keyword() -> None:
    hints = {name: hint for name, hint in get_type_hints(Policy).items() if name != "return"}
    assert get_type_hints(PolicyFields) == hints
    unknown: dict[str, Any] = {"per_hots": 4}
    with pytest.raises(TypeError, match="per_hots"):
        usp.iter_pages("https://example.org/", **unknown)


def test_keywords_take_precedence_over_the_policy(site: LoopbackServer) -> None:
    policy = Policy(limit=1, include="/a/")
    assert select(site, policy=policy, limit=2)[0] == "12"
    assert hash(policy) == hash(Policy(limit=1, include=["/a/"]))


@pytest.fixture
def recent_site(server: LoopbackServer) -> LoopbackServer:
    """Serve pages that changed some hours ago; the last letter of the path says how many."""
    now = datetime.now(UTC)
    ages = {"1": timedelta(hours=1), "2": timedelta(hours=47), "3": timedelta(hours=49)}
    entries = [
        entry(server.at(f"/{name}"), (now - age).isoformat(timespec="seconds"))
        for name, age in (ages | {"4": timedelta(days=8)}).items()
    ]
    entries.append(entry(server.at("/undated/5")))
    server.robots("/a.xml")
    server.site["/a.xml"] = f"<urlset>{''.join(entries)}</urlset>"
    return server


DURATIONS: list[tuple[dict[str, Any], str, dict[str, int]]] = [
    ({"since": "48h"}, "125", {"page-date": 2}),
    ({"since": timedelta(hours=48)}, "125", {"page-date": 2}),
    ({"since": timedelta(days=2), "undated": "drop"}, "12", {"page-date": 2, "page-undated": 1}),
    ({"since": "7d"}, "1235", {"page-date": 1}),
    ({"since": "2w"}, "12345", {}),
    ({"since": "90m"}, "15", {"page-date": 3}),
    ({"since": timedelta(0)}, "5", {"page-date": 4}),
    ({"until": "48h"}, "345", {"page-date": 2}),
    (
        {"since": "7d", "until": timedelta(hours=48), "undated": "drop"},
        "3",
        {"page-date": 3, "page-undated": 1},
    ),
    ({"undated": "drop"}, "12345", {}),
]


@pytest.mark.parametrize(("fields", "expected", "skipped"), DURATIONS)
def test_a_duration_selects_pages_that_changed_since_then(
    recent_site: LoopbackServer, fields: dict[str, Any], expected: str, skipped: dict[str, int]
) -> None:
    assert select(recent_site, **fields) == (expected, skipped)


def test_durations_and_undated_apply_in_asyncio_too(recent_site: LoopbackServer) -> None:
    async def read() -> str:
        stream = aio.iter_pages(recent_site.url, since=timedelta(hours=48), undated="drop")
        return "".join([page.url[-1] async for page in stream])

    assert run(read()) == "12"
