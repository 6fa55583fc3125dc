"""Reading: the cost of parsing a page, beside 1.8.1, Scrapy's reader and a scan of the same bytes.

Documents of each kind: entries of one shape, mixed entries, many small files, and entries that are
all different; then news in other scripts, and feeds. Each implementation parses them from memory in
its own process, every field that the kind has: 1.8.1 and usp by ``sitemap_from_str`` and the
properties of the pages. Scrapy (``scrapy.utils.sitemap``) returns raw strings, converts nothing and
skips the children of stories and images. The scan is expat without handlers. "expat reader alone"
is usp without its other readers.

The implementations take turns; the shortest CPU time of each is used.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bench.feeds import FEEDS, feeds
from bench.implementations import OURS, JobResult, WorkerProcess, best, reference, scrapy
from bench.results import Cell, Table
from bench.shapes import ALL_DIFFERENT, KINDS, MIXED, ONE_SHAPE, TITLES, document

PAGES: Final = 50_000
QUICK_PAGES: Final = 25_000
RUNS: Final = 5
QUICK_RUNS: Final = 2
FEED_SHARE: Final = 5
"""There are so many times fewer items of feeds, which are long."""
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


NEWS: Final = "news"
FEED: Final = "feed"
"""What is read of a page, for other kinds of news and for feeds."""
MAX_RATIO_TO_PLAIN: Final = 1.3
"""The most time of news in any script, relative to plain news."""
CASES: Final = (
    *(Case(kind, variation) for kind in KINDS for variation in (ONE_SHAPE, MIXED)),
    Case("plain", ONE_SHAPE, small=True),
    Case("plain", ALL_DIFFERENT),
)


def run(*, full: bool) -> Iterator[Table]:
    """Measure every case."""
    pages, runs = (PAGES, RUNS) if full else (QUICK_PAGES, QUICK_RUNS)
    with ExitStack() as stack:
        others = [implementation for implementation in (reference(), scrapy()) if implementation]
        workers = {
            implementation.name: stack.enter_context(WorkerProcess(implementation))
            for implementation in (OURS, *others)
        }
        yield _sitemaps(pages, runs, workers)
        yield _titles(pages, runs, workers)
        yield _feeds(pages // FEED_SHARE, runs, workers)


def _sitemaps(pages: int, runs: int, workers: dict[str, WorkerProcess]) -> Table:
    target = (
        "one shape and mixed: at least 8 times as fast as 1.8.1 (hreflang 6), at most"
        f" {MAX_RATIO_TO_SCAN:g} times the scan; small files and all different: at most"
        f" {MAX_RATIO_TO_EXPAT:g} times the expat reader; the same URLs everywhere"
    )
    table = Table(f"{pages:,} pages of each, best of {runs}", HEADINGS, target)
    for case in CASES:
        found = _measure(partial(case.write, pages=pages), case.kind, runs, workers)
        table.rows.append(_row(case, found))
        if not _meets_target(case, found):
            table.failed.append(case.name)
    return table


def _titles(pages: int, runs: int, workers: dict[str, WorkerProcess]) -> Table:
    """Compare news whose titles are not plain with plain news."""
    target = f"at most {MAX_RATIO_TO_PLAIN:g} times plain news"
    headings = ("documents", "µs per page", "1.8.1", "speedup over 1.8.1", "ratio to plain news")
    table = Table(f"titles that are not plain, {pages:,} pages of each", headings, target)
    plain = 0.0
    for kind in (NEWS, *TITLES):
        write = partial(Case(kind, ONE_SHAPE).write, pages=pages)
        found = _measure(write, NEWS, runs, workers)
        ours, old = found[OURS.name]["seconds"], found.get("1.8.1")
        plain = plain or ours
        theirs = old["seconds"] / pages * 1e6 if old else None
        table.rows.append((kind, ours / pages * 1e6, theirs, _ratio(found, "1.8.1"), ours / plain))
        if ours > plain * MAX_RATIO_TO_PLAIN:
            table.failed.append(kind)
    return table


def _feeds(items: int, runs: int, workers: dict[str, WorkerProcess]) -> Table:
    """Measure feeds; 1.8.1 knows two of the formats, and Scrapy none."""
    headings = ("documents", "µs per item", EXPAT_ALONE, "1.8.1", "scan", "speedup over 1.8.1")
    table = Table(f"feeds of 10 to 100 items, {items:,} items of each", headings)
    known = {name: worker for name, worker in workers.items() if name != "Scrapy"}
    for name in FEEDS:
        write = partial(_write_feeds, name=name, items=items)
        found = _measure(write, FEED, runs, known, is_xml=name != "JSON Feed")
        ours = found[OURS.name]
        if "1.8.1" in found and found["1.8.1"]["urls"] != ours["urls"]:
            del found["1.8.1"]
        each = {one: result["seconds"] / ours["pages"] * 1e6 for one, result in found.items()}
        row = (name, each[OURS.name], each[EXPAT_ALONE], each.get("1.8.1"), each.get("scan"))
        table.rows.append((*row, _ratio(found, "1.8.1")))
    return table


def _write_feeds(folder: Path, name: str, items: int) -> None:
    for at, feed in enumerate(feeds(name, items)):
        (folder / f"{at:06}").write_text(feed, "utf-8")


def _measure(
    write: Callable[[Path], None],
    kind: str,
    runs: int,
    workers: dict[str, WorkerProcess],
    *,
    is_xml: bool = True,
) -> dict[str, JobResult]:
    """Return the fastest of several rounds of each implementation, given what writes documents."""
    ours = workers[OURS.name]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        rounds = [
            {
                **({"scan": ours.run("scan", folder)} if is_xml else {}),
                EXPAT_ALONE: ours.run("read_with_expat", folder, kind),
                **{name: one.run("read_all", folder, kind) for name, one in workers.items()},
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
