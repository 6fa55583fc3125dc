"""What is asked for: each URL once, tried again where that makes sense, shared by redirects."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urldefrag, urlsplit, urlunsplit

from usp._crawl.hosts import Hosts, Resource
from usp._crawl.messages import Answer, FetchFailed
from usp._crawl.policy import Policy
from usp._parse.document import Document
from usp._parse.sniff import Kind

_GONE: Final = FetchFailed("the host no longer answers, and was given up", silent=True)
_PORTS: Final = {"http": 80, "https": 443}
_KNOWN_BY_NAME: Final = frozenset({Kind.ROBOTS, Kind.INVALID, Kind.HOMEPAGE})
"""What a document is by the URL that was asked for; another URL may make something else of it."""


class Resources:
    """The URLs of one crawl. A fragment is never sent, so it makes no other resource."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._hosts = Hosts(policy)
        self._known: dict[str, Resource] = {}
        self._retries_left = policy.retries
        self.ahead = 0
        """How many documents came that the cursor hasn't come to."""

    @property
    def flying(self) -> int:
        """How many requests are under way."""
        return self._hosts.flying

    def find(self, url: str) -> Resource | None:
        """Return what is known of a URL."""
        return self._known.get(urldefrag(url).url)

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
        resource = self._known.get(url)
        if resource is None:
            resource = self._known[url] = Resource(url, level, probing, kind, two_ways)
            if self._hosts.given_up(url):
                self._fail(resource, _GONE)
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
        resource = self._known[url] = Resource(url, level, probing=False)
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
        resource = self._known[url]
        for pointless in self._hosts.landed(url, answer):
            if pointless.own_answer is None:  # else a redirect from elsewhere has brought it
                self._fail(pointless, _GONE)
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
        worth_it = self._hosts.is_worth_retrying(resource.url)
        if resource.tries >= self._policy.tries or self._retries_left <= 0 or not worth_it:
            return False
        self._retries_left -= 1
        return True

    def _settle(self, resource: Resource, answer: Answer) -> None:
        if isinstance(answer, FetchFailed):
            self._fail(resource, answer)
            return
        resource.arrival = answer.arrival
        final_url = urldefrag(answer.url).url
        if final_url != resource.url and answer.kind not in _KNOWN_BY_NAME:
            self._share(resource, final_url)
        if resource.standing.document is None:
            resource.standing.document = answer
            self.ahead += not resource.standing.judged

    def _fail(self, resource: Resource, failure: FetchFailed) -> None:
        """Give a URL up, but for its other scheme: sites move to https and forget what they say."""
        resource.failure = failure
        dead = failure.silent and not failure.untrusted
        if dead and resource.two_ways and self._policy.other_scheme:
            url, kind, probing = _other_scheme(resource.url), resource.kind, resource.probing
            resource.twin = self.plan(url, resource.level, probing=probing, kind=kind)

    def _share(self, resource: Resource, final_url: str) -> None:
        """Let all URLs that lead to one place have one document, and one standing in the tree."""
        final = self._known.setdefault(final_url, Resource(final_url, resource.level, False))
        if final.failure is not None:
            return  # it answered otherwise before: who knows why
        self._hosts.drop(final)  # if it is on its way already, what comes of that isn't needed
        final.level = min(final.level, resource.level)
        resource.standing = final.standing

    def reached(self, resource: Resource) -> bool:
        """Take note that the cursor has come to a document; tell whether for the first time."""
        first = not resource.standing.judged
        resource.standing.judged = True
        self.ahead -= first
        return first


def _other_scheme(url: str) -> str:
    """Return an http URL as https and the other way; a port that is no default stays."""
    parts = urlsplit(url)
    ours, other = ("http", "https") if parts.scheme == "http" else ("https", "http")
    netloc = parts.netloc.removesuffix(f":{_PORTS[ours]}")
    return urlunsplit(parts._replace(scheme=other, netloc=netloc))
