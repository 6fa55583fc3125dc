"""From a finished crawl to the tree that the user walks, and to what came of it."""

from typing import Final

from usp._crawl.machine import Crawl, Place
from usp._crawl.messages import FetchFailed
from usp._crawl.seeds import FoundBy
from usp._parse.document import Document
from usp._parse.sniff import Kind
from usp.objects import sitemap as nodes
from usp.objects.outcome import Attempt, Outcome
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

_BLOCKED: Final = frozenset({401, 403, 407, 429, 451})
_SERVER_ERRORS: Final = range(500, 600)
_UNANSWERED: Final = frozenset({"blocked", "unreachable"})


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
    if place.absent is not None or not place.judged:
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
        outcome=outcome(crawl),
        tried=tuple(map(attempt, crawl.places())),
        notes=notes,
    )


def attempt(place: Place) -> Attempt:
    """Return what came of one place."""
    result, detail = _result(place)
    return Attempt(place.url, str(place.found_by), result, detail)


def _result(place: Place) -> tuple[str, str]:
    if place.absent == "already-found":
        return "already-found", ""
    if place.refusal is not None:
        return "refused", place.refusal[1]
    answer = place.answer
    if isinstance(answer, FetchFailed):
        return _failure(answer), answer.message
    if answer is None:
        return "refused", "it was not fetched"
    if answer.kind is Kind.INVALID or answer.blank or place.absent is not None:
        return "not-a-sitemap", answer.reason or place.absent or "It names no page"
    return "sitemap", ""


def _failure(failed: FetchFailed) -> str:
    if failed.status in _BLOCKED:
        return "blocked"
    no_answer = failed.silent or failed.broken or (failed.status is None and failed.retryable)
    return "unreachable" if no_answer or failed.status in _SERVER_ERRORS else "missing"


def outcome(crawl: Crawl) -> Outcome:
    """Return what came of the crawl as a whole.

    Where nothing was found, robots.txt and what it declares decide whether that is an answer: many
    servers refuse one odd path or another. The known paths decide together: as soon as one of them
    is answered with a no, the site has answered.
    """
    results = [(place, _result(place)[0]) for place in crawl.places()]
    failed = [result for place, result in results if not _is_guess(place) and result != "sitemap"]
    if any(result == "sitemap" and _is_sitemap(place) for place, result in results):
        lacking = crawl.stopped or failed or any(map(_lacks_something, crawl.places()))
        return Outcome.PARTIAL if lacking else Outcome.FOUND
    known = [result for place, result in results if place.found_by is FoundBy.KNOWN_PATH]
    others = [result for place, result in results if place.found_by is not FoundBy.KNOWN_PATH]
    if crawl.filtered:
        return Outcome.FOUND  # and the caller wanted none of them
    decisive = others if known and not _UNANSWERED.issuperset(known) else others + known
    for result in ("blocked", "unreachable"):
        if result in decisive:
            return Outcome(result)
    return Outcome.NONE


def _is_guess(place: Place) -> bool:
    return place.found_by in {FoundBy.ROBOTS, FoundBy.KNOWN_PATH}


def _is_sitemap(place: Place) -> bool:
    """Tell whether a place that was read counts: robots.txt is only the way to sitemaps."""
    return place.document is not None and place.document.kind is not Kind.ROBOTS


def _lacks_something(place: Place) -> bool:
    return place.closed or (place.document is not None and place.document.cut_off)
