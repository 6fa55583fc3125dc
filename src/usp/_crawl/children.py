"""The children of a document that a crawl takes: by the caller's selection, up to its limit."""

from collections import Counter
from collections.abc import Collection, Iterator

from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._crawl.selection import Selection
from usp._parse import Child, ChildSelection, Document, Kind
from usp.objects.outcome import SkipReason


def child_selection(policy: Policy, selection: Selection, options: CrawlOptions) -> ChildSelection:
    """Return which sitemaps are taken out of a document; callbacks choose among all of them.

    Where each one that is skipped is to be known, all are taken, and selected later.
    """
    chooses_later = options.every_node and not selection.takes_every_sitemap
    return ChildSelection(
        None if options.chooses_children or chooses_later else policy.max_sitemaps,
        None if selection.takes_every_sitemap or chooses_later else selection.sitemap_skip_reason,
    )


def wanted_children(
    document: Document, selection: Selection, skipped: Counter[SkipReason]
) -> Collection[Child]:
    """Return the children that the selection takes, and count the others."""
    if document.skipped is not None:  # it was applied when the document was inspected
        skipped.update(document.skipped)
        return document.children
    if selection.takes_every_sitemap:
        return document.children
    in_index = document.kind is not Kind.ROBOTS
    reasons = [
        selection.sitemap_skip_reason(child, in_index=in_index) for child in document.children
    ]
    skipped.update(reason for reason in reasons if reason)
    return [c for c, reason in zip(document.children, reasons, strict=True) if not reason]


def skipped_children(
    document: Document, chosen: Collection[str], selection: Selection
) -> Iterator[tuple[Child, SkipReason]]:
    """Yield the children that are not among the chosen ones, and why."""
    in_index = document.kind is not Kind.ROBOTS
    for child in document.children:
        if child.url not in chosen:
            reason = selection.sitemap_skip_reason(child, in_index=in_index)
            yield child, reason or SkipReason.SITEMAP_CALLBACK
