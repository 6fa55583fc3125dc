"""What is asked for: each URL once, tried again where that makes sense, shared by redirects."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit

from usp._crawl.host_queue import Hosts
from usp._crawl.messages import Answer, FetchFailed
from usp._crawl.policy import Policy
from usp._crawl.resource import Resource
from usp._parse.document import Document
from usp._parse.input.sniff import Kind

_PORTS: Final = {"http": 80, "https": 443}
_KNOWN_BY_NAME: Final = frozenset({Kind.ROBOTS, Kind.INVALID, Kind.HOMEPAGE})
"""What a document is by the URL that was asked for; another URL may make something else of it."""


class Resources:
    """The URLs of one crawl, each by what is asked for in the end."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._hosts = Hosts(policy)
        self._known: dict[str, Resource] = {}
        self._retries_left = policy.retries
        self.ahead = 0
        """How many documents came that the cursor hasn't come to."""
        self.named_ahead = 0
        """How many sitemaps they name."""

    @property
    def flying(self) -> int:
        """How many requests are under way."""
        return self._hosts.flying

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
        probing: bool = False,
        kind: Kind | None = None,
        two_ways: bool = True,
    ) -> Resource:
        """See to it that a URL is asked for, once."""
        url = urldefrag(url).url
        key = _key(url)
        resource = self._known.get(key)
        if resource is None:
            resource = self._known[key] = Resource(url, level, probing, kind, two_ways)
            gone = self._hosts.given_up(url)
            if gone:
                self._fail(resource, gone)
            else:
                self._hosts.plan(resource)
        resource.level = min(resource.level, level)
        if two_ways and not resource.two_ways:  # more than a guess, as it turns out
            resource.two_ways = True
            if resource.failure:
                self._fail(resource, resource.failure)
        return resource

    def at_hand(self, url: str, level: int, document: Document) -> Resource:
        """Take in a document that needn't be asked for."""
        resource = self._known[_key(url)] = Resource(url, level, probing=False)
        self._settle(resource, document)
        return resource

    def launch(
        self, now: float, limit: int, for_later: int, first: Resource | None
    ) -> Iterator[Resource]:
        """Yield what is to be asked for now; see ``Hosts.launch``."""
        for resource in self._hosts.launch(now, limit, for_later, first):
            resource.tries += 1
            yield resource

    def next_due(self) -> float | None:
        """Return when the first of the delayed requests is due."""
        return self._hosts.next_due()

    def receive(self, url: str, answer: Answer, now: float, chance: float) -> float | Resource:
        """Take an answer; return its resource, or the pause after which it is tried again."""
        resource = self._known[_key(url)]
        pointless = self._hosts.landed(url, answer, now, chance)
        gone = self._hosts.given_up(url)
        for other in pointless:
            if gone and other.own_answer is None:  # else a redirect from elsewhere has brought it
                self._fail(other, gone)
        if resource.own_answer is not None:
            return resource  # a redirect from elsewhere has brought the document already
        if isinstance(answer, FetchFailed):
            if answer.retryable and self._may_retry(resource):
                pause = self._policy.pause(resource.tries, answer.retry_after, chance)
                self._hosts.plan_later(resource, now + pause)
                return pause
            answer = answer.salvaged or answer
        self._settle(resource, answer)
        return resource

    def _may_retry(self, resource: Resource) -> bool:
        gone = self._hosts.given_up(resource.url)
        if resource.tries >= self._policy.tries or self._retries_left <= 0 or gone:
            return False
        self._retries_left -= 1
        return True

    def _settle(self, resource: Resource, answer: Answer) -> None:
        if isinstance(answer, FetchFailed):
            self._fail(resource, answer)
            return
        resource.arrival = answer.arrival
        if _key(answer.url) != _key(resource.url) and answer.kind not in _KNOWN_BY_NAME:
            self._share(resource, urldefrag(answer.url).url)
        if resource.standing.document is None:
            resource.standing.document = answer
            if not resource.standing.judged:
                self.ahead += 1
                self.named_ahead += len(answer.children)

    def _fail(self, resource: Resource, failure: FetchFailed) -> None:
        """Give a URL up, but for its other scheme: sites move to https and forget what they say."""
        resource.failure = failure
        dead = failure.silent and not failure.untrusted
        if dead and resource.two_ways and self._policy.other_scheme:
            url, kind, probing = _other_scheme(resource.url), resource.kind, resource.probing
            resource.twin = self.plan(url, resource.level, probing=probing, kind=kind)

    def _share(self, resource: Resource, final_url: str) -> None:
        """Let all URLs that lead to one place have one document, and one standing in the tree."""
        known = Resource(final_url, resource.level, probing=False)
        final = self._known.setdefault(_key(final_url), known)
        if final.failure is not None:
            return  # it answered otherwise before: who knows why
        self._hosts.drop(final)  # if it is on its way already, what comes of that isn't needed
        final.level = min(final.level, resource.level)
        resource.standing = final.standing

    def reached(self, resource: Resource, document: Document) -> bool:
        """Take note that the cursor has come to a document; tell whether for the first time."""
        if resource.standing.judged:
            return False
        resource.standing.judged = True
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
