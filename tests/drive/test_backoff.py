"""Retries and backoff against a loopback server: a host that responds at all is not given up."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.server import (
    Answer,
    Callback,
    Handler,
    LoopbackServer,
    Plain,
    index,
    redirect,
    reset,
    urlset,
)
from usp import Outcome, Policy, aio
from usp.objects.sitemap import InvalidSitemap
from usp.tree import sitemap_tree_for_homepage

QUICK = Policy(backoff_initial=0.01)
WITHOUT_CONCURRENCY = Policy(backoff_initial=0.01, concurrency=1)


@pytest.mark.parametrize("policy", [QUICK, WITHOUT_CONCURRENCY])
def test_known_paths_are_tried_though_robots_txt_resets_the_connection(
    server: LoopbackServer, policy: Policy
) -> None:
    server.site |= {"/robots.txt": reset, "/sitemap.xml": urlset(server.at("/page"))}
    tree = sitemap_tree_for_homepage(server.url, policy=policy)
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]


@pytest.mark.parametrize(
    "failing", [redirect("ftp://h.example/"), Answer(302, headers={"Location": "/0"}), reset]
)
def test_failing_children_lose_no_page_of_other_children(
    server: LoopbackServer, failing: Answer
) -> None:
    names = [f"/{number}" for number in range(6)]
    server.robots(*names)
    server.site |= dict.fromkeys(names[:2], failing)
    server.site |= {name: urlset(server.at(f"{name}/page")) for name in names[2:]}
    tree = sitemap_tree_for_homepage(server.url, policy=WITHOUT_CONCURRENCY)
    children = tree.sub_sitemaps[0].sub_sitemaps
    assert [isinstance(child, InvalidSitemap) for child in children] == [True] * 2 + [False] * 4
    assert tree.outcome is Outcome.PARTIAL


def test_endless_redirects_do_not_count_against_the_host(server: LoopbackServer) -> None:
    server.otherwise = redirect("/loop")
    server.site |= {"/loop": redirect("/loop"), "/sitemap_news.xml": urlset(server.at("/page"))}
    tree = sitemap_tree_for_homepage(server.url, policy=QUICK)
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]


def test_a_dead_host_is_given_up_after_a_few_requests() -> None:
    with LoopbackServer() as stopped:
        url = stopped.url
    tree = sitemap_tree_for_homepage(url, policy=WITHOUT_CONCURRENCY)
    assert tree.outcome is Outcome.UNREACHABLE
    details = [attempt.detail for attempt in tree.tried]
    assert sum("given up" in detail for detail in details) == len(details) - 3


def serve_with_resets(
    server: LoopbackServer, count: int, *, first_only: bool, failing: range
) -> list[str]:
    """Serve some sitemaps, of which some reset the connection: at first only, or each time.

    Return the pages that a crawl should find.
    """
    server.robots("/index.xml")
    server.site["/index.xml"] = index(*(server.at(f"/c{n}.xml") for n in range(count)))
    pages = [server.at(f"/{number}") for number in range(count)]

    def answer(number: int) -> Callback:
        def respond(handler: Handler) -> bytes | None:
            attempts = server.requested.count(f"/c{number}.xml")
            if number in failing and (attempts == 1 or not first_only):
                reset(handler)
                return None
            return urlset(pages[number])

        return respond

    for number in range(count):
        server.site[f"/c{number}.xml"] = answer(number)
    return [page for number, page in enumerate(pages) if first_only or number not in failing]


def by_threads(url: str, **fields: Any) -> list[str]:
    tree = sitemap_tree_for_homepage(url, use_known_paths=False, **fields)
    return [page.url for page in tree.all_pages()]


def by_asyncio(url: str, **fields: Any) -> list[str]:
    tree = asyncio.run(aio.sitemap_tree_for_homepage(url, use_known_paths=False, **fields))
    return [page.url for page in tree.all_pages()]


CRAWLS = [by_threads, by_asyncio]


@pytest.mark.parametrize("crawl", CRAWLS)
@pytest.mark.parametrize("per_host", [1, 8])
def test_connections_that_are_reset_once_lose_no_page(
    server: LoopbackServer, crawl: Callable[..., list[str]], per_host: int
) -> None:
    expected = serve_with_resets(server, 30, first_only=True, failing=range(8))
    assert crawl(server.url, per_host=per_host, backoff_initial=0.02) == expected


@pytest.mark.parametrize("crawl", CRAWLS)
@pytest.mark.parametrize("per_host", [1, 2, 8, 16])
def test_sitemaps_that_always_fail_lose_no_page_of_others(
    server: LoopbackServer, crawl: Callable[..., list[str]], per_host: int
) -> None:
    expected = serve_with_resets(server, 20, first_only=False, failing=range(2, 5))
    assert crawl(server.url, per_host=per_host, backoff_initial=0.02) == expected


@pytest.mark.parametrize("crawl", CRAWLS)
def test_a_host_that_fails_during_the_crawl_is_given_up(
    server: LoopbackServer, crawl: Callable[..., list[str]]
) -> None:
    expected = serve_with_resets(server, 200, first_only=False, failing=range(20, 200))
    assert crawl(server.url, backoff_initial=0.01, per_host=4) == expected
    assert len(server.requested) < 60


@pytest.mark.parametrize("crawl", CRAWLS)
def test_a_host_gets_no_request_during_its_retry_after(
    server: LoopbackServer, crawl: Callable[..., list[str]]
) -> None:
    expected = serve_with_resets(server, 20, first_only=True, failing=range(0))
    rate_limited_at: list[float] = []
    requested_at: list[float] = []

    def rate_limit_once(handler: Handler) -> Answer | bytes:
        if not rate_limited_at:
            rate_limited_at.append(time.monotonic())
            return Answer(status=429, headers={"Retry-After": "1"})
        return urlset(expected[0])

    server.site["/c0.xml"] = rate_limit_once

    def recorded(number: int) -> Callback:
        def respond(_: Handler) -> bytes:
            requested_at.append(time.monotonic())
            return urlset(expected[number])

        return respond

    for number in range(1, 20):
        server.site[f"/c{number}.xml"] = recorded(number)
    assert crawl(server.url, per_host=1) == expected
    (limited,) = rate_limited_at
    delay = min(when for when in requested_at if when > limited) - limited
    assert delay > 0.9, "nothing else was requested during that time"


def cut_body(handler: Handler) -> None:
    """Send less than the announced length, and close the connection."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"<urlset>")


FAILING_ONCE: list[Plain | Callback | None] = [
    *(None, reset, Answer(503, headers={"Retry-After": "1"}), cut_body),
    *(reset, Answer(503, headers={"Retry-After": "1"}), cut_body, reset),
]
"""Seven kinds of children that fail at their first request, and one that doesn't."""


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("crawl", CRAWLS)
def test_retries_of_one_host_wait_concurrently(
    server: LoopbackServer, crawl: Callable[..., list[str]]
) -> None:
    """60 children, of which seven in eight fail once, took 13.9 seconds (issue 18)."""
    expected = serve_with_resets(server, 60, first_only=True, failing=range(0))

    def failing_once(number: int) -> Callback:
        failure = FAILING_ONCE[number % len(FAILING_ONCE)]

        def respond(handler: Handler) -> Plain | None:
            if failure is None or server.requested.count(f"/c{number}.xml") > 1:
                return urlset(expected[number])
            return failure(handler) if callable(failure) else failure

        return respond

    for number in range(60):
        server.site[f"/c{number}.xml"] = failing_once(number)
    started = time.monotonic()
    assert crawl(server.url) == expected
    assert time.monotonic() - started < 8
