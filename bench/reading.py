"""Reading: the cost of parsing a page, beside 1.8.1, Scrapy's reader and a scan of the same bytes.

Documents of each kind: entries of one shape, mixed entries, many small files, and entries that are
all different. Each implementation parses them from memory in its own process, every field that the
kind has: 1.8.1 and usp by ``sitemap_from_str`` and the properties of the pages. Scrapy
(``scrapy.utils.sitemap``) returns raw strings, converts nothing and skips the children of stories
and images. The scan is expat without handlers. "expat reader alone" is usp without its pattern
reader.

The implementations take turns; the shortest CPU time of each is used.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.implementations import OURS, JobResult, WorkerProcess, best, reference, scrapy
from bench.results import Cell, Table
from bench.shapes import ALL_DIFFERENT, KINDS, MIXED, ONE_SHAPE, document

PAGES: Final = 50_000
QUICK_PAGES: Final = 25_000
RUNS: Final = 5
QUICK_RUNS: Final = 2
SMALL: Final = 20
"""Pages in a small file."""
MIN_SPEEDUP: Final = {"plain": 8.0, "news": 8.0, "images": 8.0, "hreflang": 6.0}
"""The least speedup over 1.8.1, for each kind."""
MAX_RATIO_TO_SCAN: Final = 3.5
"""The most time, relative to the scan."""
MAX_RATIO_TO_EXPAT: Final = 1.1
"""The most time, relative to the expat reader alone, if a pattern is of little use."""
EXPAT_ALONE: Final = "expat reader alone"
HEADINGS: Final = (
    "documents",
    "µs per page",
    EXPAT_ALONE,
    "1.8.1",
    "Scrapy",
    "scan",
    "speedup over 1.8.1",
    "speedup over Scrapy",
    "ratio to scan",
)


@dataclass(frozen=True, slots=True)
class Case:
    """What is parsed: the kind of pages, how they vary, and whether files are small."""

    kind: str
    variation: str
    small: bool = False

    @property
    def name(self) -> str:
        """The name in the table."""
        return f"{self.kind}, {f'files of {SMALL}' if self.small else self.variation}"

    def write(self, folder: Path, pages: int) -> None:
        """Write the documents into a folder."""
        step = SMALL if self.small else pages
        for first in range(0, pages, step):
            text = document(self.kind, self.variation, range(first, min(first + step, pages)))
            (folder / f"{first:06}.xml").write_text(text, "utf-8")


CASES: Final = (
    *(Case(kind, variation) for kind in KINDS for variation in (ONE_SHAPE, MIXED)),
    Case("plain", ONE_SHAPE, small=True),
    Case("plain", ALL_DIFFERENT),
)


def run(*, full: bool) -> Iterator[Table]:
    """Measure every case."""
    pages, runs = (PAGES, RUNS) if full else (QUICK_PAGES, QUICK_RUNS)
    target = (
        "one shape and mixed: at least 8 times as fast as 1.8.1 (hreflang 6), at most"
        f" {MAX_RATIO_TO_SCAN:g} times the scan; small files and all different: at most"
        f" {MAX_RATIO_TO_EXPAT:g} times the expat reader; the same URLs everywhere"
    )
    table = Table(f"{pages:,} pages of each, best of {runs}", HEADINGS, target)
    with ExitStack() as stack:
        others = [implementation for implementation in (reference(), scrapy()) if implementation]
        workers = {
            implementation.name: stack.enter_context(WorkerProcess(implementation))
            for implementation in (OURS, *others)
        }
        for case in CASES:
            found = _measure(case, pages, runs, workers)
            table.rows.append(_row(case, found))
            if not _meets_target(case, found):
                table.failed.append(case.name)
    yield table


def _measure(
    case: Case, pages: int, runs: int, workers: dict[str, WorkerProcess]
) -> dict[str, JobResult]:
    ours = workers[OURS.name]
    with tempfile.TemporaryDirectory() as folder:
        case.write(Path(folder), pages)
        rounds = [
            {
                "scan": ours.run("scan", folder),
                EXPAT_ALONE: ours.run("read_with_expat", folder, case.kind),
                **{name: one.run("read_all", folder, case.kind) for name, one in workers.items()},
            }
            for _ in range(runs)
        ]
    return {name: best(found[name] for found in rounds) for name in rounds[0]}


def _ratio(found: dict[str, JobResult], name: str) -> float | None:
    """Return our speedup over another implementation."""
    ours = found[OURS.name]["seconds"]
    return found[name]["seconds"] / ours if name in found else None


def _row(case: Case, found: dict[str, JobResult]) -> list[Cell]:
    pages = found[OURS.name]["pages"]
    each = {name: result["seconds"] / pages * 1e6 for name, result in found.items()}
    times = [each.get(name) for name in (OURS.name, EXPAT_ALONE, "1.8.1", "Scrapy", "scan")]
    scans = each[OURS.name] / each["scan"]
    return [case.name, *times, _ratio(found, "1.8.1"), _ratio(found, "Scrapy"), scans]


def _meets_target(case: Case, found: dict[str, JobResult]) -> bool:
    if len({result["urls"] for result in found.values() if "urls" in result}) > 1:
        return False
    ours = found[OURS.name]["seconds"]
    if case.small or case.variation == ALL_DIFFERENT:
        return bool(ours <= found[EXPAT_ALONE]["seconds"] * MAX_RATIO_TO_EXPAT)
    old = _ratio(found, "1.8.1")
    quick = old is None or old >= MIN_SPEEDUP[case.kind]
    return quick and bool(ours <= found["scan"]["seconds"] * MAX_RATIO_TO_SCAN)
