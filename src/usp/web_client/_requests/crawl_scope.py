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

from usp.web_client._http import defaults as manners
from usp.web_client._http.address_guard import AddressRule, Guard
from usp.web_client._requests.tracked_sockets import Lines

__all__ = ["Visit", "Visits"]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Visit:
    """What belongs to one crawl."""

    owner: "Visits"
    guard: Guard
    homepage_url: str | None = None
    home: str | None = None
    """The host of the homepage."""
    lines: Lines = field(default_factory=Lines)

    def is_stranger(self, url: str) -> bool:
        """Tell whether a URL is none to send credentials to."""
        return manners.is_stranger(url, self.home, self.homepage_url)


class Visits:
    """The crawls of one client."""

    def __init__(self, rule: AddressRule, is_public: Callable[[str], bool]) -> None:
        self._made_of = (rule, is_public)
        self._outside = Visit(self, Guard(rule, is_public))
        self._all: WeakSet[Visit] = WeakSet([self._outside])
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type["Visits"], tuple[AddressRule, Callable[[str], bool]]]:
        """Travel without the crawls."""
        return type(self), self._made_of

    def begin(self, homepage_url: str) -> None:
        """Begin a crawl, in this context."""
        home = manners.host_of_homepage(homepage_url)
        guard = Guard(*self._made_of)
        guard.start(home)
        visit = Visit(self, guard, homepage_url, home)
        with self._lock:
            self._all.add(visit)
            self._stay_outside(visit)
        _VISIT.set(visit)

    def current(self) -> Visit:
        """Return the crawl of this context; where there is none, one like the last."""
        visit = self._of_context()
        if visit is not None:
            return visit
        with self._lock:
            if self._outside.lines.cut.is_set():
                self._stay_outside(self._outside)
            return self._outside

    def _stay_outside(self, model: Visit) -> None:
        """Have requests outside of all crawls go by the rules of one."""
        self._outside = replace(model, lines=Lines())
        self._all.add(self._outside)

    def cut(self) -> bool:
        """End the crawl of this context; where there is none, all that the client has under way.

        :return: whether that is over in a moment.
        """
        visit = self._of_context()
        if visit is not None:
            _VISIT.set(None)
            return visit.lines.cut_all()
        with self._lock:
            every = [visit.lines.cut_all() for visit in self._all]
        return all(every)

    def _of_context(self) -> Visit | None:
        visit = _VISIT.get()
        return visit if visit is not None and visit.owner is self else None


_VISIT: Final[ContextVar[Visit | None]] = ContextVar("_VISIT", default=None)
