"""Start-up: importing usp, and the version and help of the command, beside 1.8.1 in the same run.

Whole processes are timed, from start to end. Python's own start is in every figure; the first row
shows it alone. The processes take turns; the shortest time and the median of each are shown. Each
is started once before, so that no modules are compiled while it is timed.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from bench.implementations import OURS, Implementation, reference
from bench.results import Table

STARTS: Final = 20
FULL_STARTS: Final = 60
IMPORT: Final = "1.8.1: import usp.tree"
VERSION: Final = "1.8.1: usp --version"
HELP: Final = "1.8.1: usp ls --help"
COMPARED_WITH: Final = {
    "import usp": (IMPORT, 5.0),
    "import usp.tree": (IMPORT, 0.0),
    "usp --version": (VERSION, 2.0),
    "usp ls --help": (HELP, 0.0),
}
"""Our processes, the process of 1.8.1 to compare each with, and the least speedup (0 for none)."""
HEADINGS: Final = ("process", "ms, best", "ms, median", "speedup", "over")


def run(*, full: bool) -> Iterator[Table]:
    """Start all processes in turns."""
    starts = FULL_STARTS if full else STARTS
    targets = ((ours, least) for ours, (_, least) in COMPARED_WITH.items() if least)
    target = "; ".join(f"{ours} {least:g} times as fast" for ours, least in targets)
    table = Table(f"{starts} starts of each", HEADINGS, target)
    commands = _commands(reference())
    for command in commands.values():
        _milliseconds(command)
    rounds = [
        {name: _milliseconds(command) for name, command in commands.items()} for _ in range(starts)
    ]
    found = {name: [times[name] for times in rounds] for name in commands}
    for name, times in found.items():
        other, least = COMPARED_WITH.get(name, ("", 0.0))
        faster = min(found[other]) / min(times) if other in found else None
        table.rows.append([name, min(times), median(times), faster, other or None])
        if faster is not None and faster < least:
            table.failed.append(name)
    yield table


def _commands(theirs: Implementation | None) -> dict[str, list[str]]:
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


def _script(implementation: Implementation) -> str:
    return str(Path(implementation.python).with_name("usp"))


def _milliseconds(command: list[str]) -> float:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603 -- a fixed command
    return (time.perf_counter() - start) * 1000
