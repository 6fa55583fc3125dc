"""From a finished crawl to the tree that the user walks, and to what came of it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from usp._crawl.core import Crawl
from usp._crawl.messages import FetchFailed
from usp._crawl.nodes import Place
from usp._crawl.selection import Selected, Selection
from usp._parse.document import Document
from usp._parse.input.sniff import Kind
from usp.objects import sitemap as nodes
from usp.objects.outcome import Attempt
from usp.objects.problem import Problem

_PAGES: Final[dict[Kind, type[nodes.AbstractPagesSitemap]]] = {
    Kind.URLSET: nodes.PagesXMLSitemap,
    Kind.RSS: nodes.PagesRSSSitemap,
    Kind.ATOM: nodes.PagesAtomSitemap,
    Kind.JSON_FEED: nodes.PagesJSONFeedSitemap,
    Kind.TEXT: nodes.PagesTextSitemap,
}
_INDEX: Final[dict[Kind, type[nodes.AbstractIndexSitemap]]] = {
    Kind.INDEX: nodes.IndexXMLSitemap,
    Kind.ROBOTS: nodes.IndexRobotsTxtSitemap,
}


def node(
    url: str,
    document: Document,
    children: list[nodes.AbstractSitemap],
    notes: tuple[Problem, ...] = (),
) -> nodes.AbstractSitemap:
    """Return the sitemap object of a document."""
    if document.kind in _PAGES:
        pages_class = _PAGES[document.kind]
        return pages_class(url, document.pages, sub_sitemaps=children, notes=notes)
    if document.kind in _INDEX:
        index_class = _INDEX[document.kind]
        return index_class(url, children, pages=document.pages, notes=notes)
    return nodes.InvalidSitemap(url, f"{document.reason}: {url}", code=document.code)


def tree(place: Place, selection: Selection) -> nodes.AbstractSitemap | None:
    """Return what stands in a place, with all below it; None where a guess gave nothing."""
    if place.absence is not None or not place.judged:
        return None
    sitemap = _sitemap(place, selection)
    sitemap._origin = place.origin()
    sitemap._skipped_sitemaps = place.skipped
    return sitemap


def _sitemap(place: Place, selection: Selection) -> nodes.AbstractSitemap:
    if place.refusal is not None:
        code, reason = place.refusal
        return nodes.InvalidSitemap(place.url, reason, code=code)
    if isinstance(place.answer, FetchFailed):
        failed = place.answer
        return nodes.InvalidSitemap(place.url, failed.reason(place.url), code=failed.code)
    document = place.document
    if document is None:
        return nodes.InvalidSitemap(place.url, "The sitemap was not fetched", code="SM605")
    notes: list[Problem] = []
    if place.closed:
        notes.append(Problem("SM606", "The index stands open elsewhere in the tree"))
    if place.by_other_scheme:
        notes.append(Problem("SM103", f"{place.url} doesn't answer, but by its other scheme"))
    if place.first is not None or not selection.takes_every_page:
        pages = Selected(
            document.pages, selection, place.first, up_to_next=place.stopped_before_next
        )
        document = replace(document, pages=pages)
    return node(
        document.url or place.url, document, _subtrees(place.children, selection), tuple(notes)
    )


def _subtrees(places: list[Place], selection: Selection) -> list[nodes.AbstractSitemap]:
    """Return what stands in places; what a homepage leads to stands in its stead."""
    found: list[nodes.AbstractSitemap] = []
    for place in places:
        sitemap = tree(place, selection)
        found += _subtrees(place.children, selection) if sitemap is None else [sitemap]
    return found


def _tried(crawl: Crawl) -> Iterator[Attempt]:
    """Yield what was tried; a homepage that was asked for its feeds, too, was tried once."""
    asked = False
    for place in crawl.places():
        if place.was_tried and not (asked and place.homepage):
            asked = asked or place.homepage is not None
            yield place.attempt()


def website(homepage: str, crawl: Crawl) -> nodes.IndexWebsiteSitemap:
    """Return the root that stands for the site, saying what came of the crawl."""
    notes = (Problem(*crawl.stopped),) if crawl.stopped else ()
    root = nodes.IndexWebsiteSitemap(
        homepage,
        _subtrees(crawl.roots, crawl.selection),
        outcome=crawl.outcome,
        tried=tuple(_tried(crawl)),
        notes=notes,
    )
    root._skipped_sitemaps = crawl.skipped_seeds
    return root
