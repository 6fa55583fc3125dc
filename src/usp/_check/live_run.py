"""Requests live pages, once everything was read, and judges what comes.

Which pages is decided in ``samples``, when each is requested in ``_crawl.page_queue``; what the
responses mean in ``live_rules`` and ``page_rules``. What is found comes in the order of the
requests, so that two runs say the same in the same order.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from urllib.parse import urldefrag

from usp._check.findings import Occurrence
from usp._check.live import LiveOptions, LiveSummary, estimates
from usp._check.live_rules import (
    is_dead,
    is_page,
    leads_home,
    status_findings,
    unverified_reason,
)
from usp._check.origins import Origins, UrlOrigin
from usp._check.page_facts import PageFacts, occurrence_at
from usp._check.registry import PAGE_RULES
from usp._check.samples import PageEntry, PageSample
from usp._check.site_facts import SiteFacts
from usp._crawl.page_queue import PageRequest
from usp._crawl.policy import Policy
from usp._crawl.unique_urls import UniqueUrls
from usp._drive.live_pages import MAX_PAGE_BYTES, PageResponse, UrlToRequest, fetch_pages
from usp._parse import Ended, RobotsRules, read_robots_rules

_Report = Callable[[], Iterator[Occurrence]]
"""Says what was found, when its turn comes."""
_Judge = Callable[[PageResponse], _Report]
"""Looks at a response when it arrives."""


@dataclass(frozen=True, slots=True)
class _AbsentPage:
    """What a host answers for a path that it can't have."""

    url: str
    text_digest: str = ""
    """Of the page; empty if there is none."""
    redirects_to: str = ""


