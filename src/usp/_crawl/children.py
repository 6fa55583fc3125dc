"""The children of a document that a crawl takes: by the caller's selection, up to its limit."""

from collections import Counter
from collections.abc import Collection

from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._crawl.selection import Selection
from usp._parse import Child, ChildSelection, Document, Kind
from usp.objects.outcome import SkipReason


def child_selection(policy: Policy, selection: Selection, options: CrawlOptions) -> ChildSelection:
    """Return which sitemaps are taken out of a document; callbacks choose among all of them."""
    return ChildSelection(
        None if options.chooses_children else policy.max_sitemaps,
        None if selection.takes_every_sitemap else selection.sitemap_skip_reason,
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
