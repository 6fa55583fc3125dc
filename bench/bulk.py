"""Crawls of many sites: ``usp crawl`` with two worker processes, on sites with five requests each.

Every site has an address of its own on the loopback interface, robots.txt, an index, and three
sitemaps with 600 pages in all. The server is another process, and shares the CPUs. The time is that
of the whole command, with the start of its processes; CPU time and memory are those of the command
and its workers, and beside it the CPU time of the server. On a machine that has other work to do,
the CPU time says more than the rate: 20 ms for a site, the server's included, are 100 sites a
second on two CPUs. The refresh crawls the same sites against the first crawl: nothing has changed.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bench.implementations import ROOT
from bench.listed_sites import PAGES, REQUESTS, homepages, listed_sites, server_seconds
from bench.results import Table
from usp.bulk import CrawlStatus, status

SIZES: Final = (1_000, 10_000)
QUICK_SIZES: Final = (300, 1_000)
WORKERS: Final = 2
MIN_RATE: Final = 100.0
MAX_MIB: Final = 300.0
MAX_BYTES: Final = 12.0
HEADINGS: Final = (
    *("crawl", "sites/s", "CPU ms per site", "of the server", "peak MiB of a worker"),
    *("bytes per URL", "MB received", "pages"),
)
_COMMAND: Final = (
    *(sys.executable, "-m", "usp", "crawl"),
    *("--user-agent", "bench/1.0 (+https://example.org/)", "--allow-private", "--no-config"),
    *("--workers", str(WORKERS), "--no-progress", "--quiet"),
)


class _Cost(NamedTuple):
    """What a command took."""

    seconds: float
    cpu: float
    server_cpu: float
    peak: float


def run(*, full: bool) -> Iterator[Table]:
    """Crawl a list of each size, then the larger one again."""
    table = Table(
        f"Sites with {REQUESTS} requests and {PAGES} pages each, {WORKERS} workers",
        HEADINGS,
        f"at least {MIN_RATE:g} sites a second, a worker under {MAX_MIB:g} MiB, "
        f"under {MAX_BYTES:g} bytes a URL",
    )
    with listed_sites() as port, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in SIZES if full else QUICK_SIZES:
            file = folder / f"{size}.txt"
            file.write_text("".join(f"{home}\n" for home in homepages(size, port)))
            out = folder / str(size)
            _add(table, f"{size:,} sites", size, out, _crawl(port, str(file), "-o", str(out)))
        again = folder / "again"
        previous = ("--previous", str(out))
        cost = _crawl(port, str(file), "-o", str(again), *previous)
        _add(table, f"{size:,} sites again, unchanged", size, again, cost)
    yield table


def _crawl(port: str, *arguments: str) -> _Cost:
    before = server_seconds(port)
    started = time.perf_counter()
    process = subprocess.Popen([*_COMMAND, *arguments], cwd=ROOT)  # noqa: S603 -- a fixed command
    _, code, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode:
        raise RuntimeError("usp crawl failed")
    cpu, server_cpu = used.ru_utime + used.ru_stime, server_seconds(port) - before
    return _Cost(seconds, cpu, server_cpu, used.ru_maxrss / 1024)


def _add(table: Table, name: str, size: int, out: Path, cost: _Cost) -> None:
    found: CrawlStatus = status(out)
    pages = found.rows["pages"]
    files = sum(file.stat().st_size for file in (out / "pages").iterdir())
    rate, per_url = size / cost.seconds, files / pages
    cpu, server_cpu = (seconds * 1000 / size for seconds in (cost.cpu, cost.server_cpu))
    received = found.received / 1e6
    table.rows.append([name, rate, cpu, server_cpu, cost.peak, per_url, received, pages])
    is_good = rate >= MIN_RATE and cost.peak < MAX_MIB and per_url < MAX_BYTES
    if not is_good or found.outcomes != {"found": size} or pages != size * PAGES:
        table.failed.append(name)
