"""``usp.check``: walks a source as a crawl does, and applies the rules to each document."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Unpack

from usp._check.baseline import Baseline
from usp._check.collector import Collector, severity_of
from usp._check.document import check_document, of_problem
from usp._check.facts import CheckOptions, SitemapFacts, UnreadFacts
from usp._check.findings import Finding, Occurrence
from usp._check.http_rules import Digest, UrlDigests, differences
from usp._check.registry import SITE_RULES, SiteRule
from usp._check.rules import CheckSeverity
from usp._check.suppression import RuleSelection, SitemapIgnore, Suppression, check_codes
from usp._crawl.messages import FetchFailed
from usp._crawl.nodes import Node
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy, PolicyFields, explains_policy, policy_with
from usp._drive.events import emitter
from usp._drive.page_filter import StreamFilter
from usp._parse import Kind, Pages
from usp._source import SourceName
from usp._tables.read import read_tables
from usp._validate import (
    argument_error,
    check_callables,
    check_flags,
    check_instance,
    check_int,
    check_strings,
)
from usp.objects.events import Observer
from usp.objects.outcome import FoundBy, Outcome
from usp.objects.problem import NOT_EXPANDED, Problem
from usp.stream import StreamStart, StreamState, SyncStream
from usp.web_client.abstract_client import AbstractWebClient

ENGINES: Final = ("google", "bing", "yandex", "baidu")
_AGENTS: Final = ("Googlebot", "Bingbot", "YandexBot")
_EVERY_PAGE: Final[dict[str, Any]] = {
    **dict.fromkeys(("since", "until", "limit")),
    **dict.fromkeys(("include", "exclude", "kind"), ()),
}
"""The fields of a policy that choose pages: the rules see all of them."""
OnOccurrence = Callable[[Occurrence], None]


class CheckStream(SyncStream[Finding]):
    """Findings as they are known: of a sitemap once it was read, of the site at the end.

    It has the ``outcome``, ``tried`` and ``problems`` of the crawl, and can be closed at any time.
    """

    _run: "CheckRun"

    @property
    def summary(self) -> dict[str, int]:
        """The number of occurrences so far, by severity."""
        return {str(severity): self._run.counts[severity] for severity in CheckSeverity}

    @property
    def checked(self) -> tuple[str, ...]:
        """The sitemaps that were read so far, in order."""
        return tuple(self._run.checked)

    @property
    def now(self) -> datetime:
        """The time of the check, by which dates are judged."""
        return self._run.options.now

    def close(self) -> None:
        """End the check: nothing more is fetched, and temporary files are removed."""
        super().close()
        self._run.close()


@explains_policy
def check(
    source: SourceName,
    *,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    engine: Iterable[str] = (),
    agent: Iterable[str] = (),
    now: datetime | None = None,
    require: Iterable[str] = (),
    min_pages: int | None = None,
    twice: bool = False,
    per_sitemap_ignore: Iterable[str] = (),
    baseline: str | os.PathLike[str] | None = None,
    on_occurrence: OnOccurrence | None = None,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **policy_fields: Unpack[PolicyFields],
) -> CheckStream:
    """Check the sitemaps of a site, one sitemap, or a file.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), or ``-`` for standard input.
    :param select: only these rules: codes such as ``SM350``, or prefixes such as ``SM3``.
    :param ignore: not these rules; the longer of two prefixes wins.
    :param engine: engines whose own limits count, too: google, bing, yandex, baidu.
    :param agent: agents for which robots.txt is asked, beside those of the engines.
    :param now: the time by which dates are judged; by default the current time.
    :param require: URLs that some sitemap must list.
    :param min_pages: the least number of pages that the sitemaps must list in all.
    :param twice: whether to fetch everything a second time, and to compare what is listed.
    :param per_sitemap_ignore: texts such as ``SM457 https://example.org/old-*.xml until
        2026-12-31``: rules that don't count for sitemaps whose URL matches.
    :param baseline: a file that ``usp check --write-baseline`` wrote: what it has doesn't count.
    :param on_occurrence: called with every single occurrence, also beyond the five examples.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl. Fields that choose pages have no effect.
    :param policy_fields: single fields of the policy, such as ``per_host=4``.
    :return: an iterator of findings, with ``summary``, ``outcome``, ``problems`` and ``close()``.
    :raises UsageError: if there is no such rule or engine, or another argument is wrong.
    """
    options = _options(engine, agent, now, require, min_pages)
    suppression = _suppression(options, select, ignore, per_sitemap_ignore, baseline)
    crawled = _Crawled(
        source, policy_with(policy, policy_fields), web_client, use_robots, use_known_paths
    )
    run = CheckRun(options, suppression, on_occurrence)
    return crawled.checked_by(run, observer, twice=twice)


def _suppression(
    options: CheckOptions,
    select: Iterable[str],
    ignore: Iterable[str],
    per_sitemap_ignore: Iterable[str],
    baseline: str | os.PathLike[str] | None,
) -> Suppression:
    selection = RuleSelection(
        check_codes("select", select), check_codes("ignore", ignore), options.engines
    )
    ignores = map(SitemapIgnore.of, check_strings("per_sitemap_ignore", per_sitemap_ignore))
    known = None if baseline is None else Baseline.read(baseline)
    return Suppression(selection, ignores, known, options.now)


def _options(
    engine: Iterable[str],
    agent: Iterable[str],
    now: datetime | None,
    require: Iterable[str],
    min_pages: int | None,
) -> CheckOptions:
    engines = frozenset(check_strings("engine", engine))
    if not engines <= set(ENGINES):
        raise argument_error("engine", " or ".join(ENGINES), min(engines - set(ENGINES)))
    if now is not None and check_instance("now", now, datetime).tzinfo is None:
        raise argument_error("now", "a time with a time zone", now)
    return CheckOptions(
        now or datetime.now(UTC),
        engines,
        tuple(dict.fromkeys((*_AGENTS, *check_strings("agent", agent)))),
        None if min_pages is None else check_int("min_pages", min_pages, 1),
        tuple(check_strings("require", require)),
    )


@dataclass(frozen=True, slots=True)
class _Crawled:
    """What is crawled, and how: once, or twice."""

    source: SourceName
    policy: Policy
    web_client: AbstractWebClient | None
    use_robots: bool
    use_known_paths: bool | None

    def checked_by(self, run: "CheckRun", observer: Observer | None, *, twice: bool) -> CheckStream:
        """Start the crawl, and return the stream of what is found."""
        check_flags(twice=twice)
        options = CrawlOptions(observer=observer, streaming=True, every_node=True)
        start = StreamStart.of(
            self.source,
            self.policy,
            options,
            self.web_client,
            use_robots=self.use_robots,
            use_known_paths=self.use_known_paths,
        )
        if twice and not start.is_file:
            run.compare_with(self.digests)
        state = StreamState(start.crawl, emitter(options.observer), StreamFilter)
        stream = CheckStream._start(start, state, partial(_read_ready, run))
        stream._run = run
        return stream

    def digests(self) -> Mapping[str, Digest]:
        """Return what the sitemaps list when they are fetched once more."""
        found = UrlDigests()
        with read_tables(
            self.source,
            columns=("sitemap_url", "url"),
            web_client=self.web_client,
            use_robots=self.use_robots,
            use_known_paths=self.use_known_paths,
            policy=replace(self.policy, **_EVERY_PAGE),
        ) as batches:
            for batch in batches:
                for sitemap_url, url in batch:
                    found.add_urls(sitemap_url, (url,))
        return found.digests


class CheckRun:
    """One check: its rules, and what they have found."""

    def __init__(
        self,
        options: CheckOptions,
        suppression: Suppression,
        on_occurrence: OnOccurrence | None,
    ) -> None:
        check_callables(on_occurrence=on_occurrence)
        self._again: Callable[[], Mapping[str, Digest]] | None = None
        self._first = UrlDigests()
        self.options = options
        self.counts: Counter[CheckSeverity] = Counter()
        self._suppression = suppression
        self._on_occurrence = on_occurrence
        self._collector = Collector()
        self._site_rules: list[SiteRule] = [rule(options) for rule in SITE_RULES]
        self.checked: dict[str, None] = {}
        """The sitemaps that were read, in order."""

    def compare_with(self, again: Callable[[], Mapping[str, Digest]]) -> None:
        """Compare what is listed with what a second fetch finds, once everything was read."""
        self._again = again
        self._site_rules.append(self._first)

    def _take(self, occurrences: Iterable[Occurrence]) -> None:
        for occurrence in occurrences:
            if self._suppression.counts(occurrence):
                self.counts[severity_of(occurrence)] += 1
                self._collector.add(occurrence)
                if self._on_occurrence:
                    self._on_occurrence(occurrence)

    def check_node(self, node: Node, state: StreamState[Any]) -> Iterator[Finding]:
        """Check what was found at a node; yield the findings."""
        url, document = node.final_url or node.url, node.document
        is_robots = node.found_by is FoundBy.WELL_KNOWN and node.homepage is None
        if node.absence is None:
            self._take(of_problem(one, url) for one in _notes(node))
        elif not (is_robots and document and document.kind is Kind.ROBOTS):
            document = None  # a guess that found nothing
        pages = document.pages if document else None
        if document and isinstance(pages, Pages):
            if url not in self.checked:
                if document.kind is not Kind.ROBOTS:
                    self.checked[url] = None
                facts = self._facts(node, pages, document.kind, url)
                self._take(check_document(facts, pages, self._site_rules, state.filter.ended))
        elif node.skip_reason or (node.was_requested and (node.absence is None or is_robots)):
            self._take_unread(_unread(node))
        yield from self._collector.take()

    def _take_unread(self, unread: UnreadFacts) -> None:
        for rule in self._site_rules:
            self._take(rule.add_unread(unread))

    def _facts(self, node: Node, pages: Pages, kind: Kind, url: str) -> SitemapFacts:
        provenance, parent = node.provenance(), node.parent
        return SitemapFacts(
            url,
            kind,
            self.options,
            pages.source,
            is_file=pages.source.url is None,
            declared_url=node.url,
            found_by=node.found_by,
            parent_url=parent.final_url if parent else None,
            parent_kind=parent.document.kind if parent and parent.document else None,
            index_lastmod=provenance.index_lastmod,
            fetch_info=provenance.fetch_info,
        )

    def finish(self, state: StreamState[Any]) -> Iterator[Finding]:
        """Yield what is known only once everything was read."""
        stopped = state.crawl.stopped
        if stopped:
            self._take([of_problem(stopped, None)])
            self._take_unread(UnreadFacts("", None, stopped.message, FoundBy.GIVEN))
        for rule in self._site_rules:
            self._take(rule.finish())
        if self._again:
            self._take(differences(self._first.digests, self._again()))
        is_whole = state.crawl.outcome is Outcome.FOUND
        self._take(self._suppression.stale(complete=is_whole))
        yield from self._collector.take()

    def close(self) -> None:
        """Let the rules remove their temporary files."""
        for rule in self._site_rules:
            rule.close()


def _notes(node: Node) -> Iterator[Problem]:
    """Yield the problems of a node that are not those of its document."""
    if node.invalid is not None:
        yield Problem(*node.invalid)
    elif node.collapsed:
        yield Problem(NOT_EXPANDED, "the index is expanded elsewhere in the tree")
    if node.document and node.by_scheme_fallback:
        yield Problem("SM103", f"{node.url} responds only by the other scheme")


def _unread(node: Node) -> UnreadFacts:
    """Return why a node brought no document."""
    status, reason = node.provenance().fetch_info.status, str(node.skip_reason or "")
    if isinstance(node.result, FetchFailed):
        status, reason = node.result.status, node.result.message
    return UnreadFacts(node.url, status, reason, node.found_by)


def _read_ready(
    run: CheckRun, state: StreamState[StreamFilter], is_over: bool
) -> Iterator[Finding]:
    stream = state.filter
    for node in stream.ready_nodes():
        ended = False
        try:
            yield from run.check_node(node, state)
        except TimeoutError:
            ended = True
        if node.pages_due:
            stream.finish(node, ended=ended)
    if is_over:
        yield from run.finish(state)
        run.close()
