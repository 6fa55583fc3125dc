"""Start-up: importing usp, and asking the command for its version or help, beside 1.8.1 in one run.

What is timed is a whole process, from its start to its end: Python's own start is in every figure,
and its first row is that alone. The processes take turns; the shortest time of each counts, and the
median stands beside it. Each is started once before, so that no side has its modules compiled while
it is timed.
"""

import os
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
HELP: Final = "1.8.1: usp ls --help"
AGAINST: Final = {
    "import usp": (IMPORT, 5.0),
    "import usp.tree": (IMPORT, 0.0),
    "usp --version": (VERSION, 2.0),
    "usp ls --help": (HELP, 0.0),
}
"""What of ours is held against what of 1.8.1, and how many times as fast it must be, if it must."""
HEADINGS: Final = ("process", "ms, best", "ms, median", "times as fast", "as what")


def run(*, full: bool) -> Iterator[Table]:
    """Start all processes in turns."""
    starts = FULL_STARTS if full else STARTS
    rules = ((ours, least) for ours, (_, least) in AGAINST.items() if least)
    rule = "; ".join(f"{ours} {least:g} times as fast" for ours, least in rules)
    table = Table(f"{starts} starts of each", HEADINGS, rule)
    commands = _commands(reference())
    for command in commands.values():
        _milliseconds(command)
    rounds = [
        {name: _milliseconds(command) for name, command in commands.items()} for _ in range(starts)
    ]
    found = {name: [times[name] for times in rounds] for name in commands}
    for name, times in found.items():
        other, least = AGAINST.get(name, ("", 0.0))
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
        "usp ls --help": [_script(OURS), "ls", "--help"],
    }
    if theirs is None:
        return ours
    return {
        **ours,
        IMPORT: [theirs.python, "-c", "import usp.tree"],
        VERSION: [_script(theirs), "--version"],
        HELP: [_script(theirs), "ls", "--help"],
    }


def _script(side: Side) -> str:
    return str(Path(side.python).with_name("usp"))


def _milliseconds(command: list[str]) -> float:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603 -- our own words
    return (time.perf_counter() - start) * 1000
