"""Wrong use: every public function, every parameter, every wrong kind of value: one clear line.

A table names what is wrong for a parameter; each function that has it is called with each of
these. The server is there to show that nothing was asked of the web before.
"""

import inspect
import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.loops import run
from tests.server import LoopbackServer, urlset
from usp import aio
from usp.exceptions import SitemapException
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

NO_SWITCHES: list[object] = ["yes", b"", 2, 1.0, [], object()]
NO_FUNCTIONS: list[object] = [0, False, "", "print", b"x", [], object()]
NO_NAMES: list[object] = [None, 5, True, b"http://h.example/", ["http://h.example/"], object()]
NO_URLS: list[object] = [
    *NO_NAMES,
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
]
WRONG: dict[str, list[object]] = {
    "homepage_url": NO_URLS,
    "url": [wrong for wrong in NO_URLS if wrong is not None],
    "source": [*NO_URLS, "a\0b.xml", Path("a\0b.xml"), "\ud800.xml"],
    "homepages": [None, 5, "ab", b"ab", object()],
    "web_client": [0, False, "", "x", [], object(), RequestsWebClient],
    "use_robots": NO_SWITCHES,
    "use_known_paths": NO_SWITCHES,
    "normalize_homepage_url": [*NO_SWITCHES, None],
    "extra_known_paths": [5, "ab", b"ab", {5}, [None], {"a", 5}, {"http://[x"}, ["mailto:a@h"]],
    "known_paths": [None, 5, "ab", [None], {"http://[x"}],
    "recurse_callback": NO_FUNCTIONS,
    "recurse_list_callback": NO_FUNCTIONS,
    "stop_callback": NO_FUNCTIONS,
    "observer": NO_FUNCTIONS,
    "policy": [usp.Policy, {}, 0, False, "", object()],
    "sites_at_once": [0, -1, True, None, "3", 2.5, float("inf")],
    "urls": [None, 5, "ab", [], ["ab"], [None], b"http://h.example/"],
    "data": [None, 5, ["x"], bytearray(b"x")],
    "content": [None, 5, ["x"], bytearray(b"x")],
    "content_type": [5, b"text/xml"],
    "extensions": [*NO_SWITCHES, None],
}
SAYS = {
    "source": r"source must be .*|.* is neither a URL, nor a domain, .*|.* can't be read: .*",
    "data": r"data must be str or bytes, not .*",
    "content": r".* str or bytes, not .*",
}
"""How it is said where the parameter isn't named: there is only one that can be meant."""
ANY_TEXT: dict[Function, str] = {usp.parse: "url"}
"""Where a URL only names what was read, any text will do."""


CASES = [
    (function, name)
    for function in SYNC + ASYNC + OTHERS
    for name in inspect.signature(function).parameters
    if name != "policy_fields"  # the fields of a policy: see tests/crawl/test_policy.py
]


def needs(function: Function, at: str) -> dict[str, object]:
    """What a function can't be called without."""
    good: dict[str, object] = {
        "homepage_url": at,
        "url": at,
        "source": at,
        "homepages": [at],
        "urls": at,
        "data": b"",
        "content": "",
    }
    parameters = inspect.signature(function).parameters
    return {name: good[name] for name in parameters if name in good}


def to_its_end(function: Function, arguments: dict[str, object]) -> object:
    """Call a function, and have all that it gives."""

    async def all_of(stream: AsyncIterator[object]) -> list[object]:
        return [each async for each in stream]

    result = function(**arguments)
    if isinstance(result, AsyncIterator):
        return run(all_of(result))
    if isinstance(result, Iterator):
        return list(result)
    return run(result) if inspect.iscoroutine(result) else result


@pytest.mark.parametrize(("function", "name"), CASES)
def test_wrong_use_is_refused_in_one_line_before_anything_is_asked(
    server: LoopbackServer, function: Function, name: str
) -> None:
    for wrong in WRONG[name]:
        if isinstance(wrong, str) and ANY_TEXT.get(function) == name:
            continue
        with pytest.raises(SitemapException) as caught:
            to_its_end(function, needs(function, server.url) | {name: wrong})
        said = str(caught.value)
        assert re.fullmatch(SAYS.get(name, f".*{name} must be .*"), said), wrong
        assert len(said) < 200
    assert server.asked == []


@pytest.mark.parametrize("function", [aio.iter_pages, aio.sitemap_trees, usp.iter_pages])
def test_a_stream_is_refused_before_it_is_read(function: Function) -> None:
    arguments = needs(function, "http://h.example/")
    with pytest.raises(SitemapException, match="web_client"):
        function(**arguments | {"web_client": "x"})


@pytest.mark.parametrize("function", SYNC + ASYNC)
def test_a_client_of_the_other_kind_is_refused(server: LoopbackServer, function: Function) -> None:
    class Other(AbstractAioWebClient):
        async def get(self, url: str) -> Any:
            pytest.fail(f"was asked for {url}")

    other = RequestsWebClient() if function in ASYNC else Other()
    with pytest.raises(
        SitemapException, match="web_client must be an instance of Abstract"
    ) as caught:
        to_its_end(function, needs(function, server.url) | {"web_client": other})
    assert str(caught.value).endswith(("not a RequestsWebClient.", "not an Other."))
    assert server.asked == []


@pytest.mark.parametrize("function", SYNC + ASYNC)
@pytest.mark.parametrize("returned", [None, "http://h.example/a.xml", 5, [None], [b"x"]])
def test_what_a_callback_may_not_return_reaches_the_caller(
    server: LoopbackServer, function: Function, returned: object
) -> None:
    server.robots("/a.xml")
    chosen: dict[str, object] = {"recurse_list_callback": lambda *_: returned}
    with pytest.raises(SitemapException, match="the result of recurse_list_callback must be"):
        to_its_end(function, needs(function, server.url) | chosen)


def test_what_could_be_meant_still_is(server: LoopbackServer) -> None:
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


def test_one_homepage_that_is_none_does_not_end_the_others(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    wrong: list[Any] = [None, 5, b"http://h.example/", "a b", "http://h:99999/", ["h.example"]]

    async def main() -> list[tuple[object, IndexWebsiteSitemap]]:
        async with aio.sitemap_trees([*wrong, server.url]) as trees:
            return [(homepage, tree) async for homepage, tree in trees]

    found = run(main())
    good = [tree for homepage, tree in found if homepage == server.url]
    bad = [tree for homepage, tree in found if homepage != server.url]
    assert [tree.outcome for tree in good] == [Outcome.FOUND]
    assert [tree.outcome for tree in bad] == [Outcome.UNREACHABLE] * len(wrong)
    assert {problem.code for tree in bad for problem in tree.problems} == {"SM604"}
    assert {tree.url for tree in bad} == {str(each) for each in wrong}
