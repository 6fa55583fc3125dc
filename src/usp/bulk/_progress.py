"""How far a crawl of many sites is: what engines report while they run."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from usp.bulk._shard import SiteDone
from usp.exceptions import StorageError


@dataclass(slots=True)
class CrawlProgress:
    """What a crawl has done so far; shards that an earlier run has done count as well."""

    __module__ = "usp.bulk"  # where users find it

    shards: int
    """The shards of this run, and those that were done before."""
    sites: int
    """The lines of all of them."""
    shards_done: int = 0
    sites_done: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    """How many lines have each outcome."""
    pages: int = 0
    requests: int = 0
    received: int = 0
    """The bytes of all bodies as received, in this run."""
    is_ending: bool = False
    """Whether Ctrl-C has ended it, and only what is running is finished."""


def count_site(progress: CrawlProgress, done: SiteDone) -> None:
    """Count a site that is done."""
    progress.sites_done += done.lines
    progress.outcomes[done.outcome] += done.lines
    progress.pages += done.pages
    progress.requests += done.requests
    progress.received += done.received


def failed_shards_error(failed: Mapping[int, object]) -> StorageError:
    """Return the error that ends a crawl of which some shards could not be run.

    :param failed: what is wrong with each of them, by number.
    """
    number, reason = next(iter(failed.items()))
    return StorageError(f"{len(failed):,} of the shards could not be run; shard {number}: {reason}")


OnProgress = Callable[[CrawlProgress], None]
"""Called while a crawl runs, each time something was done."""
