"""``usp ls``: prints the sitemaps and pages of a website.

stdout gets the URLs, one per line, while the tree is iterated. stderr gets a few lines about what
failed; the exit code gives the outcome.
"""

import argparse
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

from usp._display import shown
from usp._source import is_local
from usp.cli._exit import Exit
from usp.cli._log import setup_logging
from usp.cli._outcome import reason, summarize
from usp.cli._output import tell
from usp.cli._url import site_url
from usp.objects.outcome import Outcome
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap
from usp.tree import sitemap_tree, sitemap_tree_for_homepage

Shorten = Callable[[str], str]

_LEVELS: Final = (logging.WARNING, logging.INFO, logging.DEBUG)
"""The log level for each number of ``-v`` options."""


def _tabtree(root: AbstractSitemap, shorten: Shorten) -> Iterable[str]:
    if [sub.url for sub in root.sub_sitemaps] == [root.url]:
        (root,) = root.sub_sitemaps  # the source is one sitemap: print it as the root
    yield shown(root.url)
    yield from _nested(root, shorten, depth=1)


def _nested(sitemap: AbstractSitemap, shorten: Shorten, depth: int) -> Iterable[str]:
    tabs = "\t" * depth
    children = sitemap.sub_sitemaps
    # all_pages() streams, but includes the children: it is used only if there are none.
    for page in sitemap.pages if children else sitemap.all_pages():
        yield tabs + shorten(page.url)
    for child in children:
        yield tabs + shorten(child.url)
        yield from _nested(child, shorten, depth + 1)


def _pages(root: AbstractSitemap, shorten: Shorten) -> Iterable[str]:
    return (shorten(page.url) for page in root.all_pages())


def _tried(root: IndexWebsiteSitemap, shorten: Shorten) -> Iterable[str]:
    for attempt in root.tried:
        columns = (attempt.result, attempt.stage, shorten(attempt.url), shown(reason(attempt)))
        yield "\t".join(columns)


_PRINTERS: Final[dict[str, Callable[[IndexWebsiteSitemap, Shorten], Iterable[str]]]] = {
    "tabtree": _tabtree,
    "pages": _pages,
    "tried": _tried,
}


def run(args: argparse.Namespace) -> Exit:
    """Crawl, print the URLs, then print a summary to stderr."""
    # Failures are printed as short lines unless a log, which has them too, was requested.
    has_log = bool(args.verbosity or args.log_file)
    level = _LEVELS[min(args.verbosity, len(_LEVELS) - 1)] if has_log else logging.ERROR
    setup_logging(level, args.log_file)
    tree = _tree(args, explain=not has_log)
    printed = False
    for line in _PRINTERS[args.format](tree, _shortener(tree.url) if args.strip_url else shown):
        print(line)
        printed = True
    if args.format == "tried":
        deque(tree.all_pages(), maxlen=0)  # whether documents are damaged shows when they are read
    lines, code = summarize(tree, failures=not has_log, strict=args.strict)
    if not printed and tree.outcome in {Outcome.FOUND, Outcome.PARTIAL}:
        lines.insert(0, f"the sitemaps of {tree.url} list no pages")
    for line in lines:
        tell(line)
    return code


def _tree(args: argparse.Namespace, *, explain: bool) -> IndexWebsiteSitemap:
    """Return the tree of a website, of one sitemap, or of a file."""
    if is_local(args.url):
        return sitemap_tree(args.url, max_seconds=args.max_seconds)
    url = site_url(args.url)
    # Without a scheme, http is tried if https doesn't respond.
    source = url if "://" in args.url else url.removeprefix("https://")
    if args.sitemap:
        return sitemap_tree(source, max_seconds=args.max_seconds)
    tree = sitemap_tree_for_homepage(
        source,
        use_robots=not args.no_robots,
        use_known_paths=not args.no_known,
        use_homepage=args.homepage,
        use_newer_paths=args.newer,
        max_seconds=args.max_seconds,
    )
    if explain and _has_path(url):
        tell(f"listing all sitemaps of {tree.url} (use -s to read one sitemap)")
    return tree


def _has_path(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.path.strip("/") or parts.query or parts.fragment)


def _shortener(homepage: str) -> Shorten:
    """Return a function that turns URLs of the site into paths; other URLs stay as they are."""
    site = homepage.rstrip("/")

    def shorten(url: str) -> str:
        if url == site:
            return "/"
        return shown(url.removeprefix(site) if url.startswith(f"{site}/") else url)

    return shorten
