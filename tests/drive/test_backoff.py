"""Hosts that drop, loop and stall: one that answers anything is never given up."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.server import (
    Answer,
    Callback,
    Handler,
    LoopbackServer,
    index,
    redirect,
    reset,
    urlset,
)
from usp import Outcome, Policy, aio
from usp.objects.sitemap import InvalidSitemap
from usp.tree import sitemap_tree_for_homepage

QUICK = Policy(backoff_initial=0.01)
ONE_BY_ONE = Policy(backoff_initial=0.01, concurrency=1)


@pytest.mark.parametrize("policy", [QUICK, ONE_BY_ONE])
def test_a_robots_txt_that_is_dropped_costs_only_itself(
    server: LoopbackServer, policy: Policy
) -> None:
    server.site |= {"/robots.txt": reset, "/sitemap.xml": urlset(server.at("/page"))}
    tree = sitemap_tree_for_homepage(server.url, policy=policy)
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]


@pytest.mark.parametrize(
    "odd", [redirect("ftp://h.example/"), Answer(302, headers={"Location": "/0"}), reset]
)
def test_children_that_lead_nowhere_cost_only_themselves(
    server: LoopbackServer, odd: Answer
) -> None:
    names = [f"/{number}" for number in range(6)]
    server.robots(*names)
    server.site |= dict.fromkeys(names[:2], odd)
    server.site |= {name: urlset(server.at(f"{name}/page")) for name in names[2:]}
    tree = sitemap_tree_for_homepage(server.url, policy=ONE_BY_ONE)
    children = tree.sub_sitemaps[0].sub_sitemaps
    assert [isinstance(child, InvalidSitemap) for child in children] == [True] * 2 + [False] * 4
    assert tree.outcome is Outcome.PARTIAL


def test_redirects_without_end_are_answers(server: LoopbackServer) -> None:
    server.otherwise = redirect("/loop")
    server.site |= {"/loop": redirect("/loop"), "/sitemap_news.xml": urlset(server.at("/page"))}
    tree = sitemap_tree_for_homepage(server.url, policy=QUICK)
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]


def test_a_dead_host_is_given_up_after_a_few_requests() -> None:
    with LoopbackServer() as gone:
        url = gone.url
    tree = sitemap_tree_for_homepage(url, policy=ONE_BY_ONE)
    assert tree.outcome is Outcome.UNREACHABLE
    details = [attempt.detail for attempt in tree.tried]
    assert sum("given up" in detail for detail in details) == len(details) - 3


def flaky(server: LoopbackServer, count: int, *, first_only: bool, broken: range) -> list[str]:
    """A site of so many sitemaps, some of which reset the connection: each time, or at first."""
    server.robots("/index.xml")
    server.site["/index.xml"] = index(*(server.at(f"/c{n}.xml") for n in range(count)))
    pages = [server.at(f"/{number}") for number in range(count)]

    def answer(number: int) -> Callback:
        def respond(handler: Handler) -> bytes | None:
            tries = server.asked.count(f"/c{number}.xml")
            if number in broken and (tries == 1 or not first_only):
                reset(handler)
                return None
            return urlset(pages[number])

        return respond

    for number in range(count):
        server.site[f"/c{number}.xml"] = answer(number)
    return [page for number, page in enumerate(pages) if first_only or number not in broken]


def by_threads(url: str, **fields: Any) -> list[str]:
    tree = sitemap_tree_for_homepage(url, use_known_paths=False, **fields)
    return [page.url for page in tree.all_pages()]


def by_asyncio(url: str, **fields: Any) -> list[str]:
    tree = asyncio.run(aio.sitemap_tree_for_homepage(url, use_known_paths=False, **fields))
    return [page.url for page in tree.all_pages()]


WAYS = [by_threads, by_asyncio]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("per_host", [1, 8])
def test_connections_that_drop_once_cost_nothing(
    server: LoopbackServer, way: Callable[..., list[str]], per_host: int
) -> None:
    expected = flaky(server, 30, first_only=True, broken=range(8))
    assert way(server.url, per_host=per_host, backoff_initial=0.02) == expected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("per_host", [1, 2, 8, 16])
def test_sitemaps_that_always_fail_cost_themselves(
    server: LoopbackServer, way: Callable[..., list[str]], per_host: int
) -> None:
    expected = flaky(server, 20, first_only=False, broken=range(2, 5))
    assert way(server.url, per_host=per_host, backoff_initial=0.02) == expected


@pytest.mark.parametrize("way", WAYS)
def test_a_host_that_dies_in_the_middle_is_given_up(
    server: LoopbackServer, way: Callable[..., list[str]]
) -> None:
    expected = flaky(server, 200, first_only=False, broken=range(20, 200))
    assert way(server.url, backoff_initial=0.01, per_host=4) == expected
    assert len(server.asked) < 60


@pytest.mark.parametrize("way", WAYS)
def test_a_host_that_says_when_to_come_back_is_left_alone_until_then(
    server: LoopbackServer, way: Callable[..., list[str]]
) -> None:
    expected = flaky(server, 20, first_only=True, broken=range(0))
    refused: list[float] = []
    asked: list[float] = []

    def once(handler: Handler) -> Answer | bytes:
        if not refused:
            refused.append(time.monotonic())
            return Answer(status=429, headers={"Retry-After": "1"})
        return urlset(expected[0])

    server.site["/c0.xml"] = once

    def noted(number: int) -> Callback:
        def respond(_: Handler) -> bytes:
            asked.append(time.monotonic())
            return urlset(expected[number])

        return respond

    for number in range(1, 20):
        server.site[f"/c{number}.xml"] = noted(number)
    assert way(server.url, per_host=1) == expected
    pause = min(when for when in asked if when > refused[0]) - refused[0]
    assert pause > 0.9, "nothing else was asked for meanwhile"


def test_one_document_however_its_url_is_written(server: LoopbackServer) -> None:
    ways = ["/a.xml", "/./a.xml", "/a.xml#top", "/x/../a.xml"]
    urls = [server.at("/a.xml").replace("http:", "HTTP:"), *(server.url[:-1] + way for way in ways)]
    server.site["/robots.txt"] = "".join(f"Sitemap: {url}\n" for url in urls)
    server.site["/a.xml"] = urlset(server.at("/1"))
    assert set(by_threads(server.url)) == {server.at("/1")}
    assert server.asked == ["/robots.txt", "/a.xml"]


def test_who_asks_for_a_page_is_the_same_host(server: LoopbackServer) -> None:
    bare = server.url.removeprefix("http://")
    names = [f"http://user{number}@{bare}c{number}.xml" for number in range(20)]
    server.site["/robots.txt"] = "".join(f"Sitemap: {name}\n" for name in names)
    under_way: list[int] = []
    lock = threading.Lock()
    now = 0

    def slow(handler: Handler) -> bytes:
        nonlocal now
        with lock:
            now += 1
            under_way.append(now)
        time.sleep(0.02)
        with lock:
            now -= 1
        return urlset(server.at(handler.path))

    for number in range(20):
        server.site[f"/c{number}.xml"] = slow
    assert len(by_threads(server.url, per_host=2)) == 20
    assert max(under_way) <= 2
