"""Nodes: the positions in the tree where sitemaps are declared, and the outcome of all of them."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from urllib.parse import urldefrag

from usp._crawl.deadline import TIME_LIMIT, ReachedLimit
from usp._crawl.discovery import GIVEN, HomepageQuery, Stage
from usp._crawl.messages import FetchFailed
from usp._crawl.policy import Policy
from usp._crawl.resource import Resource
from usp._crawl.robots import DISALLOWED
from usp._parse import Child, Document, Kind, is_http_url, parse_date
from usp.objects.fetch_info import NOT_FETCHED, FetchInfo, Provenance
from usp.objects.outcome import Attempt, FoundBy, Outcome, Result, SkipReason
from usp.objects.page import as_utc
from usp.objects.problem import NOT_EXPANDED, Problem

_GUESSES: Final = frozenset({FoundBy.WELL_KNOWN, FoundBy.KNOWN_PATH})
_BLOCKED: Final = frozenset({401, 403, 429, 451})
_MAX_ROBOTS_REDIRECTS: Final = 5
_CLIENT_ERRORS: Final = frozenset(range(400, 500)) - {407, 408, 421, 425}
"""Those that say something of the document: not those of a proxy, nor of a request that came too
late, to another server or too early (RFC 9110, 15.5.8, 15.5.9 and 15.5.20; RFC 8470)."""
_NOT_REQUESTED: Final = frozenset({Result.ALREADY_FOUND, Result.NOT_NEEDED})
NO_PAGES: Final = "It lists no page"
NOT_EXPANDED_MESSAGE: Final = "The index is expanded elsewhere in the tree"
_CHILD_STAGES: Final = {FoundBy.ROBOTS: "robots.txt", FoundBy.INDEX: "indexes"}
"""The stages of what another sitemap declares."""
_NO_ANSWER: Final = {Result.BLOCKED: Outcome.BLOCKED, Result.UNREACHABLE: Outcome.UNREACHABLE}


class CountsSoFar(NamedTuple):
    """What was counted up to a node: how far the cursor is ahead of it depends on time."""

    skipped: Counter[SkipReason]
    sitemaps: int
    failed: int


@dataclass(slots=True, eq=False)
class Node:
    """A position in the tree where a sitemap is declared, with its own level and ancestors."""

    url: str
    level: int
    found_by: FoundBy
    parent: "Node | None" = None
    outer_parents: frozenset[str] = frozenset()
    resource: Resource | None = None
    children: "Sequence[Node]" = ()
    rejection: tuple[str, str] | None = None
    """Why it is invalid though nothing was requested: code and reason."""
    absence: tuple[Result, str] | None = None
    """Why a guess found nothing, so that the tree has no sitemap here."""
    lastmod: str | None = None
    """The ``<lastmod>`` that its index gives."""
    page_limit: int | None = None
    """How many of its pages are in the tree, where a limit was reached; None for all."""
    pages_due: bool = False
    """In a stream: its pages are to be read here."""
    stopped_before_next: bool = False
    """The stop callback ended the crawl at the page after those."""
    so_far: CountsSoFar | None = None
    """In a stream: what was counted up to here."""
    skipped: Counter[SkipReason] | None = None
    """The children that were skipped, by reason."""
    skipped_children: tuple[tuple[Child, SkipReason], ...] = ()
    """The same one by one, where ``every_node`` is wanted."""
    more_children: int = 0
    """The number of children that have no node, since a limit ends the crawl before them."""
    skip_reason: SkipReason | None = None
    """Why it is not requested, by the caller's selection."""
    collapsed: bool = False
    """An index that is not expanded here, since it is expanded elsewhere."""
    stage: Stage = GIVEN
    homepage: HomepageQuery | None = None
    """What to look for, if it is the homepage."""
    decided: bool = False
    """Whether the cursor has passed it: what the tree has here is known."""
    number: int = 0
    """Its number in document order, once it is decided."""
    next_child: int = 0

    @property
    def is_guess(self) -> bool:
        """Whether nothing declares it: where nothing is found, the tree has no sitemap here."""
        return self.found_by in _GUESSES

    @property
    def is_robots(self) -> bool:
        """Whether it is the robots.txt of the site."""
        return self.found_by is FoundBy.WELL_KNOWN and self.homepage is None

    @property
    def was_tried(self) -> bool:
        """Whether it belongs to what was tried: its stage ran."""
        return self.absence is None or self.absence[0] is not Result.NOT_NEEDED

    @property
    def was_requested(self) -> bool:
        """Whether there is a result, or a request that has none yet."""
        resource = self.resource
        if resource is None or self.rejection is not None:
            return self.rejection is not None
        fallback = resource.fallback
        return bool(resource.attempts or resource.result or (fallback and fallback.attempts))

    def skip_children_without_result(self) -> None:
        """Go to the next child that was requested: the crawl requests no more."""
        children, at = self.children, self.next_child
        while at < len(children) and not children[at].was_requested:
            at += 1
        self.next_child = at

    @property
    def children_left(self) -> int:
        """The number of children that the cursor has not reached."""
        return len(self.children) - self.next_child + self.more_children

    @property
    def by_scheme_fallback(self) -> bool:
        """Whether it was fetched by the other scheme than the declared one."""
        requested = self.resource.url if self.resource else self.url
        scheme, is_url, _ = self.url.partition("://")  # the path of a file has none
        return bool(is_url) and requested.partition(":")[0] != scheme.lower()

    @property
    def result(self) -> Document | FetchFailed | None:
        """The result of fetching it, if there is one yet."""
        return self.resource.result if self.resource else None

    @property
    def is_disallowed(self) -> bool:
        """Whether it was not requested, since robots.txt disallows it."""
        return isinstance(self.result, FetchFailed) and self.result.code == DISALLOWED

    @property
    def document(self) -> Document | None:
        """The document, if one arrived."""
        result = self.result
        return result if isinstance(result, Document) else None

    @property
    def final_url(self) -> str:
        """The URL after redirects."""
        document = self.document
        return document.url if document else self.url

    def parents(self) -> set[str]:
        """Return the URLs of the sitemaps above this one."""
        above = set(self.outer_parents)
        node = self.parent
        while node is not None:
            above |= node.outer_parents
            above.add(node.final_url)
            node = node.parent
        return above

    @property
    def invalid(self) -> tuple[str, str] | None:
        """Why there is no document to read here: code and reason."""
        if self.rejection is not None:
            return self.rejection
        result = self.result
        if isinstance(result, FetchFailed):
            return result.code, result.reason(self.url)
        if result is None:
            return "SM605", "The sitemap was not fetched"
        return None

    def known_losses(self) -> tuple[Problem, ...]:
        """Return why what was declared here is not all there, as far as it was read."""
        if self.absence is not None:
            return ()
        invalid = self.invalid
        if invalid is not None:
            code, reason = invalid
            return (Problem(code, reason, sitemap_url=self.url),)
        document, url = self.document, self.final_url or self.url
        if document is None or document.code == TIME_LIMIT:  # the crawl itself tells that
            return ()
        if document.kind is Kind.INVALID:
            return (Problem(document.code, f"{document.reason}: {url}", sitemap_url=url),)
        found = [replace(error, sitemap_url=url) for error in document.known_errors]
        collapsed = [Problem(NOT_EXPANDED, NOT_EXPANDED_MESSAGE, sitemap_url=url)]
        return (*(collapsed * self.collapsed), *found)

    def attempt(self) -> Attempt:
        """Return what was tried, and the result."""
        info = self.fetch_info
        return Attempt(
            self.url,
            self.found_by,
            *self._attempt_result(),
            stage=_CHILD_STAGES.get(self.found_by, self.stage.name),
            http_status=info.status,
            code=self._failure_code,
            seconds=info.seconds,
            at=info.fetched_at,
        )

    def provenance(self) -> Provenance:
        """Return how it was found."""
        lastmod = as_utc(parse_date(self.lastmod)) if self.lastmod else None
        return Provenance(self.found_by, self.url, lastmod, self._response_info())

    @property
    def fetch_info(self) -> FetchInfo:
        """What is known of the requests for it, whether or not one brought a response."""
        info, failed, resource = self._response_info(), self.result, self.resource
        if info.status is None and isinstance(failed, FetchFailed) and failed.status is not None:
            info = replace(info, status=failed.status)
        if not info.attempts and resource and resource.attempts:
            info = replace(info, attempts=resource.attempts)
        return info

    def _response_info(self) -> FetchInfo:
        result = self.result
        if isinstance(result, FetchFailed):
            return result.fetch_info
        if self.resource is None or result is None:
            return NOT_FETCHED
        # A URL that a redirect from elsewhere led to was not requested itself.
        return self.resource.fetch_info or replace(result.fetch_info, redirects=())

    @property
    def _failure_code(self) -> str | None:
        """The problem code, if it could not be read."""
        if self.absence is not None and not isinstance(self.result, FetchFailed):
            return None
        if self.invalid is not None:
            return self.invalid[0]
        return (self.document.code if self.document else None) or None

    def _attempt_result(self) -> tuple[Result, str]:
        result = self.result
        failed = isinstance(result, FetchFailed)
        if self.absence is not None and (self.absence[0] in _NOT_REQUESTED or not failed):
            return self.absence
        if self.rejection is not None:
            return Result.REFUSED, self.rejection[1]
        if isinstance(result, FetchFailed):
            return failure_result(result, is_robots=self.is_robots), result.message
        if result is None:
            return Result.REFUSED, "it was not fetched"
        if result.kind is Kind.INVALID or result.blank:
            unread = result.code == TIME_LIMIT
            why = Result.UNFINISHED if unread else Result.NOT_A_SITEMAP
            return why, result.reason or NO_PAGES
        return Result.SITEMAP, ""


