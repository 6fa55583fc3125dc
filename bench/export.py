"""Export: a site into a file, beside 1.8.1 with pandas, and the memory of it as the site grows.

Whole processes, from their start to their end, over loopback: ``usp export`` with all its columns,
and the loop over ``all_pages()`` that users of 1.8.1 write (``jobs/export_with_pandas.py``, six
columns). Speedups are told of the time that a user waits, and of CPU time, which other programs on
the machine disturb less; the shortest of several runs is used. Memory is the peak resident memory
of the process. Where there is a folder of real documents (``USP_CORPUS``), a site of their largest
urlsets is exported, too. Windows can't tell the time and memory of a process that has ended, so
nothing is measured there.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.implementations import ROOT, reference_with_pandas
from bench.processes import Cost, cost_of
from bench.results import Table
from bench.site import CHILD_PAGES, Site, served
from tests.server import LoopbackServer

SITEMAPS: Final = 8
QUICK_SITEMAPS: Final = 4
LARGE_SITEMAPS: Final = 80
RUNS: Final = 3
LOOP: Final = Path(__file__).parent / "jobs" / "export_with_pandas.py"
HEADINGS: Final = (
    *("file", "seconds", "CPU s", "peak MiB", "1.8.1, seconds", "1.8.1, CPU s"),
    *("1.8.1, peak MiB", "speedup", "CPU speedup", "rows"),
)
LARGE_HEADINGS: Final = ("file", "seconds", "CPU s", "peak MiB", "peak MiB at 400,000", "rows")
MAX_GROWTH: Final = 1.25
"""How much more memory ten times the URLs may take."""
REAL_DOCUMENTS: Final = 60
MAX_REAL_BYTES: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Goal:
    """What an export has to reach."""

    file: str
    max_mib: float
    min_speedup: float = 0.0


GOALS: Final = (
    Goal("pages.parquet", 300, 12),
    Goal("pages.csv", 120, 10),
    Goal("pages.jsonl", 120),
    Goal("pages.db", 200),
)


def run(*, full: bool) -> Iterator[Table]:
    """Measure each format in turns with 1.8.1, then ten times as many URLs, then real documents."""
    if sys.platform == "win32":
        print("export is skipped: it is not measured on Windows")
        return
    sitemaps = SITEMAPS if full else QUICK_SITEMAPS
    with served(Site(sitemaps, CHILD_PAGES)) as homepage:
        title = f"{sitemaps * CHILD_PAGES:,} URLs in {sitemaps} sitemaps"
        table, peaks = _compare(title, homepage, sitemaps * CHILD_PAGES)
        yield table
    if full:
        with served(Site(LARGE_SITEMAPS, CHILD_PAGES)) as homepage:
            yield _grown(homepage, LARGE_SITEMAPS * CHILD_PAGES, peaks)
    if documents := _real_documents():
        with _serving(documents) as homepage:
            title = f"the {len(documents)} largest real urlsets up to 20 MB"
            yield _compare(title, homepage, None, targets=False)[0]


def _compare(
    title: str, homepage: str, rows: int | None, *, targets: bool = True
) -> tuple[Table, dict[str, float]]:
    target = "at least 12 (Parquet) and 10 (CSV) times as fast as 1.8.1 with pandas, within "
    target += "300, 120, 120 and 200 MiB"
    table = Table(title, HEADINGS, target if targets else "")
    peaks = {}
    for goal in GOALS:
        ours, theirs, found = _in_turns(homepage, goal.file)
        speedup = theirs.seconds / ours.seconds if theirs else None
        cpu_speedup = theirs.cpu / ours.cpu if theirs else None
        peaks[goal.file] = ours.peak
        other = (theirs.seconds, theirs.cpu, theirs.peak) if theirs else (None, None, None)
        speedups = (speedup, cpu_speedup)
        table.rows.append([goal.file, ours.seconds, ours.cpu, ours.peak, *other, *speedups, found])
        is_slow = speedup is not None and speedup < goal.min_speedup
        if targets and (is_slow or ours.peak > goal.max_mib or found != rows):
            table.failed.append(goal.file)
    return table, peaks


def _grown(homepage: str, rows: int, peaks: dict[str, float]) -> Table:
    target = f"at most {MAX_GROWTH:g} times the memory of a tenth of the URLs"
    table = Table(f"{rows:,} URLs in {LARGE_SITEMAPS} sitemaps", LARGE_HEADINGS, target)
    for goal in GOALS:
        with tempfile.TemporaryDirectory() as folder:
            cost = cost_of(_usp(homepage, f"{folder}/{goal.file}"))
            found = _rows(f"{folder}/{goal.file}")
        before = peaks[goal.file]
        table.rows.append([goal.file, cost.seconds, cost.cpu, cost.peak, before, found])
        if cost.peak > before * MAX_GROWTH or cost.peak > goal.max_mib or found != rows:
            table.failed.append(goal.file)
    return table


def _in_turns(homepage: str, file: str) -> tuple[Cost, Cost | None, int]:
    """Return our cost and theirs, the best of several runs, and the rows that we wrote."""
    python = reference_with_pandas()
    ours, theirs = [], []
    rows = 0
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            ours.append(cost_of(_usp(homepage, f"{folder}/{file}")))
            rows = _rows(f"{folder}/{file}")
            if python:
                theirs.append(
                    cost_of([python, "-I", str(LOOP), homepage, f"{folder}/their-{file}"])
                )
    return _best(ours), _best(theirs) if theirs else None, rows


def _best(costs: Sequence[Cost]) -> Cost:
    return Cost(
        min(cost.seconds for cost in costs),
        min(cost.cpu for cost in costs),
        min(cost.peak for cost in costs),
    )


def _usp(homepage: str, file: str) -> list[str]:
    return [sys.executable, "-m", "usp", "export", homepage, "-o", file, "--quiet", "-k"]


def _rows(file: str) -> int:
    """Return the number of rows of an export."""
    if file.endswith(".parquet"):
        import pyarrow.parquet as pq

        return int(pq.read_metadata(file).num_rows)
    if file.endswith(".db"):
        import sqlite3
        from contextlib import closing

        with closing(sqlite3.connect(file)) as database:
            (count,) = database.execute("SELECT count(*) FROM pages").fetchone()
        return int(count)
    with Path(file).open("rb") as lines:
        return sum(1 for _ in lines) - file.endswith(".csv")


def _real_documents() -> list[Path]:
    folder = Path(os.environ.get("USP_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not folder.is_dir():
        return []
    files = (path for path in folder.rglob("*") if path.is_file())
    sized = [(path.stat().st_size, path) for path in files]
    urlsets = [
        path
        for size, path in sorted(sized, reverse=True)
        if size <= MAX_REAL_BYTES and b"<urlset" in path.read_bytes()[:4096]
    ]
    return urlsets[:REAL_DOCUMENTS]


@contextmanager
def _serving(documents: Sequence[Path]) -> Iterator[str]:
    """Serve a site whose robots.txt lists these documents."""
    with LoopbackServer() as server:
        names = [f"/{number}.xml" for number in range(len(documents))]
        server.robots(*names)
        for name, path in zip(names, documents, strict=True):
            server.site[name] = path.read_bytes()
        yield server.url
