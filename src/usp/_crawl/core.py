"""The crawl machine: it decides, and never waits.

A *resource* is a URL, asked for once. A *node* is where the tree declares it, with its own level,
ancestors and verdict. A cursor walks the nodes in the tree's order; callbacks run, loops and known
paths are judged only there, so that nothing depends on which answer came first. Requests for what
the cursor will need run ahead of it.
"""

import pickle
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Final, Self
from urllib.parse import urljoin

from usp._crawl.cursor import (
    CrawlOptions,
    Cursor,
    RecurseCallback,
    RecurseListCallback,
    StopCallback,
)
from usp._crawl.discovery import KNOWN_PATHS, StartUrl, discovery_plan
from usp._crawl.messages import (
    FetchFailed,
    FetchRequest,
    FetchResult,
    NotModified,
    ReadOptions,
    check_problem_code,
)
from usp._crawl.nodes import Node
from usp._crawl.options import Callbacks
from usp._crawl.policy import Policy, given_or_default
from usp._crawl.resource import Resource
from usp._crawl.resource_table import ResourceTable
from usp._crawl.selection import Selection
from usp._crawl.urls import check_paths, check_start_url
from usp._parse import Source, http_charset, inspect
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
from usp.exceptions import SitemapException
from usp.objects.outcome import FoundBy, Outcome, SkipReason

__all__ = ["Crawl", "RecurseCallback", "RecurseListCallback", "StopCallback"]

_MOST_NAMED_AHEAD: Final = 500_000
"""Where indexes that the cursor hasn't come to name so many others, none is fetched ahead."""


