"""All drivers (threads, inline, asyncio) give one tree and one stream for any site."""

import asyncio
import gzip
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import usp
from tests.drive.tree_shape import shape
from tests.loops import run
from tests.server import LoopbackServer, Plain, index, redirect, urlset
from usp import Policy, aio
from usp.web_client._http.defaults import MAX_REDIRECTS

NAMES = ("robots.txt", "sitemap.xml", "a.xml", "b.xml.gz", "c.xml", "d.txt")

SiteDescription = dict[str, tuple[str, list[str]]]
"""The kind of each document, and the names that it lists."""


@st.composite
def site_descriptions(draw: st.DrawFn) -> SiteDescription:
    kinds = st.sampled_from(["index", "urlset", "gzip", "text", "404", "503", "html", "redirect"])
    children = st.lists(st.sampled_from(NAMES), max_size=4)
    return {name: (draw(kinds), draw(children)) for name in NAMES}


def answer(server: LoopbackServer, name: str, kind: str, children: list[str]) -> Plain:
    urls = [server.at(f"/{child}") for child in children]
    if name == "robots.txt":
        return "".join(f"Sitemap: {url}\n" for url in urls)
    sitemap = urlset(*(f"{server.url}{name}/{url[-3:]}" for url in urls))
    answers: dict[str, Plain] = {
        "index": index(*urls),
        "urlset": sitemap,
        "gzip": gzip.compress(sitemap, mtime=0),
        "text": "\n".join(urls),
        "404": 404,
        "503": 503,
        "html": "<!DOCTYPE html><html><body>no</body></html>",
        "redirect": redirect(f"/{(children or NAMES)[0]}"),
    }
    return answers[kind]


@settings(
    max_examples=max(1, settings().max_examples // 4),  # each one crawls a site five times
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(site=site_descriptions())
def test_all_drivers_give_the_same_tree_and_stream_for_any_site(
    server: LoopbackServer, site: SiteDescription
) -> None:
    server.site.clear()
    for name, (kind, children) in site.items():
        server.site[f"/{name}"] = answer(server, name, kind, children)
    # A high threshold, since when a host backs off depends on time.
    policy = Policy(max_attempts=1, host_failure_threshold=99)
    by_asyncio = run(aio.sitemap_tree_for_homepage(server.url, policy=policy))
    by_threads = usp.sitemap_tree_for_homepage(server.url, policy=policy)
    inline = usp.sitemap_tree_for_homepage(server.url, policy=replace(policy, concurrency=1))
    assert shape(by_asyncio) == shape(by_threads) == shape(inline)

    async def streamed() -> list[str]:
        return [page.url async for page in aio.iter_pages(server.url, policy=policy)]

    assert run(streamed()) == [page.url for page in usp.iter_pages(server.url, policy=policy)]


def test_an_endless_redirect_has_the_same_result_in_threads_and_asyncio(
    server: LoopbackServer,
) -> None:
    server.robots("/c.xml")
    server.site["/c.xml"] = redirect("/c.xml")
    by_threads = usp.sitemap_tree_for_homepage(server.url, use_known_paths=False)
    by_asyncio = asyncio.run(aio.sitemap_tree_for_homepage(server.url, use_known_paths=False))
    assert by_asyncio.tried == by_threads.tried
    assert [str(attempt.result) for attempt in by_threads.tried] == ["sitemap", "unreachable"]
    for tree in (by_threads, by_asyncio):
        ((endless,),) = (robots.sub_sitemaps for robots in tree.sub_sitemaps)
        assert endless.fetch_info.redirects == (server.at("/c.xml"),) * MAX_REDIRECTS
