"""From a finished crawl to the tree that the user walks, and to what came of it."""

from typing import Final

from usp._crawl.machine import Crawl
from usp._crawl.messages import FetchFailed
from usp._crawl.places import Place
from usp._parse.document import Document
from usp._parse.sniff import Kind
from usp.objects import sitemap as nodes
from usp.objects.problem import Problem

_PAGES: Final[dict[Kind, type[nodes.AbstractPagesSitemap]]] = {
    Kind.URLSET: nodes.PagesXMLSitemap,
    Kind.RSS: nodes.PagesRSSSitemap,
    Kind.ATOM: nodes.PagesAtomSitemap,
    Kind.TEXT: nodes.PagesTextSitemap,
}
_INDEX: Final[dict[Kind, type[nodes.AbstractIndexSitemap]]] = {
    Kind.INDEX: nodes.IndexXMLSitemap,
    Kind.ROBOTS: nodes.IndexRobotsTxtSitemap,
}


def node(
    url: str, document: Document, children: list[nodes.AbstractSitemap], *, closed: bool = False
) -> nodes.AbstractSitemap:
    """Return the sitemap object of a document."""
    notes: tuple[Problem, ...] = ()
    if closed:
        notes = (Problem("SM606", "The index stands open elsewhere in the tree"),)
    if document.kind in _PAGES:
        pages_class = _PAGES[document.kind]
        return pages_class(url, document.pages, sub_sitemaps=children, notes=notes)
    if document.kind in _INDEX:
        index_class = _INDEX[document.kind]
        return index_class(url, children, pages=document.pages, notes=notes)
    return nodes.InvalidSitemap(url, f"{document.reason}: {url}", code=document.code)


def tree(place: Place) -> nodes.AbstractSitemap | None:
    """Return what stands in a place, with all below it; None where a guess gave nothing."""
    if place.absence is not None or not place.judged:
        return None
    if place.refusal is not None:
        code, reason = place.refusal
        return nodes.InvalidSitemap(place.url, reason, code=code)
    if isinstance(place.answer, FetchFailed):
        failed = place.answer
        return nodes.InvalidSitemap(place.url, failed.reason(place.url), code=failed.code)
    if place.document is None:
        return nodes.InvalidSitemap(place.url, "The sitemap was not fetched", code="SM605")
    children = [child for child in map(tree, place.children) if child is not None]
    return node(place.document.url, place.document, children, closed=place.closed)


def website(homepage: str, crawl: Crawl) -> nodes.IndexWebsiteSitemap:
    """Return the root that stands for the site, saying what came of the crawl."""
    children = [child for child in map(tree, crawl.roots) if child is not None]
    notes = (Problem(*crawl.stopped),) if crawl.stopped else ()
    return nodes.IndexWebsiteSitemap(
        homepage,
        children,
        outcome=crawl.outcome,
        tried=tuple(place.attempt() for place in crawl.places()),
        notes=notes,
    )
