"""``usp demo``: serves the embedded site, crawls it, and prints what was found.

It needs no network and leaves nothing running. It is also a check of the installation: the exit
code says whether the tree is what the site holds.
"""

import argparse
import logging
from collections.abc import Iterator
from typing import Final

import requests

from usp.cli._demo_site import TREE, DemoSite, TreeLine
from usp.cli._exit import Exit
from usp.cli._log import setup_logging
from usp.cli._outcome import count
from usp.cli._output import one_line, tell
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, InvalidSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.requests_client import RequestsWebClient

_KINDS: Final = {
    "IndexWebsiteSitemap": "website",
    "IndexRobotsTxtSitemap": "robots.txt",
    "IndexXMLSitemap": "XML index",
    "PagesXMLSitemap": "XML sitemap",
    "PagesTextSitemap": "text sitemap",
    "PagesRSSSitemap": "RSS feed",
    "PagesAtomSitemap": "Atom feed",
    "PagesJSONFeedSitemap": "JSON Feed",
    "InvalidSitemap": "invalid",
}
"""The classes of the tree in plain words."""

_WAYS: Final = {
    "known paths": "at a known path",
    "newer paths": "at a newer path",
    "homepage": "in the homepage",
    "feeds": "in the homepage, as a feed",
}
"""How a sitemap was found that robots.txt doesn't lead to, by its stage."""

_WIDTH: Final = 42


def run(args: argparse.Namespace) -> Exit:
    """Serve, crawl, print."""
    del args
    setup_logging(logging.ERROR)  # the site is damaged on purpose, and the tree says where
    with DemoSite() as site:
        tree = _crawl(site.url)
        print(f"The demo site, served at {site.url} while it was crawled:\n")
        found = list(_walk(tree, site.url))
        stages = {attempt.url: attempt.stage for attempt in tree.tried}
        for entry, sitemap in found:
            print(_line(entry, sitemap, stages.get(sitemap.url, "")))
        print(f"\n{_totals(tree)}\nOutcome: {tree.outcome}")
    if tuple(entry for entry, _ in found) == TREE:
        return Exit.DONE
    tell("error: this is not the tree that the demo site holds")
    return Exit.NO


def _crawl(url: str) -> IndexWebsiteSitemap:
    with requests.Session() as session:
        session.trust_env = False  # a proxy of the environment can't reach our own loopback
        client = RequestsWebClient(session=session)
        return sitemap_tree_for_homepage(url, client, use_homepage=True, use_newer_paths=True)


def _walk(
    sitemap: AbstractSitemap, base: str, depth: int = 0
) -> Iterator[tuple[TreeLine, AbstractSitemap]]:
    path = f"/{sitemap.url.removeprefix(base)}"
    yield TreeLine(depth, path, type(sitemap).__name__, len(sitemap.pages)), sitemap
    for child in sitemap.sub_sitemaps:
        yield from _walk(child, base, depth + 1)


def _line(entry: TreeLine, sitemap: AbstractSitemap, stage: str) -> str:
    name = f"{'  ' * entry.depth}{entry.path}"
    way = _WAYS.get(stage) if entry.depth == 1 else None
    found = f", found {way}" if way else ""
    return one_line(f"{name:{_WIDTH}}  {_KINDS[entry.kind]}{_content(sitemap)}{found}")


def _content(sitemap: AbstractSitemap) -> str:
    if isinstance(sitemap, InvalidSitemap):
        return f": {sitemap.reason}"
    if children := sitemap.sub_sitemaps:
        return f", {count(len(children), 'sitemap')}"
    return f", {count(len(sitemap.pages), 'page')}"


def _totals(tree: IndexWebsiteSitemap) -> str:
    sitemaps = list(tree.all_sitemaps())
    pages = list(tree.all_pages())
    invalid = sum(isinstance(sitemap, InvalidSitemap) for sitemap in sitemaps)
    stories = sum(page.news_story is not None for page in pages)
    images = sum(len(page.images or ()) for page in pages)
    videos = sum(len(page.videos or ()) for page in pages)
    alternates = sum(len(page.alternates or ()) for page in pages)
    found = f"{count(len(sitemaps), 'sitemap')}, {invalid} of them invalid"
    holding = (
        count(stories, "title"),
        count(images, "image"),
        count(videos, "video"),
        count(alternates, "translation"),
    )
    return f"{found}; {count(len(pages), 'page')} with {', '.join(holding)}"
