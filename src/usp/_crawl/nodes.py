"""Where the tree declares a sitemap, what came of it there, and what comes of all nodes."""

from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urldefrag

from usp._crawl.discovery import GIVEN, HomepageQuery, Stage
from usp._crawl.messages import FetchFailed
from usp._crawl.policy import Policy
from usp._crawl.resource import Resource
from usp._parse import Document, Kind, is_http_url, parse_date
from usp.objects.fetch_info import NOT_FETCHED, FetchInfo, Provenance
from usp.objects.outcome import Attempt, FoundBy, Outcome, Result, SkipReason

_GUESSES: Final = frozenset({FoundBy.WELL_KNOWN, FoundBy.KNOWN_PATH})
_BLOCKED: Final = frozenset({401, 403, 407, 429, 451})
_SERVER_ERRORS: Final = range(500, 600)
_NOT_ASKED: Final = frozenset({Result.ALREADY_FOUND, Result.NOT_NEEDED})
NAMES_NOTHING: Final = "It names no page"
_RUNGS: Final = {FoundBy.ROBOTS: "robots.txt", FoundBy.INDEX: "indexes"}
"""The stages of what stands below another node."""
_NO_RESPONSE: Final = {Result.BLOCKED: Outcome.BLOCKED, Result.UNREACHABLE: Outcome.UNREACHABLE}


@dataclass(slots=True, eq=False)
class Node:
    """Where the tree declares a sitemap, with its own level, ancestors and verdict."""

    url: str
    level: int
    found_by: FoundBy
    parent: "Node | None" = None
    outer_parents: frozenset[str] = frozenset()
    resource: Resource | None = None
    children: "list[Node]" = field(default_factory=list)
    rejection: tuple[str, str] | None = None
    """Why it stands in the tree as invalid though nobody asked the web: code and reason."""
    absence: tuple[Result, str] | None = None
    """Why a guess gave nothing, so that nothing stands in the tree."""
    lastmod: str | None = None
    """When it changed, as its index says."""
    first: int | None = None
    """So many of its pages stand in the tree, where a limit was reached; None for all."""
    stopped_before_next: bool = False
    """The caller was asked of the page after those, and had enough."""
    skipped_so_far: Counter[SkipReason] | None = None
    """In a stream: how many sitemaps were left out up to here."""
    skipped: Counter[SkipReason] = field(default_factory=Counter)
    """How many of its children were left out, as the caller asked."""
    unwanted: SkipReason | None = None
    """Why it isn't to be asked for, as the caller said."""
    closed: bool = False
    """An index that isn't opened here since it stands open elsewhere."""
    stage: Stage = GIVEN
    homepage: HomepageQuery | None = None
    """It is the homepage, and this is wanted of it."""
    judged: bool = False
    next_child: int = 0

    @property
    def is_guess(self) -> bool:
        """Whether nobody named it: where nothing is there, nothing stands in the tree."""
        return self.found_by in _GUESSES

    @property
    def was_tried(self) -> bool:
        """Whether to emit of it: its stage was climbed."""
        return self.absence is None or self.absence[0] is not Result.NOT_NEEDED

    @property
    def by_scheme_fallback(self) -> bool:
        """Whether it was asked for by http though declared with https, or the other way."""
        asked = self.resource.url if self.resource else self.url
        return asked.partition(":")[0] != self.url.partition(":")[0].lower()

    @property
    def answer(self) -> Document | FetchFailed | None:
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
        node = self.parent
        while node is not None:
            above |= node.outer_parents
            above.add(node.final_url)
            node = node.parent
        return above

    def attempt(self) -> Attempt:
        """Return what came of it."""
        stage = _RUNGS.get(self.found_by, self.stage.name)
        return Attempt(self.url, self.found_by, *self._result(), stage)

    def provenance(self) -> Provenance:
        """Return where it came from."""
        lastmod = parse_date(self.lastmod) if self.lastmod else None
        return Provenance(self.found_by, self.url, lastmod, self._fetch_info())

    def _fetch_info(self) -> FetchInfo:
        if self.resource is None or self.document is None:
            return NOT_FETCHED
        # Nobody asked for a URL that a redirect from elsewhere has led to.
        return self.resource.fetch_info or replace(self.document.fetch_info, redirects=())

    def _result(self) -> tuple[Result, str]:
        answer = self.answer
        failed = isinstance(answer, FetchFailed)
        if self.absence is not None and (self.absence[0] in _NOT_ASKED or not failed):
            return self.absence
        if self.rejection is not None:
            return Result.REFUSED, self.rejection[1]
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
    no_response = failed.no_response or failed.status is None or failed.status in _SERVER_ERRORS
    return Result.UNREACHABLE if no_response else Result.MISSING


class OutcomeTally:
    """What came of the nodes so far, and so of the crawl."""

    def __init__(self) -> None:
        self.sitemaps = 0
        """How many sitemaps could be read, robots.txt not counting: it is only the way to them."""
        self.named = 0
        """How many were named or found, whether they could be read or not."""
        self.lacking = False
        """Whether something that was declared could not be read, or only in part."""
        self._decisive: Counter[Result] = Counter()
        self._known: Counter[Result] = Counter()

    def add(self, node: Node) -> None:
        """Count a node that was judged."""
        result = node.attempt().result
        document = node.document
        read = result is Result.SITEMAP and document and document.kind is not Kind.ROBOTS
        self.sitemaps += bool(read)
        self.named += bool(read) or not node.is_guess
        truncated = document is not None and document.fetch_info.truncated
        failed = not node.is_guess and result is not Result.SITEMAP
        self.lacking = self.lacking or failed or node.closed or truncated
        known = node.found_by is FoundBy.KNOWN_PATH or node.homepage is not None
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
        answered = set(self._known) - set(_NO_RESPONSE)
        decisive = self._decisive if answered else self._decisive + self._known
        return next((_NO_RESPONSE[r] for r in _NO_RESPONSE if decisive[r]), Outcome.NONE)


def rejection(
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