class LiveRun:
    """One run over a sample."""

    def __init__(
        self,
        live: LiveOptions,
        site: SiteFacts,
        pages: PageSample,
        removed: Iterable[PageEntry] = (),
    ) -> None:
        """Prepare a run.

        :param removed: URLs that an earlier run listed and this one does not.
        """
        self._live = live
        self._site = site
        self._pages = pages
        self._removed = removed
        self._origins = Origins()
        self._requested = UniqueUrls()
        self._obeyed = _ObeyedRules(site, None)
        self._awaited: dict[str, tuple[int, _Judge]] = {}
        """By URL, the turn of each request, and what judges its response."""
        self._arrived: dict[int, _Report] = {}
        """By turn, what waits for those before it."""
        self._turns = self._next_turn = 0
        self._absent: dict[UrlOrigin, _AbsentPage | None] = {}
        self._found: Counter[str] = Counter()
        self._sampled = self._verified = 0
        self.answered = 0
        """How many pages of the sample have answered, or are known not to."""

    def occurrences(
        self, policy: Policy, homepage: str, ended: Ended, url_to_request: UrlToRequest = str
    ) -> Iterator[Occurrence]:
        """Request everything; yield what is found.

        :param url_to_request: returns a URL as it is requested, with its user and password.
        """
        agent = policy.robots_agent if policy.robots == "obey" else None
        self._obeyed = _ObeyedRules(self._site, agent)
        responses = fetch_pages(
            self._requests(),
            policy,
            self._live.make_client,
            homepage,
            ended,
            self._obeyed.intervals(policy.max_crawl_delay),
            url_to_request,
        )
        with closing(responses):
            for response in responses:
                turn, judge = self._awaited.pop(response.request.url)
                self._arrived[turn] = judge(response)
                yield from self._in_turn()
        for turn in sorted(self._arrived):
            self._next_turn = turn
            yield from self._in_turn()
        if left := max(self._sampled - self.answered, len(self._awaited)):
            detail = f"live pages: the time was over before so many answered: {left:,}"
            yield Occurrence("SM750", None, detail=detail)

    @property
    def summary(self) -> LiveSummary:
        """What was found, and what it says about all pages."""
        is_exact = self._live.size.is_all and self._verified == self._sampled
        made = estimates(self._found, verified=self._verified, is_exact=is_exact)
        listed, seed = self._pages.listed, self._live.seed
        return LiveSummary(listed, self._sampled, self._verified, seed, made)

    def _in_turn(self) -> Iterator[Occurrence]:
        """Yield what was found, as far as everything before it is known."""
        while report := self._arrived.pop(self._next_turn, None):
            self._next_turn += 1
            for occurrence in report():
                self._found[occurrence.code] += 1
                yield occurrence

    # What is requested

    def _requests(self) -> Iterator[PageRequest]:
        for page in self._pages:
            request = self._request(page.url)
            if request is None:
                continue
            self._sampled += 1
            if not self._obeyed.allow(self._origins.of(page.url), page.url):
                self.answered += 1
                self._say(occurrence_at(page, "SM906", "robots.txt disallows it for this check"))
                continue
            yield from self._absent_request(page.url)
            yield self._await(request, partial(self._judge, page))
            yield from self._media_requests(page)
        for page in self._removed:
            request = self._request(page.url, needs_body=False)
            if request:
                yield self._await(request, partial(self._judge_removed, page))

    def _request(self, url: str, *, needs_body: bool = True) -> PageRequest | None:
        """Return the request for a URL; None if there was one, or it is no URL."""
        sent = urldefrag(url).url
        if self._origins.of(sent) is None or not self._requested.add(sent):
            return None
        return PageRequest(sent, needs_body)

    def _turn(self) -> int:
        self._turns += 1
        return self._turns - 1

    def _await(self, request: PageRequest, judge: _Judge) -> PageRequest:
        self._awaited[request.url] = self._turn(), judge
        return request

    def _say(self, *occurrences: Occurrence) -> None:
        """Report what needs no request."""
        self._arrived[self._turn()] = partial(iter, occurrences)

    def _absent_request(self, url: str) -> Iterator[PageRequest]:
        """Yield the request for a path that no host has, before the first page of the host."""
        origin = self._origins.of(url)
        if origin is None or origin in self._absent:
            return
        seed = f"{self._live.seed} {origin}".encode()
        path = f"{origin}/usp-check-{blake2b(seed, digest_size=10).hexdigest()}"
        self._absent[origin] = None
        yield self._await(PageRequest(path), partial(self._take_absent, origin))

    def _media_requests(self, page: PageEntry) -> Iterator[PageRequest]:
        for url in page.media:
            origin = self._origins.of(url)
            txt = self._site.robots.known(origin) if origin else None
            refusals = txt.rules.refusals(url) if txt and not txt.failed else []
            if refusals:
                self._say(*(occurrence_at(page, "SM911", f"{url}: {why}") for why in refusals))
            elif request := self._request(url, needs_body=False):
                yield self._await(request, partial(self._judge_media, page, url))

    # What comes of it

    def _facts(self, page: PageEntry, response: PageResponse) -> PageFacts:
        return PageFacts(
            page,
            self._site.options,
            response.final_url,
            response.body,
            response.is_whole,
            MAX_PAGE_BYTES,
            response.headers,
        )

    def _judge(self, page: PageEntry, response: PageResponse) -> _Report:
        self.answered += 1
        facts = self._facts(page, response) if is_page(response) else None
        reason = unverified_reason(response, facts)
        if reason:
            return partial(iter, (occurrence_at(page, "SM906", reason),))
        self._verified += 1
        found = list(status_findings(page, response))
        if facts is None:
            return partial(iter, found)
        if leads_home(page.url, response):
            found.append(occurrence_at(page, "SM907", f"it redirects to {response.final_url}"))
            return partial(iter, found)
        if not response.redirects:
            found += [one for rule in PAGE_RULES for one in rule(facts)]
        digest = facts.markup.text_digest if facts.markup else ""
        target = response.final_url if response.redirects else ""
        return partial(self._report_page, page, found, digest, target)

    def _report_page(
        self, page: PageEntry, found: list[Occurrence], digest: str, target: str
    ) -> Iterator[Occurrence]:
        """Yield what was found on a page, and whether it looks like one that is not there."""
        yield from found
        origin = self._origins.of(page.url)
        absent = self._absent.get(origin) if origin else None
        if absent is None:
            return
        if target and target == absent.redirects_to:
            detail = f"it redirects to {target}, as {absent.url} does, which is not there"
            yield occurrence_at(page, "SM907", detail)
        elif digest and digest == absent.text_digest:
            detail = f"its text is that of {absent.url}, which is not there"
            yield occurrence_at(page, "SM907", detail)

    def _take_absent(self, origin: UrlOrigin, response: PageResponse) -> _Report:
        """Remember what a host answers for a path that it can't have."""
        url = response.request.url
        if is_page(response):
            facts = self._facts(PageEntry("", url, None, None), response)
            if not unverified_reason(response, facts):
                digest = facts.markup.text_digest if facts.markup else ""
                target = response.final_url if response.redirects else ""
                self._absent[origin] = _AbsentPage(url, digest, target)
        return partial(iter, ())

    def _judge_media(self, page: PageEntry, url: str, response: PageResponse) -> _Report:
        is_wrong = is_dead(response)
        found = [occurrence_at(page, "SM911", f"{url}: HTTP {response.status}")] if is_wrong else []
        return partial(iter, found)

    def _judge_removed(self, page: PageEntry, response: PageResponse) -> _Report:
        is_wrong = is_dead(response) and not response.redirects
        found = [occurrence_at(page, "SM805", f"HTTP {response.status}")] if is_wrong else []
        return partial(iter, found)


class _ObeyedRules:
    """What robots.txt says to the check itself, if it obeys that."""

    def __init__(self, site: SiteFacts, agent: str | None) -> None:
        self._rules: dict[UrlOrigin, RobotsRules] = {}
        for origin, txt in site.robots.all_known() if agent else ():
            if agent and txt.pages is not None:
                self._rules[origin] = read_robots_rules(txt.pages.source, agent)

    def allow(self, origin: UrlOrigin | None, url: str) -> bool:
        """Tell whether a URL may be requested."""
        rules = self._rules.get(origin) if origin else None
        return rules is None or rules.allows(url)

    def intervals(self, longest: float) -> dict[tuple[str, str], float]:
        """Return the seconds between two requests, by scheme and host."""
        return {
            (origin.scheme, origin.host): min(rules.crawl_delay, longest)
            for origin, rules in self._rules.items()
            if rules.crawl_delay
        }
