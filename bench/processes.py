"""What a whole process takes, from its start to its end: time and memory."""

import json
import os
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from bench.implementations import ROOT

_CA_BUNDLES: Final = frozenset({"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"})
_MEASURE: Final = """
import json, os, sys, time
start = time.perf_counter()
silent = os.open(os.devnull, os.O_WRONLY)
actions = [(os.POSIX_SPAWN_DUP2, silent, 1), (os.POSIX_SPAWN_DUP2, silent, 2)]
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, usage = os.wait4(process, 0)
seconds = time.perf_counter() - start
cpu = usage.ru_utime + usage.ru_stime
print(json.dumps([os.waitstatus_to_exitcode(status), seconds, cpu, usage.ru_maxrss]))
"""
"""Runs the program from a small process: Linux counts the memory that the process which starts a
program had at that moment as the program's own."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process has taken."""

    seconds: float
    cpu: float
    peak: float
    """In MiB."""


def _environment() -> dict[str, str]:
    """Return the environment without a CA bundle of the machine's: to load one takes 30 ms."""
    return {name: value for name, value in os.environ.items() if name not in _CA_BUNDLES}


def cost_of(command: Sequence[str], codes: Collection[int] = (0,)) -> Cost:
    """Run a program to its end, and return what it has taken.

    :param codes: the exit codes that it may have.
    """
    measure = [sys.executable, "-I", "-S", "-c", _MEASURE, *command]
    done = subprocess.run(measure, stdout=subprocess.PIPE, cwd=ROOT, env=_environment(), check=True)  # noqa: S603 -- a fixed command
    code, seconds, cpu, peak = json.loads(done.stdout)
    if code not in codes:
        raise RuntimeError(f"{command[2]} ended with {code}")
    return Cost(seconds, cpu, peak / (1024 if sys.platform == "linux" else 1024 * 1024))
