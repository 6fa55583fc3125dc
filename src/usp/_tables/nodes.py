"""The row of a node of a crawl in ``sitemaps``, its problems, and its attempt."""

from dataclasses import dataclass
from typing import Any, Final

from usp._crawl.nodes import NOT_EXPANDED_MESSAGE, Node
from usp._parse import Child, Document, Kind, Pages, parse_date, timestamp
from usp._tables.rows import READ_STATES, fetch_columns, first_loss
from usp.objects.fetch_info import FetchInfo
from usp.objects.outcome import FoundBy, Result, SkipReason
from usp.objects.problem import NOT_EXPANDED, Problem

_SKIP_REASONS: Final = {
    SkipReason.SITEMAP_PATTERN: "Its URL fails include_sitemaps or exclude_sitemaps",
    SkipReason.SITEMAP_LASTMOD: "Its index says that it is older than since",
    SkipReason.SITEMAP_CALLBACK: "A callback rejected it",
}
_READ_ELSEWHERE: Final = "Its pages are listed where it is declared first"


@dataclass(frozen=True, slots=True)
class Reading:
    """How far the pages of a node were read."""

    pages: int = 0
    """How many rows were taken."""
    to_the_end: bool = True


def node_url(node: Node) -> str:
    """Return the URL of the sitemap at a node; the name, if it is a file."""
    return node.final_url or node.url


def sitemap_row(node: Node, reading: Reading) -> dict[str, Any]:
    """Return the row of a node, without what is known only of all of them: site and position."""
    provenance = node.provenance()
    info, document = node.fetch_info, node.document
    state, code, reason = _state(node, document, info)
    was_read = state in READ_STATES
    return {
        "url": node_url(node),
        "declared_url": node.url,
        "parent_url": node_url(node.parent) if node.parent else None,
        "level": node.level,
        "found_by": str(node.found_by),
        "kind": _kind(document),
        "state": state,
        "code": code,
        "reason": reason,
        **fetch_columns(info),
        "index_lastmod": timestamp(provenance.index_lastmod),
        "pages": reading.pages if was_read else None,
        "children": document.child_count if document and was_read else None,
        "complete": _is_complete(node, reading) if was_read or state == "failed" else None,
    }


def skipped_row(node: Node, child: Child, reason: SkipReason) -> dict[str, Any]:
    """Return the row of a sitemap that a node lists and that was skipped."""
    is_robots = node.document is not None and node.document.kind is Kind.ROBOTS
    return {
        "url": child.url,
        "declared_url": child.url,
        "parent_url": node_url(node),
        "level": node.level + 1,
        "found_by": str(FoundBy.ROBOTS if is_robots else FoundBy.INDEX),
        "state": "skipped",
        "reason": _SKIP_REASONS[reason],
        "index_lastmod": timestamp(parse_date(child.lastmod or "")),
    }


def document_bytes(node: Node, reading: Reading) -> int | None:
    """Return the size of the document, decompressed, if it was read to its end."""
    pages = node.document.pages if node.document else None
    return pages.document_bytes if isinstance(pages, Pages) and reading.to_the_end else None


def node_problems(node: Node, reading: Reading) -> tuple[Problem, ...]:
    """Return the problems at a node: why it failed, or what is wrong with its document."""
    if node.absence is not None:
        return ()
    pages = node.document.pages if node.document else None
    if node.invalid is not None or not isinstance(pages, Pages) or _kind(node.document) is None:
        return node.known_losses()
    notes = []
    if node.collapsed:
        notes.append(Problem(NOT_EXPANDED, NOT_EXPANDED_MESSAGE))
    if node.by_scheme_fallback:
        notes.append(Problem("SM103", f"{node.url} responds only by the other scheme"))
    return (*notes, *(pages.problems if reading.to_the_end else pages.known_errors))


def _kind(document: Document | None) -> str | None:
    return None if document is None or document.kind is Kind.INVALID else str(document.kind)


def _state(
    node: Node, document: Document | None, info: FetchInfo
) -> tuple[str, str | None, str | None]:
    """Return what came of a node, with the code and the reason of a failure or a loss."""
    if node.invalid is not None:
        return "failed", *node.invalid
    if document is None or document.kind is Kind.INVALID:
        code, reason = (document.code, document.reason) if document else (None, None)
        return "failed", code, reason
    if node.collapsed:
        return "skipped", NOT_EXPANDED, NOT_EXPANDED_MESSAGE
    if not isinstance(document.pages, Pages) and node.attempt().result is Result.SITEMAP:
        return "skipped", None, _READ_ELSEWHERE
    return ("unchanged" if info.unchanged else "ok"), *first_loss(document.known_errors)


def _is_complete(node: Node, reading: Reading) -> bool | None:
    """Tell whether nothing was lost; None where that is not known."""
    if node.known_losses():
        return False
    return True if reading.to_the_end else None
