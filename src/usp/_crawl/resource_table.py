"""What is asked for: each URL once, tried again where that makes sense, shared by redirects."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit

from usp._crawl.host_queue import HostQueues
from usp._crawl.messages import FetchFailed, TruncatedBody
from usp._crawl.policy import Policy
from usp._crawl.resource import Resource
from usp._parse import Document, Kind

_PORTS: Final = {"http": 80, "https": 443}
_KNOWN_BY_NAME: Final = frozenset({Kind.ROBOTS, Kind.INVALID, Kind.HOMEPAGE})
"""What a document is by the URL that was asked for; another URL may make something else of it."""


class ResourceTable:
    """The URLs of one crawl, each by what is asked for in the end."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._hosts = HostQueues(policy)
        self._known: dict[str, Resource] = {}
        self._retry_budget_left = policy.retry_budget
        self.ahead = 0
        """How many documents came that the cursor hasn't come to."""
        self.named_ahead = 0
        """How many sitemaps they name."""

    @property
    def in_flight(self) -> int:
        """How many requests are under way."""
        return self._hosts.in_flight

    @property
    def waiting(self) -> int:
        """How many requests are in line."""
        return self._hosts.waiting

    def find(self, url: str) -> Resource | None:
        """Return what is known of a URL."""
        return self._known.get(_key(url))

    def plan(
        self,
        url: str,
        level: int,
        *,
        is_guess: bool = False,
        kind: Kind | None = None,
        may_fall_back: bool = True,
    ) -> Resource:
        """See to it that a URL is asked for, once."""
        url = urldefrag(url).url
        key = _key(url)
        resource = self._known.get(key)
        if resource is None:
            resource = self._known[key] = Resource(url, level, is_guess, kind, may_fall_back)
            gone = self._hosts.dead_host(url)
            if gone:
                self._fail(resource, gone)
            else:
                self._hosts.plan(resource)
        resource.level = min(resource.level, level)
        if may_fall_back and not resource.may_fall_back:  # more than a guess, as it turns out
            resource.may_fall_back = True
            if resource.failure:
                self._fail(resource, resource.failure)
        return resource

    def add_document(self, url: str, level: int, document: Document) -> Resource:
        """Take in a document that needn't be asked for."""
        resource = self._known[_key(url)] = Resource(url, level, is_guess=False)
        self._settle(resource, document)
        return resource

    def launch(
        self, now: float, limit: int, for_later: int, first: Resource | None
    ) -> Iterator[Resource]:
        """Yield what is to be asked for now; see ``HostQueues.launch``."""
        for resource in self._hosts.launch(now, limit, for_later, first):
            resource.attempts += 1
            yield resource

    def next_due(self) -> float | None:
        """Return when the first of the delayed requests is due."""
        return self._hosts.next_due()

    def receive(
        self, url: str, answer: Document | TruncatedBody | FetchFailed, now: float, jitter: float
    ) -> float | Resource:
        """Take an answer; return its resource, or the delay after which it is tried again."""
        resource = self._known[_key(url)]
        failed = answer.failure if isinstance(answer, TruncatedBody) else answer
        pointless = self._hosts.landed(url, failed, now, jitter)
        gone = self._hosts.dead_host(url)
        for other in pointless:
            if gone and other.own_answer is None:  # else a redirect from elsewhere has brought it
                self._fail(other, gone)
        if resource.own_answer is not None:
            return resource  # a redirect from elsewhere has brought the document already
        failure = answer.failure if isinstance(answer, TruncatedBody) else answer
        if isinstance(failure, FetchFailed) and failure.retryable and self._may_retry(resource):
            delay = self._policy.delay(resource.attempts, failure.retry_after, jitter)
            self._hosts.plan_later(resource, now + delay)
            return delay
        self._settle(resource, answer.document if isinstance(answer, TruncatedBody) else answer)
        return resource

    def _may_retry(self, resource: Resource) -> bool:
        gone = self._hosts.dead_host(resource.url)
        if resource.attempts >= self._policy.max_attempts or self._retry_budget_left <= 0 or gone:
            return False
        self._retry_budget_left -= 1
        return True

    def _settle(self, resource: Resource, answer: Document | FetchFailed) -> None:
        if isinstance(answer, FetchFailed):
            self._fail(resource, answer)
            return
        resource.fetch_info = answer.fetch_info
        if _key(answer.url) != _key(resource.url) and answer.kind not in _KNOWN_BY_NAME:
            self._share(resource, urldefrag(answer.url).url)
        if resource.shared.document is None:
            resource.shared.document = answer
            if not resource.shared.judged:
                self.ahead += 1
                self.named_ahead += len(answer.children)

    def _fail(self, resource: Resource, failure: FetchFailed) -> None:
        """Give a URL up, but for its other scheme: sites move to https and forget what they say."""
        resource.failure = failure
        dead = failure.no_response and not failure.untrusted
        if dead and resource.may_fall_back and self._policy.scheme_fallback:
            url, kind, is_guess = _other_scheme(resource.url), resource.kind, resource.is_guess
            resource.fallback = self.plan(url, resource.level, is_guess=is_guess, kind=kind)

    def _share(self, resource: Resource, final_url: str) -> None:
        """Let all URLs that lead to one node have one document, and one shared in the tree."""
        known = Resource(final_url, resource.level, is_guess=False)
        final = self._known.setdefault(_key(final_url), known)
        if final.failure is not None:
            return  # it answered otherwise before: who knows why
        self._hosts.drop(final)  # if it is on its way already, what comes of that isn't needed
        final.level = min(final.level, resource.level)
        resource.shared = final.shared

    def reached(self, resource: Resource, document: Document) -> bool:
        """Take note that the cursor has come to a document; emit whether for the first time."""
        if resource.shared.judged:
            return False
        resource.shared.judged = True
        self.ahead -= 1
        self.named_ahead -= len(document.children)
        return True


def _other_scheme(url: str) -> str:
    """Return an http URL as https and the other way; a port that is no default stays."""
    parts = urlsplit(url)
    ours, other = ("http", "https") if parts.scheme == "http" else ("https", "http")
    netloc = parts.netloc.removesuffix(f":{_PORTS[ours]}")
    return urlunsplit(parts._replace(scheme=other, netloc=netloc))


def _key(url: str) -> str:
    """Return what a URL asks for: the same for all ways to write it (RFC 3986, 6.2.2 and 6.2.3).

    A fragment is never sent; the case of scheme and host, a port that is the default one, and
    single dots make no difference.
    """
    url = urldefrag(url).url
    try:
        parts = urlsplit(url)
        default = _PORTS.get(parts.scheme) == parts.port
    except ValueError:  # no URL after all, or a file
        return url
    user, at, host = parts.netloc.rpartition("@")
    host = host.lower().removesuffix(f":{parts.port}") if default else host.lower()
    path = urljoin("/", parts.path) if "/." in parts.path else parts.path or "/"
    return urlunsplit(parts._replace(netloc=f"{user}{at}{host}", path=path))
