"""The cursor: it walks the nodes of the tree in declared order, and judges each as it gets there.

Only here callbacks run, loops and known paths are judged, stages of discovery are climbed and limits
on sitemaps and pages apply: so nothing depends on which answer came first.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final
from urllib.parse import urldefrag, urljoin

from usp._crawl.discovery import Condition, HomepageQuery, Stage, StartUrl
from usp._crawl.messages import FetchFailed
from usp._crawl.nodes import NAMES_NOTHING, Node, OutcomeTally, rejection
from usp._crawl.policy import Policy
from usp._crawl.repeated_indexes import RepeatBudget
from usp._crawl.resource import Resource
from usp._crawl.resource_table import ResourceTable
from usp._parse import Child, Document, Kind, is_http_url
from usp.objects.outcome import FoundBy, Outcome, Result, SkipReason
from usp.objects.page import SitemapPage

RecurseCallback = Callable[[str, int, set[str]], bool]
RecurseListCallback = Callable[[list[str], int, set[str]], list[str]]
StopCallback = Callable[[SitemapPage], bool]

_INDEXES: Final = frozenset({Kind.INDEX, Kind.ROBOTS})
_ENOUGH_IN_LINE: Final = 100_000
"""While so many requests wait, an index is opened only where the cursor comes to it: one that names
50,000 others like it would fill the memory long before a limit is reached."""
_WITHOUT_PAGES: Final = frozenset({Kind.ROBOTS, Kind.INVALID})


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """How a crawl is carried out: what the caller decides as it goes, and what he wants of it."""

    recurse: RecurseCallback | None = None
    recurse_list: RecurseListCallback | None = None
    stop: StopCallback | None = None
    counting: bool = False
    probe_at_once: bool = False
    streaming: bool = False

    @property
    def decides(self) -> bool:
        """Whether the caller chooses among the children of an index."""
        return self.recurse is not None or self.recurse_list is not None

    def without_callbacks(self) -> "CrawlOptions":
        """Return what can be pickled: callbacks are the caller's, and are given again."""
        return replace(self, recurse=None, recurse_list=None, stop=None)


