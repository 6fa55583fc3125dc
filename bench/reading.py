"""Reading: what a page costs, beside 1.8.1, Scrapy's reader and a bare scan of the same bytes.

Documents of each kind, of entries that are all of one shape and of mixed ones; the same pages in
many small files; and entries of which no two are alike. Each side reads them from memory in a
process of its own, every field that the kind has: 1.8.1 and usp by ``sitemap_from_str`` and the
properties of the pages. Scrapy (``scrapy.utils.sitemap``) gives raw strings, converts nothing and
leaves out what stands inside a story or an image. The scan is expat without any handler. The
expat_only pattern_reader is our own reading with nothing learned.

The sides take turns; the shortest time of each counts. Times are of the processor.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.results import Cell, Table
from bench.shapes import KINDS, MIXED, NONE_ALIKE, ONE_SHAPE, document
from bench.sides import OURS, Answer, Reader, best, reference, scrapy

PAGES: Final = 50_000
QUICK_PAGES: Final = 25_000
RUNS: Final = 5
QUICK_RUNS: Final = 2
SMALL: Final = 20
"""Pages of a small file."""
LEAST: Final = {"plain": 8.0, "news": 8.0, "images": 8.0, "hreflang": 6.0}
"""How many times as fast as 1.8.1 each kind has to be read."""
MOST: Final = 3.5
"""How many times as long as the bare scan it may take."""
MOST_IN_VAIN: Final = 1.1
"""How many times as long as the expat_only pattern_reader alone, where there is little to learn."""
CAREFUL: Final = "expat_only pattern_reader alone"
HEADINGS: Final = (
    "documents",
    "µs a page",
    CAREFUL,
    "1.8.1",
    "Scrapy",
    "scan",
    "times as fast as 1.8.1",
    "as Scrapy",
    "times the scan",
)


@dataclass(frozen=True, slots=True)
class Case:
    """What is read: a kind of pages, how alike they are, and how many a file has at most."""

    kind: str
    manner: str
    small: bool = False

    @property
    def name(self) -> str:
        """What stands in the table."""
        return f"{self.kind}, {f'files of {SMALL}' if self.small else self.manner}"

    def write(self, folder: Path, pages: int) -> None:
        """Write the documents."""
        step = SMALL if self.small else pages
        for first in range(0, pages, step):
            text = document(self.kind, self.manner, range(first, min(first + step, pages)))
            (folder / f"{first:06}.xml").write_text(text, "utf-8")


CASES: Final = (
    *(Case(kind, manner) for kind in KINDS for manner in (ONE_SHAPE, MIXED)),
    Case("plain", ONE_SHAPE, small=True),
    Case("plain", NONE_ALIKE),
)


def run(*, full: bool) -> Iterator[Table]:
    """Measure every case."""
    pages, runs = (PAGES, RUNS) if full else (QUICK_PAGES, QUICK_RUNS)
    rule = (
        "in one shape and mixed, at least 8 times as fast as 1.8.1 (hreflang 6) and at most"
        f" {MOST:g} times the scan; in small files and with no two alike, at most"
        f" {MOST_IN_VAIN:g} times the expat_only pattern_reader; the same URLs everywhere"
    )
    table = Table(f"{pages:,} pages of each, best of {runs}", HEADINGS, rule)
    with ExitStack() as stack:
        others = [side for side in (reference(), scrapy()) if side]
        readers = {side.name: stack.enter_context(Reader(side)) for side in (OURS, *others)}
        for case in CASES:
            found = _measure(case, pages, runs, readers)
            table.rows.append(_row(case, found))
            if not _kept(case, found):
                table.broken.append(case.name)
    yield table


def _measure(case: Case, pages: int, runs: int, readers: dict[str, Reader]) -> dict[str, Answer]:
    ours = readers[OURS.name]
    with tempfile.TemporaryDirectory() as folder:
        case.write(Path(folder), pages)
        rounds = [
            {
                "scan": ours.ask("scan", folder),
                CAREFUL: ours.ask("read_carefully", folder, case.kind),
                **{name: one.ask("read_all", folder, case.kind) for name, one in readers.items()},
            }
            for _ in range(runs)
        ]
    return {name: best(found[name] for found in rounds) for name in rounds[0]}


def _ratio(found: dict[str, Answer], name: str) -> float | None:
    """How many times as long as ours a side takes."""
    ours = found[OURS.name]["seconds"]
    return found[name]["seconds"] / ours if name in found else None


def _row(case: Case, found: dict[str, Answer]) -> list[Cell]:
    pages = found[OURS.name]["pages"]
    each = {name: answer["seconds"] / pages * 1e6 for name, answer in found.items()}
    times = [each.get(name) for name in (OURS.name, CAREFUL, "1.8.1", "Scrapy", "scan")]
    scans = each[OURS.name] / each["scan"]
    return [case.name, *times, _ratio(found, "1.8.1"), _ratio(found, "Scrapy"), scans]


def _kept(case: Case, found: dict[str, Answer]) -> bool:
    if len({answer["urls"] for answer in found.values() if "urls" in answer}) > 1:
        return False
    ours = found[OURS.name]["seconds"]
    if case.small or case.manner == NONE_ALIKE:
        return bool(ours <= found[CAREFUL]["seconds"] * MOST_IN_VAIN)
    old = _ratio(found, "1.8.1")
    quick = old is None or old >= LEAST[case.kind]
    return quick and bool(ours <= found["scan"]["seconds"] * MOST)
