"""Wrong arguments of every public function are rejected in one clear line, before any request.

A table has the wrong values of each parameter. Each function that has the parameter is called with
each of them. The loopback server records that nothing is requested.
"""

import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.loops import run
from tests.server import LoopbackServer, urlset
from usp import aio
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.objects.sitemap import IndexWebsiteSitemap
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.requests_client import RequestsWebClient

Function = Callable[..., Any]

SYNC: list[Function] = [usp.sitemap_tree_for_homepage, usp.sitemap_tree, usp.iter_pages]
ASYNC: list[Function] = [
    aio.sitemap_tree_for_homepage,
    aio.sitemap_tree,
    aio.iter_pages,
    aio.sitemap_trees,
]
OTHERS: list[Function] = [
    usp.parse,
    usp.sitemap_from_str,
    usp.Crawl,
    usp.Crawl.for_site,
]

NOT_BOOLEANS: list[object] = ["yes", b"", 2, 1.0, [], object()]
NOT_CALLABLE: list[object] = [0, False, "", "print", b"x", [], object()]
NOT_TEXT: list[object] = [None, 5, True, b"http://h.example/", ["http://h.example/"], object()]
NOT_URLS: list[object] = [
    *NOT_TEXT,
    "",
    "http://",
    "ftp://h.example/",
    "http://a b/",
    "http://%zz/",
    "http://h:99999/",
    "http://h:x/",
    "http://[x",
    "http://a..b/",
    f"http://{'a' * 64}.example/",
    "http://\ud800/",
    "http://h.example/\ud800",
    "foo",
    "two words",
]
WRONG: dict[str, list[object]] = {
    "homepage_url": NOT_URLS,
    "url": [wrong for wrong in NOT_URLS if wrong is not None],
    "source": [*NOT_URLS, "a\0b.xml", Path("a\0b.xml"), "\ud800.xml"],
    "homepages": [None, 5, "ab", b"ab", object()],
    "web_client": [0, False, "", "x", [], object(), RequestsWebClient],
    "use_robots": NOT_BOOLEANS,
    "use_known_paths": NOT_BOOLEANS,
    "normalize_homepage_url": NOT_BOOLEANS,
    "extra_known_paths": [5, "ab", b"ab", {5}, [None], {"a", 5}, {"http://[x"}, ["mailto:a@h"]],
    "known_paths": [None, 5, "ab", [None], {"http://[x"}],
    "recurse_callback": NOT_CALLABLE,
    "recurse_list_callback": NOT_CALLABLE,
    "stop_callback": NOT_CALLABLE,
    "observer": NOT_CALLABLE,
    "policy": [usp.Policy, {}, 0, False, "", object()],
    "sites_at_once": [0, -1, True, None, "3", 2.5, float("inf")],
    "urls": [None, 5, "ab", [], ["ab"], [None], b"http://h.example/"],
    "data": [None, 5, ["x"], bytearray(b"x")],
    "content": [None, 5, ["x"], bytearray(b"x")],
    "content_type": [5, b"text/xml"],
    "now": [5, 1.5, "2026-01-01", date(2026, 1, 1)],
    "extensions": [*NOT_BOOLEANS, None],
}
MESSAGES = {
    "source": r"source must be .*|.* is neither a URL, nor a domain, .*|.* can't be read: .*",
    "data": r"data must be str or bytes, not .*",
}
"""The messages that don't begin with the name of the parameter."""
ACCEPTS_ANY_TEXT: dict[Function, str] = {usp.parse: "url"}
"""Functions to which a URL is only a name, and any text is accepted."""


CASES = [
    (function, name)
    for function in SYNC + ASYNC + OTHERS
    for name in inspect.signature(function).parameters
    if name != "crawl_fields"  # see tests/crawl/test_policy.py, tests/test_client_keywords.py
]


def required_arguments(function: Function, url: str) -> dict[str, object]:
    """Return arguments without which a function can't be called."""
    accepted: dict[str, object] = {
        "homepage_url": url,
        "url": url,
        "source": url,
        "homepages": [url],
        "urls": url,
        "data": b"",
        "content": "",
    }
    parameters = inspect.signature(function).parameters
    return {name: accepted[name] for name in parameters if name in accepted}


