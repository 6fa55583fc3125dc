"""A program that writes an export again and again and is killed each time, at another point.

``python -m tests.export.killed FOLDER NAME KIND …`` prints a JSON list for each name and kind (new,
replace, append). It has, for each point, what was at the path afterwards (what was there before, or
the whole new export), whether something was left beside it, and what is left after one more export.
A point is a number of batches that were written, or an event that Python audits.
"""

import hashlib
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.export.rows import Drawing
from tests.export.writing import write
from usp._tables.batch import Batch
from usp._tables.schema import TABLES

BATCHES = 6
Point = int | str
POINTS: tuple[Point, ...] = (
    *range(BATCHES + 1),
    *("tempfile.mkdtemp", "os.rename", "shutil.rmtree"),
)


def batches(seed: int, die_after: Point | None = None) -> Iterator[Batch]:
    """Yield batches of one table, and die when enough were written."""
    drawing = Drawing(seed)
    for number in range(BATCHES + 1):
        if number == die_after:
            die()
        if number < BATCHES:
            yield drawing.batch(TABLES["problems"], 50)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def export(path: str, seed: int, options: dict[str, bool], die_after: Point | None = None) -> None:
    """Export drawn rows of one table."""
    write(path, batches(seed, die_after), tables=[TABLES["problems"]], **options)  # type: ignore[arg-type]  # all are bool


def killed(path: str, options: dict[str, bool], point: Point) -> None:
    """Export in a process of its own, which is killed at the point."""
    child = os.fork()
    if not child:
        if isinstance(point, str):
            sys.addaudithook(lambda event, _: die() if event == point else None)
        export(path, 2, options, point)
        os._exit(0)
    os.waitpid(child, 0)


def contents(path: Path) -> str:
    """A hash of a file, or of all files of a folder; of the rows of a database; else empty."""
    if path.suffix == ".db" and path.exists():
        with closing(sqlite3.connect(path)) as database:  # undoes what a killed process began
            return hashed("\n".join(database.iterdump()).encode())
    files = sorted(path.glob("[!.]*")) if path.is_dir() else [path] if path.exists() else []
    return " ".join(hashed(file.read_bytes()) for file in files)


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:8]


def strange(path: Path) -> list[str]:
    """The names beside a file, or in a folder and beside it, that are not of the export."""
    places = [path.parent, path] if path.is_dir() else [path.parent]
    known = {path.name, "problems.parquet"}
    return [one.name for place in places for one in place.iterdir() if one.name not in known]


def prepared(name: str, folder: str, options: dict[str, bool]) -> tuple[str, str]:
    """A path in a folder of its own, where an export may be already, and what is there."""
    target = Path(name)
    place = target.parent / folder
    place.mkdir()
    path = f"{place / target.name}{'/' * name.endswith('/')}"
    if options:
        export(path, 1, {})
    return path, contents(Path(path))


def try_every_point(name: str, kind: str) -> None:
    """Print what is there after each point."""
    options = {"new": {}, "replace": {"replaces": True}, "append": {"append": True}}[kind]
    path, _ = prepared(name, "whole", options)
    export(path, 2, options)
    whole = contents(Path(path))
    results = []
    for number, point in enumerate(POINTS):
        path, before = prepared(name, str(number), options)
        killed(path, options, point)
        after = contents(Path(path))
        left = strange(Path(path))
        export(path, 2, {"replaces": True})
        state = "before" if after == before else "whole" if after == whole else "half"
        results.append([point, state, bool(left), strange(Path(path))])
    print(json.dumps(results))  # noqa: T201 -- it is a program


def main(folder: str, *names_and_kinds: str) -> None:
    """Try one kind of export after the other, each in a folder of its own."""
    for number, (name, kind) in enumerate(
        zip(names_and_kinds[::2], names_and_kinds[1::2], strict=True)
    ):
        (Path(folder) / f"{number}").mkdir()
        try_every_point(f"{folder}/{number}/{name}", kind)


if __name__ == "__main__":
    main(*sys.argv[1:])
