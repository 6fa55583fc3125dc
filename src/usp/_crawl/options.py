"""The options of one crawl beside its policy: callbacks and switches, built and checked once.

What a callback raises reaches the caller. A wrong return value raises ``UsageError``.
"""

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Final

from usp._crawl.work import Work
from usp._validate import check_callables, check_flags, check_int, check_strings
from usp.objects.events import Observer
from usp.objects.fetch_info import StoredDocument
from usp.objects.page import SitemapPage

RecurseCallback = Callable[[str, int, set[str]], bool]
RecurseListCallback = Callable[[list[str], int, set[str]], list[str]]
StopCallback = Callable[[SitemapPage], bool]
READ_AT_ONCE: Final = 4 * 1024
FindStored = Callable[[str], StoredDocument | None]


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """Callbacks and switches of one crawl."""

    recurse_callback: RecurseCallback | None = None
    recurse_list_callback: RecurseListCallback | None = None
    stop_callback: StopCallback | None = None
    observer: Observer | None = None
    find_stored: FindStored | None = None
    """Returns the document that an earlier crawl stored for a URL; makes requests conditional."""
    probe_early: bool = False
    """Request guesses together with the rest as soon as their stage begins, not one by one when
    the cursor reaches them: faster, and a few requests more."""
    streaming: bool = False
    """Hand documents over one by one in document order, prefetch no more than the policy allows,
    and keep nothing of a document afterwards."""
    skip_delays: bool = False
    """Retry at once: responses come from a recording, and no server needs a rest."""
    read_at_once: int = READ_AT_ONCE
    """In asyncio: documents of up to so many bytes are read in the event loop, which waits for
    them, at worst some 20 milliseconds by default; others in threads, which takes more CPU time."""
    large_reads: AbstractAsyncContextManager[object] | None = None
    """In asyncio: entered while a document is read that is larger than that. A semaphore that many
    crawls share limits how many such documents they hold in memory."""
    robots_rules: bool = False
    """Read what robots.txt says to the agent of the policy, though it need not be obeyed: for a
    table of sites."""
    every_node: bool = False
    """In a stream: hand over every node that was decided, also those without pages; but no guess
    that was not made."""

    def __post_init__(self) -> None:
        check_callables(
            recurse_callback=self.recurse_callback,
            recurse_list_callback=self.recurse_list_callback,
            stop_callback=self.stop_callback,
            observer=self.observer,
            find_stored=self.find_stored,
        )
        check_flags(
            probe_early=self.probe_early,
            streaming=self.streaming,
            skip_delays=self.skip_delays,
            robots_rules=self.robots_rules,
            every_node=self.every_node,
        )

        check_int("read_at_once", self.read_at_once, 0)

    @property
    def chooses_children(self) -> bool:
        """Whether a callback chooses among the children of an index."""
        return self.recurse_callback is not None or self.recurse_list_callback is not None

    def chosen_children(
        self, urls: list[str], level: int, parents: set[str]
    ) -> Work[dict[str, None]]:
        """Return the children of an index that the callbacks choose, each once, in their order."""
        chosen = urls
        if self.recurse_list_callback:
            returned: Iterable[str] = self.recurse_list_callback(urls, level, set(parents))
            chosen = check_strings("the result of recurse_list_callback", returned)
        found: dict[str, None] = {}
        for url in chosen:
            if self.recurse_callback is None or self.recurse_callback(url, level, set(parents)):
                found[url] = None
            yield None
        return found

    def without_callbacks(self) -> "CrawlOptions":
        """Return what can be pickled: callbacks are the caller's, who passes them again."""
        return replace(
            self,
            recurse_callback=None,
            recurse_list_callback=None,
            stop_callback=None,
            observer=None,
            find_stored=None,
            large_reads=None,
        )
