"""The cursor: it walks the places of the tree in declared order, and judges each as it gets there.

Only here callbacks run, loops and known paths are judged, rungs of discovery are climbed and limits
on sitemaps and pages apply: so nothing depends on which answer came first.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final
from urllib.parse import urldefrag, urljoin

from usp._crawl.messages import FetchFailed
from usp._crawl.nodes import NAMES_NOTHING, Place, Tally, refusal
from usp._crawl.policy import Policy
from usp._crawl.repeated_indexes import Repeats
from usp._crawl.resource import Resource
from usp._crawl.resource_table import Resources
from usp._crawl.discovery import Homepage, Need, Rung, Seed
from usp._parse.document import Child, Document
from usp._parse.input.sniff import Kind
from usp._parse.values.text import is_http_url
from usp.objects.outcome import FoundBy, Outcome, Result, Skip
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
class Manner:
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

    def without_callbacks(self) -> "Manner":
        """Return what can be pickled: callbacks are the caller's, and are given again."""
        return replace(self, recurse=None, recurse_list=None, stop=None)


class Cursor:
    """The tree as far as it is decided, and what it takes to go on."""

    def __init__(
        self, seeds: Iterable[Seed], policy: Policy, resources: Resources, manner: Manner
    ) -> None:
        self.roots: list[Place] = []
        self.ready: deque[Place] = deque()
        self.skipped: Counter[Skip] = Counter()
        self.skipped_seeds: Counter[Skip] = Counter()
        self.stopped: tuple[str, str] | None = None
        self.tally = Tally()
        self.selection = policy.selection
        self.manner = manner
        self._policy = policy
        self._resources = resources
        self._repeats = Repeats(policy.repeated_places, resources)
        self._found: set[str] = set()
        self._pages = 0
        self._path: list[Place] = []
        self._next_root = 0
        self._climbed: dict[Rung, bool] = {}
        self._out_of_time = False
        for seed in seeds:
            self._plant(seed)
        self._probe(place for place in self.roots if place.rung.need is Need.ALWAYS)
        self.advance()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"manner": self.manner.without_callbacks()}

    @property
    def done(self) -> bool:
        """Whether the whole tree is decided."""
        return not self._path and self._next_root == len(self.roots)

    @property
    def outcome(self) -> Outcome:
        """What came of the crawl, as far as it has come."""
        filtered = bool(self.skipped - self.skipped_seeds)
        return self.tally.outcome(stopped=self.stopped is not None, filtered=filtered)

    @property
    def counts_pages(self) -> bool:
        """Whether the number of pages matters, of those that are chosen."""
        wanted = self.manner.counting or self._policy.max_pages is not None
        return wanted and not self.manner.streaming

    @property
    def waits_for(self) -> Resource | None:
        """What it can't go on without."""
        resource = self._path[-1].resource if self._path else None
        return resource.in_its_stead if resource else None

    def places(self) -> Iterator[Place]:
        """Yield all places that were decided, each before its children."""
        waiting = list(reversed(self.roots))
        while waiting:
            place = waiting.pop()
            if place.judged:
                yield place
                waiting.extend(reversed(place.children))

    def look_ahead(self, resource: Resource) -> None:
        """Ask for the children of an index before getting there, unless the caller decides."""
        document = resource.standing.document
        if document is None or document.kind is Kind.HOMEPAGE or self.manner.decides:
            return
        if resource.level < self._policy.max_level and self._resources.waiting < _ENOUGH_IN_LINE:
            for child in self._wanted(document, Counter()):
                if is_http_url(child.url):
                    self._resources.plan(child.url, resource.level + 1)

    def _wanted(self, document: Document, skipped: Counter[Skip]) -> list[Child]:
        """Return the children that the policy chooses, and count the others."""
        of_index = document.kind is not Kind.ROBOTS
        reasons = [self.selection.refuses_sitemap(c, of_index=of_index) for c in document.children]
        skipped.update(reason for reason in reasons if reason)
        return [c for c, reason in zip(document.children, reasons, strict=True) if not reason]

    def _count_skipped(self, reason: Skip) -> None:
        """Count a sitemap that was left out at the top of the tree."""
        self.skipped_seeds[reason] += 1
        self.skipped[reason] += 1

    def _plant(self, seed: Seed) -> None:
        place = Place(
            seed.url,
            seed.level,
            seed.found_by,
            outer_parents=seed.parents,
            rung=seed.rung,
            homepage=seed.homepage,
        )
        if seed.found_by is FoundBy.KNOWN_PATH:
            place.unwanted = self.selection.refuses_sitemap(Child(seed.url), of_index=False)
        if seed.document:
            place.resource = self._resources.at_hand(seed.url, seed.level, seed.document)
            self.look_ahead(place.resource)
        elif seed.quiet:
            place.resource = self._resources.plan(seed.url, seed.level, probing=True)
        self.roots.append(place)

    def advance(self) -> None:
        """Walk on through the tree until an answer is missing."""
        while not self.done:
            if not self._path:
                self._path.append(self.roots[self._next_root])
                self._next_root += 1
            place = self._path[-1]
            if not place.judged and not self._judge(place):
                return
            if not self._path:  # a limit ended the crawl in that place
                return
            if place.next_child < len(place.children):
                place.next_child += 1
                self._path.append(place.children[place.next_child - 1])
            else:
                self._path.pop()
                if self.manner.streaming:
                    place.children = []  # nothing of them is needed any more

    def _judge(self, place: Place) -> bool:
        """Decide what stands in a place; False while its answer is missing."""
        if place.found_by is FoundBy.KNOWN_PATH and place.url in self._found:
            place.absence = (Result.ALREADY_FOUND, "")
        elif not self._is_needed(place.rung):
            place.absence = (Result.NOT_NEEDED, "")
        elif place.unwanted:
            self._count_skipped(place.unwanted)
            place.absence = (Result.NOT_NEEDED, "")
        elif place.refusal is None and not self._is_settled(place):
            if not self._out_of_time:
                return False
            place.absence = (Result.NOT_NEEDED, "")
        place.judged = True
        if place.refusal is None and place.absence is None:
            self._judge_answer(place)
        if place.absence is None and place.found_by is not FoundBy.WELL_KNOWN:
            self._found |= {place.url, place.final_url}
        self._count(place)
        self._hand_over(place)
        return True

    def _hand_over(self, place: Place) -> None:
        """Take note that the cursor has come to a document; in a stream, its pages are due."""
        resource, document = place.resource, place.document
        if resource is None or document is None or not self._resources.reached(resource, document):
            return
        listed = place.absence is None and place.refusal is None
        if self.manner.streaming and listed and document.kind not in _WITHOUT_PAGES:
            place.skipped_so_far = Counter(self.skipped)
            self.ready.append(place)

    def release(self, place: Place) -> None:
        """Forget the document of a place whose pages were read."""
        if place.resource and place.document:
            place.resource.standing.document = replace(place.document, pages=())

    def _is_settled(self, place: Place) -> bool:
        if place.resource is None:
            place.resource = self._plan(place)
        if place.resource.answer is None:
            return False
        place.resource = place.resource.in_its_stead
        return True

    def _plan(self, place: Place) -> Resource:
        return self._resources.plan(
            place.url,
            place.level,
            probing=place.is_guess,
            kind=Kind.HOMEPAGE if place.homepage else None,
            two_ways=place.found_by is not FoundBy.KNOWN_PATH,
        )

    def _probe(self, places: Iterable[Place]) -> None:
        """Ask for guesses before the cursor comes to them."""
        for place in places if self.manner.probe_at_once else ():
            if not place.unwanted:
                place.resource = place.resource or self._plan(place)

    def _is_needed(self, rung: Rung) -> bool:
        """Tell whether a rung is climbed: decided for all of it, at its first place."""
        if rung not in self._climbed:
            enough = {
                Need.ALWAYS: False,
                Need.UNLESS_FOUND: self.tally.sitemaps > 0,
                Need.IF_NONE: self.outcome is not Outcome.NONE,
            }
            self._climbed[rung] = not enough[rung.need]
            if self._climbed[rung]:
                self._probe(place for place in self.roots if place.rung == rung)
        return self._climbed[rung]

    def _judge_answer(self, place: Place) -> None:
        answer = place.answer
        if isinstance(answer, FetchFailed):
            if place.is_guess:
                place.absence = (Result.MISSING, answer.message)
        elif isinstance(answer, Document):
            parents = place.parents()
            if place.homepage:
                self._ask_homepage(place, place.homepage, answer)
            elif place.found_by is FoundBy.KNOWN_PATH and answer.url in self._found:
                place.absence = (Result.ALREADY_FOUND, "")
            elif place.is_guess and (answer.kind is Kind.INVALID or answer.blank):
                place.absence = (Result.NOT_A_SITEMAP, answer.reason or NAMES_NOTHING)
            elif urldefrag(answer.url).url in parents and answer.url != place.url:
                way = f"{place.url} redirected to {answer.url}"
                above = f"with parent URLs {sorted(parents)}"
                place.refusal = ("SM602", f"Recursion detected when {way} {above}.")
            elif answer.children or answer.kind in _INDEXES:
                self._open(place, answer, parents | {answer.url})

    def _ask_homepage(self, place: Place, wanted: Homepage, document: Document) -> None:
        """Let what a homepage leads to stand at the top of the tree; itself it stands nowhere."""
        named = [child for child in document.children if child.is_feed is wanted.feeds]
        things = "feeds" if wanted.feeds else "sitemaps"
        place.absence = (Result.NOT_A_SITEMAP, f"the homepage; {things} named there: {len(named)}")
        site = wanted.moved_to(document.url)
        for path in wanted.elsewhere if site else ():
            found_by = FoundBy.WELL_KNOWN if path == "robots.txt" else FoundBy.KNOWN_PATH
            place.children.append(Place(urljoin(site or "", path), 0, found_by, rung=place.rung))
        for child in named:
            reason = self.selection.refuses_sitemap(child, of_index=False)
            if reason:
                self._count_skipped(reason)
            else:
                place.children.append(Place(child.url, 0, FoundBy.HTML, rung=place.rung))
        self._probe(place.children)

    def _count(self, place: Place) -> None:
        """Count what was read, and end the crawl where that is enough."""
        self.tally.add(place)
        if place.absence is None and place.refusal is None and place.document:
            self._count_pages(place, place.document)
        limit = self._policy.max_sitemaps
        if limit is not None and self.tally.named >= limit and not self.done:
            self.stop("SM703", f"The crawl has reached its {limit} sitemaps")

    def _count_pages(self, place: Place, document: Document) -> None:
        """Count pages up to the limit, or until the caller has enough; a stream does so itself."""
        limit = self._policy.max_pages
        if limit is not None and self.counts_pages:
            count = document.page_count
            if count is None:  # the caller's own driver counts nothing
                count = sum(1 for _ in self.selection.choose(document.pages))
            left = limit - self._pages
            self._pages += count
            place.first = left if count >= left else None
        if self.manner.stop and not self.manner.streaming:
            pages = islice(self.selection.choose(document.pages), place.first)
            until = next((at for at, page in enumerate(pages) if self.manner.stop(page)), None)
            if until is not None:
                place.first, place.stopped_before_next = until, True
                self.stop("SM706", "The caller had enough")
                return
        if place.first is not None:
            self.stop("SM704", f"The crawl has reached its {limit} pages")

    def stop(self, code: str, reason: str) -> None:
        """End the crawl here: nothing that comes after this place is wanted."""
        self.stopped = self.stopped or (code, reason)
        self._path.clear()
        self._next_root = len(self.roots)

    def end_at(self, place: Place, code: str, reason: str) -> None:
        """End a stream among the pages of a place: how far ahead of it the cursor is, is chance."""
        self.stopped = (code, reason)
        if place.skipped_so_far is not None:
            self.skipped = place.skipped_so_far
        self.stop(code, reason)

    def run_out(self, code: str, reason: str) -> None:
        """End the crawl with all that has come, wherever it stands."""
        self.stopped = (code, reason)
        self._out_of_time = True
        self.advance()

    def _open(self, place: Place, document: Document, parents: set[str]) -> None:
        """Give an index its children."""
        found_by = FoundBy.ROBOTS if document.kind is Kind.ROBOTS else FoundBy.INDEX
        wanted = {child.url: child for child in self._wanted(document, place.skipped)}
        urls = list(wanted)
        if self.manner.recurse_list:
            urls = list(self.manner.recurse_list(urls, place.level, set(parents)))
        if self.manner.recurse:
            ask = self.manner.recurse
            urls = [url for url in urls if ask(url, place.level, set(parents))]
        if unwanted := wanted.keys() - set(urls):
            place.skipped[Skip.SITEMAP_CALLBACK] += len(unwanted)
        self.skipped += place.skipped
        for url in self._repeats.allowed(place, list(dict.fromkeys(urls))):
            lastmod = wanted[url].lastmod if url in wanted else None
            child = Place(url, place.level + 1, found_by, parent=place, lastmod=lastmod)
            child.refusal = refusal(url, child.level, parents, self._policy)
            if child.refusal is None:
                child.resource = self._resources.plan(url, child.level)
                placed_at = child.resource.placed_at
                child.resource.placed_at = min(placed_at or child.level, child.level)
            place.children.append(child)
