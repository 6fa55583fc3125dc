"""usp: find, fetch and parse every sitemap of a website.

The names that most programs need are here. Each is imported when it is first used, so that
``import usp`` costs next to nothing.
"""

from usp import _installation as _installation
from usp._version import __version__

TYPE_CHECKING = False  # as in typing, which takes a while to import
if TYPE_CHECKING:
    from usp._check.choices import CheckFields
    from usp._check.findings import Finding, FindingExample, Occurrence
    from usp._check.live import LiveEstimate, LiveSummary
    from usp._check.rules import CheckSeverity
    from usp._check.run import check
    from usp._check.stream import CheckStream
    from usp._crawl.core import Crawl
    from usp._crawl.messages import FetchFailed, FetchRequest, NotModified
    from usp._crawl.policy import Policy, PolicyFields
    from usp._diff.diff import Diff, DiffSide, diff
    from usp._diff.differences import Difference, DifferenceKind
    from usp._find import find
    from usp._keywords import CrawlFields
    from usp._report.run import ReportResult, report
    from usp._sync.changes import Change, ChangeKind
    from usp._sync.options import SiteReport, SyncFields
    from usp._sync.sync import Sync, changes, sync
    from usp.objects.outcome import Outcome
    from usp.objects.problem import Problem
    from usp.stream import iter_pages
    from usp.tables import (
        ExportResult,
        export,
        record_batches,
        to_arrow,
        to_pandas,
        to_polars,
    )
    from usp.tree import (
        parse,
        robots_verdict,
        sitemap_from_str,
        sitemap_tree,
        sitemap_tree_for_homepage,
    )
    from usp.web_client import ClientFields

__all__ = [
    "Change",
    "ChangeKind",
    "CheckFields",
    "CheckSeverity",
    "CheckStream",
    "ClientFields",
    "Crawl",
    "CrawlFields",
    "Diff",
    "DiffSide",
    "Difference",
    "DifferenceKind",
    "ExportResult",
    "FetchFailed",
    "FetchRequest",
    "Finding",
    "FindingExample",
    "LiveEstimate",
    "LiveSummary",
    "NotModified",
    "Occurrence",
    "Outcome",
    "Policy",
    "PolicyFields",
    "Problem",
    "ReportResult",
    "SiteReport",
    "Sync",
    "SyncFields",
    "__version__",
    "changes",
    "check",
    "diff",
    "export",
    "find",
    "iter_pages",
    "parse",
    "record_batches",
    "report",
    "robots_verdict",
    "sitemap_from_str",
    "sitemap_tree",
    "sitemap_tree_for_homepage",
    "sync",
    "to_arrow",
    "to_pandas",
    "to_polars",
]

_MODULES = {
    "CheckSeverity": "usp._check.rules",
    "CheckFields": "usp._check.choices",
    "CheckStream": "usp._check.stream",
    "LiveEstimate": "usp._check.live",
    "LiveSummary": "usp._check.live",
    "Change": "usp._sync.changes",
    "ChangeKind": "usp._sync.changes",
    "ClientFields": "usp.web_client",
    "Crawl": "usp._crawl.core",
    "CrawlFields": "usp._keywords",
    "Diff": "usp._diff.diff",
    "DiffSide": "usp._diff.diff",
    "Difference": "usp._diff.differences",
    "DifferenceKind": "usp._diff.differences",
    "ExportResult": "usp.tables",
    "FetchFailed": "usp._crawl.messages",
    "FetchRequest": "usp._crawl.messages",
    "Finding": "usp._check.findings",
    "FindingExample": "usp._check.findings",
    "NotModified": "usp._crawl.messages",
    "Occurrence": "usp._check.findings",
    "Outcome": "usp.objects.outcome",
    "Policy": "usp._crawl.policy",
    "PolicyFields": "usp._crawl.policy",
    "Problem": "usp.objects.problem",
    "ReportResult": "usp._report.run",
    "check": "usp._check.run",
    "diff": "usp._diff.diff",
    "SiteReport": "usp._sync.options",
    "Sync": "usp._sync.sync",
    "SyncFields": "usp._sync.options",
    "changes": "usp._sync.sync",
    "export": "usp.tables",
    "find": "usp._find",
    "iter_pages": "usp.stream",
    "parse": "usp.tree",
    "record_batches": "usp.tables",
    "report": "usp._report.run",
    "robots_verdict": "usp.tree",
    "sitemap_from_str": "usp.tree",
    "sitemap_tree": "usp.tree",
    "sitemap_tree_for_homepage": "usp.tree",
    "sync": "usp._sync.sync",
    "to_arrow": "usp.tables",
    "to_pandas": "usp.tables",
    "to_polars": "usp.tables",
}
"""The module of each name."""


def __getattr__(name: str) -> object:
    if name == "fetch_parse":  # in 1.8.1 it is there as soon as usp.tree is imported
        from importlib import import_module

        return import_module("usp.fetch_parse")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
