"""One check: its rules, what they have found, and the order in which they see a crawl."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from usp._check.collector import Collector, severity_of
from usp._check.document import check_document, check_rows, of_problem
from usp._check.earlier_rules import AgainstEarlierRun
from usp._check.facts import CheckOptions, DocumentEnd, SitemapFacts, UnreadFacts
from usp._check.findings import Finding, Occurrence
from usp._check.folder import BuildFolder
from usp._check.folder_rules import FolderFiles
from usp._check.http_rules import Digest, UrlDigests, differences
from usp._check.live import LiveOptions, LiveSummary, SampledPages, sampled_removed
from usp._check.live_run import LiveRun
from usp._check.registry import SITE_RULES, SiteRule
from usp._check.rules import CheckSeverity
from usp._check.site_facts import SiteFacts
from usp._check.suppression import Suppression
from usp._crawl.core import Crawl
from usp._crawl.deadline import TIME_IS_UP_IN_BODY
from usp._crawl.messages import FetchFailed
from usp._crawl.nodes import Node
from usp._crawl.policy import Policy
from usp._drive.live_pages import UrlToRequest
from usp._drive.page_filter import StreamFilter
from usp._parse import Ended, Kind, Pages
from usp._parse.checking import AuditEntry
from usp.objects.outcome import FoundBy, Outcome
from usp.objects.problem import NOT_EXPANDED, Problem
from usp.stream import StreamState

OnOccurrence = Callable[[Occurrence], None]
Digests = Callable[[float | None], Mapping[str, Digest]]
"""Reads everything once more, in so many seconds if there is a limit, and returns what each sitemap
lists; raises ``TimeoutError`` if there was no time for all of it."""


@dataclass(frozen=True, slots=True)
class CheckParts:
    """What a check looks at beside the sitemaps; None for what it doesn't."""

    folder: BuildFolder | None = None
    earlier: AgainstEarlierRun | None = None
    live: LiveOptions | None = None
    again: Digests | None = None
    codes: frozenset[str] | None = None
    """The rules that can be decided; None for all."""


@dataclass(frozen=True, slots=True)
class LiveContext:
    """What live pages are requested with."""

    policy: Policy
    homepage: str
    """The site that the credentials of a client are for; empty for a file."""
    url_to_request: UrlToRequest = str
    """Adds the user and password of the source to the URLs of its host."""


