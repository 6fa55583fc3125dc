"""Where the tree declares a sitemap, what came of it there, and what comes of all places."""

from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urldefrag

from usp._crawl.messages import Answer, FetchFailed
from usp._crawl.policy import Policy
from usp._crawl.resource import Resource
from usp._crawl.discovery import GIVEN, Homepage, Rung
from usp._parse.values.dates import date
from usp._parse.document import Document
from usp._parse.input.sniff import Kind
from usp._parse.values.text import is_http_url
from usp.objects.fetch_info import NOT_FETCHED, Arrival, Origin
from usp.objects.outcome import Attempt, FoundBy, Outcome, Result, Skip

_GUESSES: Final = frozenset({FoundBy.WELL_KNOWN, FoundBy.KNOWN_PATH})
_BLOCKED: Final = frozenset({401, 403, 407, 429, 451})
_SERVER_ERRORS: Final = range(500, 600)
_NOT_ASKED: Final = frozenset({Result.ALREADY_FOUND, Result.NOT_NEEDED})
NAMES_NOTHING: Final = "It names no page"
_RUNGS: Final = {FoundBy.ROBOTS: "robots.txt", FoundBy.INDEX: "indexes"}
"""The rungs of what stands below another place."""
_UNANSWERED: Final = {Result.BLOCKED: Outcome.BLOCKED, Result.UNREACHABLE: Outcome.UNREACHABLE}


@dataclass(slots=True, eq=False)
class Place:
    """Where the tree declares a sitemap, with its own level, ancestors and verdict."""

    url: str
    level: int
    found_by: FoundBy
    parent: "Place | None" = None
    outer_parents: frozenset[str] = frozenset()
    resource: Resource | None = None
    children: "list[Place]" = field(default_factory=list)
    refusal: tuple[str, str] | None = None
    """Why it stands in the tree as invalid though nobody asked the web: code and reason."""
    absence: tuple[Result, str] | None = None
    """Why a guess gave nothing, so that nothing stands in the tree."""
    lastmod: str | None = None
    """When it changed, as its index says."""
    first: int | None = None
    """So many of its pages stand in the tree, where a limit was reached; None for all."""
    stopped_before_next: bool = False
    """The caller was asked of the page after those, and had enough."""
    skipped_so_far: Counter[Skip] | None = None
    """In a stream: how many sitemaps were left out up to here."""
    skipped: Counter[Skip] = field(default_factory=Counter)
    """How many of its children were left out, as the caller asked."""
    unwanted: Skip | None = None
    """Why it isn't to be asked for, as the caller said."""
    closed: bool = False
    """An index that isn't opened here since it stands open elsewhere."""
    rung: Rung = GIVEN
    homepage: Homepage | None = None
    """It is the homepage, and this is wanted of it."""
    judged: bool = False
    next_child: int = 0

    @property
    def is_guess(self) -> bool:
        """Whether nobody named it: where nothing is there, nothing stands in the tree."""
        return self.found_by in _GUESSES

    @property
    def was_tried(self) -> bool:
        """Whether to tell of it: its rung was climbed."""
        return self.absence is None or self.absence[0] is not Result.NOT_NEEDED

    @property
    def by_other_scheme(self) -> bool:
        """Whether it was asked for by http though declared with https, or the other way."""
        asked = self.resource.url if self.resource else self.url
        return asked.partition(":")[0] != self.url.partition(":")[0].lower()

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

    def attempt(self) -> Attempt:
        """Return what came of it."""
        rung = _RUNGS.get(self.found_by, self.rung.name)
        return Attempt(self.url, self.found_by, *self._result(), rung)

    def origin(self) -> Origin:
        """Return where it came from."""
        lastmod = date(self.lastmod) if self.lastmod else None
        return Origin(self.found_by, self.url, lastmod, self._arrival())

    def _arrival(self) -> Arrival:
        if self.resource is None or self.document is None:
            return NOT_FETCHED
        # Nobody asked for a URL that a redirect from elsewhere has led to.
        return self.resource.arrival or replace(self.document.arrival, redirects=())

    def _result(self) -> tuple[Result, str]:
        answer = self.answer
        failed = isinstance(answer, FetchFailed)
        if self.absence is not None and (self.absence[0] in _NOT_ASKED or not failed):
            return self.absence
        if self.refusal is not None:
            return Result.REFUSED, self.refusal[1]
        if isinstance(answer, FetchFailed):
            return _failure(answer), answer.message
        if answer is None:
            return Result.REFUSED, "it was not fetched"
        if answer.kind is Kind.INVALID or answer.blank:
            return Result.NOT_A_SITEMAP, answer.reason or NAMES_NOTHING
        return Result.SITEMAP, ""


def _failure(failed: FetchFailed) -> Result:
    if failed.status in _BLOCKED:
        return Result.BLOCKED
    unanswered = failed.silent or failed.status is None or failed.status in _SERVER_ERRORS
    return Result.UNREACHABLE if unanswered else Result.MISSING


class Tally:
    """What came of the places so far, and so of the crawl."""

    def __init__(self) -> None:
        self.sitemaps = 0
        """How many sitemaps could be read, robots.txt not counting: it is only the way to them."""
        self.named = 0
        """How many were named or found, whether they could be read or not."""
        self.lacking = False
        """Whether something that was declared could not be read, or only in part."""
        self._decisive: Counter[Result] = Counter()
        self._known: Counter[Result] = Counter()

    def add(self, place: Place) -> None:
        """Count a place that was judged."""
        result = place.attempt().result
        document = place.document
        read = result is Result.SITEMAP and document and document.kind is not Kind.ROBOTS
        self.sitemaps += bool(read)
        self.named += bool(read) or not place.is_guess
        cut_off = document is not None and document.arrival.cut_off
        failed = not place.is_guess and result is not Result.SITEMAP
        self.lacking = self.lacking or failed or place.closed or cut_off
        known = place.found_by is FoundBy.KNOWN_PATH or place.homepage is not None
        (self._known if known else self._decisive)[result] += 1

    def outcome(self, *, stopped: bool, filtered: bool) -> Outcome:
        """Return what came of the crawl as a whole.

        Where nothing was found, robots.txt and what it declares decide whether that is an answer:
        many servers refuse one odd path or another. The known paths decide together: as soon as one
        of them is answered with a no, the site has answered.
        """
        if stopped:
            return Outcome.PARTIAL
        if self.sitemaps:
            return Outcome.PARTIAL if self.lacking else Outcome.FOUND
        if filtered:
            return Outcome.FOUND  # and the caller wanted none of them
        answered = set(self._known) - set(_UNANSWERED)
        decisive = self._decisive if answered else self._decisive + self._known
        return next((_UNANSWERED[r] for r in _UNANSWERED if decisive[r]), Outcome.NONE)


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
