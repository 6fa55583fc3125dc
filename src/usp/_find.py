"""Where the sitemaps of a site are: every URL that discovery tried, and what is there.

Documents are fetched, and their entries are counted; no page is made of them.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, Unpack
from urllib.parse import urlsplit

from usp._crawl.deadline import ReadingTime
from usp._crawl.nodes import Node
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._keywords import CrawlFields, crawl_keywords, explains_crawl
from usp._parse import Document, Pages, count_entries
from usp._source import CrawlStart, SourceName
from usp._store import Store
from usp._validate import check_flags
from usp.objects.discovery import Discovery, TriedURL
from usp.objects.events import Observer
from usp.objects.outcome import Result
from usp.tree import run_crawl
from usp.web_client.abstract_client import AbstractWebClient

_ROBOTS: Final = "/robots.txt"


@explains_crawl
def find(
    source: SourceName,
    *,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = True,
    shallow: bool = False,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **crawl_fields: Unpack[CrawlFields],
) -> Discovery:
    """Find the sitemaps of a site: every URL that was tried, and what is there.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), or ``-`` for standard input.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; None for only where
        what robots.txt declares leads to nothing.
    :param shallow: whether to leave out what indexes list: their entries are counted.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl. Fields that choose pages have no effect, but
        ``since`` has with ``trust_index_lastmod``.
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``per_host=4`` or ``timeout=5``.
    :raises UsageError: if the source is none of these, or another argument is wrong.
    """
    started = time.monotonic()
    check_flags(shallow=shallow)
    policy, client = crawl_keywords(policy, web_client, crawl_fields, source)
    policy = replace(policy, limit=None)  # with a limit of pages, they would be read
    options = CrawlOptions(
        recurse_list_callback=_children_of_robots if shallow else None, observer=observer
    )
    start = CrawlStart.for_source(
        source, policy, use_robots=use_robots, use_known_paths=use_known_paths, store=Store()
    )
    crawl = run_crawl(start, policy, options, client)
    reading = ReadingTime(policy.max_seconds, lambda: time.monotonic() - started)
    tried = tuple(_tried(node, reading) for node in _each_once(_nodes(crawl._cursor.roots)))
    tree = crawl._into_tree()
    outcome, problems = reading.result(tree)
    return Discovery(tree.url, outcome, tried, problems, time.monotonic() - started)


def _children_of_robots(urls: list[str], level: int, parents: set[str]) -> list[str]:
    """Keep what robots.txt declares, and nothing that an index lists."""
    del level
    return urls if all(urlsplit(url).path == _ROBOTS for url in parents) else []


def _nodes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes in document order, with all below them: those that were tried."""
    for node in nodes:
        if node.decided and node.was_tried:
            yield node
        yield from _nodes(node.children)


def _each_once(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes; the homepage once, though it is searched for sitemaps and for feeds."""
    searched = False
    for node in nodes:
        if not (searched and node.homepage):
            yield node
        searched = searched or node.homepage is not None


def _tried(node: Node, reading: ReadingTime) -> TriedURL:
    attempt, document = node.attempt(), node.document
    provenance = node.provenance()
    is_read = document is not None and attempt.result is Result.SITEMAP
    entries, size = _counted(document, reading) if document and is_read else (None, None)
    info = provenance.fetch_info
    return TriedURL(
        attempt.url,
        attempt.stage,
        attempt.found_by,
        attempt.result,
        attempt.detail,
        node.level,
        node.parent.final_url if node.parent else None,
        node.final_url if document else None,
        str(document.kind) if document and is_read else None,
        entries,
        size,
        info.bytes_received,
        info.status,
        provenance.index_lastmod,
        info.http_last_modified,
    )


def _counted(document: Document, reading: ReadingTime) -> tuple[int | None, int | None]:
    """Return the number of entries of a document, and its size in bytes, if there is time."""
    if not isinstance(document.pages, Pages):
        return document.child_count, None  # a homepage
    if not reading.is_over:
        try:
            return count_entries(document.pages, reading.has_ended)
        except TimeoutError:
            reading.end()
    return None, None
