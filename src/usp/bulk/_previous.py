"""The previous crawl: what it knows of each sitemap, and rows that are copied from its files.

A request is conditional if the previous crawl has read the sitemap whole. If that is unchanged, its
rows are not read again: those of all sites of a shard are copied together, in one pass through the
files of the same shard.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any, Final

from usp._export.arrow import ArrowTypes
from usp._extras import load
from usp._parse import Kind
from usp.bulk._folder import CrawlFolder
from usp.bulk._markers import CrawlManifest, part_name, read_marker
from usp.bulk._writer import SHARD_TABLES
from usp.exceptions import StorageError, UsageError
from usp.objects.fetch_info import FetchInfo, StoredDocument

if TYPE_CHECKING:
    import pyarrow as pa

_READ: Final = frozenset({"ok", "unchanged"})
_NEEDED: Final = (
    *("site", "url", "declared_url", "parent_url", "kind", "state", "content_type", "etag"),
    *("http_last_modified", "sha256", "index_lastmod", "pages", "children", "complete", "bytes"),
)
"""The columns of ``sitemaps`` by which a document is known again."""
_ROWS_AT_ONCE: Final = 4096
"""Rows have dozens of columns in their lists, and each of them takes memory for every row."""
_SEPARATOR: Final = "\n"
"""Between a site and a URL: neither of them has it."""

ChooseRows = Callable[["pa.Table"], "pa.Array"]
"""Returns for each row of a table whether it is copied."""


def check_previous(manifest: CrawlManifest | None, name: str, selection: Mapping[str, str]) -> int:
    """Return the number of shards of the previous crawl.

    :raises UsageError: if there is none, or it wanted other pages.
    """
    if manifest is None:
        raise UsageError(f"previous must be the folder of a crawl; there is none in {name}.")
    if other := manifest.other_filter(selection):
        raise UsageError(f"previous was crawled with another {other}, so nothing can be copied.")
    return manifest.shards


class PreviousSite:
    """What the previous crawl knows of the sitemaps of one site."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        self._by_url: dict[str, dict[str, Any]] = {}
        self._by_declared_url: dict[str, dict[str, Any]] = {}
        self._children: dict[str, list[tuple[str, str | None]]] = {}
        for row in rows:
            if row["state"] in _READ and row["complete"]:
                self._by_url[row["url"]] = row
                self._by_declared_url.setdefault(row["declared_url"], row)
            if row["parent_url"] is not None:
                at = row["index_lastmod"]
                child = (row["declared_url"], at.isoformat() if at else None)
                self._children.setdefault(row["parent_url"], []).append(child)

    def row(self, url: str) -> Mapping[str, Any] | None:
        """Return the row of a sitemap, given its URL after redirects."""
        return self._by_url.get(url)

    def stored(self, declared_url: str) -> StoredDocument | None:
        """Return what is known of a sitemap, for a conditional request.

        robots.txt is always read: its rules are in no table.
        """
        row = self._by_declared_url.get(declared_url)
        if row is None or row["kind"] == Kind.ROBOTS:
            return None
        children = tuple(self._children.get(row["url"], ()))
        has_validators = row["etag"] or row["http_last_modified"] or row["sha256"]
        if not has_validators or len(children) != (row["children"] or 0):
            return None  # a limit kept some children out of the table
        modified = row["http_last_modified"]
        # Arrow's times have a zone of their own kind, which format_datetime refuses.
        last_modified = modified and format_datetime(modified.astimezone(UTC), usegmt=True)
        info = FetchInfo(
            status=200,
            content_type=row["content_type"],
            etag=row["etag"],
            last_modified=last_modified,
            http_last_modified=modified,
            sha256=row["sha256"],
        )
        return StoredDocument(row["url"], (), info, row["kind"], children)


class PreviousShard:
    """The files of a shard of the previous crawl."""

    def __init__(self, folder: CrawlFolder, shard: int) -> None:
        self._pa = load("pyarrow", "Parquet", "tables")
        self._folder = folder
        self._shard = shard
        self._sitemaps: Any = None
        self._rows_by_site: dict[str, list[int]] = {}
        self._problems: dict[tuple[str, str], int] = {}
        if read_marker(folder, shard) is not None:
            self._read()

    def _read(self) -> None:
        self._sitemaps = self._pa.concat_tables(self._tables("sitemaps", _NEEDED))
        for at, site in enumerate(self._sitemaps.column("site").to_pylist()):
            self._rows_by_site.setdefault(site, []).append(at)
        for table in self._tables("problems", ("site", "sitemap_url")):
            for row in table.to_pylist():
                key = (row["site"], row["sitemap_url"])
                self._problems[key] = self._problems.get(key, 0) + 1

    def _tables(self, name: str, columns: Iterable[str]) -> list["pa.Table"]:
        return list(read_rows(self._folder, name, self._shard, list(columns)))

    def site(self, name: str) -> PreviousSite | None:
        """Return what is known of a site; None if it is new."""
        at = self._rows_by_site.get(name)
        if at is None:
            return None
        rows = self._sitemaps.take(at).to_pylist()
        problems = self._problems
        return PreviousSite(
            {**row, "problems": problems.get((name, row["url"]), 0)} for row in rows
        )

    def size(self, name: str) -> int:
        """Return how many sitemaps a site had."""
        return len(self._rows_by_site.get(name, ()))

    def copied(self, table: str, sitemaps: Iterable[tuple[str, str]]) -> Iterator["pa.RecordBatch"]:
        """Yield the rows of a table that belong to these sitemaps, each named with its site."""
        compute = load("pyarrow.compute", "Parquet", "tables")
        wanted = self._pa.array([_SEPARATOR.join(one) for one in sitemaps], self._pa.string())

        def choose(rows: "pa.Table") -> "pa.Array":
            columns = rows.column("site"), rows.column("sitemap_url")
            keys = compute.binary_join_element_wise(*columns, _SEPARATOR)
            return compute.is_in(keys, value_set=wanted)

        return copied_rows(self._folder, table, self._shard, choose)


def copied_rows(
    folder: CrawlFolder, table: str, shard: int, choose: ChooseRows
) -> Iterator["pa.RecordBatch"]:
    """Yield some rows of a file of a shard, many at a time."""
    schema = ArrowTypes("Parquet").schema(SHARD_TABLES[table])
    for group in read_rows(folder, table, shard, schema.names):
        rows = group.filter(choose(group))
        yield from rows.cast(schema).combine_chunks().to_batches()


def read_rows(
    folder: CrawlFolder, table: str, shard: int, columns: list[str]
) -> Iterator["pa.Table"]:
    """Yield the rows of a file of a shard, many at a time; at least one table, perhaps empty.

    :raises StorageError: if it can't be read.
    """
    pa = load("pyarrow", "Parquet", "tables")
    parquet = load("pyarrow.parquet", "Parquet", "tables")
    name = part_name(table, shard)
    try:
        with folder.open(name) as opened:
            file = parquet.ParquetFile(opened)
            wanted = [name for name in columns if name in file.schema_arrow.names]
            yield file.schema_arrow.empty_table().select(wanted)
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=wanted):
                yield pa.Table.from_batches([batch])
    except (OSError, pa.ArrowException) as error:
        raise StorageError(f"{folder.name}/{name} can't be read: {error}") from error
