"""Inputs that are crawled: sites, sitemaps, files, recordings."""

from collections.abc import Generator
from contextlib import ExitStack
from typing import Any

from usp._inputs.kinds import InputKind, NamedInput
from usp._inputs.reader import InputOptions
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.read import TableStream, read_tables
from usp._tables.schema import TABLES
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome


class CrawlReader:
    """Reads the tables of a crawl while it runs."""

    tables = tuple(TABLES)

    def __init__(self, named: NamedInput, options: InputOptions) -> None:
        self._named = named
        self._keywords = options.reading
        self.stream: TableStream | None = None
        """The crawl, once it runs."""

    def batches(self, choice: TableChoice) -> Generator[Batch]:
        """Yield the rows of the wanted tables."""
        columns = {name: table.names for name, table in choice.tables.items()}
        with ExitStack() as stack:
            source: Any = self._named.path or self._named.name
            keywords = dict(self._keywords)
            if self._named.kind is InputKind.RECORDING:
                source, keywords["web_client"] = _replay(self._named, stack)
            self.stream = read_tables(source, list(columns), columns=columns, **keywords)
            yield from stack.enter_context(self.stream)

    @property
    def outcome(self) -> Outcome | None:
        """What came of the crawl."""
        return self.stream.outcome if self.stream else None


def _replay(named: NamedInput, stack: ExitStack) -> tuple[str, object]:
    """Return what was recorded, and a client that answers from the recording."""
    from usp.web_client.replay import Recording, ReplayWebClient

    recording = Recording(named.path or named.name)
    if recording.source is None:
        raise UsageError(f"{named.name} has no response, so nothing says what was recorded.")
    return recording.source, stack.enter_context(ReplayWebClient(recording))