class Crawl:
    """Decides what to fetch and what the tree is; ``take`` work, ``receive`` what came of it."""

    def __init__(
        self,
        start_urls: Iterable[StartUrl],
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
        :param probe_at_once: next_requests for guesses beside the rest as soon as they are needed, rather
            than when the cursor comes to them: quicker, and a few requests more.
        :param streaming: hand documents over one by one (``ready``), in the tree's order, fetch no
            further ahead of them than the policy allows, and keep nothing of them afterwards.
        """
        self.policy = given_or_default(policy)
        callbacks = Callbacks(recurse_callback, recurse_list_callback, stop_callback)
        check_flags(counting=counting, probe_at_once=probe_at_once, streaming=streaming)
        options = CrawlOptions(
            callbacks.recurse_callback,
            callbacks.looked_through,
            callbacks.stop_callback,
            counting=counting,
            probe_at_once=probe_at_once,
            streaming=streaming,
        )
        self._resources = ResourceTable(self.policy)
        self._cursor = Cursor(
            check_iterable("start_urls", start_urls, StartUrl),
            self.policy,
            self._resources,
            options,
        )
        self._deadline: float | None = None
        self._taken: dict[str, FetchRequest] = {}
        self._given_back: deque[FetchRequest] = deque()

    @property
    def done(self) -> bool:
        """Whether the whole tree is decided."""
        return self._cursor.done

    @property
    def stopped(self) -> tuple[str, str] | None:
        """The limit that ended the crawl, if one did: code and reason."""
        return self._cursor.stopped

    @property
    def roots(self) -> list[Node]:
        """The nodes at the top of the tree."""
        return self._cursor.roots

    @property
    def ready(self) -> deque[Node]:
        """In a stream: the nodes whose pages may be read, each document at its first node."""
        return self._cursor.ready

    @property
    def selection(self) -> Selection:
        """Which sitemaps and pages are wanted."""
        return self._cursor.selection

    @property
    def skipped(self) -> Counter[SkipReason]:
        """How many sitemaps were left out as the caller asked."""
        return self._cursor.skipped

    @property
    def skipped_start_urls(self) -> Counter[SkipReason]:
        """How many of them at the top of the tree."""
        return self._cursor.skipped_start_urls

    def __reduce__(self) -> tuple[object, ...]:
        # Sealed, so that another version can say what is wrong before it meets names it lacks.
        return restore_crawl, (__version__, pickle.dumps(self.__dict__))

    @classmethod
    def of_site(
        cls,
        homepage_url: str,
        policy: Policy | None = None,
        *,
        use_robots: bool = True,
        known_paths: Iterable[str] = KNOWN_PATHS,
    ) -> Self:
        """Begin a crawl of a website: robots.txt, and known paths beside what it declares.

        Where that leads to nothing, the homepage is asked, and newer known paths are tried.
        """
        homepage = urljoin(check_start_url("homepage_url", homepage_url), "/")
        check_flags(use_robots=use_robots)
        known_paths = check_paths("known_paths", known_paths)
        policy = given_or_default(policy)
        stages = discovery_plan(
            policy, known_paths, use_robots=use_robots, use_known_paths=True, classic=True
        )
        return cls(stages.start_urls(homepage), policy)

    @classmethod
    def of_sitemap(cls, url: str, policy: Policy | None = None) -> Self:
        """Begin a crawl of one sitemap and all that it leads to."""
        return cls([StartUrl(check_start_url("url", url), FoundBy.GIVEN)], policy)

    @property
    def outcome(self) -> Outcome:
        """What came of the crawl, as far as it has come."""
        return self._cursor.outcome

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes that were decided, each before its children."""
        return self._cursor.nodes()

    def stop(self, code: str, reason: str, *, at: Node | None = None) -> None:
        """End the crawl in order, with what it has.

        :param code: one of the codes of problems, such as SM706: the caller had enough.
        :param at: in a stream, the node whose pages are being read: nothing after it counts.
        """
        check_problem_code("code", code)
        check_instance("reason", reason, str)
        if at is None:
            self._cursor.stop(code, reason)
        else:
            self._cursor.end_at(check_instance("at", at, Node), code, reason)

    def release(self, node: Node) -> None:
        """Forget the document of a node whose pages were read."""
        self._cursor.release(check_instance("node", node, Node))

    def take(self, now: float, limit: int | None = None) -> list[FetchRequest]:
        """Return what may be fetched now, at most ``limit``; what the cursor waits for first.

        What is taken is the caller's to answer, or to give back.
        """
        check_number("now", now)
        hands = self.policy.concurrency if limit is None else check_int("limit", limit, 0)
        if self._deadline is None and self.policy.max_seconds is not None:
            self._deadline = now + self.policy.max_seconds
        if self._deadline is not None and now >= self._deadline and not self.done:
            reason = f"The crawl took more than {self.policy.max_seconds} seconds"
            self._cursor.run_out("SM705", reason)
        if self.done:
            return []
        again = [self._given_back.popleft() for _ in range(min(hands, len(self._given_back)))]
        in_flight = self._resources.in_flight
        hands = min(self.policy.concurrency - in_flight, hands - len(again))
        wanted = self._resources.launch(now, hands, self._for_later(hands), self._cursor.waits_for)
        taken = again + [self._request(resource) for resource in wanted]
        self._taken.update((request.url, request) for request in taken)
        return taken

    def _for_later(self, hands: int) -> int:
        """Return how much may be asked for that the cursor doesn't wait for."""
        resources = self._resources
        if resources.named_ahead >= _MOST_NAMED_AHEAD:
            return 0
        ahead = resources.ahead + len(self.ready) + resources.in_flight
        return self.policy.prefetch - ahead if self._cursor.options.streaming else hands

    @property
    def outstanding(self) -> tuple[FetchRequest, ...]:
        """The requests that were taken and neither answered nor given back."""
        return tuple(self._taken.values())

    def give_back(self, request: FetchRequest) -> None:
        """Put a request that won't be answered back in line: the next to ``take`` gets it again."""
        self._given_back.append(self._answered(request))

    def _answered(self, request: FetchRequest) -> FetchRequest:
        """Strike a request off those that were taken."""
        url = check_instance("request", request, FetchRequest).url
        taken = self._taken.get(check_instance("url of the request", url, str))
        if taken is None or taken.attempt != request.attempt:
            raise SitemapException(f"The request for {request.url} is not outstanding.")
        return self._taken.pop(taken.url)

    def _request(self, resource: Resource) -> FetchRequest:
        counted = self.selection if self._cursor.counts_pages else None
        return FetchRequest(
            resource.url,
            resource.level,
            resource.is_guess,
            resource.attempts,
            _options=ReadOptions(resource.kind, self.policy.extensions, counted),
        )

    def wakeup(self) -> float | None:
        """Return when the next delayed request is due, or the crawl's time is up."""
        times = (self._resources.next_due(), self._deadline)
        return min((time for time in times if time is not None), default=None)

    def receive(
        self, request: FetchRequest, answer: FetchResult, now: float, jitter: float = 0.5
    ) -> float | None:
        """Take what came of a request.

        :param jitter: from 0 to 1, varies the delay before the next try.
        :return: the seconds after which it will be tried again; None if this was final.
        """
        if not isinstance(answer, FetchResult):
            raise argument_error("answer", "a Document or a FetchFailed", answer)
        check_number("now", now)
        check_number("jitter", jitter, 0, 1)
        url = self._answered(request).url
        if isinstance(answer, NotModified):
            answer = FetchFailed(
                "304 Not Modified, though the request was not conditional", status=304
            )
        settled = self._resources.receive(url, answer, now, jitter)
        if isinstance(settled, float):
            return settled
        self._cursor.prefetch_children(settled)
        self._cursor.advance()
        return None

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
        check_instance("data", data, bytes)
        check_instance("request", request, FetchRequest)
        answered = request.url if url is None else check_start_url("url", url)
        charset = http_charset(check_optional_instance("content_type", content_type, str))
        limit = self.policy.max_document_bytes
        source = Source(
            [data],
            answered,
            request.url,
            charset,
            limit,
            extensions=request._options.extensions,
        )
        self.receive(request, inspect(source, request._options.kind), now)


def restore_crawl(version: str, sealed: bytes) -> Crawl:
    """Bring back a crawl that was saved by this very version."""
    if version != __version__:
        raise SitemapException(
            f"This crawl was saved by usp {version} and can't be resumed by {__version__}."
        )
    crawl = Crawl.__new__(Crawl)
    crawl.__dict__ = pickle.loads(sealed)  # noqa: S301 -- whoever loads a pickle trusts it already
    return crawl


# Pickles name this function; the public path is the one that stays.
restore_crawl.__module__ = "usp"