class CheckRun:
    """Takes the documents of a crawl, and gives findings."""

    def __init__(
        self,
        site: SiteFacts,
        parts: CheckParts,
        suppression: Suppression,
        on_occurrence: OnOccurrence | None,
    ) -> None:
        self.counts: Counter[CheckSeverity] = Counter()
        self.checked: dict[str, None] = {}
        """The sitemaps that were read, in order."""
        self.live: LiveSummary | None = None
        """What live pages say, once they were requested."""
        self.live_run: LiveRun | None = None
        """What requests live pages, once it does."""
        self._site = site
        self._parts = parts
        self._suppression = suppression
        self._on_occurrence = on_occurrence
        self._collector = Collector()
        self._started = time.monotonic()
        self._first = UrlDigests() if parts.again else None
        self._sampled = SampledPages(parts.live) if parts.live else None
        folder_files = FolderFiles(parts.folder, site) if parts.folder else None
        extra = (folder_files, parts.earlier, self._sampled, self._first)
        self._rules: list[SiteRule] = [rule(site) for rule in SITE_RULES]
        self._rules += [rule for rule in extra if rule is not None]

    @property
    def options(self) -> CheckOptions:
        """What the caller chose for all rules."""
        return self._site.options

    def take(self, occurrences: Iterable[Occurrence]) -> None:
        """Count occurrences, but for those that the caller doesn't want."""
        codes = self._parts.codes
        for occurrence in occurrences:
            if codes is not None and occurrence.code not in codes:
                continue
            if self._suppression.counts(occurrence):
                self.counts[severity_of(occurrence)] += 1
                self._collector.add(occurrence)
                if self._on_occurrence:
                    self._on_occurrence(occurrence)

    def check_node(self, node: Node, ended: Ended) -> Iterator[Finding]:
        """Check what was found at a node; yield the findings."""
        url, document = node.final_url or node.url, node.document
        if node.absence is None:
            self.take(self._problems(node, url))
        elif not (node.is_robots and document and document.kind is Kind.ROBOTS):
            document = None  # a guess that found nothing
        pages = document.pages if document else None
        is_cut = isinstance(pages, Pages) and pages.source.truncated == TIME_IS_UP_IN_BODY
        if is_cut:
            pages = None  # its faults are those of the limit
        if document and isinstance(pages, Pages):
            if url not in self.checked:
                self._check_document(_facts(node, self.options, pages, document.kind), pages, ended)
        elif node.skip_reason or (node.was_requested and (node.absence is None or node.is_robots)):
            unread = _unread(node, is_cut=is_cut)
            if node.is_robots and not unread.is_unfinished:
                self._site.robots.add_unread(unread.url, unread.status)
            self.take_unread(unread)
        yield from self._collector.take(url)

    def _check_document(self, sitemap: SitemapFacts, pages: Pages, ended: Ended) -> None:
        robots = self._site.robots
        if sitemap.kind is Kind.ROBOTS:
            robots.add(pages, sitemap.url, sitemap.declared_url)
        else:
            self.checked[sitemap.url] = None
        if sitemap.kind is Kind.INDEX:
            robots.add_index(sitemap.url, sitemap.declared_url, sitemap.parent_url)
        self.take(check_document(sitemap, pages, self._rules, ended))

    def _problems(self, node: Node, url: str) -> Iterator[Occurrence]:
        """Yield the problems of a node; in a folder, what names a missing file is told of it."""
        folder = self._parts.folder
        if folder is None or not isinstance(node.result, FetchFailed):
            yield from (of_problem(one, url) for one in _notes(node))
        elif not folder.covers(node.url):
            detail = f"it is not in the folder, so it was not checked: {node.url}"
            yield Occurrence("SM750", node.parent.final_url if node.parent else None, detail=detail)

    def check_rows(
        self, sitemap: SitemapFacts, entries: Iterable[AuditEntry], end: DocumentEnd
    ) -> None:
        """Check entries that come from somewhere else than a document."""
        self.take(check_rows(sitemap, entries, end, self._rules))

    def take_unread(self, unread: UnreadFacts) -> None:
        """Show all rules a URL that brought no document."""
        for rule in self._rules:
            self.take(rule.add_unread(unread))

    def take_stop(self, problem: Problem) -> None:
        """Say which limit ended the reading, and show all rules that something is missing."""
        self.take([of_problem(problem, None)])
        beyond = UnreadFacts("", None, problem.message, FoundBy.GIVEN, is_unfinished=True)
        self.take_unread(beyond)

    def judge_site(self, live: LiveContext) -> bool:
        """Find what is known only once everything was read; live pages are requested now.

        :return: whether there was time for all of it.
        """
        undecided: set[str] = set()
        for rule in self._rules:
            try:
                self.take(rule.finish())
            except TimeoutError:  # the other rules may need none
                undecided.update(rule.codes)
        is_compared = not undecided
        if self._parts.again and self._first and is_compared:
            try:
                again = self._parts.again(self._seconds_left(live.policy))
                self.take(differences(self._first.digests, again))
            except TimeoutError:  # what was read of a sitemap says nothing about the rest
                undecided.add("SM153")
        if self._parts.live and self._sampled:
            self._check_live(self._parts.live, self._sampled, live, is_compared=is_compared)
        if undecided:
            names = ", ".join(sorted(undecided - {"SM750"}))
            detail = f"the time was over before these were decided: {names}"
            self.take([Occurrence("SM750", None, detail=detail)])
        return not undecided

    def finish(self, *, is_whole: bool) -> Iterator[Finding]:
        """Yield what was found in the site as a whole.

        :param is_whole: whether all sitemaps were read, and everything was judged.
        """
        self.take(self._suppression.stale(complete=is_whole))
        yield from self._collector.take()

    def _check_live(
        self, options: LiveOptions, sampled: SampledPages, live: LiveContext, *, is_compared: bool
    ) -> None:
        earlier = self._parts.earlier if is_compared else None
        listed = earlier.removed_pages() if earlier else ()
        removed = sampled_removed(listed, options.size, options.seed)
        run = self.live_run = LiveRun(options, self._site, sampled.sample, removed)

        def ended() -> bool:
            left = self._seconds_left(live.policy)
            return left is not None and left <= 0

        request = live.url_to_request
        self.take(run.occurrences(live.policy, live.homepage, ended, request))
        self.live = run.summary

    def _seconds_left(self, policy: Policy) -> float | None:
        """Return how much of the time of the whole check is left; None if it has no limit."""
        limit = policy.max_seconds
        return None if limit is None else limit - (time.monotonic() - self._started)

    def close(self) -> None:
        """Let the rules remove their temporary files."""
        with ExitStack() as stack:
            for rule in self._rules:
                stack.callback(rule.close)


