"""What a whole process takes, from its start to its end: time and memory."""

import os
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from bench.implementations import ROOT

_CA_BUNDLES: Final = frozenset({"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"})


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
    start = time.perf_counter()
    with subprocess.Popen(  # noqa: S603 -- a fixed command
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, env=_environment()
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        raise RuntimeError(f"{command[2]} ended with {process.returncode}")
    seconds = time.perf_counter() - start
    unit = 1024 if sys.platform == "linux" else 1024 * 1024
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)
