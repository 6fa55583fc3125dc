"""Rows of single things: a problem, an attempt, the fetch of a sitemap.

What they have in common, whether they come from a crawl or from a tree.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from usp._cause import cause
from usp._display import without_credentials
from usp._parse import is_http_url, timestamp
from usp._source import SourceName, is_local, source_name
from usp.helpers import strip_url_to_homepage
from usp.objects.fetch_info import FetchInfo
from usp.objects.outcome import Attempt, CrawlFacts
from usp.objects.problem import Problem
from usp.objects.robots import RobotsVerdict

TableRow = Mapping[str, Any]
"""The values of a row by column; what it doesn't have is null."""
READ_STATES: Final = frozenset({"ok", "unchanged"})
"""The states of a sitemap that was read."""


def site_name(source: SourceName) -> str:
    """Return a source as it was named, without a user and password."""
    name = source_name(source)
    if is_local(source) or "@" not in name:
        return name
    return without_credentials(name) if "//" in name else without_credentials(f"//{name}")[2:]


def homepage_of(name: str) -> str | None:
    """Return the homepage of a site, given its URL or that of a sitemap; None for a file."""
    return strip_url_to_homepage(name) if is_http_url(name) else None


def robots_row(verdict: RobotsVerdict | None) -> TableRow:
    """Return what robots.txt says; nothing if it was not requested."""
    if verdict is None:
        return {}
    return {
        "robots_status": cause(verdict.status_text),
        "robots_allows": verdict.allows_homepage and verdict.allows_sitemaps,
        "crawl_delay": verdict.crawl_delay,
        "content_signal": verdict.content_signal,
    }


def facts_row(facts: CrawlFacts) -> TableRow:
    """Return what a crawl counted, and the homepage that was named."""
    return {
        "homepage": homepage_of(facts.named),
        "requests": facts.requests,
        "bytes": facts.bytes_received,
    }


def first_loss(losses: Sequence[Problem]) -> tuple[str | None, str | None]:
    """Return code and message of the first of the problems for which something was lost."""
    return (losses[0].code, losses[0].message) if losses else (None, None)


def problem_row(site: str | None, problem: Problem, sitemap_url: str | None = None) -> TableRow:
    """Return the row of a problem."""
    return {
        "site": site,
        "sitemap_url": problem.sitemap_url or sitemap_url,
        "code": problem.code,
        "name": problem.name,
        "severity": str(problem.severity),
        "message": problem.message,
        "line": problem.line,
        "offset": problem.offset,
        "page_url": problem.page_url,
        "count": problem.count,
    }


def attempt_row(site: str | None, attempt: Attempt) -> TableRow:
    """Return the row of a URL that was tried."""
    return {
        "site": site,
        "url": attempt.url,
        "stage": attempt.stage or None,
        "result": str(attempt.result),
        "http_status": attempt.http_status,
        "code": attempt.code,
        "detail": cause(attempt.detail) or None,
        "seconds": attempt.seconds,
        "at": timestamp(attempt.at),
    }


def fetch_columns(info: FetchInfo) -> dict[str, Any]:
    """Return the columns of a sitemap that its fetch gives."""
    return {
        "http_status": info.status,
        "attempts": info.attempts or None,
        "redirects": list(info.redirects) or None,
        "content_type": info.content_type,
        "content_encoding": info.content_encoding,
        "bytes_received": info.bytes_received,
        "etag": info.etag,
        "http_last_modified": timestamp(info.http_last_modified),
        "sha256": info.sha256,
        "fetched_at": timestamp(info.fetched_at),
        "seconds": info.seconds,
    }
