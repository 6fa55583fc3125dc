"""What came of a tree: the outcome of its crawl, or of a crawl that brings the same documents."""

from typing import Final

from usp._crawl.messages import FetchFailed
from usp._crawl.nodes import OutcomeTally, failure_result
from usp._crawl.robots import DISALLOWED
from usp._crawl.source_result import SourceResult
from usp.objects.outcome import Result
from usp.objects.sitemap import (
    AbstractSitemap,
    IndexRobotsTxtSitemap,
    IndexWebsiteSitemap,
    InvalidSitemap,
    PagesTextSitemap,
    SitemapLink,
)

_NO_RESPONSE: Final = FetchFailed("")
_NO_URLS: Final = ["SM204"]
"""All that is wrong with a text without URLs: no sitemap, but whatever the site returns."""


def tree_result(tree: AbstractSitemap) -> SourceResult:
    """Return what came of a tree, or of any sitemap with all below it, once its pages were walked.

    Of one that no crawl made, that is what a stream of the same documents gives.
    """
    tally = OutcomeTally()
    is_website = isinstance(tree, IndexWebsiteSitemap)
    listed = (sitemap for sitemap in tree.all_sitemaps() if not isinstance(sitemap, SitemapLink))
    for sitemap in (*(() if is_website else (tree,)), *listed):
        has_losses = bool(sitemap._known_losses())
        is_robots = isinstance(sitemap, IndexRobotsTxtSitemap)
        tally.add_declared(_result(sitemap), is_robots=is_robots, has_losses=has_losses)
        tally.skipped += bool(sitemap._skipped_sitemaps)
    known = tree.outcome if isinstance(tree, IndexWebsiteSitemap) else None
    outcome = tally.outcome(stopped=False, ended_early=False)
    return SourceResult(known or outcome, tally.failed, bool(tally.skipped))


def _result(sitemap: AbstractSitemap) -> Result:
    """Return what a crawl notes of a sitemap that is declared."""
    if isinstance(sitemap, SitemapLink):
        return Result.UNREACHABLE
    if isinstance(sitemap, InvalidSitemap):
        if sitemap.code == DISALLOWED:
            return Result.BLOCKED
        if sitemap.code == _NO_RESPONSE.code:
            failed = FetchFailed("", status=sitemap.fetch_info.status)
            return failure_result(failed, is_robots=False)
        return Result.NOT_A_SITEMAP
    losses = [problem.code for problem in sitemap._known_losses()]
    is_blank = isinstance(sitemap, PagesTextSitemap) and losses == _NO_URLS
    return Result.NOT_A_SITEMAP if is_blank else Result.SITEMAP
