"""What the local engine and its worker processes tell one another, as pickles through pipes."""

import pickle
from dataclasses import dataclass
from typing import IO

from usp.bulk._markers import ShardResult
from usp.bulk._options import BulkOptions
from usp.bulk._shard import SiteDone


@dataclass(frozen=True, slots=True)
class WorkerOrder:
    """The first order: what all shards have in common."""

    options: BulkOptions
    out: str
    log_level: int
    log_file: str | None


@dataclass(frozen=True, slots=True)
class FinishOrder:
    """The last order: finish what is running, and end."""


@dataclass(frozen=True, slots=True)
class ReadyReport:
    """The worker has room for another shard."""


@dataclass(frozen=True, slots=True)
class SitesReport:
    """Some sites are done."""

    sites: tuple[SiteDone, ...]


@dataclass(frozen=True, slots=True)
class FailedReport:
    """A shard can't be written, or a bug of ours has ended it."""

    shard: int
    message: str
    is_fatal: bool
    """Whether the other shards have the same trouble: no room, say."""


WorkerReport = ReadyReport | SitesReport | ShardResult | FailedReport


def send(stream: IO[bytes], message: object) -> None:
    """Write a message."""
    pickle.dump(message, stream)
    stream.flush()
