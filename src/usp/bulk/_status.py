"""How far the crawl in a folder is, and what came of it: from its markers."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from usp.bulk._folder import CrawlFolder
from usp.bulk._markers import CrawlManifest, done_shards, read_marker
from usp.exceptions import UsageError


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """How far a crawl is, and what came of it so far."""

    __module__ = "usp.bulk"  # where users find it

    folder: str
    """The folder, as it was named."""
    input: str
    """The name of the list."""
    sites: int
    """The lines of the list."""
    shards: int
    missing: tuple[int, ...]
    """The shards that are not done."""
    sites_done: int
    """The lines that have their row."""
    outcomes: Mapping[str, int]
    """How many lines have each outcome."""
    rows: Mapping[str, int]
    """The rows of each table."""
    size: int
    """The bytes of all files."""
    requests: int
    received: int
    """The bytes of all bodies as received."""
    sitemaps: int
    """The sitemaps that were read or failed; robots.txt is not counted."""
    unchanged: int
    """The sitemaps whose rows were copied from the previous crawl."""
    started_at: str
    finished_at: str | None
    """When the last shard was done, in UTC."""

    @property
    def is_done(self) -> bool:
        """Whether every line has its row."""
        return not self.missing


def read_status(folder: CrawlFolder) -> CrawlStatus:
    """Read the markers of a folder.

    :raises UsageError: if there is no crawl in it.
    """
    manifest = CrawlManifest.read(folder)
    if manifest is None:
        raise UsageError(f"There is no crawl in {folder.name}.")
    done = sorted(done_shards(folder))
    outcomes: Counter[str] = Counter()
    rows: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    finished_at = None
    for shard in done:
        marker = read_marker(folder, shard)
        if marker is None:
            continue
        outcomes.update(marker.outcomes)
        rows.update(marker.rows)
        for name in ("sites", "requests", "received", "sitemaps", "unchanged"):
            totals[name] += getattr(marker, name)
        totals["size"] += sum(file.size for file in marker.files.values())
        finished_at = max(finished_at or "", marker.finished_at)
    return CrawlStatus(
        folder.name,
        manifest.input,
        manifest.sites,
        manifest.shards,
        tuple(sorted(set(range(manifest.shards)) - set(done))),
        totals["sites"],
        dict(outcomes),
        dict(rows),
        totals["size"],
        totals["requests"],
        totals["received"],
        totals["sitemaps"],
        totals["unchanged"],
        manifest.started_at,
        finished_at,
    )