def read_ready(
    run: CheckRun, homepage: str, state: StreamState[StreamFilter], is_over: bool
) -> Iterator[Finding]:
    """Yield the findings of what a crawl has brought, and at its end those of the site."""
    stream = state.filter
    for node in stream.ready_nodes():
        ended = False
        try:
            yield from run.check_node(node, stream.ended)
        except TimeoutError:
            ended = True
        if node.pages_due:
            stream.finish(node, ended=ended)
    if is_over:
        yield from finish_crawl(run, homepage, state.crawl)


def finish_crawl(run: CheckRun, homepage: str, crawl: Crawl) -> Iterator[Finding]:
    """Yield what is known once a crawl is over."""
    was_stopped = crawl.stopped
    if was_stopped:
        run.take_stop(was_stopped)
    if (
        not run.judge_site(LiveContext(crawl.policy, homepage, crawl._credentials.url_to_request))
        and not was_stopped
    ):
        problem = Problem(*crawl._deadline.limit.problem)
        crawl.stop(problem.code, problem.message)
        run.take([of_problem(problem, None)])
    return run.finish(is_whole=crawl.outcome is Outcome.FOUND)


def _facts(node: Node, options: CheckOptions, pages: Pages, kind: Kind) -> SitemapFacts:
    provenance, parent = node.provenance(), node.parent
    return SitemapFacts(
        node.final_url or node.url,
        kind,
        options,
        pages.source,
        is_file=pages.source.url is None,
        declared_url=node.url,
        found_by=node.found_by,
        parent_url=parent.final_url if parent else None,
        parent_kind=parent.document.kind if parent and parent.document else None,
        index_lastmod=provenance.index_lastmod,
        fetch_info=provenance.fetch_info,
    )


def _notes(node: Node) -> Iterator[Problem]:
    """Yield the problems of a node that are not those of its document."""
    if node.invalid is not None:
        yield Problem(*node.invalid)
    elif node.collapsed:
        yield Problem(NOT_EXPANDED, "the index is expanded elsewhere in the tree")
    if node.document and node.by_scheme_fallback:
        yield Problem("SM103", f"{node.url} responds only by the other scheme")


def _unread(node: Node, *, is_cut: bool) -> UnreadFacts:
    """Return why a node brought no document.

    :param is_cut: whether a limit of the crawl ended its body.
    """
    status, reason = node.provenance().fetch_info.status, str(node.skip_reason or "")
    if isinstance(node.result, FetchFailed):
        status, reason = node.result.status, node.result.message
    is_skipped = node.skip_reason is not None
    has_reason = is_skipped or node.result is not None or node.rejection is not None
    is_unfinished = is_cut or not has_reason
    return UnreadFacts(node.url, status, reason, node.found_by, is_skipped, is_unfinished)
