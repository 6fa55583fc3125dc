"""From a finished crawl to the tree that the user walks, and to what came of it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchFailed
from usp._crawl.nodes import Node
from usp._crawl.selection import Selected, Selection
from usp._parse import Document, Kind
from usp.objects import sitemap as sitemaps
from usp.objects.outcome import Attempt
from usp.objects.problem import Problem

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
    """Return what stands in a node, with all below it; None where a guess gave nothing."""
    if node.absence is not None or not node.judged:
        return None
    sitemap = _sitemap(node, selection)
    sitemap._provenance = node.provenance()
    sitemap._skipped_sitemaps = node.skipped
    return sitemap


def _sitemap(node: Node, selection: Selection) -> sitemaps.AbstractSitemap:
    if node.rejection is not None:
        code, reason = node.rejection
        return sitemaps.InvalidSitemap(node.url, reason, code=code)
    if isinstance(node.answer, FetchFailed):
        failed = node.answer
        return sitemaps.InvalidSitemap(node.url, failed.reason(node.url), code=failed.code)
    document = node.document
    if document is None:
        return sitemaps.InvalidSitemap(node.url, "The sitemap was not fetched", code="SM605")
    notes: list[Problem] = []
    if node.closed:
        notes.append(Problem("SM606", "The index stands open elsewhere in the tree"))
    if node.by_scheme_fallback:
        notes.append(Problem("SM103", f"{node.url} doesn't answer, but by its other scheme"))
    if node.first is not None or not selection.takes_every_page:
        pages = Selected(document.pages, selection, node.first, up_to_next=node.stopped_before_next)
        document = replace(document, pages=pages)
    return sitemap_for_document(
        document.url or node.url, document, _subtrees(node.children, selection), tuple(notes)
    )


def _subtrees(nodes: list[Node], selection: Selection) -> list[sitemaps.AbstractSitemap]:
    """Return what stands in nodes; what a homepage leads to stands in its stead."""
    found: list[sitemaps.AbstractSitemap] = []
    for node in nodes:
        sitemap = subtree(node, selection)
        found += _subtrees(node.children, selection) if sitemap is None else [sitemap]
    return found


def _tried(crawl: Crawl) -> Iterator[Attempt]:
    """Yield what was tried; a homepage that was asked for its feeds, too, was tried once."""
    asked = False
    for node in crawl.nodes():
        if node.was_tried and not (asked and node.homepage):
            asked = asked or node.homepage is not None
            yield node.attempt()


def website_tree(homepage: str, crawl: Crawl) -> sitemaps.IndexWebsiteSitemap:
    """Return the root that stands for the site, saying what came of the crawl."""
    notes = (Problem(*crawl.stopped),) if crawl.stopped else ()
    root = sitemaps.IndexWebsiteSitemap(
        homepage,
        _subtrees(crawl.roots, crawl.selection),
        outcome=crawl.outcome,
        tried=tuple(_tried(crawl)),
        notes=notes,
    )
    root._skipped_sitemaps = crawl.skipped_start_urls
    return root
