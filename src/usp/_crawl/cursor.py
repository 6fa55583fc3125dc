"""The cursor: visits the nodes of the tree in document order and decides the result of each.

Callbacks, loop detection, known paths, discovery stages and the limits on sitemaps and pages are
handled here only, so no result depends on the order of responses.
"""

import sys
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, Final
from urllib.parse import urldefrag

from usp._crawl.children import child_selection, skipped_children, wanted_children
from usp._crawl.deadline import ReachedLimit
from usp._crawl.discovery import Condition, HomepageQuery, Stage, StartUrl
from usp._crawl.messages import FetchFailed
from usp._crawl.nodes import NO_PAGES, CountsSoFar, Node, OutcomeTally, rejection, unfinished
from usp._crawl.options import CrawlOptions, StopCallback
from usp._crawl.policy import Policy
from usp._crawl.repeated_indexes import RepeatBudget
from usp._crawl.report import CrawlReport
from usp._crawl.resource import Resource
from usp._crawl.resource_table import ResourceTable
from usp._crawl.selection import Selection
from usp._crawl.work import PageBatch, Work, page_count
from usp._parse import Child, Document, Kind, is_http_url
from usp._quantities import count
from usp.objects.outcome import FoundBy, Outcome, Result, SkipReason

_INDEXES: Final = frozenset({Kind.INDEX, Kind.ROBOTS})
_MAX_QUEUED: Final = 100_000
"""While this many requests are queued, an index is expanded only when the cursor reaches it: one
that lists 50,000 others like it would fill the memory long before a limit is reached."""
_WITHOUT_PAGES: Final = frozenset({Kind.ROBOTS, Kind.INVALID})


