"""The crawl core: decides what to fetch next, and never waits.

A *resource* is a URL, fetched at most once. A *node* is a position in the tree where it is
declared, with its own level and ancestors. A cursor visits the nodes in document order; requests
for what it will need run ahead of it. ``Crawl`` is what a driver works with: ours, or the caller's.
"""

import pickle
from collections import Counter, deque
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, Self
from urllib.parse import urljoin

from usp._crawl.assembly import website_tree
from usp._crawl.cursor import Cursor
from usp._crawl.deadline import Deadline
from usp._crawl.delivery import delivered_document
from usp._crawl.discovery import KNOWN_PATHS, StartUrl, discovery_plan
from usp._crawl.messages import (
    FetchFailed,
    FetchRequest,
    FetchResult,
    NotModified,
    check_problem_code,
)
from usp._crawl.options import CrawlOptions, RecurseCallback, RecurseListCallback, StopCallback
from usp._crawl.policy import Policy, policy_or_default, selection_of
from usp._crawl.read_options import read_options
from usp._crawl.resource import Resource
from usp._crawl.resource_table import ResourceTable
from usp._crawl.scheme_choice import SchemeChoice, Site
from usp._crawl.selection import Selection
from usp._crawl.unchanged import unchanged_document
from usp._crawl.url_credentials import UrlCredentials
from usp._crawl.urls import check_homepage, check_paths, check_start_url, schemes_to_try
from usp._crawl.work import Work, finish
from usp._validate import (
    argument_error,
    check_flags,
    check_instance,
    check_int,
    check_iterable,
    check_number,
    check_optional_instance,
)
from usp._version import __version__
from usp.exceptions import SitemapException, UsageError
from usp.objects.fetch_info import FetchInfo
from usp.objects.outcome import FoundBy, Outcome, SkipReason
from usp.objects.page import as_utc
from usp.objects.problem import Problem
from usp.objects.sitemap import IndexWebsiteSitemap

_MAX_CHILDREN_PREFETCHED: Final = 500_000
"""While indexes that the cursor hasn't reached list this many sitemaps, none is prefetched."""


