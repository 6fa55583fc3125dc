"""The crawl machine: it decides, and never waits.

A *resource* is a URL, asked for once. A *place* is where the tree declares it, with its own level,
ancestors and verdict. A cursor walks the places in the tree's order; callbacks run, loops and known
paths are judged only there, so that nothing depends on which answer came first. Requests for what
the cursor will need run ahead of it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from usp._crawl.messages import Answer, FetchFailed, FetchRequest
from usp._crawl.policy import Policy
from usp._crawl.seeds import FoundBy, Seed
from usp._parse.document import Document
from usp._parse.sniff import Kind
from usp._parse.values import is_http_url

RecurseCallback = Callable[[str, int, set[str]], bool]
RecurseListCallback = Callable[[list[str], int, set[str]], list[str]]

_GUESSES: Final = frozenset({FoundBy.ROBOTS, FoundBy.KNOWN_PATH})
"""Places that nobody declared: where nothing is there, nothing stands in the tree."""

_GONE: Final = FetchFailed("the host no longer answers, and was given up")


@dataclass(slots=True, eq=False)
class Resource:
    """A URL that is asked for once, however often it is declared."""

    url: str
    level: int
    probing: bool
    tries: int = 0
    due: float = 0.0
    answer: Answer | None = None
    opened_at: int | None = None
    """The lowest level at which it stands open as an index."""


@dataclass(slots=True, eq=False)
class Place:
    """Where the tree declares a sitemap."""

    url: str
    level: int
    found_by: FoundBy
    parent: "Place | None" = None
    outer_parents: frozenset[str] = frozenset()
    resource: Resource | None = None
    children: "list[Place]" = field(default_factory=list)
    refusal: tuple[str, str] | None = None
    """Why it stands in the tree as invalid though nobody asked the web: code and reason."""
    absent: str | None = None
    """Why a guess gave nothing: ``already-found`` or the reason in words."""
    closed: bool = False
    """An index that isn't opened here since it stands open elsewhere."""
    judged: bool = False
    next_child: int = 0

    @property
    def answer(self) -> Answer | None:
        """What came of asking for it."""
        return self.resource.answer if self.resource else None

    @property
    def document(self) -> Document | None:
        """The document, if one came."""
        return self.answer if isinstance(self.answer, Document) else None

    @property
    def final_url(self) -> str:
        """The URL after redirects."""
        return self.document.url if self.document else self.url

    def parents(self) -> set[str]:
        """Return the URLs of the sitemaps above this one."""
        above = set(self.outer_parents)
        place = self.parent
        while place is not None:
            above |= place.outer_parents
            above.add(place.final_url)
            place = place.parent
        return above


