"""Which crawl a request belongs to, on a client that any number of crawls and threads share.

Rules of this room: a crawl is begun in a context of its own, and its requests are made in copies of
that context, so each finds its crawl without being told. A request in a context that knows of no
crawl, such as a ``get()`` of the caller's own, goes by the rules of the crawl that was begun last,
and is not ended with it.
"""

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Final
from weakref import WeakSet

from usp.web_client._http import defaults as defaults
from usp.web_client._http.address_guard import AddressRule, Guard
from usp.web_client._requests.tracked_sockets import TrackedSockets

__all__ = ["CrawlScope", "CrawlScopes"]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class CrawlScope:
    """What belongs to one crawl."""

    owner: "CrawlScopes"
    guard: Guard
    homepage_url: str | None = None
    home: str | None = None
    """The host of the homepage."""
    lines: TrackedSockets = field(default_factory=TrackedSockets)

    def is_foreign_host(self, url: str) -> bool:
        """Tell whether a URL is none to send credentials to."""
        return defaults.is_foreign_host(url, self.home, self.homepage_url)


class CrawlScopes:
    """The crawls of one client."""

    def __init__(self, rule: AddressRule, is_public: Callable[[str], bool]) -> None:
        self._made_of = (rule, is_public)
        self._outside = CrawlScope(self, Guard(rule, is_public))
        self._all: WeakSet[CrawlScope] = WeakSet([self._outside])
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type["CrawlScopes"], tuple[AddressRule, Callable[[str], bool]]]:
        """Travel without the crawls."""
        return type(self), self._made_of

    def begin(self, homepage_url: str) -> None:
        """Begin a crawl, in this context."""
        home = defaults.host_of_homepage(homepage_url)
        guard = Guard(*self._made_of)
        guard.start(home)
        scope = CrawlScope(self, guard, homepage_url, home)
        with self._lock:
            self._all.add(scope)
            self._stay_outside(scope)
        _SCOPE.set(scope)

    def current(self) -> CrawlScope:
        """Return the crawl of this context; where there is none, one like the last."""
        scope = self._of_context()
        if scope is not None:
            return scope
        with self._lock:
            if self._outside.lines.cut.is_set():
                self._stay_outside(self._outside)
            return self._outside

    def _stay_outside(self, model: CrawlScope) -> None:
        """Have requests outside of all crawls go by the rules of one."""
        self._outside = replace(model, lines=TrackedSockets())
        self._all.add(self._outside)

    def cut(self) -> bool:
        """End the crawl of this context; where there is none, all that the client has under way.

        :return: whether that is over in a moment.
        """
        scope = self._of_context()
        if scope is not None:
            _SCOPE.set(None)
            return scope.lines.cancel()
        with self._lock:
            every = [scope.lines.cancel() for scope in self._all]
        return all(every)

    def _of_context(self) -> CrawlScope | None:
        scope = _SCOPE.get()
        return scope if scope is not None and scope.owner is self else None


_SCOPE: Final[ContextVar[CrawlScope | None]] = ContextVar("_SCOPE", default=None)
