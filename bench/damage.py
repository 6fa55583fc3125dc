"""Damage: what a fault in every entry costs.

A sound document of 50,000 entries (5,000 in the quick run) and the same with a fault in each are
read whole, every field of every page, in turn and then once more; the shorter times are compared,
since noise only ever adds. What a damaged document takes is held against what the expat_only pattern_reader
alone takes for the sound one, since damage is its work.
Times are of the processor, so that whatever else the machine does counts as little as can be.
1.8.1 reads the same files: it is asked how many pages it finds.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.documents import FAULTS, FORMATS, SOUND
from bench.results import Cell, Table
from bench.sides import OURS, Answer, Reader, best, reference

ENTRIES: Final = 50_000
QUICK_ENTRIES: Final = 5_000
RUNS: Final = 2
MOST: Final = 5.0
"""How many times as long a damaged document may take as the expat_only pattern_reader with a sound one."""
CAREFUL: Final = "sound, expat_only pattern_reader alone"
HEADINGS: Final = (
    "a fault in each entry",
    "seconds",
    "ratio",
    "found",
    "found by 1.8.1",
    "seconds of 1.8.1",
)


def run(*, full: bool) -> Iterator[Table]:
    """Measure each format."""
    for name in FORMATS:
        yield measure(name, ENTRIES if full else QUICK_ENTRIES)


def measure(name: str, entries: int) -> Table:
    """Measure one format with every fault."""
    rule = f"at most {MOST:g} times the expat_only pattern_reader with the sound document, and the same URLs"
    table = Table(f"{name}, {entries:,} entries", HEADINGS, rule)
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for number, (fault, spoil) in enumerate(FAULTS.items()):
            files[fault] = Path(folder, f"{number}.xml")
            files[fault].write_text(FORMATS[name].document(entries, spoil), "utf-8")
        ours = _ours(files)
        theirs = _theirs(files)
    expat_only = ours.pop(CAREFUL)["seconds"]
    table.rows.append([CAREFUL, expat_only, 1.0, None, None, None])
    for fault, found in ours.items():
        ratio = found["seconds"] / expat_only
        if ratio > MOST or found["urls"] != ours[SOUND]["urls"]:
            table.broken.append(fault)
        other = theirs.get(fault, {})
        row: list[Cell] = [fault, found["seconds"], ratio, _count(found)]
        table.rows.append([*row, _count(other), other.get("seconds")])
    return table


def _ours(files: dict[str, Path]) -> dict[str, Answer]:
    """Read every file in turn, and all of them again; keep the quicker of each."""
    with Reader(OURS) as reader:
        rounds = [
            {
                CAREFUL: reader.ask("read_one_carefully", str(files[SOUND])),
                **{fault: reader.ask("read", str(path)) for fault, path in files.items()},
            }
            for _ in range(RUNS)
        ]
    return {name: best(found[name] for found in rounds) for name in rounds[0]}


def _theirs(files: dict[str, Path]) -> dict[str, Answer]:
    side = reference()
    if side is None:
        return {}
    with Reader(side) as reader:
        return {fault: reader.ask("read", str(path)) for fault, path in files.items()}


def _count(found: Answer) -> Cell:
    return found["pages"] + sum(found["sitemaps"].values()) if found else None
