"""One shard: crawls its sites, writes their rows, and then its marker.

It can be run any number of times, by anyone: a shard that is done is left alone, and one that is
not is run from its beginning. Whatever a site does, its lines have their rows.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from usp._display import redact_argument
from usp._drive.off_loop import in_thread
from usp._tables.batch import Batch
from usp._tables.rows import TableRow, problem_row
from usp.bulk._folder import CrawlFolder, crawl_folder
from usp.bulk._input import InputLine
from usp.bulk._kept import KeptRows
from usp.bulk._markers import PartFile, ShardResult, marker_name, now_text, read_marker
from usp.bulk._options import BAD_INPUT, BulkOptions
from usp.bulk._previous import PreviousShard
from usp.bulk._recordings import client_of_shard
from usp.bulk._site import crawl_site
from usp.bulk._sites import NamedSite, Shard
from usp.bulk._writer import SHARD_TABLES, ShardWriter
from usp.exceptions import UspError
from usp.objects.problem import Problem
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.aio_client import AioWebClient, CachingResolver

_LARGE_PAGES: Final = 50_000
"""A site with more pages is large: it goes on beside the others, and last."""
_LARGE_READS: Final = 2
"""How many large documents a worker reads at once: it has one CPU, and each of them takes
megabytes, such as the URLs that were met."""
_MAX_SHOWN: Final = 500
"""Characters of a line that names no site."""


@dataclass(frozen=True, slots=True)
class SiteDone:
    """One site is done: for the progress of a crawl."""

    outcome: str
    lines: int
    """How many lines name it."""
    pages: int
    requests: int
    received: int
    """The bytes of all bodies."""


Report = Callable[[SiteDone], None]


class SiteSlots:
    """How many sites are crawled at once; large ones have a few slots of their own."""

    def __init__(self, at_once: int) -> None:
        self.free = asyncio.Semaphore(at_once)
        self.large = max(at_once // 4, 1)


@dataclass(slots=True)
class _SiteSlot:
    """The slot of one site: it is given to the next one when the site turns out to be large."""

    slots: SiteSlots
    is_large: bool = False
    pages: int = 0

    def count(self, pages: int) -> None:
        """Count pages; a large site gives way to others, so that it never holds them up."""
        self.pages += pages
        if self.pages > _LARGE_PAGES and not self.is_large and self.slots.large:
            self.is_large = True
            self.slots.large -= 1
            self.slots.free.release()

    def release(self) -> None:
        if self.is_large:
            self.slots.large += 1
        else:
            self.slots.free.release()


@dataclass(frozen=True, slots=True)
class ShardWorker:
    """What all shards of one process share: one client, one cache of addresses, one limit."""

    options: BulkOptions
    client: AioWebClient
    slots: SiteSlots
    report: Report
    large_reads: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_LARGE_READS))
    """Held while a large document is read: few at a time, since each takes memory."""
    finishing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a shard is finished: one at a time, since that takes memory."""


@asynccontextmanager
async def shard_worker(
    options: BulkOptions, report: Report | None = None
) -> AsyncIterator[ShardWorker]:
    """Open what shards share, inside of an ``async with`` block."""
    resolver = CachingResolver()
    try:
        async with options.client(resolver) as client:
            slots = SiteSlots(options.sites_at_once)
            yield ShardWorker(options, client, slots, report or (lambda _done: None))
    finally:
        await resolver.close()


@dataclass(slots=True)
class _SiteJob:
    """One site, and all lines that name it."""

    site: NamedSite
    lines: list[InputLine] = field(default_factory=list)


async def run_shard(
    shard: int,
    lines: Sequence[InputLine],
    out: str,
    worker: ShardWorker,
    all_started: Callable[[], None] = lambda: None,
) -> ShardResult:
    """Crawl the sites of a shard and write its files, unless that is done already.

    :param all_started: called when no site of the shard waits any more.
    :raises StorageError: if there is no room.
    """
    folder = crawl_folder(out)
    done = await in_thread(read_marker, folder, shard)
    if done is not None and not worker.options.retry & done.outcomes.keys():
        all_started()
        return done
    with folder.scratch() as scratch, ShardWriter(scratch, shard) as writer:
        run = _ShardRun(shard, folder, worker, writer)
        kept = await run.keep_done() if done else frozenset()
        wanted = [line for line in lines if line.number not in kept]
        async with client_of_shard(shard, worker.options, worker.client) as client:
            await run.crawl(wanted, client, all_started)
        async with worker.finishing:
            await run.copy_unchanged()
            return await run.commit(was_done=done is not None)


def run_shard_alone(shard: Shard, out: str, options: BulkOptions) -> ShardResult:
    """Run one shard with a client of its own: in any process, on any machine."""

    async def run() -> ShardResult:
        async with shard_worker(options) as worker:
            return await run_shard(shard.number, shard.lines, out, worker)

    return asyncio.run(run())


