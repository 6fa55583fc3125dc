"""``usp ls``: the sitemaps and pages of a website, as lines.

Rules of the room: stdout has data only, one URL a line, written as the tree is walked; what came
of the crawl is one line on stderr and the exit code.
"""

import argparse
import logging
from collections.abc import Callable, Iterable
from typing import Final

from usp.cli._util import Command, Exit, count, one_line, setup_logging, site_url, tell
from usp.objects.outcome import Outcome
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, InvalidSitemap

Shorten = Callable[[str], str]

_LEVELS: Final = (logging.WARNING, logging.INFO, logging.DEBUG)
"""The log level by how many times ``-v`` was given."""

_EXITS: Final = {
    Outcome.FOUND: Exit.DONE,
    Outcome.PARTIAL: Exit.DONE,
    Outcome.NONE: Exit.NO,
    Outcome.BLOCKED: Exit.UNANSWERED,
    Outcome.UNREACHABLE: Exit.UNANSWERED,
}


def _tabtree(root: AbstractSitemap, shorten: Shorten) -> Iterable[str]:
    yield root.url
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


_FORMATS: Final[dict[str, tuple[str, Callable[[AbstractSitemap, Shorten], Iterable[str]]]]] = {
    "tabtree": ("each sitemap with what it lists below it, indented by tabs", _tabtree),
    "pages": ("the pages alone, one a line", _pages),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``usp ls``."""
    formats = "".join(f"\n  {name}: {meaning}" for name, (meaning, _) in _FORMATS.items())
    parser.add_argument("url", help="the website; without https:// or http://, https is meant")
    parser.add_argument(
        "-f",
        "--format",
        choices=list(_FORMATS),
        default="tabtree",
        metavar="FORMAT",
        help=f"what to print (default: %(default)s){formats}",
    )
    parser.add_argument(
        "-r", "--no-robots", action="store_true", help="don't look for sitemaps in robots.txt"
    )
    parser.add_argument(
        "-k", "--no-known", action="store_true", help="don't look for sitemaps at well-known paths"
    )
    parser.add_argument(
        "-u", "--strip-url", action="store_true", help="print URLs of the site without its address"
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        dest="verbosity",
        help="say what happens on stderr (-vv: in detail)",
    )
    parser.add_argument(
        "-l",
        "--log-file",
        metavar="FILE",
        help="write what happens to the end of FILE, not to stderr",
    )


def run(args: argparse.Namespace) -> Exit:
    """Crawl, print, and say what came of it."""
    url = site_url(args.url)
    setup_logging(_LEVELS[min(args.verbosity, len(_LEVELS) - 1)], args.log_file)
    from usp.tree import sitemap_tree_for_homepage

    tree = sitemap_tree_for_homepage(
        url, use_robots=not args.no_robots, use_known_paths=not args.no_known
    )
    _, lines = _FORMATS[args.format]
    for line in lines(tree, _shortener(tree.url) if args.strip_url else one_line):
        print(line)
    return _verdict(tree)


def _shortener(homepage: str) -> Shorten:
    """Make what turns URLs of the site into paths, and leaves all others as they are."""
    site = homepage.rstrip("/")

    def shorten(url: str) -> str:
        if url == site:
            return "/"
        return one_line(url.removeprefix(site) if url.startswith(f"{site}/") else url)

    return shorten


def _verdict(tree: IndexWebsiteSitemap) -> Exit:
    outcome = tree.outcome or Outcome.FOUND
    tellings: dict[Outcome, Callable[[IndexWebsiteSitemap], str]] = {
        Outcome.PARTIAL: _unread,
        Outcome.NONE: lambda tree: f"no sitemap found at {tree.url}",
        Outcome.BLOCKED: _first_failure,
        Outcome.UNREACHABLE: _first_failure,
    }
    if outcome in tellings:
        tell(tellings[outcome](tree))
    return _EXITS[outcome]


def _unread(tree: IndexWebsiteSitemap) -> str:
    unread = sum(isinstance(sitemap, InvalidSitemap) for sitemap in tree.all_sitemaps())
    if not unread:
        return "a limit was reached: not all of the tree is here"
    return f"{count(unread, 'sitemap')} could not be read"


def _first_failure(tree: IndexWebsiteSitemap) -> str:
    failed = next((attempt for attempt in tree.tried if attempt.result == tree.outcome), None)
    place = f": {failed.url}: {failed.detail}" if failed else ""
    return f"{tree.outcome}{place}"


COMMAND: Final = Command("ls", "list the sitemaps and pages of a website", configure, run)
