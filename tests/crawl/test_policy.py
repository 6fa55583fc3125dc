"""The policy of a crawl: what it holds, and what it refuses."""

from dataclasses import fields
from typing import Any

import pytest

from tests.server import LoopbackServer, urlset
from usp import Policy
from usp.exceptions import SitemapException
from usp.tree import sitemap_tree_for_homepage


@pytest.mark.parametrize(
    "wrong",
    [
        {"tries": 0},
        {"max_level": -1},
        {"max_document_bytes": 0},
        {"first_pause": -0.5},
        {"pause_growth": 0.5},
        {"longest_pause": float("nan")},
        {"host_strikes": "many"},
    ],
)
def test_what_makes_no_sense_raises_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(SitemapException, match=next(iter(wrong))):
        Policy(**wrong)


@pytest.mark.parametrize("name", [field.name for field in fields(Policy)])
def test_every_field_is_looked_at(name: str) -> None:
    wrong: dict[str, Any] = {name: object()}
    with pytest.raises(SitemapException, match=name):
        Policy(**wrong)


def test_the_ceiling_on_a_document_is_an_option(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(*(server.at(f"/{number}") for number in range(1000)))
    small = sitemap_tree_for_homepage(
        server.url, use_known_paths=False, policy=Policy(max_document_bytes=5000)
    )
    pages = [page.url for page in small.all_pages()]
    assert 0 < len(pages) < 1000
    assert pages == [server.at(f"/{number}") for number in range(len(pages))]
    names = {problem.name for sitemap in small.all_sitemaps() for problem in sitemap.problems}
    assert {"document-too-large", "cut-off"} <= names
    assert not small.tree_complete


def test_how_often_a_failure_is_tried_is_an_option(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = 503
    policy = Policy(tries=2, first_pause=0.01)
    sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy)
    assert server.asked == ["/robots.txt", "/a.xml", "/a.xml"]