class _ShardRun:
    """A shard while it is crawled."""

    def __init__(
        self, shard: int, folder: CrawlFolder, worker: ShardWorker, writer: ShardWriter
    ) -> None:
        self._shard = shard
        self._folder = folder
        self._worker = worker
        self._writer = writer
        self._previous: PreviousShard | None = None
        self._copied: list[tuple[str, str]] = []
        self._outcomes: Counter[str] = Counter()
        self._traffic: Counter[str] = Counter()
        self._started = time.monotonic()

    async def keep_done(self) -> frozenset[int]:
        """Copy the rows of sites that are not crawled again; return the numbers of their lines."""
        kept = await in_thread(KeptRows.of, self._folder, self._shard, self._worker.options.retry)
        await in_thread(kept.copy_to, self._writer)
        self._outcomes += kept.outcomes
        self._traffic += kept.traffic
        return kept.lines

    async def crawl(
        self,
        lines: Sequence[InputLine],
        client: AbstractAioWebClient,
        all_started: Callable[[], None],
    ) -> None:
        """Crawl the sites of some lines."""
        jobs, bad = _jobs(lines)
        for line in bad:
            await self._write_bad(line)
        previous = self._worker.options.previous
        if previous is not None:
            source = crawl_folder(previous)
            self._previous = found = await in_thread(PreviousShard, source, self._shard)
            jobs.sort(key=lambda job: found.size(job.site.name))  # large ones last
        with _first_of_ours():
            async with asyncio.TaskGroup() as group:
                for job in jobs:
                    await self._worker.slots.free.acquire()
                    group.create_task(self._crawl_site(job, client))
                all_started()

    async def copy_unchanged(self) -> None:
        """Copy the rows of sitemaps that are unchanged since the previous crawl."""
        if self._previous is not None and self._copied:
            for table in ("pages", "problems"):
                rows = self._previous.copied(table, self._copied)
                await in_thread(self._writer.copy, table, rows)

    async def _crawl_site(self, job: _SiteJob, client: AbstractAioWebClient) -> None:
        slot = _SiteSlot(self._worker.slots)
        name = job.site.name

        async def take(batch: Batch) -> None:
            if batch.table.name == "pages":
                slot.count(batch.length)
            await self._writer.write(batch)

        try:
            previous = self._previous.site(name) if self._previous else None
            worker = self._worker
            row, copied = await crawl_site(
                name, worker.options, client, take, previous, worker.large_reads
            )
        finally:
            slot.release()
        self._copied += ((row["site"], url) for url in copied)
        self._traffic["unchanged"] += len(copied)
        await self._write_site(row, job.lines)

    async def _write_site(self, row: TableRow, lines: Sequence[InputLine]) -> None:
        """Write the row of a site, once for each line that names it."""
        first = lines[0].number
        rows: list[dict[str, Any]] = [
            {
                **row,
                "line": line.number,
                "input": redact_argument(line.text)[:_MAX_SHOWN],
                "duplicate_of": None if line.number == first else first,
            }
            for line in lines
        ]
        await self._writer.write(Batch.of_rows(SHARD_TABLES["sites"], rows))
        outcome = str(row["outcome"])
        self._outcomes[outcome] += len(lines)
        requests, received = row.get("requests") or 0, row.get("bytes") or 0
        sitemaps = (row.get("sitemaps") or 0) + (row.get("sitemaps_failed") or 0)
        self._traffic += Counter(requests=requests, bytes=received, sitemaps=sitemaps)
        pages = row.get("pages") or 0
        self._worker.report(SiteDone(outcome, len(lines), pages, requests, received))

    async def _write_bad(self, line: InputLine) -> None:
        """Write the row of a line that names no site."""
        shown = redact_argument(line.text)[:_MAX_SHOWN]
        problem = Problem("SM709", f"{shown!r} is neither a domain nor a URL")
        row = {"site": shown, "outcome": BAD_INPUT, "code": problem.code, "problems": 1}
        problems = [problem_row(shown, problem)]
        await self._writer.write(Batch.of_rows(SHARD_TABLES["problems"], problems))
        await self._write_site(row, [line])

    async def commit(self, *, was_done: bool) -> ShardResult:
        """Make the files whole, give them their names, and write the marker.

        If another process was faster, its files stay.
        """
        written, parts = await in_thread(self._writer.finish)
        result = self._result(parts)

        def place() -> ShardResult:
            with self._folder.committing():
                done = read_marker(self._folder, self._shard)
                if done is not None and not was_done:
                    return done
                self._folder.remove(marker_name(self._shard))  # until its files are whole again
                self._folder.place(written)
                self._folder.write(marker_name(self._shard), result.to_json())
            return result

        return await in_thread(place)

    def _result(self, parts: dict[str, PartFile]) -> ShardResult:
        return ShardResult(
            self._shard,
            self._outcomes.total(),
            dict(self._outcomes),
            dict(self._writer.rows),
            parts,
            self._traffic["requests"],
            self._traffic["bytes"],
            self._traffic["sitemaps"],
            self._traffic["unchanged"],
            now_text(),
            round(time.monotonic() - self._started, 3),
        )


@contextmanager
def _first_of_ours() -> Iterator[None]:
    """Raise the first error of this library that a group of tasks has, and not the group.

    No room, say: it is the same for all sites, and no bug of ours.
    """
    try:
        yield
    except ExceptionGroup as group:
        ours: BaseException | None = group.subgroup(UspError)
        while isinstance(ours, ExceptionGroup):
            ours = ours.exceptions[0]
        if ours is None:
            raise
        raise ours from None


def _jobs(lines: Iterable[InputLine]) -> tuple[list[_SiteJob], list[InputLine]]:
    """Return the sites that some lines name, each once, and the lines that name none."""
    jobs: dict[str, _SiteJob] = {}
    bad: list[InputLine] = []
    for line in lines:
        site = NamedSite.of(line.text)
        if site is None:
            bad.append(line)
        else:
            jobs.setdefault(site.key, _SiteJob(site)).lines.append(line)
    return list(jobs.values()), bad
