"""What a crawl writes beside its tables: what it is of, and a marker for each shard that is done.

The marker is written last, so a shard with a marker is whole, and one without is run again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final, Self

from usp._inputs.folder import CRAWL_FILE, DONE_FOLDER
from usp._json import parse_json
from usp._tables.schema import SCHEMA_VERSION
from usp._version import __version__
from usp.bulk._folder import CrawlFolder
from usp.exceptions import StorageError

TABLE_NAMES: Final = ("sites", "sitemaps", "pages", "problems")
"""The tables of a crawl of many sites: a folder each."""


def now_text() -> str:
    """Return the time in UTC, as files have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def part_name(table: str, shard: int) -> str:
    """Return the file of a table of a shard."""
    return f"{table}/part-{shard:05}.parquet"


def marker_name(shard: int) -> str:
    """Return the marker of a shard."""
    return f"{DONE_FOLDER}/{shard:05}.json"


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file of a shard, as it was written."""

    __module__ = "usp.bulk"  # where users find it

    size: int
    """Its bytes."""
    sha256: str


@dataclass(frozen=True, slots=True)
class ShardResult:
    """What came of a shard: its marker."""

    __module__ = "usp.bulk"  # where users find it

    shard: int
    """Its number, from 0."""
    sites: int
    """The lines of input, each a row of ``sites``."""
    outcomes: Mapping[str, int]
    """How many of them have each outcome."""
    rows: Mapping[str, int]
    """The rows of each table."""
    files: Mapping[str, PartFile]
    """The files, by their names in the folder of the crawl."""
    requests: int
    """How many requests were made, retries included."""
    received: int
    """The bytes of all bodies as received."""
    sitemaps: int
    """The sitemaps that were read or failed; robots.txt is not counted."""
    unchanged: int
    """The sitemaps whose rows were copied from the previous crawl."""
    finished_at: str
    """When the marker was written, in UTC."""
    seconds: float
    """How long the shard took."""

    def to_json(self) -> bytes:
        """Return the content of the marker."""
        return json_of({"schema_version": SCHEMA_VERSION, "usp": __version__, **asdict(self)})

    @classmethod
    def from_json(cls, content: bytes, name: str) -> Self:
        """Return what a marker says.

        :raises StorageError: if it is none.
        """
        found = parsed(content, name, {one.name for one in fields(cls)})
        files = {path: PartFile(**file) for path, file in found["files"].items()}
        return cls(**{**found, "files": files})


def read_marker(folder: CrawlFolder, shard: int) -> ShardResult | None:
    """Return the marker of a shard; None if it isn't done."""
    name = marker_name(shard)
    content = folder.read(name)
    return None if content is None else ShardResult.from_json(content, name)


def done_shards(folder: CrawlFolder) -> set[int]:
    """Return the numbers of the shards that are done."""
    names = (
        name.removesuffix(".json") for name in folder.names(DONE_FOLDER) if name.endswith(".json")
    )
    return {int(name) for name in names if name.isdigit()}


@dataclass(frozen=True, slots=True)
class CrawlManifest:
    """What a folder is the crawl of; written before its first shard."""

    input: str
    """The name of the list."""
    fingerprint: str
    """The same for the same list."""
    sites: int
    """The lines of the list."""
    shards: int
    selection: Mapping[str, str]
    """Which pages and sitemaps were wanted."""
    started_at: str = field(default_factory=now_text)

    def other_filter(self, selection: Mapping[str, str]) -> str | None:
        """Return the first filter that is another one, with both values; None if all are equal."""
        for name, wanted in selection.items():
            found = self.selection.get(name)
            if found != wanted:
                return f"{name} ({found}, not {wanted})"
        return None

    def write(self, folder: CrawlFolder) -> None:
        """Write it to the folder of the crawl."""
        about = {"schema_version": SCHEMA_VERSION, "usp": __version__}
        folder.write(CRAWL_FILE, json_of({**about, **asdict(self)}))

    @classmethod
    def read(cls, folder: CrawlFolder) -> Self | None:
        """Return that of a folder; None if there is no crawl in it.

        :raises StorageError: if it can't be read.
        """
        content = folder.read(CRAWL_FILE)
        if content is None:
            return None
        return cls(**parsed(content, CRAWL_FILE, {one.name for one in fields(cls)}))


def json_of(content: Mapping[str, Any]) -> bytes:
    """Return the content of a JSON file."""
    return f"{json.dumps(content, indent=1)}\n".encode()


def parsed(content: bytes, name: str, wanted: set[str]) -> dict[str, Any]:
    """Return the wanted values of a JSON file.

    :raises StorageError: if it has not all of them.
    """
    try:
        found: dict[str, Any] = parse_json(content)
        return {key: found[key] for key in wanted}
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{name} can't be read: {error}. Remove it to run it again.") from error
