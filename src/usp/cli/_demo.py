"""``usp demo``: serves the built-in demo site, crawls it, and prints the tree.

It needs no network, and the server stops at the end. It also checks the installation: the exit code
is 0 if the tree is the expected one. With ``--serve``, it only serves the site.
"""

import argparse
import logging
from collections.abc import Iterator
from typing import Final

import requests

from usp._display import shown
from usp._quantities import count
from usp.cli._demo_site import TREE, DemoSite, TreeLine
from usp.cli._exit import Exit
from usp.cli._log import setup_logging
from usp.cli._output import tell
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
"""The name to print for each class of sitemap."""

_FOUND_AT: Final = {
    "known paths": "at a known path",
    "newer paths": "at a newer path",
    "homepage": "on the homepage",
    "feeds": "on the homepage, as a feed",
}
"""How a sitemap was found that robots.txt doesn't declare, by discovery stage."""

_WIDTH: Final = 42


def run(args: argparse.Namespace) -> Exit:
    """Serve and crawl the demo site; print the tree."""
    if args.serve is not None:
        return _serve(args.serve)
    setup_logging(logging.ERROR)  # the demo site has faults on purpose; the tree shows them
    with DemoSite() as site:
        tree = _crawl(site.url)
        print(f"Sitemaps of the demo site at {site.url}:\n")
        found = list(_walk(tree, site.url))
        stages = {attempt.url: attempt.stage for attempt in tree.tried}
        for entry, sitemap in found:
            print(_line(entry, sitemap, stages.get(sitemap.url, "")))
        print(f"\n{_totals(tree)}\nOutcome: {tree.outcome}")
    if tuple(entry for entry, _ in found) == TREE:
        return Exit.DONE
    tell("error: this is not the expected tree of the demo site")
    return Exit.NO


def _serve(port: int) -> Exit:
    """Serve the demo site until Ctrl-C."""
    try:
        site = DemoSite(port)
    except (OSError, OverflowError) as error:
        tell(f"error: --serve can't listen at port {port} of 127.0.0.1: {error}")
        return Exit.USAGE
    with site:
        print(f"The demo site is at {site.url} until you press Ctrl-C.", flush=True)
        site.wait()
    return Exit.DONE


def _crawl(url: str) -> IndexWebsiteSitemap:
    with requests.Session() as session:
        session.trust_env = False  # a proxy can't reach the loopback interface
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
    found_at = _FOUND_AT.get(stage) if entry.depth == 1 else None
    found = f", found {found_at}" if found_at else ""
    return shown(f"{name:{_WIDTH}}  {_KINDS[entry.kind]}{_content(sitemap)}{found}")


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
    titles = sum(page.title is not None for page in pages)
    images = sum(len(page.images or ()) for page in pages)
    videos = sum(len(page.videos or ()) for page in pages)
    alternates = sum(len(page.alternates or ()) for page in pages)
    found = f"{count(len(sitemaps), 'sitemap')}, {invalid} of them invalid"
    holding = (
        count(titles, "title"),
        count(images, "image"),
        count(videos, "video"),
        count(alternates, "translation"),
    )
    return f"{found}; {count(len(pages), 'page')} with {', '.join(holding)}"
