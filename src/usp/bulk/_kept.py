"""Rows of a shard that is done, which stay when some of its sites are crawled again."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from usp._extras import load
from usp.bulk._folder import CrawlFolder
from usp.bulk._markers import TABLE_NAMES
from usp.bulk._previous import copied_rows, read_rows
from usp.bulk._writer import ShardWriter

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class KeptRows:
    """The sites of a shard whose rows stay."""

    folder: CrawlFolder
    shard: int
    sites: frozenset[str]
    lines: frozenset[int]
    """The numbers of their lines."""
    outcomes: Counter[str]
    """How many of the lines have each outcome."""
    traffic: Counter[str]
    """The requests, bytes and sitemaps of the sites, each counted once."""

    @classmethod
    def of(cls, folder: CrawlFolder, shard: int, retry: frozenset[str]) -> Self:
        """Return the sites that have none of the outcomes that are tried again."""
        counts = ["requests", "bytes", "sitemaps", "sitemaps_failed"]
        wanted = ["site", "outcome", "line", "duplicate_of", *counts]
        rows = [
            row
            for group in read_rows(folder, "sites", shard, wanted)
            for row in group.to_pylist()
            if row["outcome"] not in retry
        ]
        first = [row for row in rows if row["duplicate_of"] is None]
        traffic = Counter({name: sum(row[name] or 0 for row in first) for name in counts})
        traffic["sitemaps"] += traffic.pop("sitemaps_failed")
        outcomes = Counter(row["outcome"] for row in rows)
        sites = frozenset(row["site"] for row in rows)
        lines = frozenset(row["line"] for row in rows)
        return cls(folder, shard, sites, lines, outcomes, traffic)

    def copy_to(self, writer: ShardWriter) -> None:
        """Copy all rows of these sites."""
        arrow = load("pyarrow", "Parquet", "tables")
        compute = load("pyarrow.compute", "Parquet", "tables")
        kept = arrow.array(sorted(self.sites), arrow.string())

        def choose(rows: "pa.Table") -> "pa.Array":
            return compute.is_in(rows.column("site"), value_set=kept)

        for table in TABLE_NAMES:
            writer.copy(table, copied_rows(self.folder, table, self.shard, choose))
