"""Inputs that are crawled: sites, sitemaps, files, recordings."""

from collections.abc import Generator, Mapping
from contextlib import ExitStack, closing
from typing import Any

from usp._crawl.policy import Policy
from usp._inputs.kinds import InputKind, NamedInput
from usp._inputs.reader import InputOptions
from usp._source import CrawlStart, SourceName
from usp._store import Store
from usp._tables.batch import Batch
from usp._tables.choice import TableChoice
from usp._tables.read import TableStream, read_tables
from usp._tables.schema import TABLES
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.web_client.abstract_client import AbstractWebClient


class CrawlReader:
    """Reads the tables of a crawl while it runs."""

    is_ours = True
    tables = tuple(TABLES)

    def __init__(self, named: NamedInput, options: InputOptions) -> None:
        """Check what was named; nothing is fetched yet.

        :raises UsageError: if it is none of what can be crawled.
        """
        self._source: SourceName = named.path or named.name
        self._client: AbstractWebClient | None = None
        """What answers from a recording."""
        self._keywords: Mapping[str, Any] = options.reading
        if named.kind is InputKind.RECORDING:
            self._source, self._client = replayed(named)
        elif named.path is None:
            CrawlStart.for_source(
                named.name, Policy(), use_robots=True, use_known_paths=None, store=Store()
            )
        self.stream: TableStream | None = None
        """The crawl, once it runs."""
        self._is_ending = False

    def batches(self, choice: TableChoice) -> Generator[Batch]:
        """Yield the rows of the wanted tables."""
        columns = {name: table.names for name, table in choice.tables.items()}
        keywords = dict(self._keywords)
        with ExitStack() as stack:
            if self._client:
                keywords["web_client"] = stack.enter_context(closing(self._client))
            self.stream = read_tables(self._source, list(columns), columns=columns, **keywords)
            stream = stack.enter_context(self.stream)
            if not self._is_ending:  # before it was there
                yield from stream

    def end_soon(self) -> None:
        """Cancel the crawl; any thread may do so."""
        self._is_ending = True
        if self.stream:
            self.stream.close()

    @property
    def outcome(self) -> Outcome | None:
        """What came of the crawl."""
        return self.stream.outcome if self.stream else None


def replayed(named: NamedInput) -> tuple[str, AbstractWebClient]:
    """Return what was recorded, and a client that answers from the recording.

    :raises UsageError: if it has no response, or is of several sites.
    """
    from usp.web_client.replay import Recording, ReplayWebClient

    recording = Recording(named.path or named.name)
    if recording.source is None:
        raise UsageError(f"{named.name} has no response, so nothing says what was recorded.")
    if len(recording.sites) > 1:
        message = f"{named.name} is a recording of {len(recording.sites)} sites, not of one: name "
        raise UsageError(f"{message}a site, and read it with --replay (in Python, replay=).")
    return recording.source, ReplayWebClient(recording)