def call(function: Function, arguments: dict[str, object]) -> object:
    """Call a function; iterate or await what it returns to the end."""

    async def collect(stream: AsyncIterator[object]) -> list[object]:
        return [each async for each in stream]

    result = function(**arguments)
    if isinstance(result, AsyncIterator):
        return run(collect(result))
    if isinstance(result, Iterator):
        return list(result)
    return run(result) if inspect.iscoroutine(result) else result


@pytest.mark.parametrize(("function", "name"), CASES)
def test_a_wrong_argument_is_rejected_in_one_line_before_any_request(
    server: LoopbackServer, function: Function, name: str
) -> None:
    for wrong in WRONG[name]:
        if isinstance(wrong, str) and ACCEPTS_ANY_TEXT.get(function) == name:
            continue
        with pytest.raises(UsageError) as caught:
            call(function, required_arguments(function, server.url) | {name: wrong})
        message = str(caught.value)
        assert re.fullmatch(MESSAGES.get(name, f".*{name} must be .*"), message), wrong
        assert len(message) < 200
    assert server.requested == []


@pytest.mark.parametrize("function", [aio.iter_pages, aio.sitemap_trees, usp.iter_pages])
def test_a_stream_with_a_wrong_argument_is_rejected_before_it_is_iterated(
    function: Function,
) -> None:
    arguments = required_arguments(function, "http://h.example/")
    with pytest.raises(UsageError, match="web_client"):
        function(**arguments | {"web_client": "x"})


@pytest.mark.parametrize("function", SYNC + ASYNC)
def test_a_client_for_threads_is_rejected_by_asyncio_and_the_reverse(
    server: LoopbackServer, function: Function
) -> None:
    class Other(AbstractAioWebClient):
        async def get(self, url: str) -> Any:
            pytest.fail(f"{url} was requested")

    other = RequestsWebClient() if function in ASYNC else Other()
    with pytest.raises(UsageError, match="web_client must be an instance of Abstract") as caught:
        call(function, required_arguments(function, server.url) | {"web_client": other})
    assert str(caught.value).endswith(("not a RequestsWebClient.", "not an Other."))
    assert server.requested == []


@pytest.mark.parametrize("function", SYNC + ASYNC)
@pytest.mark.parametrize("returned", [None, "http://h.example/a.xml", 5, [None], [b"x"]])
def test_a_callback_that_returns_a_wrong_value_raises(
    server: LoopbackServer, function: Function, returned: object
) -> None:
    server.robots("/a.xml")
    callback: dict[str, object] = {"recurse_list_callback": lambda *_: returned}
    with pytest.raises(UsageError, match="the result of recurse_list_callback must be"):
        call(function, required_arguments(function, server.url) | callback)


def test_unusual_but_valid_arguments_are_accepted(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    options: list[dict[str, Any]] = [
        {"use_robots": 1, "use_known_paths": 0},
        {"recurse_list_callback": lambda urls, *_: (url for url in urls)},
        {"extra_known_paths": ["a b.xml", "/c.xml", server.at("/d.xml")]},
        {"extra_known_paths": frozenset({""})},
        {"policy": usp.Policy(max_seconds=float("inf"), max_document_bytes=2**70)},
        {"concurrency": 2**70, "limit": 2**70, "prefetch": 2**70},
    ]
    for option in options:
        tree = usp.sitemap_tree_for_homepage(f"{server.url}some page\n", **option)
        assert [page.url for page in tree.all_pages()] == [server.at("/1")], option


def test_a_wrong_homepage_among_many_does_not_end_the_crawl_of_the_others(
    server: LoopbackServer,
) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    wrong: list[Any] = [None, 5, b"http://h.example/", "a b", "http://h:99999/", ["h.example"]]

    async def main() -> list[tuple[object, IndexWebsiteSitemap]]:
        async with aio.sitemap_trees([*wrong, server.url]) as trees:
            return [(homepage, tree) async for homepage, tree in trees]

    found = run(main())
    crawled = [tree for homepage, tree in found if homepage == server.url]
    rejected = [tree for homepage, tree in found if homepage != server.url]
    assert [tree.outcome for tree in crawled] == [Outcome.FOUND]
    assert [tree.outcome for tree in rejected] == [Outcome.UNREACHABLE] * len(wrong)
    assert {problem.code for tree in rejected for problem in tree.problems} == {"SM604"}
    assert {tree.url for tree in rejected} == {str(each) for each in wrong}
