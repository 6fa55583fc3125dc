"""Damage: what a fault in every entry costs.

A sound document of 50,000 entries and the same with a fault in each are read whole, every field of
every page, in turn and several times over; the shortest times are compared, since noise only ever
adds. 1.8.1 reads the same files: it is asked how many pages it finds.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.documents import FAULTS, FORMATS, SOUND
from bench.results import Cell, Table
from bench.sides import OURS, Reader, reference

ENTRIES: Final = 50_000
RUNS: Final = 3
MOST: Final = 5.0
"""How many times as long a damaged document may take as a sound one."""
HEADINGS: Final = (
    "a fault in each entry",
    "seconds",
    "ratio",
    "ratio of .problems",
    "found",
    "found by 1.8.1",
    "seconds of 1.8.1",
)

Answer = dict[str, Any]


def run() -> Iterator[Table]:
    """Measure each format."""
    for name in FORMATS:
        yield measure(name)


def measure(name: str) -> Table:
    """Measure one format with every fault."""
    rule = f"at most {MOST:g} times the time of the sound document, and the same URLs"
    table = Table(f"{name}, {ENTRIES:,} entries", HEADINGS, rule)
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for number, (fault, spoil) in enumerate(FAULTS.items()):
            files[fault] = Path(folder, f"{number}.xml")
            files[fault].write_text(FORMATS[name].document(ENTRIES, spoil), "utf-8")
        read, checked = _ours(files)
        theirs = _theirs(files)
    for fault, found in read.items():
        ratio = found["seconds"] / read[SOUND]["seconds"]
        if ratio > MOST or found["urls"] != read[SOUND]["urls"]:
            table.broken.append(fault)
        other = theirs.get(fault, {})
        asked = checked.get(fault)
        asked_ratio = asked["seconds"] / checked[SOUND]["seconds"] if asked else None
        row: list[Cell] = [fault, found["seconds"], ratio, asked_ratio, _count(found)]
        table.rows.append([*row, _count(other), other.get("seconds")])
    return table


def _ours(files: dict[str, Path]) -> tuple[dict[str, Answer], dict[str, Answer]]:
    """Read every file in turn, several times over; keep the quickest of each."""
    read: dict[str, list[Answer]] = {fault: [] for fault in files}
    checked: dict[str, list[Answer]] = {fault: [] for fault in files}
    with Reader(OURS) as reader:
        for _ in range(RUNS):
            for fault, path in files.items():
                if _hopeless(read, fault):
                    continue
                read[fault].append(reader.ask("read", str(path)))
                if not _hopeless(read, fault):
                    checked[fault].append(reader.ask("problems", str(path)))
    return _quickest(read), _quickest(checked)


def _hopeless(read: dict[str, list[Answer]], fault: str) -> bool:
    """Tell whether a first run was so far beyond the rule that more can't change the verdict."""
    return bool(read[fault]) and read[fault][0]["seconds"] > 2 * MOST * read[SOUND][0]["seconds"]


def _theirs(files: dict[str, Path]) -> dict[str, Answer]:
    side = reference()
    if side is None:
        return {}
    with Reader(side) as reader:
        return {fault: reader.ask("read", str(path)) for fault, path in files.items()}


def _quickest(answers: dict[str, list[Answer]]) -> dict[str, Answer]:
    return {
        fault: min(found, key=lambda one: one["seconds"])
        for fault, found in answers.items()
        if found
    }


def _count(found: Answer) -> Cell:
    return found["pages"] + sum(found["sitemaps"].values()) if found else None
