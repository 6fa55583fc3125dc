"""Recovery: the cost of a fault in every entry.

A well-formed document of 50,000 entries (5,000 in the quick run), and the same with a fault in each
entry, are parsed completely, every field of every page. Each is parsed twice, and the shorter CPU
time is used, since noise only adds. A malformed document is compared with the well-formed one
parsed by the expat reader alone, since recovery builds on expat. 1.8.1 parses the same files, to
count the pages that it finds.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.documents import FAULTS, FORMATS, WELL_FORMED
from bench.implementations import OURS, JobResult, WorkerProcess, best, reference
from bench.results import Cell, Table

ENTRIES: Final = 50_000
QUICK_ENTRIES: Final = 5_000
RUNS: Final = 2
MAX_RATIO: Final = 5.0
"""The most time for a malformed document, relative to the expat reader with the well-formed one."""
EXPAT_ALONE: Final = "well-formed, expat reader alone"
HEADINGS: Final = (
    "a fault in each entry",
    "seconds",
    "ratio",
    "found",
    "1.8.1, found",
    "1.8.1, seconds",
)


def run(*, full: bool) -> Iterator[Table]:
    """Measure each format."""
    for name in FORMATS:
        yield measure(name, ENTRIES if full else QUICK_ENTRIES)


def measure(name: str, entries: int) -> Table:
    """Measure one format with every fault."""
    target = (
        f"at most {MAX_RATIO:g} times the expat reader with the well-formed document, same URLs"
    )
    table = Table(f"{name}, {entries:,} entries", HEADINGS, target)
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for number, (fault, spoil) in enumerate(FAULTS.items()):
            files[fault] = Path(folder, f"{number}.xml")
            files[fault].write_text(FORMATS[name].document(entries, spoil), "utf-8")
        ours = _ours(files)
        theirs = _theirs(files)
    expat_seconds = ours.pop(EXPAT_ALONE)["seconds"]
    table.rows.append([EXPAT_ALONE, expat_seconds, 1.0, None, None, None])
    for fault, found in ours.items():
        ratio = found["seconds"] / expat_seconds
        if ratio > MAX_RATIO or found["urls"] != ours[WELL_FORMED]["urls"]:
            table.failed.append(fault)
        other = theirs.get(fault, {})
        row: list[Cell] = [fault, found["seconds"], ratio, _count(found)]
        table.rows.append([*row, _count(other), other.get("seconds")])
    return table


def _ours(files: dict[str, Path]) -> dict[str, JobResult]:
    """Parse every file in turn, then all of them again; return the faster result of each."""
    with WorkerProcess(OURS) as worker:
        rounds = [
            {
                EXPAT_ALONE: worker.run("read_one_with_expat", str(files[WELL_FORMED])),
                **{fault: worker.run("read", str(path)) for fault, path in files.items()},
            }
            for _ in range(RUNS)
        ]
    return {name: best(found[name] for found in rounds) for name in rounds[0]}


def _theirs(files: dict[str, Path]) -> dict[str, JobResult]:
    implementation = reference()
    if implementation is None:
        return {}
    with WorkerProcess(implementation) as worker:
        return {fault: worker.run("read", str(path)) for fault, path in files.items()}


def _count(found: JobResult) -> Cell:
    return found["pages"] + sum(found["sitemaps"].values()) if found else None
