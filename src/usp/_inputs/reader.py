"""What the readers of inputs have in common."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from usp._inputs.kinds import NamedInput
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.schema import TABLES, Table
from usp.objects.outcome import Outcome


@dataclass(frozen=True, slots=True)
class InputOptions:
    """What a caller says about an input."""

    column: str | None = None
    """The name of the column with URLs, in a table of another tool."""
    table: str | None = None
    """The table that a file has, if that is known."""
    fingerprints: bool = False
    """Whether the pages of a state have the column ``fingerprint``."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """The keywords of ``read_tables``, for what is crawled."""


class InputReader(Protocol):
    """Reads the tables of one input."""

    def __init__(self, named: NamedInput, options: InputOptions) -> None: ...

    @property
    def tables(self) -> Collection[str]:
        """The tables that it has; of a text, all that it may have, until it is read."""

    @property
    def is_ours(self) -> bool:
        """Whether its tables are ours, once the first batch is there.

        A list or a table of another tool may have rows that are no pages.
        """

    @property
    def outcome(self) -> Outcome | None:
        """Whether all was read, once the batches are; None if the input doesn't say."""

    def batches(self, choice: TableChoice) -> Iterator[Batch]:
        """Yield the rows of the wanted tables that it has, each with the columns that it has."""


def shared_columns(wanted: Table | None, has: Collection[str]) -> Table | None:
    """Return a wanted table with those of its columns that are there; None if none is."""
    names = [name for name in wanted.names if name in has] if wanted else []
    return wanted.only(names) if wanted and names else None


COMPLETE: Final = TableChoice({"sites": TABLES["sites"].only(["complete"])})
"""What says whether all of an export was read."""


def outcome_of_sites(batches: Iterable[Batch]) -> Outcome | None:
    """Return what the table of sites says of all of them; None if it has no row."""
    counts: Counter[bool] = Counter()
    for batch in batches:
        counts.update(map(bool, batch.columns.get("complete", ())))
    if not counts:
        return None
    return Outcome.PARTIAL if counts[False] else Outcome.FOUND
