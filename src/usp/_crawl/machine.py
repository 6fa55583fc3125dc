"""The crawl machine: it decides, and never waits.

A *resource* is a URL, asked for once. A *place* is where the tree declares it, with its own level,
ancestors and verdict. A cursor walks the places in the tree's order; callbacks run, loops and known
paths are judged only there, so that nothing depends on which answer came first. Requests for what
the cursor will need run ahead of it.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import islice
from typing import Any, Final, Self
from urllib.parse import urldefrag, urljoin

from usp._crawl.hosts import Resource
from usp._crawl.messages import Answer, FetchFailed, FetchRequest
from usp._crawl.places import Place, Tally
from usp._crawl.policy import Policy
from usp._crawl.repeats import Repeats
from usp._crawl.resources import Resources
from usp._crawl.seeds import KNOWN_PATHS, Seed, website_seeds
from usp._parse.decode import http_charset
from usp._parse.document import Child, Document, Source, inspect
from usp._parse.sniff import Kind
from usp._parse.values import is_http_url
from usp.exceptions import SitemapException
from usp.objects.outcome import FoundBy, Outcome, Result, Skip
from usp.objects.page import SitemapPage

RecurseCallback = Callable[[str, int, set[str]], bool]
RecurseListCallback = Callable[[list[str], int, set[str]], list[str]]

StopCallback = Callable[[SitemapPage], bool]

_CALLBACKS: Final = ("_recurse_callback", "_recurse_list_callback", "_stop_callback")
_INDEXES: Final = frozenset({Kind.INDEX, Kind.ROBOTS})
_WITHOUT_PAGES: Final = frozenset({Kind.ROBOTS, Kind.INVALID})


class Crawl:
    """Decides what to fetch and what the tree is; ``take`` work, ``receive`` what came of it."""

    def __init__(
        self,
        seeds: Iterable[Seed],
        policy: Policy | None = None,
        *,
        recurse_callback: RecurseCallback | None = None,
        recurse_list_callback: RecurseListCallback | None = None,
        stop_callback: StopCallback | None = None,
        counting: bool = False,
        probe_at_once: bool = False,
        streaming: bool = False,
    ) -> None:
        """Begin a crawl.

        :param stop_callback: asked of each page in the tree's order: whether to end before it.
        :param counting: have the pages of each document counted, though no limit needs it.
        :param probe_at_once: ask for known paths beside the rest from the start, rather than when
            all that was declared is known: quicker, and a few requests more.
        :param streaming: hand documents over one by one (``ready``), in the tree's order, fetch no
            further ahead of them than the policy allows, and keep nothing of them afterwards.
        """
        self.policy = policy or Policy()
        self.roots: list[Place] = []
        self.ready: deque[Place] = deque()
        """In a stream: the places whose pages may be read, each document at its first place."""
        self.selection = self.policy.selection
        self.skipped: Counter[Skip] = Counter()
        """How many sitemaps, and in a stream pages, were left out as the caller asked."""
        self.skipped_seeds: Counter[Skip] = Counter()
        """How many of them at the top of the tree."""
        self.stopped: tuple[str, str] | None = None
        """The limit that ended the crawl, if one did: code and reason."""
        self._recurse_callback = recurse_callback
        self._recurse_list_callback = recurse_list_callback
        self._stop_callback = stop_callback
        self._resources = Resources(self.policy)
        self._deadline: float | None = None
        self._counting = counting
        self._streaming = streaming
        self._declared = False  # whether anything named a sitemap
        self._tally = Tally()
        self._found: set[str] = set()
        self._pages = 0
        self._repeats = Repeats(self.policy.repeated_places, self._resources)
        self._path: list[Place] = []
        self._next_root = 0
        for seed in seeds:
            self._plant(seed)
        if probe_at_once:
            for place in self.roots:
                plan = self._resources.plan
                place.resource = place.resource or plan(place.url, place.level, probing=True)
        self._advance()

    @property
    def done(self) -> bool:
        """Whether the whole tree is decided."""
        return not self._path and self._next_root == len(self.roots)

    @classmethod
    def of_site(
        cls,
        homepage_url: str,
        policy: Policy | None = None,
        *,
        use_robots: bool = True,
        known_paths: Iterable[str] = KNOWN_PATHS,
    ) -> Self:
        """Begin a crawl of a website: robots.txt, and known paths beside what it declares."""
        if not is_http_url(homepage_url):
            raise SitemapException(f"URL {homepage_url} is not a HTTP(S) URL.")
        homepage = urljoin(homepage_url, "/")
        return cls(website_seeds(homepage, use_robots=use_robots, known_paths=known_paths), policy)

    @classmethod
    def of_sitemap(cls, url: str, policy: Policy | None = None) -> Self:
        """Begin a crawl of one sitemap and all that it leads to."""
        if not is_http_url(url):
            raise SitemapException(f"URL {url} is not a HTTP(S) URL.")
        return cls([Seed(url, FoundBy.GIVEN)], policy)

    def __getstate__(self) -> dict[str, Any]:
        # Callbacks are the caller's, and are given again.
        return self.__dict__ | dict.fromkeys(_CALLBACKS)

    @property
    def outcome(self) -> Outcome:
        """What came of the crawl, as far as it has come."""
        filtered = bool(self.skipped - self.skipped_seeds)
        return self._tally.outcome(stopped=self.stopped is not None, filtered=filtered)

    def places(self) -> Iterator[Place]:
        """Yield all places that were decided, each before its children."""
        waiting = list(reversed(self.roots))
        while waiting:
            place = waiting.pop()
            if place.judged:
                yield place
                waiting.extend(reversed(place.children))

    def take(self, now: float, limit: int | None = None) -> list[FetchRequest]:
        """Return what may be fetched now, at most ``limit``; what the cursor waits for first."""
        if self._deadline is None and self.policy.max_seconds is not None:
            self._deadline = now + self.policy.max_seconds
        if self._deadline is not None and now >= self._deadline and not self.done:
            self.stop("SM705", f"The crawl took more than {self.policy.max_seconds} seconds")
        if self.done:
            return []
        flying = self._resources.flying
        hands = self.policy.total - flying
        hands = hands if limit is None else min(hands, limit)
        ahead = self._resources.ahead + len(self.ready) + flying
        for_later = self.policy.documents_ahead - ahead if self._streaming else hands
        wanted = self._resources.launch(now, hands, for_later, self._path[-1].resource)
        return [self._request(resource) for resource in wanted]

    def _request(self, resource: Resource) -> FetchRequest:
        counted = self.selection if self._counts_pages else None
        return FetchRequest(resource.url, resource.level, resource.probing, resource.tries, counted)

    @property
    def _counts_pages(self) -> bool:
        return (self._counting or self.policy.max_pages is not None) and not self._streaming

    def wakeup(self) -> float | None:
        """Return when the next delayed request is due, or the crawl's time is up."""
        times = (self._resources.next_due(), self._deadline)
        return min((time for time in times if time is not None), default=None)

    def receive(
        self, request: FetchRequest, answer: Answer, now: float, chance: float = 0.5
    ) -> float | None:
        """Take what came of a request.

        :param chance: from 0 to 1, varies the pause before the next try.
        :return: the seconds after which it will be tried again; None if this was final.
        """
        settled = self._resources.receive(request.url, answer, now, chance)
        if isinstance(settled, float):
            return settled
        self._look_ahead(settled)
        self._advance()
        return None

    def _look_ahead(self, resource: Resource) -> None:
        """Ask for the children of an index before the cursor gets there; callbacks come first."""
        document = resource.standing.document
        callbacks = self._recurse_callback or self._recurse_list_callback
        if document is not None and not callbacks and resource.level < self.policy.max_level:
            wanted = self._wanted(document, Counter())
            urls = [child.url for child in wanted if is_http_url(child.url)]
            self._resources.prefetch(urls, resource.level + 1)

    def _wanted(self, document: Document, skipped: Counter[Skip]) -> list[Child]:
        """Return the children that the policy chooses, and count the others."""
        of_index = document.kind is not Kind.ROBOTS
        reasons = [self.selection.refuses_sitemap(c, of_index=of_index) for c in document.children]
        skipped.update(reason for reason in reasons if reason)
        return [c for c, reason in zip(document.children, reasons, strict=True) if not reason]

    def deliver(
        self,
        request: FetchRequest,
        data: bytes,
        now: float,
        *,
        url: str | None = None,
        content_type: str | None = None,
    ) -> None:
        """Take the document that came of a request, as it came.

        :param url: the URL that answered, where that is another one: redirects.
        :param content_type: the header, for the charset that it may name.
        """
        charset = http_charset(content_type)
        limit = self.policy.max_document_bytes
        source = Source([data], url or request.url, request.url, charset, limit)
        self.receive(request, inspect(source), now)

    # Places, in the tree's order.

    def _plant(self, seed: Seed) -> None:
        if seed.found_by is FoundBy.KNOWN_PATH:
            reason = self.selection.refuses_sitemap(Child(seed.url), of_index=False)
            if reason:
                self.skipped_seeds[reason] += 1
                self.skipped[reason] += 1
                return
        place = Place(
            seed.url,
            seed.level,
            seed.found_by,
            outer_parents=seed.parents,
            if_needed=seed.if_needed,
        )
        if seed.document:
            place.resource = self._resources.at_hand(seed.url, seed.level, seed.document)
            self._look_ahead(place.resource)
        elif seed.quiet:
            place.resource = self._resources.plan(seed.url, seed.level, probing=True)
        self.roots.append(place)

    def _advance(self) -> None:
        """Walk on through the tree until an answer is missing."""
        while not self.done:
            if not self._path:
                self._path.append(self.roots[self._next_root])
                self._next_root += 1
            place = self._path[-1]
            if not place.judged and not self._judge(place):
                return
            if self.stopped:
                return
            if place.next_child < len(place.children):
                place.next_child += 1
                self._path.append(place.children[place.next_child - 1])
            else:
                self._path.pop()
                if self._streaming:
                    place.children = []  # nothing of them is needed any more

    def _judge(self, place: Place) -> bool:
        """Decide what stands in a place; False while its answer is missing."""
        if place.found_by is FoundBy.KNOWN_PATH and place.url in self._found:
            place.absence = (Result.ALREADY_FOUND, "")
        elif place.if_needed and self._declared:
            place.absence = (Result.NOT_NEEDED, "")
        elif place.refusal is None and not self._is_settled(place):
            return False
        place.judged = True
        if place.refusal is None and place.absence is None:
            self._judge_answer(place)
        if place.absence is None and place.found_by is not FoundBy.ROBOTS:
            self._found |= {place.url, place.final_url}
        self._count(place)
        self._hand_over(place)
        return True

    def _hand_over(self, place: Place) -> None:
        """Take note that the cursor has come to a document; in a stream, its pages are due."""
        resource, document = place.resource, place.document
        if resource is None or document is None or not self._resources.reached(resource):
            return
        listed = place.absence is None and place.refusal is None
        if self._streaming and listed and document.kind not in _WITHOUT_PAGES:
            self.ready.append(place)

    def release(self, place: Place) -> None:
        """Forget the document of a place whose pages were read."""
        if place.resource and place.document:
            place.resource.standing.document = replace(place.document, pages=())

    def _is_settled(self, place: Place) -> bool:
        if place.resource is None:
            plan = self._resources.plan
            place.resource = plan(place.url, place.level, probing=place.is_guess)
        return place.resource.answer is not None

    def _judge_answer(self, place: Place) -> None:
        answer = place.answer
        if isinstance(answer, FetchFailed):
            if place.is_guess:
                place.absence = (Result.MISSING, answer.message)
        elif isinstance(answer, Document):
            parents = place.parents()
            if place.found_by is FoundBy.KNOWN_PATH and answer.url in self._found:
                place.absence = (Result.ALREADY_FOUND, "")
            elif place.is_guess and (answer.kind is Kind.INVALID or answer.blank):
                place.absence = (Result.NOT_A_SITEMAP, answer.reason)
            elif urldefrag(answer.url).url in parents and answer.url != place.url:
                way = f"{place.url} redirected to {answer.url}"
                above = f"with parent URLs {sorted(parents)}"
                place.refusal = ("SM602", f"Recursion detected when {way} {above}.")
            elif answer.children or answer.kind in _INDEXES:
                self._open(place, answer, parents | {answer.url})

    def _count(self, place: Place) -> None:
        """Count what was read, and end the crawl where that is enough."""
        self._tally.add(place)
        if place.absence is None and place.refusal is None and place.document:
            self._count_pages(place, place.document)
        limit = self.policy.max_sitemaps
        if limit is not None and self._tally.sitemaps >= limit and not self.done:
            self.stop("SM703", f"The crawl has reached its {limit} sitemaps")

    def _count_pages(self, place: Place, document: Document) -> None:
        """Count pages up to the limit, or until the caller has enough; a stream does so itself."""
        limit = self.policy.max_pages
        if limit is not None and self._counts_pages:
            count = document.page_count
            if count is None:  # the caller's own driver counts nothing
                count = sum(1 for _ in self.selection.choose(document.pages))
            left = limit - self._pages
            self._pages += count
            if count >= left:
                place.first = left
                self.stop("SM704", f"The crawl has reached its {limit} pages")
        if self._stop_callback and not self._streaming:
            pages = islice(self.selection.choose(document.pages), place.first)
            until = next((at for at, page in enumerate(pages) if self._stop_callback(page)), None)
            if until is not None:
                place.first = until
                self.stop("SM706", "The caller had enough")

    def stop(self, code: str, reason: str) -> None:
        """End the crawl in order, with what it has."""
        self.stopped = (code, reason)
        self._path.clear()
        self._next_root = len(self.roots)

    def _open(self, place: Place, document: Document, parents: set[str]) -> None:
        """Give an index its children."""
        wanted = {child.url: child for child in self._wanted(document, place.skipped)}
        urls = list(wanted)
        if self._recurse_list_callback:
            urls = list(self._recurse_list_callback(urls, place.level, set(parents)))
        if self._recurse_callback:
            ask = self._recurse_callback
            urls = [url for url in urls if ask(url, place.level, set(parents))]
        if unwanted := wanted.keys() - set(urls):
            place.skipped[Skip.SITEMAP_CALLBACK] += len(unwanted)
        self.skipped += place.skipped
        for url in self._repeats.allowed(place, list(dict.fromkeys(urls))):
            lastmod = wanted[url].lastmod if url in wanted else None
            child = Place(url, place.level + 1, FoundBy.DECLARED, parent=place, lastmod=lastmod)
            self._declared = True
            child.refusal = refusal(url, child.level, parents, self.policy)
            if child.refusal is None:
                child.resource = self._resources.plan(url, child.level)
                placed_at = child.resource.placed_at
                child.resource.placed_at = min(placed_at or child.level, child.level)
            place.children.append(child)


def refusal(
    url: str, level: int, parents: AbstractSet[str], policy: Policy
) -> tuple[str, str] | None:
    """Return why a sitemap can't stand below these parents: code and reason; None if it can."""
    if not is_http_url(url):
        return "SM604", f"URL {url} is not a HTTP(S) URL."
    if urldefrag(url).url in parents or url in parents:
        return "SM601", f"Recursion detected in URL {url} with parent URLs {sorted(parents)}."
    if level > policy.max_level:
        return "SM603", f"Recursion level exceeded {policy.max_level} for URL {url}."
    return None