def unfinished(resource: Resource, limit: ReachedLimit, *, is_robots: bool) -> tuple[Result, str]:
    """Return what came of a request that has no result when the crawl reaches a limit."""
    tried = [one for one in (resource.fallback, resource) if one and one.attempts]
    if not tried:
        return Result.NOT_NEEDED, ""
    has_begun = any(one.progress and one.progress.began for one in tried)
    for failed in (one.failure or one.last_failure for one in tried):
        if failed and not has_begun:
            return failure_result(failed, is_robots=is_robots), failed.message
    return limit.result(has_begun=has_begun)


def failure_result(failed: FetchFailed, *, is_robots: bool) -> Result:
    """Return what a failed request says of its URL."""
    if failed.code == DISALLOWED:
        return Result.REFUSED
    if failed.challenged or failed.status in _BLOCKED:
        return Result.BLOCKED
    # Nothing but 4xx says that there is no document, and a 2xx that brought none could not be
    # decoded. Of robots.txt alone, more than five redirects say so, too (RFC 9309, 2.3.1.2).
    is_endless = len(failed.fetch_info.redirects) > _MAX_ROBOTS_REDIRECTS
    is_answer = failed.status in _CLIENT_ERRORS or (is_robots and is_endless)
    return Result.MISSING if is_answer and not failed.no_response else Result.UNREACHABLE