class Cursor:
    """The tree as far as it is decided, and what it takes to go on."""

    def __init__(
        self,
        start_urls: Iterable[StartUrl],
        policy: Policy,
        resources: ResourceTable,
        options: CrawlOptions,
    ) -> None:
        self.roots: list[Node] = []
        self.ready: deque[Node] = deque()
        self.skipped: Counter[SkipReason] = Counter()
        self.skipped_start_urls: Counter[SkipReason] = Counter()
        self.stopped: tuple[str, str] | None = None
        self.tally = OutcomeTally()
        self.selection = policy.selection
        self.options = options
        self._policy = policy
        self._resources = resources
        self._repeats = RepeatBudget(policy.max_repeated_nodes, resources)
        self._found: set[str] = set()
        self._pages = 0
        self._path: list[Node] = []
        self._next_root = 0
        self._stage_runs: dict[Stage, bool] = {}
        self._out_of_time = False
        for start_url in start_urls:
            self._plant(start_url)
        self._probe(node for node in self.roots if node.stage.need is Condition.ALWAYS)
        self.advance()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"options": self.options.without_callbacks()}

    @property
    def done(self) -> bool:
        """Whether the whole tree is decided."""
        return not self._path and self._next_root == len(self.roots)

    @property
    def outcome(self) -> Outcome:
        """What came of the crawl, as far as it has come."""
        filtered = bool(self.skipped - self.skipped_start_urls)
        return self.tally.outcome(stopped=self.stopped is not None, filtered=filtered)

    @property
    def counts_pages(self) -> bool:
        """Whether the number of pages matters, of those that are chosen."""
        wanted = self.options.counting or self._policy.limit is not None
        return wanted and not self.options.streaming

    @property
    def waits_for(self) -> Resource | None:
        """What it can't go on without."""
        resource = self._path[-1].resource if self._path else None
        return resource.effective if resource else None

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes that were decided, each before its children."""
        waiting = list(reversed(self.roots))
        while waiting:
            node = waiting.pop()
            if node.judged:
                yield node
                waiting.extend(reversed(node.children))

    def prefetch_children(self, resource: Resource) -> None:
        """Ask for the children of an index before getting there, unless the caller decides."""
        document = resource.shared.document
        if document is None or document.kind is Kind.HOMEPAGE or self.options.decides:
            return
        if resource.level < self._policy.max_level and self._resources.waiting < _ENOUGH_IN_LINE:
            for child in self._wanted(document, Counter()):
                if is_http_url(child.url):
                    self._resources.plan(child.url, resource.level + 1)

    def _wanted(self, document: Document, skipped: Counter[SkipReason]) -> list[Child]:
        """Return the children that the policy chooses, and count the others."""
        of_index = document.kind is not Kind.ROBOTS
        reasons = [self.selection.refuses_sitemap(c, of_index=of_index) for c in document.children]
        skipped.update(reason for reason in reasons if reason)
        return [c for c, reason in zip(document.children, reasons, strict=True) if not reason]

    def _count_skipped(self, reason: SkipReason) -> None:
        """Count a sitemap that was left out at the top of the tree."""
        self.skipped_start_urls[reason] += 1
        self.skipped[reason] += 1

    def _plant(self, start_url: StartUrl) -> None:
        node = Node(
            start_url.url,
            start_url.level,
            start_url.found_by,
            outer_parents=start_url.parents,
            stage=start_url.stage,
            homepage=start_url.homepage,
        )
        if start_url.found_by is FoundBy.KNOWN_PATH:
            node.unwanted = self.selection.refuses_sitemap(Child(start_url.url), of_index=False)
        if start_url.document:
            node.resource = self._resources.add_document(
                start_url.url, start_url.level, start_url.document
            )
            self.prefetch_children(node.resource)
        elif start_url.quiet:
            node.resource = self._resources.plan(start_url.url, start_url.level, is_guess=True)
        self.roots.append(node)

    def advance(self) -> None:
        """Walk on through the tree until an answer is missing."""
        while not self.done:
            if not self._path:
                self._path.append(self.roots[self._next_root])
                self._next_root += 1
            node = self._path[-1]
            if not node.judged and not self._judge(node):
                return
            if not self._path:  # a limit ended the crawl in that node
                return
            if node.next_child < len(node.children):
                node.next_child += 1
                self._path.append(node.children[node.next_child - 1])
            else:
                self._path.pop()
                if self.options.streaming:
                    node.children = []  # nothing of them is needed any more

    def _judge(self, node: Node) -> bool:
        """Decide what stands in a node; False while its answer is missing."""
        if node.found_by is FoundBy.KNOWN_PATH and node.url in self._found:
            node.absence = (Result.ALREADY_FOUND, "")
        elif not self._is_needed(node.stage):
            node.absence = (Result.NOT_NEEDED, "")
        elif node.unwanted:
            self._count_skipped(node.unwanted)
            node.absence = (Result.NOT_NEEDED, "")
        elif node.rejection is None and not self._is_settled(node):
            if not self._out_of_time:
                return False
            node.absence = (Result.NOT_NEEDED, "")
        node.judged = True
        if node.rejection is None and node.absence is None:
            self._judge_answer(node)
        if node.absence is None and node.found_by is not FoundBy.WELL_KNOWN:
            self._found |= {node.url, node.final_url}
        self._count(node)
        self._hand_over(node)
        return True

    def _hand_over(self, node: Node) -> None:
        """Take note that the cursor has come to a document; in a stream, its pages are due."""
        resource, document = node.resource, node.document
        if resource is None or document is None or not self._resources.reached(resource, document):
            return
        listed = node.absence is None and node.rejection is None
        if self.options.streaming and listed and document.kind not in _WITHOUT_PAGES:
            node.skipped_so_far = Counter(self.skipped)
            self.ready.append(node)

    def release(self, node: Node) -> None:
        """Forget the document of a node whose pages were read."""
        if node.resource and node.document:
            node.resource.shared.document = replace(node.document, pages=())

    def _is_settled(self, node: Node) -> bool:
        if node.resource is None:
            node.resource = self._plan(node)
        if node.resource.answer is None:
            return False
        node.resource = node.resource.effective
        return True

    def _plan(self, node: Node) -> Resource:
        return self._resources.plan(
            node.url,
            node.level,
            is_guess=node.is_guess,
            kind=Kind.HOMEPAGE if node.homepage else None,
            may_fall_back=node.found_by is not FoundBy.KNOWN_PATH,
        )

    def _probe(self, nodes: Iterable[Node]) -> None:
        """Ask for guesses before the cursor comes to them."""
        for node in nodes if self.options.probe_at_once else ():
            if not node.unwanted:
                node.resource = node.resource or self._plan(node)

    def _is_needed(self, stage: Stage) -> bool:
        """Emit whether a stage is climbed: decided for all of it, at its first node."""
        if stage not in self._stage_runs:
            enough = {
                Condition.ALWAYS: False,
                Condition.UNLESS_FOUND: self.tally.sitemaps > 0,
                Condition.IF_NONE: self.outcome is not Outcome.NONE,
            }
            self._stage_runs[stage] = not enough[stage.need]
            if self._stage_runs[stage]:
                self._probe(node for node in self.roots if node.stage == stage)
        return self._stage_runs[stage]

    def _judge_answer(self, node: Node) -> None:
        answer = node.answer
        if isinstance(answer, FetchFailed):
            if node.is_guess:
                node.absence = (Result.MISSING, answer.message)
        elif isinstance(answer, Document):
            parents = node.parents()
            if node.homepage:
                self._ask_homepage(node, node.homepage, answer)
            elif node.found_by is FoundBy.KNOWN_PATH and answer.url in self._found:
                node.absence = (Result.ALREADY_FOUND, "")
            elif node.is_guess and (answer.kind is Kind.INVALID or answer.blank):
                node.absence = (Result.NOT_A_SITEMAP, answer.reason or NAMES_NOTHING)
            elif urldefrag(answer.url).url in parents and answer.url != node.url:
                way = f"{node.url} redirected to {answer.url}"
                above = f"with parent URLs {sorted(parents)}"
                node.rejection = ("SM602", f"Recursion detected when {way} {above}.")
            elif answer.children or answer.kind in _INDEXES:
                self._open(node, answer, parents | {answer.url})

    def _ask_homepage(self, node: Node, wanted: HomepageQuery, document: Document) -> None:
        """Let what a homepage leads to stand at the top of the tree; itself it stands nowhere."""
        named = [child for child in document.children if child.is_feed is wanted.feeds]
        things = "feeds" if wanted.feeds else "sitemaps"
        node.absence = (Result.NOT_A_SITEMAP, f"the homepage; {things} named there: {len(named)}")
        site = wanted.moved_to(document.url)
        for path in wanted.elsewhere if site else ():
            found_by = FoundBy.WELL_KNOWN if path == "robots.txt" else FoundBy.KNOWN_PATH
            node.children.append(Node(urljoin(site or "", path), 0, found_by, stage=node.stage))
        for child in named:
            reason = self.selection.refuses_sitemap(child, of_index=False)
            if reason:
                self._count_skipped(reason)
            else:
                node.children.append(Node(child.url, 0, FoundBy.HTML, stage=node.stage))
        self._probe(node.children)

    def _count(self, node: Node) -> None:
        """Count what was read, and end the crawl where that is enough."""
        self.tally.add(node)
        if node.absence is None and node.rejection is None and node.document:
            self._count_pages(node, node.document)
        limit = self._policy.max_sitemaps
        if limit is not None and self.tally.named >= limit and not self.done:
            self.stop("SM703", f"The crawl has reached its {limit} sitemaps")

    def _count_pages(self, node: Node, document: Document) -> None:
        """Count pages up to the limit, or until the caller has enough; a stream does so itself."""
        limit = self._policy.limit
        if limit is not None and self.counts_pages:
            count = document.page_count
            if count is None:  # the caller's own driver counts nothing
                count = sum(1 for _ in self.selection.choose(document.pages))
            left = limit - self._pages
            self._pages += count
            node.first = left if count >= left else None
        if self.options.stop and not self.options.streaming:
            pages = islice(self.selection.choose(document.pages), node.first)
            until = next((at for at, page in enumerate(pages) if self.options.stop(page)), None)
            if until is not None:
                node.first, node.stopped_before_next = until, True
                self.stop("SM706", "The caller had enough")
                return
        if node.first is not None:
            self.stop("SM704", f"The crawl has reached its {limit} pages")

    def stop(self, code: str, reason: str) -> None:
        """End the crawl here: nothing that comes after this node is wanted."""
        self.stopped = self.stopped or (code, reason)
        self._path.clear()
        self._next_root = len(self.roots)

    def end_at(self, node: Node, code: str, reason: str) -> None:
        """End a stream among the pages of a node: how far ahead of it the cursor is, is jitter."""
        self.stopped = (code, reason)
        if node.skipped_so_far is not None:
            self.skipped = node.skipped_so_far
        self.stop(code, reason)

    def run_out(self, code: str, reason: str) -> None:
        """End the crawl with all that has come, wherever it stands."""
        self.stopped = (code, reason)
        self._out_of_time = True
        self.advance()

    def _open(self, node: Node, document: Document, parents: set[str]) -> None:
        """Give an index its children."""
        found_by = FoundBy.ROBOTS if document.kind is Kind.ROBOTS else FoundBy.INDEX
        wanted = {child.url: child for child in self._wanted(document, node.skipped)}
        urls = list(wanted)
        if self.options.recurse_list:
            urls = list(self.options.recurse_list(urls, node.level, set(parents)))
        if self.options.recurse:
            next_requests = self.options.recurse
            urls = [url for url in urls if next_requests(url, node.level, set(parents))]
        if unwanted := wanted.keys() - set(urls):
            node.skipped[SkipReason.SITEMAP_CALLBACK] += len(unwanted)
        self.skipped += node.skipped
        for url in self._repeats.allowed(node, list(dict.fromkeys(urls))):
            lastmod = wanted[url].lastmod if url in wanted else None
            child = Node(url, node.level + 1, found_by, parent=node, lastmod=lastmod)
            child.rejection = rejection(url, child.level, parents, self._policy)
            if child.rejection is None:
                child.resource = self._resources.plan(url, child.level)
                declared_level = child.resource.declared_level
                child.resource.declared_level = min(declared_level or child.level, child.level)
            node.children.append(child)
