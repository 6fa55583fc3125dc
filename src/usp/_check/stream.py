"""Streams of findings: how each kind of source is read for a check."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from usp._check.check_run import CheckRun, read_ready
from usp._check.check_time import JUDGING_SECONDS, unless
from usp._check.facts import CheckOptions
from usp._check.findings import Finding
from usp._check.folder import BuildFolder, FolderWebClient
from usp._check.http_rules import Digest, UrlDigests
from usp._check.live import LiveSummary
from usp._check.rules import CheckSeverity
from usp._check.site_facts import SiteFacts
from usp._check.site_robots import SiteRobots
from usp._crawl.deadline import TIME_LIMIT
from usp._crawl.discovery import Stage, StartUrl
from usp._crawl.messages import (
    FetchFailed,
    FetchRequest,
    FetchResult,
    ReadOptions,
    TruncatedBody,
)
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._crawl.scheme_choice import Site
from usp._drive.events import emitter
from usp._drive.fetch import CRAWL_ENDED, Fetcher
from usp._drive.page_filter import StreamFilter
from usp._drive.run import CrawlClient, uses_threads
from usp._drive.threads import fetch_in_time
from usp._drive.time_limit import TimeLimit
from usp._parse import Document, Kind
from usp._source import CrawlStart, SourceName, is_local
from usp._store import Store
from usp._tables.read import read_tables
from usp.objects.events import Observer
from usp.objects.outcome import FoundBy
from usp.stream import StreamStart, StreamState, SyncStream
from usp.web_client.abstract_client import CrawlScope

MAX_SILENCE: Final = 30.0
"""In seconds: how long all robots.txt of other hosts that don't answer may take. The last of them
may take as long as its timeout."""
_EVERY_PAGE: Final[dict[str, Any]] = {
    **dict.fromkeys(("since", "until", "limit")),
    **dict.fromkeys(("include", "exclude", "kind"), ()),
}
"""The fields of a policy that choose pages: the rules see all of them."""
MakeRun = Callable[[SiteFacts], CheckRun]


class CheckStream(SyncStream[Finding]):
    """Findings as they are known: of a sitemap once it was read, of the site at the end.

    It has the ``outcome``, ``tried`` and ``problems`` of the crawl, and can be closed at any time.
    """

    _run: CheckRun

    @property
    def summary(self) -> dict[str, int]:
        """The number of occurrences so far, by severity."""
        return {str(severity): self._run.counts[severity] for severity in CheckSeverity}

    @property
    def checked(self) -> tuple[str, ...]:
        """The sitemaps that were read so far, in order."""
        return tuple(self._run.checked)

    @property
    def live(self) -> LiveSummary | None:
        """What live pages say about all pages, at the end; None if none was requested."""
        return self._run.live

    @property
    def live_answered(self) -> int:
        """How many live pages have answered so far."""
        return self._run.live_run.answered if self._run.live_run else 0

    @property
    def now(self) -> datetime:
        """The time of the check, by which dates are judged."""
        return self._run.options.now

    def close(self) -> None:
        """End the check: nothing more is fetched, and temporary files are removed."""
        super().close()
        self._run.close()


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """What is checked, and how it is read."""

    source: SourceName
    policy: Policy
    client: CrawlClient
    use_robots: bool
    use_known_paths: bool | None
    folder: BuildFolder | None
    observer: Observer | None

    @property
    def is_local(self) -> bool:
        """Whether it is a file or folder."""
        return self.folder is not None or is_local(self.source)

    def stream(self, options: CheckOptions, make_run: MakeRun) -> CheckStream:
        """Start the crawl, and return the stream of what is found."""
        crawl_options = CrawlOptions(observer=self.observer, streaming=True, every_node=True)
        start = self._start(crawl_options)
        robots = None
        if self.use_robots and not self.is_local:
            robots = RobotsFetcher(start)
        go_on = unless(TimeLimit(start.crawl, JUDGING_SECONDS))
        run = make_run(SiteFacts(options, SiteRobots(options.agents, robots), go_on))
        state = StreamState(start.crawl, emitter(self.observer), StreamFilter)
        stream = CheckStream._start(start, state, partial(read_ready, run, start.homepage))
        stream._run = run
        return stream

    def _start(self, options: CrawlOptions) -> StreamStart:
        if self.folder:
            return self._start_in(self.folder, options)
        return StreamStart.of(
            self.source,
            self.policy,
            options,
            self.client,
            use_robots=self.use_robots,
            use_known_paths=self.use_known_paths,
        )

    def _start_in(self, folder: BuildFolder, options: CrawlOptions) -> StreamStart:
        policy = replace(self.policy, scheme_fallback=False, use_homepage=False)
        start = _folder_start(folder, use_robots=self.use_robots)
        store = Store(file_per_document=True)
        return StreamStart.at(start, policy, options, CrawlClient(FolderWebClient(folder)), store)

    def digests(self, seconds: float | None) -> Mapping[str, Digest]:
        """Return what the sitemaps list when they are fetched once more.

        :param seconds: how long that may take.
        :raises TimeoutError: if there was no time for all of it.
        """
        if seconds is not None and seconds <= 0:
            raise TimeoutError
        found = UrlDigests()
        with read_tables(
            self.source,
            columns=("sitemap_url", "url"),
            web_client=self.client,
            use_robots=self.use_robots,
            use_known_paths=self.use_known_paths,
            policy=replace(self.policy, max_seconds=seconds, **_EVERY_PAGE),
        ) as batches:
            for batch in batches:
                for sitemap_url, url in batch:
                    found.add_urls(sitemap_url, (url,))
            if any(problem.code == TIME_LIMIT for problem in batches.problems):
                raise TimeoutError
        return found.digests


def _folder_start(folder: BuildFolder, *, use_robots: bool) -> CrawlStart:
    """Return where the crawl of a folder starts: robots.txt, and files named like sitemaps."""
    robots = [StartUrl(folder.robots_url, FoundBy.WELL_KNOWN, stage=Stage("robots.txt"))]
    is_here = use_robots and folder.covers(folder.robots_url)
    found = [
        StartUrl(url, FoundBy.KNOWN_PATH, stage=Stage("folder")) for url in folder.sitemap_urls()
    ]
    start_urls = (*(robots if is_here else ()), *found)
    return CrawlStart(folder.base_url, Site(folder.base_url, start_urls))


_UNCHANGED: Final = FetchFailed("the response has no document")


class RobotsFetcher:
    """Fetches the robots.txt of other hosts, with the client of the crawl.

    Each has a scope of its own, also where a recording has none: so a replay opens as many scopes
    as the check that was recorded. Hosts that don't answer cost a bounded time, however many a
    sitemap names: then no other one is asked.
    """

    def __init__(self, start: StreamStart, max_silence: float = MAX_SILENCE) -> None:
        self._start = start
        self._max_silence = max_silence
        self._silence = 0.0

    def __call__(self, url: str) -> Document | FetchFailed | None:
        """Return what a request brings; it is not repeated.

        None if a recording doesn't have it, or if others took too long.

        :raises TimeoutError: if the crawl's time is up.
        """
        if self._silence >= self._max_silence:
            return None
        options = ReadOptions(Kind.ROBOTS, url=url)
        with self._start.client.for_crawl(self._start.homepage) as scope:
            if scope.order_in_recording(url) == math.inf:
                return None
            began = time.monotonic()
            result = self._result(scope, FetchRequest(url, is_guess=True, _options=options))
        if isinstance(result, FetchFailed) and result.status is None:
            self._silence += time.monotonic() - began
        if result is CRAWL_ENDED:
            raise TimeoutError
        if isinstance(result, TruncatedBody):
            return result.failure
        return result if isinstance(result, Document | FetchFailed) else _UNCHANGED

    def _result(self, scope: CrawlScope, request: FetchRequest) -> FetchResult:
        crawl, ended = self._start.crawl, TimeLimit(self._start.crawl)
        fetch = Fetcher(scope, Store(), crawl.policy.max_document_bytes, ended)
        if uses_threads(self._start.client, crawl.policy):
            return fetch_in_time(fetch, request, ended)
        return fetch(request)
