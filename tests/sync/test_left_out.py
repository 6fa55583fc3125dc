"""What a run did not ask for stays as it is known: sitemaps left out, ways to find them not tried.

And a sitemap that once answers as something else is still judged as what it was.
"""

from pathlib import Path
from typing import Any

import pytest

import usp
from tests.loops import run as in_loop
from tests.server import Answer, LoopbackServer, redirect
from tests.sync.rounds import NS, PAGES, cut, kept, urlset
from usp import aio
from usp.objects.outcome import Outcome

HTML = Answer(200, b"<!doctype html><title>Shop</title>", {"Content-Type": "text/html"})
EMPTY_FEED = b'<rss version="2.0"><channel><title>t</title></channel></rss>'


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def synced(url: str, state: Path, **options: Any) -> usp.Sync:
    fields = {"max_attempts": 1, "scheme_fallback": False, "confirm": 1, "max_removed": 1} | options
    return usp.sync(url, state=state, **fields)


def run(url: str, state: Path, **options: Any) -> list[tuple[str, str]]:
    with synced(url, state, **options) as found:
        return [(str(one.change), one.url.removeprefix(PAGES)) for one in found]


def aio_run(url: str, state: Path) -> list[tuple[str, str]]:
    async def main() -> list[tuple[str, str]]:
        fields: Any = {"max_attempts": 1, "scheme_fallback": False, "confirm": 1, "max_removed": 1}
        async with aio.sync(url, state=state, **fields) as found:
            return [(str(one.change), one.url.removeprefix(PAGES)) async for one in found]

    return in_loop(main())


def report(url: str, state: Path, **options: Any) -> usp.SiteReport:
    with synced(url, state, **options) as found:
        list(found)
    return found.reports[0]


def index(server: LoopbackServer, *names: str) -> bytes:
    listed = "".join(f"<sitemap><loc>{server.url}{name}.xml</loc></sitemap>" for name in names)
    return f"<sitemapindex {NS}>{listed}</sitemapindex>".encode()


def robots(server: LoopbackServer, *names: str) -> bytes:
    return "".join(f"Sitemap: {server.url}{name}.xml\n" for name in names).encode()


def serve(server: LoopbackServer, **sitemaps: bytes) -> None:
    server.site.update({f"/{name}.xml": kept(body) for name, body in sitemaps.items()})


@pytest.mark.parametrize(
    "options", [{"exclude_sitemaps": "m1"}, {"include_sitemaps": "m2|index|m3"}]
)
@pytest.mark.parametrize("is_changed", [False, True])
def test_sitemaps_that_the_caller_left_out_stay_as_they_are_known(
    server: LoopbackServer, state: Path, options: dict[str, Any], is_changed: bool
) -> None:
    serve(server, index=index(server, "m1", "m2"), m1=urlset("1"), m2=urlset("2"))
    url = f"{server.url}index.xml"
    assert run(url, state) == []
    if is_changed:
        serve(server, index=index(server, "m1", "m2", "m3"), m3=urlset())
    assert run(url, state, **options) == []
    assert run(url, state, **options) == []
    assert run(url, state) == []
    serve(server, index=index(server, "m2"))
    assert run(url, state, **options) == [("removed", "1")]


def test_a_sitemap_that_is_gone_is_noticed_though_another_is_left_out(
    server: LoopbackServer, state: Path
) -> None:
    names = {name: urlset(name) for name in ("m1", "m2", "m3")}
    serve(server, index=index(server, *names), **names)
    url = f"{server.url}index.xml"
    assert run(url, state) == []
    serve(server, index=index(server, "m1", "m2"))
    assert run(url, state, exclude_sitemaps="m1") == [("missing", "m3")]  # m1 may list it now
    assert run(url, state) == [("removed", "m3")]


def test_what_an_index_lists_that_is_left_out_stays_as_it_is_known(
    server: LoopbackServer, state: Path
) -> None:
    serve(server, index=index(server, "inner", "m2"), inner=index(server, "m1"))
    serve(server, m1=urlset("1"), m2=urlset("2"))
    url = f"{server.url}index.xml"
    assert run(url, state) == []
    assert run(url, state, exclude_sitemaps="inner") == []


