"""Assembly: the tree of sitemap objects that a crawl becomes."""

from collections.abc import Sequence
from typing import Final

from usp._crawl.cursor import Cursor
from usp._crawl.nodes import NOT_EXPANDED_MESSAGE, Node
from usp._crawl.robots import robots_file
from usp._crawl.selected_pages import SelectedPages
from usp._crawl.selection import Selection
from usp._parse import Document, Kind
from usp.objects import sitemap as sitemaps
from usp.objects.outcome import CrawlFacts
from usp.objects.problem import NOT_EXPANDED, Problem
from usp.objects.robots import RobotsVerdict

_PAGES: Final[dict[Kind, type[sitemaps.AbstractPagesSitemap]]] = {
    Kind.URLSET: sitemaps.PagesXMLSitemap,
    Kind.RSS: sitemaps.PagesRSSSitemap,
    Kind.ATOM: sitemaps.PagesAtomSitemap,
    Kind.JSON_FEED: sitemaps.PagesJSONFeedSitemap,
    Kind.TEXT: sitemaps.PagesTextSitemap,
}
_INDEX: Final[dict[Kind, type[sitemaps.AbstractIndexSitemap]]] = {
    Kind.INDEX: sitemaps.IndexXMLSitemap,
    Kind.ROBOTS: sitemaps.IndexRobotsTxtSitemap,
}


def sitemap_for_document(
    url: str,
    document: Document,
    children: list[sitemaps.AbstractSitemap],
    notes: tuple[Problem, ...] = (),
) -> sitemaps.AbstractSitemap:
    """Return the sitemap object of a document."""
    if document.kind in _PAGES:
        pages_class = _PAGES[document.kind]
        return pages_class(url, document.pages, sub_sitemaps=children, notes=notes)
    if document.kind in _INDEX:
        index_class = _INDEX[document.kind]
        return index_class(url, children, pages=document.pages, notes=notes)
    return sitemaps.InvalidSitemap(url, f"{document.reason}: {url}", code=document.code)


def subtree(node: Node, selection: Selection) -> sitemaps.AbstractSitemap | None:
    """Return the sitemap at a node, with all below it; None where a guess found nothing."""
    if node.absence is not None or not node.decided:
        return None
    sitemap = _sitemap(node, selection)
    sitemap._provenance = node.provenance()
    sitemap._skipped_sitemaps = node.skipped
    sitemap._child_count = node.document.child_count if node.document else None
    return sitemap


def _sitemap(node: Node, selection: Selection) -> sitemaps.AbstractSitemap:
    document = node.document
    if node.invalid is not None or document is None:
        code, reason = node.invalid or ("SM605", "")
        return sitemaps.InvalidSitemap(node.url, reason, code=code)
    notes: list[Problem] = []
    if node.collapsed:
        notes.append(Problem(NOT_EXPANDED, NOT_EXPANDED_MESSAGE))
    if node.by_scheme_fallback:
        notes.append(Problem("SM103", f"{node.url} responds only by the other scheme"))
    if node.page_limit is not None or not selection.takes_every_page:
        stopped = node.stopped_before_next
        pages = SelectedPages(document.pages, selection, node.page_limit, count_to_next=stopped)
        document = document._replace(pages=pages)
    children = _subtrees(node.children, selection)
    return sitemap_for_document(document.url or node.url, document, children, tuple(notes))


def _subtrees(nodes: Sequence[Node], selection: Selection) -> list[sitemaps.AbstractSitemap]:
    """Return the sitemaps at nodes; a homepage is replaced by what it leads to."""
    found: list[sitemaps.AbstractSitemap] = []
    for node in nodes:
        sitemap = subtree(node, selection)
        found += _subtrees(node.children, selection) if sitemap is None else [sitemap]
    return found


def site_verdict(name: str, cursor: Cursor, agent: str) -> RobotsVerdict | None:
    """Return what the robots.txt of a site says for an agent, once it has arrived."""
    found = robots_file(node.resource for node in cursor.roots)
    return found.verdict(agent, name) if found else None


def crawl_facts(named: str, cursor: Cursor) -> CrawlFacts:
    """Return what a tree keeps of its crawl."""
    traffic, agent = cursor._resources.traffic, cursor._policy.robots_agent
    return CrawlFacts(named, agent, traffic.requests, traffic.bytes_received)


def website_tree(name: str, cursor: Cursor, named: str) -> sitemaps.IndexWebsiteSitemap:
    """Return the root of the tree, which stands for the site and has the outcome.

    :param named: the URL of the site before a scheme was chosen.
    """
    root = sitemaps.IndexWebsiteSitemap(
        name,
        _subtrees(cursor.roots, cursor.selection),
        outcome=cursor.outcome,
        tried=cursor.report.tried,
        notes=(Problem(*cursor.stopped),) if cursor.stopped else (),
    )
    root._skipped_sitemaps = cursor.skipped_start_urls
    root._robots = robots_file(node.resource for node in cursor.roots)
    root._facts = crawl_facts(named, cursor)
    return root