class OutcomeTally:
    """Counts the results of nodes, and derives the outcome of the crawl from them."""

    def __init__(self) -> None:
        self.sitemaps = 0
        """The sitemaps that were read; robots.txt doesn't count, it only leads to them."""
        self.failed = 0
        """The declared sitemaps that could not be read."""
        self.declared = 0
        """The sitemaps that were declared or found, read or not."""
        self.skipped = 0
        """The sitemaps that are listed, and were skipped by filters or callbacks."""
        self.incomplete = False
        """Whether something that was declared could not be read, or only in part."""
        self.damaged = False
        """Whether that is so of a document that was read: robots.txt counts."""
        self._decisive: Counter[Result] = Counter()
        self._guessed: Counter[Result] = Counter()

    def add(self, node: Node) -> None:
        """Count a node that was decided."""
        result, document = node.attempt().result, node.document
        is_robots = document is None or document.kind is Kind.ROBOTS
        has_losses = bool(node.known_losses())
        self._count(result, is_robots=is_robots, has_losses=has_losses, is_guess=node.is_guess)
        guessed = node.found_by is FoundBy.KNOWN_PATH or node.homepage is not None
        if node.was_tried:
            # A site whose robots.txt disallows everything refuses requests.
            counted = Result.BLOCKED if node.is_disallowed else result
            (self._guessed if guessed else self._decisive)[counted] += 1

    def add_declared(self, result: Result, *, is_robots: bool, has_losses: bool) -> None:
        """Count a sitemap of a tree that is there already: it has no node any more."""
        self._count(result, is_robots=is_robots, has_losses=has_losses, is_guess=False)
        self._decisive[result] += 1

    def _count(self, result: Result, *, is_robots: bool, has_losses: bool, is_guess: bool) -> None:
        is_read = result is Result.SITEMAP
        failed = not (is_read or is_guess)
        self.sitemaps += is_read and not is_robots
        self.declared += (is_read and not is_robots) or not is_guess
        self.failed += failed
        self.incomplete = self.incomplete or failed or has_losses
        self.damaged = self.damaged or (is_read and has_losses)

    def add_losses(self, node: Node) -> None:
        """Count what is known to be lost at a node, again when its pages were read."""
        self.incomplete = self.incomplete or bool(node.known_losses())

    def outcome(self, *, stopped: bool, ended_early: bool) -> Outcome:
        """Return the outcome of the crawl.

        Where nothing was found, robots.txt and what it declares decide whether that is an answer:
        many servers refuse one odd path or another. The known paths decide together: as soon as one
        of them is answered, the site has answered. What was skipped says nothing of the others; it
        decides only where nothing else is declared.

        A crawl that a limit of time or bytes ended is partial, unless no answer came, or only
        refusals.
        """
        if stopped:
            came = set(self._decisive + self._guessed)
            if self.sitemaps or came - set(_NO_ANSWER) or not ended_early:
                return Outcome.PARTIAL
            if not came:  # it ended before the first response
                return Outcome.UNREACHABLE
        if self.sitemaps:
            return Outcome.PARTIAL if self.incomplete else Outcome.FOUND
        if self.skipped and not self.failed and not self.damaged:
            return Outcome.FOUND  # and the caller selected none of them
        answered = set(self._guessed) - set(_NO_ANSWER)
        decisive = self._decisive if answered else self._decisive + self._guessed
        # What a damaged robots.txt declares may be lost.
        otherwise = Outcome.PARTIAL if self.damaged else Outcome.NONE
        return next((_NO_ANSWER[r] for r in _NO_ANSWER if decisive[r]), otherwise)


def rejection(
    url: str, level: int, parents: AbstractSet[str], policy: Policy
) -> tuple[str, str] | None:
    """Return why a sitemap can't be below these parents: code and reason; None if it can."""
    if not is_http_url(url):
        return "SM604", f"URL {url} is not a HTTP(S) URL."
    if urldefrag(url).url in parents or url in parents:
        return "SM601", f"Recursion detected in URL {url} with parent URLs {sorted(parents)}."
    if level > policy.max_level:
        return "SM603", f"Recursion level exceeded {policy.max_level} for URL {url}."
    return None