def test_without_robots_txt_the_sitemaps_that_it_declares_stay_as_they_are_known(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/robots.txt"] = kept(robots(server, "sitemap", "other"))
    serve(server, sitemap=urlset("1"), other=index(server, "m1"), m1=urlset("2"))
    assert run(server.url, state) == []
    assert run(server.url, state, use_robots=False) == []
    server.site["/robots.txt"] = kept(robots(server, "sitemap"))
    assert run(server.url, state) == [("removed", "2")]


def test_without_robots_txt_it_is_not_confirmed_that_a_sitemap_is_gone(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/robots.txt"] = kept(robots(server, "sitemap", "other"))
    serve(server, sitemap=urlset("1"), other=urlset("2"))
    assert run(server.url, state, confirm=2) == []
    server.site["/robots.txt"] = kept(robots(server, "sitemap"))
    assert run(server.url, state, confirm=2) == [("missing", "2")]
    assert run(server.url, state, confirm=2, use_robots=False) == []
    assert run(server.url, state, confirm=2) == [("removed", "2")]


def test_without_known_paths_the_sitemaps_found_there_stay_as_they_are_known(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/robots.txt"] = kept(robots(server, "declared"))
    serve(server, declared=urlset("1"), sitemap=index(server, "m1"), m1=urlset("2"))
    assert run(server.url, state, use_known_paths=True) == []
    assert run(server.url, state, use_known_paths=False) == []
    assert run(server.url, state) == []
    serve(server, sitemap=index(server))
    assert run(server.url, state, use_known_paths=True) == [("removed", "2")]


def test_a_sitemap_is_noticed_as_gone_after_an_index_that_broke_off(
    server: LoopbackServer, state: Path
) -> None:
    serve(server, index=index(server, "m1", "m2"), m1=urlset("1"), m2=urlset("2"))
    url = f"{server.url}index.xml"
    assert run(url, state) == []
    server.site["/index.xml"] = cut(index(server, "m1", "m2"), 0.8)
    assert run(url, state) == []
    serve(server, index=index(server, "m1"))
    assert run(url, state) == [("removed", "2")]


@pytest.mark.parametrize(
    "body", [b" ", b"Back in five minutes", b'{"error": 429}', b"<urlset><url>"]
)
@pytest.mark.parametrize("name", ["index", "inner", "a"])
def test_what_is_damaged_for_many_runs_takes_nothing_away(
    server: LoopbackServer, state: Path, name: str, body: bytes
) -> None:
    good = {"index": index(server, "inner", "b"), "inner": index(server, "a")}
    serve(server, **good, a=urlset("1"), b=urlset("2"))
    url = f"{server.url}index.xml"
    assert run(url, state) == []
    serve(server, **{name: body})
    assert [run(url, state) for _ in range(3)] == [[]] * 3
    server.site[f"/{name}.xml"] = body  # without an ETag
    assert [run(url, state) for _ in range(3)] == [[]] * 3
    serve(server, **{"a": urlset("1"), **good})
    assert run(url, state) == []


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"Back in five minutes", b'{"error": 429}', b"\0" * 50),
        *(b"User-agent: *\nSitemap: http:", b"Sitemap: https://"),
    ],
)
def test_a_robots_txt_that_declares_nothing_any_more_takes_nothing_away(
    server: LoopbackServer, state: Path, body: bytes
) -> None:
    server.site["/robots.txt"] = kept(robots(server, "a", "b"))
    serve(server, a=urlset("1"), b=urlset("2"), sitemap=urlset("3"))
    options = {"use_known_paths": True}
    assert run(server.url, state, **options) == []
    server.site["/robots.txt"] = body
    assert [run(server.url, state, **options) for _ in range(3)] == [[]] * 3
    server.site["/robots.txt"] = kept(robots(server, "a"))
    assert run(server.url, state, **options) == [("removed", "2")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("to", ["/a.xml", "/other.xml", "/index.xml", "/robots.xml", "/feed.xml"])
@pytest.mark.parametrize("redirects", [False, True])
@pytest.mark.parametrize("in_asyncio", [False, True])
def test_a_robots_txt_that_is_a_sitemap_takes_nothing_away(
    server: LoopbackServer, state: Path, to: str, redirects: bool, in_asyncio: bool
) -> None:
    """It says as little of what the site declares as an HTML page there does."""
    made = aio_run if in_asyncio else run
    server.site["/robots.txt"] = kept(robots(server, "a", "b"))
    serve(server, a=urlset("1", "2"), b=urlset("3"), other=urlset("4"))
    serve(server, index=index(server, "a"), robots=urlset("1"), feed=EMPTY_FEED)
    assert made(server.url, state) == []
    server.site["/robots.txt"] = redirect(to) if redirects else server.site[to]
    assert [made(server.url, state) for _ in range(3)] == [[]] * 3
    server.site["/robots.txt"] = kept(robots(server, "a"))
    assert made(server.url, state) == [("removed", "3")]


def test_a_robots_txt_that_was_a_sitemap_from_the_first_run_on_is_one(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/robots.txt"] = kept(urlset("1", "2"))
    assert run(server.url, state) == []
    server.site["/robots.txt"] = kept(urlset("1", "3"))
    assert sorted(run(server.url, state)) == [("added", "3"), ("removed", "2")]


@pytest.mark.parametrize("is_kept", [False, True])
def test_identical_bytes_of_a_damaged_index_are_as_damaged_in_every_run(
    server: LoopbackServer, state: Path, is_kept: bool
) -> None:
    """They must not stand for what is known from before, which has more."""
    serve(server, index=index(server, "a", "b"), a=urlset("1"), b=urlset("2"))
    url = f"{server.url}index.xml"
    assert run(url, state) == []
    damaged = index(server, "a", "b")[:-30]
    server.site["/index.xml"] = kept(damaged) if is_kept else damaged
    for _ in range(3):
        made = report(url, state)
        assert (made.outcome, made.incomplete, made.changes.total()) == (Outcome.PARTIAL, 1, 0)


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_robots_txt_without_its_declarations_says_the_same_in_every_run(
    server: LoopbackServer, state: Path, is_kept: bool
) -> None:
    server.site["/robots.txt"] = kept(robots(server, "a"))
    serve(server, a=urlset("1"))
    assert run(server.url, state) == []
    without = b"User-agent: *\nAllow: /\n"
    server.site["/robots.txt"] = kept(without) if is_kept else without
    for _ in range(3):
        made = report(server.url, state)
        assert (made.outcome, made.pages, made.changes.total()) == (Outcome.NONE, 1, 0)


def test_the_reason_of_a_report_is_that_of_a_sitemap_or_of_robots_txt(
    server: LoopbackServer, state: Path
) -> None:
    """A path that was only guessed may have no sitemap; it says why if nothing answers at all."""
    server.site["/robots.txt"] = robots(server, "a")
    server.site["/sitemap.xml"] = 403
    serve(server, a=urlset("1"))

    def failed(**options: Any) -> tuple[int, str | None]:
        made = report(server.url, state, **options)
        return made.failed, made.reason

    assert failed(use_known_paths=True) == (0, None)
    server.site["/a.xml"] = 503
    number, reason = failed(use_known_paths=True)
    assert (number, "503" in str(reason)) == (1, True)
    server.site["/robots.txt"] = 503
    number, reason = failed()
    assert (number, "503" in str(reason)) == (0, True)
    nothing_there = report("http://127.0.0.1:9/", state, use_robots=False, use_known_paths=True)
    assert (nothing_there.outcome, nothing_there.failed) == (Outcome.UNREACHABLE, 0)
    assert "refused" in str(nothing_there.reason).lower()


def test_what_robots_txt_declares_no_more_is_read_as_before_if_it_is_found_otherwise(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/robots.txt"] = kept(robots(server, "sitemap", "other"))
    serve(server, sitemap=urlset("1"), other=urlset("2"))
    assert run(server.url, state) == []
    server.site["/robots.txt"] = b"User-agent: *\n"
    serve(server, sitemap=urlset("3"), other=urlset("4"))
    options = {"use_known_paths": True}
    assert run(server.url, state, **options) == [("added", "3"), ("missing", "1")]
    assert run(server.url, state, **options) == []


def test_a_sitemap_that_once_was_a_feed_that_broke_off_has_not_expired(
    server: LoopbackServer, state: Path
) -> None:
    url = f"{server.url}a.xml"
    serve(server, a=urlset("1", "2"))
    assert run(url, state, confirm=2) == []
    feed = f'<rss version="2.0"><channel><item><link>{PAGES}1</link></item>'
    serve(server, a=feed.encode())
    assert run(url, state, confirm=2) == []
    serve(server, a=urlset("1"))
    assert run(url, state, confirm=2) == [("missing", "2")]


def test_a_sitemap_that_answers_with_an_empty_feed_once_has_not_expired(
    server: LoopbackServer, state: Path
) -> None:
    url = f"{server.url}a.xml"
    limits = {"confirm": 2, "max_removed": 0.5}
    serve(server, a=urlset("1", "2"))
    assert run(url, state, **limits) == []
    serve(server, a=EMPTY_FEED)
    assert run(url, state, **limits) == [("missing", "1"), ("missing", "2")]
    serve(server, a=urlset("1", "2"))
    assert run(url, state, **limits) == [("returned", "1"), ("returned", "2")]
    serve(server, a=urlset("1"))
    assert run(url, state, **limits) == [("missing", "2")]


@pytest.mark.parametrize(
    "answer",
    [404, 410, 503, HTML, Answer(304), b"", cut(urlset("2", "3"), 0.9), urlset("2")[:-12]],
    ids=["404", "410", "503", "html", "304", "empty", "cut", "without its end"],
)
@pytest.mark.parametrize("confirm", [1, 2])
def test_what_moved_to_a_new_sitemap_that_was_not_read_whole_is_not_removed(
    server: LoopbackServer, state: Path, answer: Any, confirm: int
) -> None:
    """A urlset becomes an index, of which one sitemap can't be read yet."""
    server.site["/robots.txt"] = robots(server, "sm")
    serve(server, sm=urlset("1", "2", "3"))
    assert run(server.url, state, confirm=confirm) == []
    serve(server, sm=index(server, "a", "b"), a=urlset("1"))
    server.site["/b.xml"] = answer
    told = [change for _ in range(3) for change in run(server.url, state, confirm=confirm)]
    assert "removed" not in {kind for kind, _ in told}
    serve(server, b=urlset("2", "3"))
    told += run(server.url, state, confirm=confirm)
    last = {page: kind for kind, page in told}
    assert (last["3"], last["2"] in {"returned", "moved"}) == ("returned", True)


def test_what_moved_to_a_sitemap_that_the_homepage_names_before_it_is_there_is_not_removed(
    server: LoopbackServer, state: Path
) -> None:
    def name(*names: str) -> None:
        links = "".join(f'<link rel="sitemap" href="/{one}.xml">' for one in names)
        body = f"<!doctype html><head>{links}</head>".encode()
        server.site["/"] = Answer(200, body, {"Content-Type": "text/html"})

    serve(server, a=urlset("1", "2", "3"))
    name("a")
    assert run(server.url, state) == []
    serve(server, a=urlset("2", "3"))
    name("a", "b")
    assert run(server.url, state) == [("missing", "1")]
    assert run(server.url, state) == []
    serve(server, a=urlset("3"))
    assert run(server.url, state) == [("removed", "2")]  # b was not there while a listed it
    serve(server, b=urlset("1"))
    assert run(server.url, state) == [("returned", "1")]
