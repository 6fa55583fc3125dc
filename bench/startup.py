"""Start-up: importing usp, and asking the command for its version, beside 1.8.1 in one run.

What is timed is a whole process, from its start to its end: Python's own start is in every figure,
and its first row is that alone. The processes take turns; the shortest time of each counts, and the
median stands beside it.
"""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench.results import Table
from bench.sides import OURS, Side, reference

STARTS: Final = 20
FULL_STARTS: Final = 60
IMPORT: Final = "1.8.1: import usp.tree"
VERSION: Final = "1.8.1: usp --version"
RULES: Final = {"import usp": (IMPORT, 5.0), "usp --version": (VERSION, 2.0)}
"""What of ours is held against what of 1.8.1, and how many times as fast it must be."""
HEADINGS: Final = ("process", "ms, best", "ms, median", "times as fast", "as what")


def run(*, full: bool) -> Iterator[Table]:
    """Start all processes in turns."""
    starts = FULL_STARTS if full else STARTS
    rule = "; ".join(f"{ours} {least:g} times as fast" for ours, (_, least) in RULES.items())
    table = Table(f"{starts} starts of each", HEADINGS, rule)
    commands = _commands(reference())
    rounds = [
        {name: _milliseconds(command) for name, command in commands.items()} for _ in range(starts)
    ]
    found = {name: [times[name] for times in rounds] for name in commands}
    for name, times in found.items():
        other, least = RULES.get(name, ("", 0.0))
        faster = min(found[other]) / min(times) if other in found else None
        table.rows.append([name, min(times), median(times), faster, other or None])
        if faster is not None and faster < least:
            table.broken.append(name)
    yield table


def _commands(theirs: Side | None) -> dict[str, list[str]]:
    ours = {
        "python alone": [OURS.python, "-c", ""],
        "import usp": [OURS.python, "-c", "import usp"],
        "import usp.tree": [OURS.python, "-c", "import usp.tree"],
        "usp --version": [_script(OURS), "--version"],
    }
    if theirs is None:
        return ours
    import_theirs = [theirs.python, "-c", "import usp.tree"]
    return {**ours, IMPORT: import_theirs, VERSION: [_script(theirs), "--version"]}


def _script(side: Side) -> str:
    return str(Path(side.python).with_name("usp"))


def _milliseconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- our own words
    return (time.perf_counter() - start) * 1000
