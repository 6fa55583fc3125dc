"""A sync from its beginning to its end: what was chosen, the open state, what was taken.

It is the same for threads and asyncio; how sites are run, is not.
"""

import threading
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Self

from usp._crawl.policy import Policy
from usp._source import SourceName
from usp._sync.changes import Change
from usp._sync.options import (
    DiscoveryChoice,
    SiteReport,
    SyncChoices,
    SyncOptions,
    SyncSource,
    now,
    sources_of,
)
from usp._sync.site_run import SiteRun
from usp._sync.state import State
from usp._sync.state_path import StatePath
from usp._validate import check_number

_AT_ONCE: Final = 200
"""How many changes are read from the state at once; an event loop has other work in between."""


@dataclass(slots=True)
class Session:
    """A sync: hands changes over, and records what was taken."""

    path: StatePath
    wait: float
    """How many seconds to wait for another process."""
    options: SyncOptions
    discovery: DiscoveryChoice
    sources: Sequence[SyncSource]
    reports: list[SiteReport] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the runs that are going on are to end; any thread may do so."""
    _state: State | None = None
    _taken: dict[int, int] = field(default_factory=dict)
    """The last change of each site that was handed over, or is not wanted."""

    @classmethod
    def of(
        cls,
        sources: Sequence[SourceName],
        state: object,
        wait: float,
        discovery: DiscoveryChoice,
        policy: Policy,
        chosen: SyncChoices,
    ) -> Self:
        """Check what a caller has chosen; nothing is opened yet.

        :raises UsageError: if something is wrong.
        """
        check_number("wait", wait, 0)
        options = SyncOptions.of(policy, chosen)
        named = sources_of(sources, options.policy, discovery)
        return cls(StatePath.of(state), wait, options, discovery, named)

    def opened(self, given_up: threading.Event | None = None) -> Self:
        """Open the state, and return the session.

        :param given_up: ends the wait for another process.
        :raises UsageError: if the file is no state.
        :raises StateError: if another process uses it, or it can't be written.
        """
        with ExitStack() as undo, self.path.errors():
            state = State.open_to_run(self.path.path, self.wait, given_up)
            undo.callback(state.close)
            self.sources = [
                SyncSource(one.source, one.name, state.add_site(one.name)) for one in self.sources
            ]
            self._state = state
            undo.pop_all()
        return self

    @property
    def state(self) -> State:
        """The state, which is open."""
        assert self._state is not None  # noqa: S101 -- nothing uses it before it is opened
        return self._state

    def pending(self, source: SyncSource) -> list[Change]:
        """Return the next changes of a site that were not handed over; none at the end."""
        taken = self._taken.get(source.site_id, 0)
        return list(islice(self.state.undelivered(source.site_id, taken), _AT_ONCE))

    def hands_over(self, source: SyncSource, change: Change) -> bool:
        """Take note that a change is handed over; tell whether it is wanted at all."""
        self._taken[source.site_id] = change.seq
        return self.options.wants(change)

    @property
    def takes_now(self) -> bool:
        """Whether something was taken now that the next change is asked for."""
        return self.options.commit_each and bool(self._taken)

    def commit(self) -> None:
        """Record that what was handed over was taken."""
        while self._taken:
            self.state.deliver(*self._taken.popitem())

    def commit_unless_busy(self) -> bool:
        """Do the same, unless a run is committed just now; tell whether it was done."""
        for site_id, seq in list(self._taken.items()):
            if not self.state.deliver_unless_busy(site_id, seq):
                return False
            del self._taken[site_id]
        return True

    def run(self, source: SyncSource) -> SiteRun:
        """Begin the run of a site."""
        return SiteRun(self.path, source.site_id, self.options.rules, now())

    def delay(self, source: SyncSource) -> float:
        """Return how many seconds to wait before a site; none, if nothing of it is due."""
        delay = self.options.delay()
        if not delay or self._looks_everywhere:
            return delay
        with closing(self.run(source)) as run:
            return 0 if run.requests_nothing(source.name) else delay

    @property
    def _looks_everywhere(self) -> bool:
        """Whether more is requested of a site than robots.txt and what it lists."""
        chosen, policy = self.discovery, self.options.policy
        more = chosen.use_known_paths or policy.use_homepage or policy.use_newer_paths
        return bool(more) or not chosen.use_robots

    def close(self) -> None:
        """Forget what is old, and close the state; what was not taken comes again."""
        self._taken.clear()
        before = self.options.forget_before()
        try:
            if before is not None:
                self.state.forget(before)
        finally:
            self.state.close()