class Crawl:
    """Decides what to fetch and what the tree is: ``take`` requests, ``receive`` their results.

    For programs that do the fetching themselves, from a queue or framework of their own. Nothing
    here does I/O or reads a clock.
    """

    policy: Policy

    def __init__(
        self,
        urls: str | Iterable[str],
        policy: Policy | None = None,
        *,
        recurse_callback: RecurseCallback | None = None,
        recurse_list_callback: RecurseListCallback | None = None,
        stop_callback: StopCallback | None = None,
        now: datetime | None = None,
    ) -> None:
        """Start a crawl of one sitemap or several, and all that they lead to.

        :param urls: the URL of a sitemap, or of several; ``Crawl.for_site`` starts at a homepage.
        :param policy: limits and options.
        :param recurse_callback: called for each child of an index (URL, level of the index, URLs of
            the sitemaps above the child); returns whether to fetch it.
        :param recurse_list_callback: called before that with all children of an index; returns
            those to fetch.
        :param stop_callback: called with each page in document order; True ends the crawl there.
        :param now: the time of the start; only needed if ``since`` or ``until`` is a duration.
        """
        several = [urls] if isinstance(urls, str) else list(check_iterable("urls", urls, str))
        if not several:
            raise argument_error("urls", "the URL of a sitemap, or several", urls)
        start_urls = tuple(StartUrl(check_start_url("urls", url), FoundBy.GIVEN) for url in several)
        options = CrawlOptions(
            recurse_callback, recurse_list_callback, stop_callback, probe_early=True
        )
        self._begin(Site(several[0], start_urls), policy, options, now)

    @classmethod
    def for_site(
        cls,
        homepage_url: str,
        policy: Policy | None = None,
        *,
        use_robots: bool = True,
        known_paths: Iterable[str] = KNOWN_PATHS,
        recurse_callback: RecurseCallback | None = None,
        recurse_list_callback: RecurseListCallback | None = None,
        stop_callback: StopCallback | None = None,
        now: datetime | None = None,
    ) -> Self:
        """Start a crawl of a website: robots.txt and known paths.

        Where those find nothing, the homepage is searched, and newer known paths are tried.

        :param homepage_url: the homepage, or a bare domain, which means https.
        :param policy: limits and options.
        :param use_robots: whether to read robots.txt.
        :param known_paths: the paths to try.
        :param recurse_callback: as in ``Crawl``.
        :param recurse_list_callback: as in ``Crawl``.
        :param stop_callback: as in ``Crawl``.
        :param now: as in ``Crawl``.
        """
        homepage = urljoin(check_homepage("homepage_url", homepage_url), "/")
        check_flags(use_robots=use_robots)
        paths = check_paths("known_paths", known_paths)
        policy = policy_or_default(policy)
        plan = discovery_plan(policy, paths, use_robots=use_robots, use_known_paths=True)
        options = CrawlOptions(recurse_callback, recurse_list_callback, stop_callback)
        site, *other = (
            Site(url, tuple(plan.start_urls(url))) for url in schemes_to_try(homepage_url, homepage)
        )
        return cls._started(*site, policy, options, now, other=next(iter(other), None))

    @classmethod
    def _started(
        cls,
        name: str,
        start_urls: Iterable[StartUrl],
        policy: Policy | None = None,
        options: CrawlOptions | None = None,
        now: datetime | None = None,
        *,
        other: Site | None = None,
    ) -> Self:
        """Start a crawl from any start URLs; ``name`` becomes the URL of the tree's root.

        If the site doesn't respond and the other one does, the crawl starts again there.
        """
        crawl = cls.__new__(cls)
        site = Site(name, tuple(start_urls))
        crawl._begin(site, policy, options or CrawlOptions(), now, other)
        return crawl

    def _begin(
        self,
        site: Site,
        policy: Policy | None,
        options: CrawlOptions,
        now: datetime | None = None,
        other: Site | None = None,
    ) -> None:
        self.policy = policy_or_default(policy)
        selection = selection_of(self.policy, as_utc(check_optional_instance("now", now, datetime)))
        self._credentials = UrlCredentials()
        site = self._credentials.site(site)
        self._named = site.name
        other = self._credentials.site(other) if other and self.policy.scheme_fallback else None
        self._resources = ResourceTable(self.policy, skip_delays=options.skip_delays)
        self._start_at(site, selection, options)
        self._choice = SchemeChoice(site, other) if other else None
        traffic = self._resources.traffic
        self._deadline = Deadline(self.policy.max_seconds, self.policy.max_bytes, traffic)
        self._taken: dict[str, FetchRequest] = {}
        self._given_back: list[FetchRequest] = []

    def _start_at(self, site: Site, selection: Selection, options: CrawlOptions) -> None:
        self._name = site.name
        self._cursor = Cursor(site.start_urls, self.policy, selection, self._resources, options)
        documents = (root.resource for root in self._cursor.roots if root.document)
        self._arrived = deque(resource for resource in documents if resource)

    @property
    def done(self) -> bool:
        """Whether the crawl is over: the result of every node is known."""
        return self._cursor.done

    @property
    def stopped(self) -> Problem | None:
        """The limit that ended the crawl, if one did."""
        stopped = self._cursor.stopped
        return Problem(*stopped) if stopped else None

    @property
    def skipped(self) -> Counter[SkipReason]:
        """The number of sitemaps that were skipped, by reason."""
        return self._cursor.skipped

    @property
    def outcome(self) -> Outcome:
        """The outcome of the crawl so far."""
        return self._cursor.outcome

    @property
    def outstanding(self) -> tuple[FetchRequest, ...]:
        """The requests that were taken and neither answered nor given back."""
        return tuple(self._taken.values())

    def tree(self) -> IndexWebsiteSitemap:
        """Return the tree so far."""
        return website_tree(self._name, self._cursor, self._named)

    def _into_tree(self) -> IndexWebsiteSitemap:
        """Return the tree of a crawl that is over, and drop what it needs no more."""
        tree = self.tree()
        self._cursor.dismantle()
        return tree

    def __reduce__(self) -> tuple[object, ...]:
        # The state is pickled apart, so that another version can say what is wrong before it
        # meets names that it doesn't have.
        return restore_crawl, ({"version": __version__, "state": pickle.dumps(self.__dict__)},)

    def stop(self, code: str, reason: str) -> None:
        """End the crawl normally; the tree has what was read.

        :param code: a problem code, such as SM706: the caller ended the crawl.
        :param reason: the message of that problem.
        """
        check_problem_code("code", code)
        self._cursor.stop(code, check_instance("reason", reason, str))

    def take(self, now: float, limit: int | None = None) -> list[FetchRequest]:
        """Return the requests to make now; what the cursor waits for comes first.

        Each of them must be answered (``deliver``, ``receive``) or given back (``give_back``).

        :param now: the time in seconds, by any clock that doesn't go back.
        :param limit: at most this many; by default, the policy's concurrency.
        """
        check_number("now", now)
        room = self.policy.concurrency if limit is None else check_int("limit", limit, 0)
        self._check_time(now)
        finish(self._advance())
        return self._take(now, room)

    def _check_time(self, now: float) -> None:
        """End the crawl with what it has if its time is up."""
        if self._deadline.has_passed(now) and not self.done and not self._cursor.stopped:
            self._choice = None
            self._cursor.reach(self._deadline.limit)

    def _take(self, now: float, room: int) -> list[FetchRequest]:
        if self.done:
            return []
        again, self._given_back = self._given_back[:room], self._given_back[room:]
        room = min(self.policy.concurrency - self._resources.in_flight, room - len(again))
        waits_for = self._choice.waits_for if self._choice else self._cursor.waits_for
        waits_for = self._resources.blocking(waits_for)
        new = self._resources.start_requests(now, room, self._prefetch_room(room), waits_for)
        taken = again + [self._request(resource) for resource in new]
        self._taken.update((request.url, request) for request in taken)
        return taken

    def _prefetch_room(self, room: int) -> int:
        """Return how many requests may be made that the cursor doesn't wait for."""
        resources = self._resources
        if resources.children_prefetched >= _MAX_CHILDREN_PREFETCHED:
            return 0
        if not self._cursor.options.streaming:
            return room
        ahead = resources.prefetched + len(self._cursor.ready) + resources.in_flight
        return self.policy.prefetch - ahead

    def give_back(self, request: FetchRequest) -> None:
        """Put a request that won't be answered back: ``take`` returns it again.

        :param request: one that was taken.
        """
        self._given_back.append(self._answered(request))

    def _answered(self, request: FetchRequest) -> FetchRequest:
        """Remove a request from those that were taken."""
        url = check_instance("request", request, FetchRequest).url
        taken = self._taken.get(check_instance("url of the request", url, str))
        if taken is None or taken.attempt != request.attempt:
            raise UsageError(f"The request for {request.url} is not outstanding.")
        return self._taken.pop(taken.url)

    def _request(self, resource: Resource) -> FetchRequest:
        options = read_options(resource, self.policy, self._cursor)
        return FetchRequest(
            self._credentials.url_to_request(resource.url),
            resource.level,
            resource.is_guess,
            resource.attempts,
            options.validators,
            options,
        )

    def wakeup(self) -> float | None:
        """Return when the next delayed request is due, or the crawl's time is up."""
        times = (self._resources.next_due(), self._deadline.at)
        return min((time for time in times if time is not None), default=None)

    def receive(
        self,
        request: FetchRequest,
        result: FetchFailed | NotModified,
        now: float,
        jitter: float = 0.5,
    ) -> float | None:
        """Take the result of a request that brought no document; see ``deliver`` for documents.

        :param request: one that was taken.
        :param result: what happened.
        :param now: the time in seconds, by the clock of ``take``.
        :param jitter: from 0 to 1, varies the delay before the next attempt.
        :return: the seconds until the request is retried; None if the result is final.
        """
        if not isinstance(result, FetchFailed | NotModified):
            raise argument_error("result", "a FetchFailed or NotModified", result)
        return self._receive(request, result, now, jitter)

    def _receive(
        self, request: FetchRequest, result: FetchResult, now: float, jitter: float = 0.5
    ) -> float | None:
        check_number("now", now)
        check_number("jitter", jitter, 0, 1)
        delay = self._record(request, result, now, jitter)
        finish(self._advance())
        return delay

    def _record(
        self, request: FetchRequest, result: FetchResult, now: float, jitter: float
    ) -> float | None:
        """Store a result; ``_advance`` processes it."""
        request = self._answered(request)
        if isinstance(result, NotModified):
            result = result._document or unchanged_document(request, result)
        self._credentials.learn(result)
        settled = self._resources.receive(request._options.url, result, now, jitter)
        if isinstance(settled, float):
            return settled
        self._arrived.append(settled)
        return None

    def _advance(self) -> Work[None]:
        """Process all results that have arrived, in small steps; ``_take`` needs that before it."""
        for _ in self._resources.fail_abandoned():
            yield None
            if self._cursor.stopped:
                break
        while self._arrived:
            yield from self._cursor.prefetch_children(self._arrived.popleft())
        if not self._cursor.has_begun or self._is_scheme_chosen():
            yield from self._cursor.advance()

    def _is_scheme_chosen(self) -> bool:
        """Tell whether the scheme is known; the crawl starts again if it is another one."""
        if self._choice is None or self.done:
            return True
        chosen = self._choice.chosen(self._resources)
        if chosen is None:
            return False
        if chosen is not self._choice.preferred:
            self._start_at(chosen, self._cursor.selection, self._cursor.options)
        self._choice = None
        return True

    def deliver(
        self,
        request: FetchRequest,
        data: bytes,
        now: float,
        *,
        url: str | None = None,
        content_type: str | None = None,
        fetch_info: FetchInfo | None = None,
    ) -> None:
        """Take the document that a request brought.

        :param request: one that was taken.
        :param data: the body as received, compressed or not.
        :param now: the time in seconds, by the clock of ``take``.
        :param url: the URL after redirects, if that is another one.
        :param content_type: the header, for the charset in it; by default, that of ``fetch_info``.
        :param fetch_info: what else the response said: ``fetch_info`` of the sitemap.
        """
        limit = self.policy.max_document_bytes
        document = delivered_document(request, data, url, content_type, fetch_info, limit)
        self._receive(request, document, now)


def restore_crawl(fields: dict[str, Any]) -> Crawl:
    """Return a crawl that was pickled by the same version."""
    if fields["version"] != __version__:
        saved = f"This crawl was saved by usp {fields['version']}"
        raise SitemapException(f"{saved} and can't be resumed by {__version__}.")
    crawl = Crawl.__new__(Crawl)
    crawl.__dict__ = pickle.loads(fields["state"])  # noqa: S301 -- the outer pickle was trusted
    return crawl


# Pickles name this function by the path of the package, which is kept.
restore_crawl.__module__ = "usp._crawl"