class Crawl:
    """Decides what to fetch and what the tree is; ``take`` work, ``receive`` what came of it."""

    def __init__(
        self,
        seeds: Iterable[Seed],
        policy: Policy | None = None,
        *,
        recurse_callback: RecurseCallback | None = None,
        recurse_list_callback: RecurseListCallback | None = None,
    ) -> None:
        self.policy = policy or Policy()
        self.roots: list[Place] = []
        self._recurse_callback = recurse_callback
        self._recurse_list_callback = recurse_list_callback
        self._resources: dict[str, Resource] = {}
        self._planned: dict[str, Resource] = {}
        self._flying: set[str] = set()
        self._strikes: dict[str, int] = {}
        self._found: set[str] = set()
        self._repeats = 0
        self._path: list[Place] = []
        self._next_root = 0
        for seed in seeds:
            self._plant(seed)
        self._advance()

    @property
    def done(self) -> bool:
        """Whether the whole tree is decided."""
        return not self._path and self._next_root == len(self.roots)

    def places(self) -> Iterator[Place]:
        """Yield all places of the tree, each before its children."""
        waiting = list(reversed(self.roots))
        while waiting:
            place = waiting.pop()
            yield place
            waiting.extend(reversed(place.children))

    def take(self, now: float, limit: int = 1) -> list[FetchRequest]:
        """Return what may be fetched now, at most ``limit``; what the cursor waits for first."""
        wanted: list[Resource] = []
        awaited = self._path[-1].resource if self._path else None
        if awaited and awaited.url in self._planned and awaited.due <= now:
            wanted.append(awaited)
        for resource in self._planned.values():
            if len(wanted) >= limit:
                break
            if resource.due <= now and resource is not awaited:
                wanted.append(resource)
        return [self._launch(resource) for resource in wanted[:limit]]

    def wakeup(self) -> float | None:
        """Return when the next planned request is due; None if none is planned."""
        return min((resource.due for resource in self._planned.values()), default=None)

    def receive(self, request: FetchRequest, answer: Answer, now: float) -> bool:
        """Take what came of a request; tell whether that is final, or will be tried again."""
        resource = self._resources[request.url]
        self._flying.discard(resource.url)
        self._count_strike(resource.url, answer)
        if isinstance(answer, FetchFailed) and answer.retryable:
            if resource.tries < self.policy.tries and not self._given_up(resource.url):
                resource.due = now + self.policy.pause(resource.tries, answer.retry_after)
                self._planned[resource.url] = resource
                return False
            answer = answer.salvaged or answer
        self._settle(resource, answer)
        self._advance()
        return True

    # Resources.

    def _plan(self, url: str, level: int, *, probing: bool = False) -> Resource:
        resource = self._resources.get(url)
        if resource is None:
            resource = self._resources[url] = Resource(url, level, probing)
            if self._given_up(url):
                resource.answer = _GONE
            else:
                self._planned[url] = resource
        resource.level = min(resource.level, level)
        return resource

    def _launch(self, resource: Resource) -> FetchRequest:
        del self._planned[resource.url]
        self._flying.add(resource.url)
        resource.tries += 1
        return FetchRequest(resource.url, resource.level, resource.probing, resource.tries)

    def _settle(self, resource: Resource, answer: Answer) -> None:
        resource.answer = answer
        has_callbacks = self._recurse_callback or self._recurse_list_callback
        if isinstance(answer, Document) and resource.level < self.policy.max_level:
            for child in () if has_callbacks else answer.children:
                if is_http_url(child.url):
                    self._plan(child.url, resource.level + 1)

    def _count_strike(self, url: str, answer: Answer) -> None:
        host = urlsplit(url).netloc
        silent = isinstance(answer, FetchFailed) and answer.status is None and not answer.salvaged
        self._strikes[host] = self._strikes.get(host, 0) + 1 if silent else 0
        if self._given_up(url):
            for planned in [r for r in self._planned.values() if urlsplit(r.url).netloc == host]:
                del self._planned[planned.url]
                planned.answer = _GONE

    def _given_up(self, url: str) -> bool:
        return self._strikes.get(urlsplit(url).netloc, 0) >= self.policy.host_strikes

    # Places, in the tree's order.

    def _plant(self, seed: Seed) -> None:
        place = Place(seed.url, seed.level, seed.found_by, outer_parents=seed.parents)
        if seed.document:
            place.resource = Resource(seed.url, seed.level, probing=False)
            self._resources[seed.url] = place.resource
            self._settle(place.resource, seed.document)
        elif seed.quiet:
            place.resource = self._plan(seed.url, seed.level, probing=True)
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
            if place.next_child < len(place.children):
                place.next_child += 1
                self._path.append(place.children[place.next_child - 1])
            else:
                self._path.pop()

    def _judge(self, place: Place) -> bool:
        """Decide what stands in a place; False while its answer is missing."""
        if place.found_by is FoundBy.KNOWN_PATH and place.url in self._found:
            place.absent = "already-found"
        elif place.refusal is None and not self._is_settled(place):
            return False
        place.judged = True
        if place.refusal is None and place.absent is None:
            self._judge_answer(place)
        if place.absent is None and place.found_by is not FoundBy.ROBOTS:
            self._found |= {place.url, place.final_url}
        return True

    def _is_settled(self, place: Place) -> bool:
        if place.resource is None:
            probing = place.found_by in _GUESSES
            place.resource = self._plan(place.url, place.level, probing=probing)
        return place.resource.answer is not None

    def _judge_answer(self, place: Place) -> None:
        answer = place.answer
        guess = place.found_by in _GUESSES
        if isinstance(answer, FetchFailed):
            place.absent = answer.message if guess else None
        elif isinstance(answer, Document):
            parents = place.parents()
            if place.found_by is FoundBy.KNOWN_PATH and answer.url in self._found:
                place.absent = "already-found"
            elif guess and (answer.kind is Kind.INVALID or answer.blank):
                place.absent = answer.reason or "It names no page"
            elif answer.url != place.url and answer.url in parents:
                way = f"{place.url} redirected to {answer.url}"
                above = f"with parent URLs {sorted(parents)}"
                place.refusal = ("SM602", f"Recursion detected when {way} {above}.")
            elif answer.children:
                self._open(place, answer, parents | {answer.url})

    def _open(self, place: Place, document: Document, parents: set[str]) -> None:
        """Give an index its children."""
        resource = place.resource
        if resource is None or self._is_repeated_too_often(resource, place.level, document):
            place.closed = True
            return
        urls = [child.url for child in document.children]
        if self._recurse_list_callback:
            urls = list(self._recurse_list_callback(urls, place.level, set(parents)))
        for url in dict.fromkeys(urls):
            if self._recurse_callback and not self._recurse_callback(
                url, place.level, set(parents)
            ):
                continue
            child = Place(url, place.level + 1, FoundBy.DECLARED, parent=place)
            child.refusal = self._refuse(child, parents)
            if child.refusal is None:
                child.resource = self._plan(url, child.level)
            place.children.append(child)

    def _is_repeated_too_often(self, resource: Resource, level: int, document: Document) -> bool:
        """Tell whether an index was opened before and the budget for opening it again is spent.

        Nearer to the root than ever before it is opened all the same: it may reach further down.
        """
        before = resource.opened_at
        if before is not None and before <= level:
            if self._repeats + len(document.children) > self.policy.repeated_places:
                return True
            self._repeats += len(document.children)
        resource.opened_at = level if before is None else min(before, level)
        return False

    def _refuse(self, place: Place, parents: set[str]) -> tuple[str, str] | None:
        if not is_http_url(place.url):
            return "SM604", f"URL {place.url} is not a HTTP(S) URL."
        if place.url in parents:
            found = f"Recursion detected in URL {place.url} with parent URLs {sorted(parents)}."
            return "SM601", found
        if place.level > self.policy.max_level:
            levels = self.policy.max_level
            return "SM603", f"Recursion level exceeded {levels} for URL {place.url}."
        return None
