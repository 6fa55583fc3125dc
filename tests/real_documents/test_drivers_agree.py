"""Real documents served as one site: every driver builds the same tree.

Threads, asyncio and one request at a time: the tree depends on the order in robots.txt, never on
timing. Skipped if there is no folder of real documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import usp
from tests.loops import run
from tests.server import Answer, LoopbackServer
from usp import Policy, aio
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, InvalidSitemap

POLICY = Policy(max_attempts=1)


@pytest.fixture(params=[5, pytest.param(1, marks=pytest.mark.thorough)])
def site(corpus: Path, request: pytest.FixtureRequest) -> Iterator[LoopbackServer]:
    """The documents of the corpus, or every fifth, declared by one robots.txt."""
    with LoopbackServer() as server:
        files = sorted(path for path in corpus.glob("*/*") if path.suffix != ".md")
        for path in files[:: request.param]:
            server.site[f"/{path.parent.name}/{path.name}"] = Answer(body=path.read_bytes())
        server.robots(*server.site)
        yield server


def is_local(url: str, _level: int, _parents: set[str]) -> bool:
    """Documents declare sitemaps of other sites: those are not requested."""
    return url.startswith("http://127.0.0.1")


def nodes(sitemap: AbstractSitemap) -> Iterator[tuple[object, ...]]:
    """Each node of a tree, then its pages; everything else is read from the same bytes."""
    reason = (sitemap.reason, sitemap.code) if isinstance(sitemap, InvalidSitemap) else None
    yield type(sitemap).__name__, sitemap.url, reason
    yield tuple(page.url for page in sitemap.pages)
    for child in sitemap.sub_sitemaps:
        yield from nodes(child)


def in_threads(site: LoopbackServer, concurrency: int = 32) -> IndexWebsiteSitemap:
    return usp.sitemap_tree_for_homepage(
        site.url,
        use_known_paths=False,
        recurse_callback=is_local,
        policy=POLICY,
        concurrency=concurrency,
    )


async def in_asyncio(site: LoopbackServer) -> IndexWebsiteSitemap:
    return await aio.sitemap_tree_for_homepage(
        site.url, use_known_paths=False, recurse_callback=is_local, policy=POLICY
    )


async def streamed(site: LoopbackServer) -> list[str]:
    stream = aio.iter_pages(
        site.url, use_known_paths=False, recurse_callback=is_local, policy=POLICY
    )
    return [page.url async for page in stream]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_drivers_agree_on_every_document(site: LoopbackServer) -> None:
    one_by_one = in_threads(site, concurrency=1)
    expected = list(nodes(one_by_one))
    assert len(expected) > 2 * len(site.site)
    for tree in (in_threads(site), run(in_asyncio(site))):
        assert tree.tried == one_by_one.tried
        assert tree.outcome is one_by_one.outcome
        for one, other in zip(nodes(tree), expected, strict=True):
            assert one == other
    assert run(streamed(site)) == [url for listed in expected[1::2] for url in listed]