class Cursor:
    """The nodes whose results are known, and where to go on."""

    def __init__(
        self,
        start_urls: Iterable[StartUrl],
        policy: Policy,
        selection: Selection,
        resources: ResourceTable,
        options: CrawlOptions,
    ) -> None:
        self.roots: list[Node] = []
        self.ready: deque[Node] = deque()
        """In a stream: the nodes whose pages can be read, each document at its first node; with
        ``every_node`` also those without pages."""
        self.skipped: Counter[SkipReason] = Counter()
        self.skipped_start_urls: Counter[SkipReason] = Counter()
        self.stopped: tuple[str, str] | None = None
        self.tally = OutcomeTally()
        self.report = CrawlReport(bounded=options.streaming)
        self.selection = selection
        self.options = options
        self._policy = policy
        self._resources = resources
        self._repeats = RepeatBudget(policy.max_repeated_nodes, resources)
        self._found: set[str] = set()
        self._pages = 0
        self._path: list[Node] = []
        self.has_begun = False
        self.child_selection = child_selection(policy, selection, options)
        self._next_root = 0
        self._stage_runs: dict[Stage, bool] = {}
        self._reached: ReachedLimit | None = None
        """The limit of time or bytes that was reached: the walk ends with what has arrived."""
        self._decided_before = 0
        """How many nodes were decided before that."""
        for start_url in start_urls:
            self._add_root(start_url)
        self._probe(node for node in self.roots if node.stage.condition is Condition.ALWAYS)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"options": self.options.without_callbacks()}

    @property
    def done(self) -> bool:
        """Whether the result of every node is known."""
        return not self._path and self._next_root == len(self.roots)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the crawl so far."""
        stopped, ended_early = self.stopped is not None, self._reached is not None
        return self.tally.outcome(stopped=stopped, ended_early=ended_early)

    @property
    def counts_pages(self) -> bool:
        """Whether the number of selected pages in each document is needed: for a limit."""
        return self._policy.limit is not None and not self.options.streaming

    @property
    def waits_for(self) -> Resource | None:
        """The resource without which the cursor can't go on."""
        resource = self._path[-1].resource if self._path else None
        return resource.effective if resource else None

    def dismantle(self) -> None:
        """Drop the nodes one by one. They refer to one another, and so would stay in memory until
        the garbage collector looks at all of them at once.
        """
        pending, self.roots = self.roots, []
        while pending:
            node = pending.pop()
            pending += node.children
            node.children = ()

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes that were decided, each before its children."""
        pending = list(reversed(self.roots))
        while pending:
            node = pending.pop()
            if node.decided:
                yield node
                pending.extend(reversed(node.children))

    @property
    def sitemaps_left(self) -> int:
        """How many sitemaps can be added to the tree before it reaches its limit."""
        limit = self._policy.max_sitemaps
        left = sys.maxsize if limit is None else max(limit - self.tally.declared, 0)
        return min(left, sys.maxsize)  # which is the most that islice() takes

    def prefetch_children(self, resource: Resource) -> Work[None]:
        """Request the children of an index early, unless a callback chooses among them."""
        document = resource.shared.document
        if document is None or document.kind is Kind.HOMEPAGE or self.options.chooses_children:
            return
        if resource.for_rules_only:
            return
        if resource.level >= self._policy.max_level:
            return
        room = min(max(_MAX_QUEUED - self._resources.queued, 0), self.sitemaps_left)
        for child in islice(wanted_children(document, self.selection, Counter()), room):
            if self.stopped:
                return
            if is_http_url(child.url):
                self._resources.request(child.url, resource.level + 1)
            yield None

    def _count_skipped(self, reason: SkipReason) -> None:
        """Count a sitemap that was skipped at the top of the tree."""
        self.skipped_start_urls[reason] += 1
        self.skipped[reason] += 1

    def _add_root(self, start_url: StartUrl) -> None:
        node = Node(
            start_url.url,
            start_url.level,
            start_url.found_by,
            outer_parents=start_url.parents,
            stage=start_url.stage,
            homepage=start_url.homepage,
        )
        if start_url.found_by is FoundBy.KNOWN_PATH:
            child = Child(start_url.url)
            node.skip_reason = self.selection.sitemap_skip_reason(child, in_index=False)
        if start_url.document:
            url, level = start_url.url, start_url.level
            node.resource = self._resources.add_document(url, level, start_url.document)
        elif start_url.quiet:
            node.resource = self._resources.request(start_url.url, start_url.level, is_guess=True)
        self.roots.append(node)

    def advance(self) -> Work[None]:
        """Walk on through the tree until a result is missing."""
        self.has_begun = True
        while not self.done:
            if not self._path:
                self._path.append(self.roots[self._next_root])
                self._next_root += 1
            node = self._path[-1]
            if not node.decided and not (yield from self._decide(node)):
                return
            if not self._path:  # a limit ended the crawl at that node
                return
            if self._reached:
                node.skip_children_without_result()
            if node.next_child < len(node.children):
                node.next_child += 1
                self._path.append(node.children[node.next_child - 1])
            else:
                self._path.pop()
                if self.options.streaming:
                    node.children = ()  # a stream needs them no more
            yield None

    def _decide(self, node: Node) -> Work[bool]:
        """Decide what the tree has at a node; False while its result is missing."""
        if node.found_by is FoundBy.KNOWN_PATH and node.url in self._found:
            node.absence = (Result.ALREADY_FOUND, "")
        elif not self._runs(node.stage):
            return self._leave_out(node)
        elif node.skip_reason:
            self._count_skipped(node.skip_reason)
            return self._leave_out(node)
        elif node.rejection is None and not self._is_settled(node):
            if not self._reached:
                return False
            if node.resource:
                is_robots = node.is_robots
                node.absence = unfinished(node.resource, self._reached, is_robots=is_robots)
        node.decided = True
        if node.rejection is None and node.absence is None:
            yield from self._decide_result(node)
        if node.absence is None and node.found_by is not FoundBy.WELL_KNOWN:
            self._found |= {node.url, node.final_url}
        yield from self._count(node)
        self._mark_reached(node)
        if node.pages_due or self.options.every_node:
            self.ready.append(node)
        return True

    @staticmethod
    def _leave_out(node: Node) -> bool:
        """Decide on a guess that is not made: there is nothing to count or to hand over."""
        node.absence = (Result.NOT_NEEDED, "")
        node.decided = True
        return True

    def _mark_reached(self, node: Node) -> None:
        """Record that the cursor has reached a document; in a stream, its pages are due."""
        resource, document = node.resource, node.document
        if resource is None or document is None:
            return
        if not self._resources.mark_reached(resource, document):
            return
        in_tree = node.absence is None and node.rejection is None
        if self.options.streaming and in_tree and document.kind not in _WITHOUT_PAGES:
            counts = (self.tally.sitemaps, self.tally.failed)
            node.so_far = CountsSoFar(Counter(self.skipped), *counts)
            node.pages_due = True

    def release(self, node: Node) -> None:
        """Drop the document of a node whose pages were read: what was lost of it is known now."""
        if node.resource and node.document:
            self.tally.add_losses(node)
            self.report.add_losses(node)
            node.resource.shared.document = node.document._replace(pages=())

    def _is_settled(self, node: Node) -> bool:
        if node.resource is None:
            node.resource = self._request(node)
        if node.resource.result is None:
            return False
        node.resource = node.resource.effective
        return True

    def _request(self, node: Node) -> Resource:
        return self._resources.request(
            node.url,
            node.level,
            is_guess=node.is_guess,
            kind=Kind.HOMEPAGE if node.homepage else None,
            may_fall_back=node.found_by is not FoundBy.KNOWN_PATH,
        )

    def _probe(self, nodes: Iterable[Node]) -> None:
        """Request guesses before the cursor reaches them, if the options say so."""
        for node in nodes if self.options.probe_early else ():
            if not node.skip_reason:
                node.resource = node.resource or self._request(node)

    def _runs(self, stage: Stage) -> bool:
        """Tell whether a stage runs; this is decided once for the stage, at its first node."""
        if stage not in self._stage_runs:
            found = self.tally.sitemaps > 0
            satisfied = {
                Condition.ALWAYS: False,
                Condition.UNLESS_FOUND: found,
                Condition.IF_NONE: found or self.outcome not in {Outcome.NONE, Outcome.PARTIAL},
            }
            self._stage_runs[stage] = not satisfied[stage.condition]
            if self._stage_runs[stage]:
                self._probe(node for node in self.roots if node.stage == stage)
        return self._stage_runs[stage]

    def _decide_result(self, node: Node) -> Work[None]:
        result = node.result
        if isinstance(result, FetchFailed):
            if node.is_guess:
                node.absence = (Result.MISSING, result.message)
        elif isinstance(result, Document):
            parents = node.parents()
            if node.homepage:
                self._search_homepage(node, node.homepage, result)
            elif node.found_by is FoundBy.KNOWN_PATH and result.url in self._found:
                node.absence = (Result.ALREADY_FOUND, "")
            elif node.is_guess and (result.kind is Kind.INVALID or result.blank):
                node.absence = (Result.NOT_A_SITEMAP, result.reason or NO_PAGES)
            elif urldefrag(result.url).url in parents and result.url != node.url:
                redirect = f"{node.url} redirected to {result.url}"
                above = f"with parent URLs {sorted(parents)}"
                node.rejection = ("SM602", f"Recursion detected when {redirect} {above}.")
            elif result.children or result.kind in _INDEXES:
                yield from self._expand(node, result, parents | {result.url})

    def _search_homepage(self, node: Node, query: HomepageQuery, document: Document) -> None:
        """Add what a homepage names to the top of the tree; the homepage itself is no sitemap."""
        named = [child for child in document.children if child.is_feed is query.feeds]
        things = "feeds" if query.feeds else "sitemaps"
        detail = f"the homepage; {things} named there: {len(named)}"
        more = document.more_children
        detail += f"; {more} more links were left out" if more else ""
        node.absence = (Result.NOT_A_SITEMAP, detail)
        others = query.other_urls(document.url, node.stage, responds=not node.by_scheme_fallback)
        children = [Node(other.url, 0, other.found_by, stage=other.stage) for other in others]
        for child in named:
            reason = self.selection.sitemap_skip_reason(child, in_index=False)
            if reason:
                self._count_skipped(reason)
                self.tally.skipped += not query.feeds  # those are no more than a guess
            else:
                children.append(Node(child.url, 0, FoundBy.HTML, stage=node.stage))
        node.children = children
        self._probe(child for child in children if child.stage == node.stage)

    def _count(self, node: Node) -> Work[None]:
        """Count what was read, and end the crawl where a limit is reached."""
        self.tally.add(node)
        self.report.add(node)
        if node.absence is None and node.rejection is None and node.document:
            yield from self._count_pages(node, node.document)
        if not self.sitemaps_left and not self.done:
            limit = count(self._policy.max_sitemaps or 0, "sitemap")
            reason = f"The crawl reached its limit of {limit}"
            more = sum(each.children_left for each in self._path)
            self.stop("SM703", f"{reason}; {more:,} more are listed" if more else reason)

    def _count_pages(self, node: Node, document: Document) -> Work[None]:
        """Apply the page limit and the stop callback; a stream applies them itself."""
        limit, is_full = self._policy.limit, False
        if limit is not None and self.counts_pages:
            pages = yield from page_count(document, self.selection)
            left = limit - self._pages
            self._pages += pages or 0
            is_full = pages is None or pages >= left
            node.page_limit = left if is_full else None
        if self.options.stop_callback and not self.options.streaming:
            yield from self._show_pages(node, document, self.options.stop_callback)
        if limit is not None and is_full:  # if the time was up before, that stays the reason
            self.stop("SM704", f"The crawl reached its limit of {count(limit, 'page')}")

    def _show_pages(self, node: Node, document: Document, stops: StopCallback) -> Work[None]:
        """Show pages to the stop callback, until it ends the crawl."""
        shown = 0
        batch = PageBatch(document.pages, self.selection)
        while pages := (yield batch):
            for page in pages[: None if node.page_limit is None else node.page_limit - shown]:
                if stops(page):
                    node.page_limit, node.stopped_before_next = shown, True
                    self.stop("SM706", "The stop callback ended the crawl")
                    return
                shown += 1
            if shown == node.page_limit:
                return
        if batch.ended:
            node.page_limit = shown

    def stop(self, code: str, reason: str) -> None:
        """End the crawl here: nothing that comes after this node is wanted."""
        self.stopped = self.stopped or (code, reason)
        self._path.clear()
        self._next_root = len(self.roots)

    def stop_at(self, node: Node, code: str, reason: str) -> None:
        """End a stream among the pages of a node; how far the cursor is ahead doesn't count.

        A limit of time or bytes that was reached before that node stays the reason: something may
        be missing there.
        """
        if not self._reached or node.number <= self._decided_before:
            self.stopped = (code, reason)
        if node.so_far is not None:
            self.skipped, self.tally.sitemaps, self.tally.failed = node.so_far
        self.report.cut_after(node)
        self.stop(code, reason)

    def reach(self, limit: ReachedLimit) -> None:
        """End the crawl with all that has arrived, as soon as it is advanced."""
        self.stopped = limit.problem
        self._reached = limit
        self._decided_before = self.report.nodes

    def _expand(self, node: Node, document: Document, parents: set[str]) -> Work[None]:
        """Give an index its children: as many as can be reached before a limit."""
        found_by = FoundBy.ROBOTS if document.kind is Kind.ROBOTS else FoundBy.INDEX
        skipped: Counter[SkipReason] = Counter()
        wanted = {child.url: child for child in wanted_children(document, self.selection, skipped)}
        urls: Collection[str] = wanted
        if self.options.chooses_children:
            urls = yield from self.options.chosen_children(list(wanted), node.level, parents)
            skipped[SkipReason.SITEMAP_CALLBACK] += len(wanted.keys() - urls)
        node.skipped = +skipped
        if self.options.every_node and node.skipped:
            node.skipped_children = tuple(skipped_children(document, urls, self.selection))
        self.skipped += skipped
        self.tally.skipped += skipped.total()
        urls = yield from self._repeats.allowed_children(node, urls)
        node.more_children = document.more_children + max(len(urls) - self.sitemaps_left, 0)
        node.children = children = []
        for url in islice(urls, self.sitemaps_left):
            if self._reached:
                return
            lastmod = wanted[url].lastmod if url in wanted else None
            child = Node(url, node.level + 1, found_by, parent=node, lastmod=lastmod)
            child.rejection = rejection(url, child.level, parents, self._policy)
            if child.rejection is None:
                child.resource = self._resources.request(url, child.level)
                declared = child.resource.declared_level
                child.resource.declared_level = min(declared or child.level, child.level)
            children.append(child)
            yield None
