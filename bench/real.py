"""Real documents: the cost of reading them as sites published them, beside 1.8.1 and Scrapy.

Generated documents favour a parser with a pattern reader: they are large and regular, while most
sitemaps are small. ``USP_CORPUS`` names a folder of documents (``../shared/corpus`` if it exists);
without one, nothing is measured.

Every document is read from its text three times in a row, every field; the shortest CPU time
counts. The first reading is shown, too: it has to load code and data into the CPU's caches, and
what is compiled and imported on first use counts for the document that needed it. All this is
done in three rounds, each in a new process. Only documents in which both implementations find the
same URLs are compared.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Final

from bench.implementations import (
    OURS,
    ROOT,
    Implementation,
    JobResult,
    reference,
    run_in_fresh_process,
    scrapy,
)
from bench.results import Cell, Table

ROUNDS: Final = 3
SLOWEST: Final = 10
"""How many of the slowest documents are named."""
MAX_SLOWER: Final = 0.02
"""The most documents, of all, that may be read slower than 1.8.1 reads them."""
URLSET: Final = "PagesXMLSitemap"


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Documents of about one size, and what is expected for them."""

    name: str
    below: float
    """All are smaller than this, in bytes."""
    min_speedup: float
    """The least speedup over 1.8.1: of the median document and of all together."""
    max_scrapy: float
    """The most time, relative to Scrapy."""


SIZES: Final = (
    SizeClass("under 2 kB", 2e3, 3, 2),
    SizeClass("2 to 20 kB", 20e3, 3, 2),
    SizeClass("20 to 200 kB", 200e3, 5, 1),
    SizeClass("over 200 kB", float("inf"), 8, 1),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How one document was read by one implementation, in its fastest round."""

    seconds: float
    """Of the fastest of three readings in a row."""
    first: float
    """Of the first one."""
    pages: int
    urls: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A document that two implementations read alike."""

    name: str
    size: int
    ours: Reading
    theirs: Reading

    @property
    def speedup(self) -> float:
        """How many times as fast as the other implementation ours is."""
        return self.theirs.seconds / self.ours.seconds

    @property
    def first_speedup(self) -> float:
        """The same for the first reading."""
        return self.theirs.first / self.ours.first


def run(*, full: bool) -> Iterator[Table]:  # noqa: ARG001 -- the documents are what they are
    """Measure every document of the folder."""
    folder = Path(os.environ.get("USP_CORPUS") or ROOT.parent / "shared" / "corpus")
    files = sorted(path for path in folder.rglob("*") if path.is_file() and _is_utf8(path))
    other = reference()
    if not files or other is None:
        print("real is skipped: it needs 1.8.1 and a folder of documents, named by USP_CORPUS")
        return
    ours, theirs = _read(OURS, files), _read(other, files)
    pairs = _pairs(folder, files, ours, theirs)
    yield from _beside_reference(pairs)
    if lxml := scrapy():
        yield _beside_scrapy(_pairs(folder, files, ours, _read(lxml, files)))


def _is_utf8(path: Path) -> bool:
    try:
        return bool(path.read_text("utf-8"))
    except UnicodeDecodeError:
        return False


def _read(implementation: Implementation, files: Sequence[Path]) -> list[Reading | None]:
    """Return the fastest reading of each file; None where reading it raised an exception."""
    paths = list(map(str, files))
    rounds = [run_in_fresh_process(implementation, "read_each", paths) for _ in range(ROUNDS)]
    return [_fastest(found) for found in zip(*(one["documents"] for one in rounds), strict=True)]


def _fastest(found: Sequence[JobResult]) -> Reading | None:
    good = [Reading(**one) for one in found if "error" not in one]
    if not good:
        return None
    fastest = min(good, key=lambda reading: reading.seconds)
    return replace(fastest, first=min(reading.first for reading in good))


def _pairs(
    folder: Path,
    files: Sequence[Path],
    ours: Sequence[Reading | None],
    theirs: Sequence[Reading | None],
) -> list[Pair]:
    return [
        Pair(str(path.relative_to(folder)), path.stat().st_size, one, other)
        for path, one, other in zip(files, ours, theirs, strict=True)
        if one and other and one.pages and one.urls == other.urls
    ]


def _by_size(pairs: Sequence[Pair]) -> Iterator[tuple[SizeClass, list[Pair]]]:
    smallest = 0.0
    for size in SIZES:
        yield size, [pair for pair in pairs if smallest <= pair.size < size.below]
        smallest = size.below


def _beside_reference(pairs: Sequence[Pair]) -> Iterator[Table]:
    expected = ", ".join(f"{size.min_speedup:g} {size.name}" for size in SIZES)
    table = Table(
        f"{len(pairs)} real documents that 1.8.1 reads alike, best of {ROUNDS}",
        ("documents", "number", "µs per page", "1.8.1", "speedup", "median", "slower", "first"),
        f"speedup and median: {expected}; at most {MAX_SLOWER:.0%} slower than 1.8.1",
    )
    for size, found in _by_size(pairs):
        if found:
            table.rows.append(_row(size.name, found))
            if min(_speedup(found), _median(found)) < size.min_speedup:
                table.failed.append(size.name)
    if sum(pair.speedup < 1 for pair in pairs) > MAX_SLOWER * len(pairs):
        table.failed.append("slower than 1.8.1")
    yield table
    kinds = Table("The same documents by kind", table.headings)
    for kind in sorted({pair.ours.kind for pair in pairs}):
        kinds.rows.append(_row(kind, [pair for pair in pairs if pair.ours.kind == kind]))
    yield kinds
    slowest = Table(f"The {SLOWEST} slowest", ("document", "bytes", "pages", "kind", "speedup"))
    for pair in sorted(pairs, key=lambda pair: pair.speedup)[:SLOWEST]:
        slowest.rows.append(
            (pair.name, pair.size, pair.ours.pages, pair.ours.kind, pair.speedup),
        )
    yield slowest


def _row(name: str, pairs: Sequence[Pair]) -> list[Cell]:
    pages = sum(pair.ours.pages for pair in pairs)
    each = [
        sum(seconds) / pages * 1e6
        for seconds in (
            [pair.ours.seconds for pair in pairs],
            [pair.theirs.seconds for pair in pairs],
        )
    ]
    slower = sum(pair.speedup < 1 for pair in pairs)
    first = median(pair.first_speedup for pair in pairs)
    return [name, len(pairs), *each, _speedup(pairs), _median(pairs), slower, first]


def _speedup(pairs: Sequence[Pair]) -> float:
    """Return the speedup for all of these documents together."""
    return sum(pair.theirs.seconds for pair in pairs) / sum(pair.ours.seconds for pair in pairs)


def _median(pairs: Sequence[Pair]) -> float:
    return median(pair.speedup for pair in pairs)


def _beside_scrapy(pairs: Sequence[Pair]) -> Table:
    pairs = [pair for pair in pairs if pair.ours.kind == URLSET]
    expected = ", ".join(f"{size.max_scrapy:g} {size.name}" for size in SIZES)
    table = Table(
        f"{len(pairs)} urlsets that Scrapy's reader reads alike (URL and date, as text)",
        ("documents", "number", "µs per page", "Scrapy", "speedup", "median", "slower", "first"),
        f"at most this many times its time: {expected}",
    )
    for size, found in _by_size(pairs):
        if found:
            table.rows.append(_row(size.name, found))
            if _speedup(found) * size.max_scrapy < 1:
                table.failed.append(size.name)
    return table
