"""``usp ls``: the sitemaps and pages of a website, as lines.

Rules of the room: stdout has data only, one URL a line, written as the tree is walked; what came
of the crawl is told on stderr, in a line or a few, and by the exit code.
"""

import argparse
import logging
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

from usp._source import is_local
from usp.cli._exit import Exit
from usp.cli._log import setup_logging
from usp.cli._outcome import verdict, why
from usp.cli._output import one_line, tell
from usp.cli._url import site_url
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap
from usp.tree import sitemap_tree, sitemap_tree_for_homepage

Shorten = Callable[[str], str]

_LEVELS: Final = (logging.WARNING, logging.INFO, logging.DEBUG)
"""The log level by how many times ``-v`` was given."""


def _tabtree(root: AbstractSitemap, shorten: Shorten) -> Iterable[str]:
    if [sub.url for sub in root.sub_sitemaps] == [root.url]:
        (root,) = root.sub_sitemaps  # one sitemap was named: it is its own root
    yield one_line(root.url)
    yield from _nested(root, shorten, depth=1)


def _nested(sitemap: AbstractSitemap, shorten: Shorten, depth: int) -> Iterable[str]:
    tabs = "\t" * depth
    children = sitemap.sub_sitemaps
    # all_pages() streams, but takes in the children: so only where there are none.
    for page in sitemap.pages if children else sitemap.all_pages():
        yield tabs + shorten(page.url)
    for child in children:
        yield tabs + shorten(child.url)
        yield from _nested(child, shorten, depth + 1)


def _pages(root: AbstractSitemap, shorten: Shorten) -> Iterable[str]:
    return (shorten(page.url) for page in root.all_pages())


def _tried(root: IndexWebsiteSitemap, shorten: Shorten) -> Iterable[str]:
    for attempt in root.tried:
        said = (attempt.result, attempt.stage, shorten(attempt.url), one_line(why(attempt)))
        yield "\t".join(said)


_PRINTERS: Final[dict[str, Callable[[IndexWebsiteSitemap, Shorten], Iterable[str]]]] = {
    "tabtree": _tabtree,
    "pages": _pages,
    "tried": _tried,
}


def run(args: argparse.Namespace) -> Exit:
    """Crawl, print, and say what came of it."""
    # Without a log that was asked for, the command says in its own words what went wrong.
    has_log = bool(args.verbosity or args.log_file)
    level = _LEVELS[min(args.verbosity, len(_LEVELS) - 1)] if has_log else logging.ERROR
    setup_logging(level, args.log_file)
    tree = _tree(args, talks=not has_log)
    silent = True
    for line in _PRINTERS[args.format](tree, _shortener(tree.url) if args.strip_url else one_line):
        print(line)
        silent = False
    lines, code = verdict(tree, failures=not has_log)
    if silent and code is Exit.DONE:
        lines.append(f"the sitemaps of {tree.url} list no page")
    for line in lines:
        tell(line)
    return code


def _tree(args: argparse.Namespace, *, talks: bool) -> IndexWebsiteSitemap:
    """Read what was named: a site, or a sitemap that is no site."""
    if is_local(args.url):
        return sitemap_tree(args.url)
    url = site_url(args.url)
    if args.sitemap:
        return sitemap_tree(url)
    tree = sitemap_tree_for_homepage(
        url,
        use_robots=not args.no_robots,
        use_known_paths=not args.no_known,
        use_homepage=args.homepage,
        use_newer_paths=args.newer,
    )
    if talks and _names_more_than_a_site(url):
        tell(f"looking for the sitemaps of all of {tree.url}")
    return tree


def _names_more_than_a_site(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.path.strip("/") or parts.query or parts.fragment)


def _shortener(homepage: str) -> Shorten:
    """Make what turns URLs of the site into paths, and leaves all others as they are."""
    site = homepage.rstrip("/")

    def shorten(url: str) -> str:
        if url == site:
            return "/"
        return one_line(url.removeprefix(site) if url.startswith(f"{site}/") else url)

    return shorten
