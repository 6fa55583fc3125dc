"""The CPU time and the memory that a function takes, measured in a process of its own.

A function of a test module is called in a new process with limits on CPU time and memory, so that
a fault ends that process and not the tests. CPU time is measured and not time on the clock, in
seconds of a nominal machine (``tests.speed``): neither a slow nor a busy machine changes it much.
The process is forked from one that has its imports done (``tests.warm``). Only POSIX systems have
these limits; elsewhere the tests are skipped.

    def read_faults(size: int) -> None:
        consume(b"<urlset>" + b"<a></b>" * size)

    def test_faults_between_entries_take_linear_time() -> None:
        assert assert_linear(read_faults, 20_000).seconds < 2
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from tests.speed import Stopwatch
from tests.warm import WarmPython

SECONDS: Final = 20
"""The limit on the CPU time of the process on this machine, which includes its imports."""
MEMORY_MIB: Final = 2048
"""The limit on the address space of the process."""
GROWTH: Final = 2.9
"""How much more time twice the input may take: between linear (2) and quadratic (4)."""
NOISE: Final = 0.05
"""In seconds: shorter times say nothing about growth."""
TRIES: Final = 3
"""How often growth is measured before it counts: anything may disturb a measurement."""

_WITH_USP: Final = WarmPython(("hypothesis", "pytest", "usp.aio", "usp.tree", "usp.cli._demo"))
_PEAK: Final = "VmHWM"
_CURRENT: Final = "VmRSS"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call takes."""

    seconds: float
    """CPU time of all threads, on a nominal machine."""
    memory: int
    """How many bytes of memory it needs at most, beside what the process has before the call."""


def cost(
    function: Callable[..., object],
    *arguments: str | float,
    seconds: int = SECONDS,
    memory_mib: int = MEMORY_MIB,
    python: WarmPython = _WITH_USP,
) -> Cost:
    """Call a function, defined at the top of a test module, in a new process; return its cost.

    The test fails if a limit is reached or the function raises.
    """
    pytest.importorskip("resource", reason="only POSIX systems have limits on CPU time and memory")
    call = [function.__module__, function.__qualname__, json.dumps(arguments)]
    done = python.run("-m", "tests.cost", str(seconds), str(memory_mib), *call)
    if done.returncode == -signal.SIGXCPU:
        pytest.fail(f"{function.__name__}{arguments} takes more than {seconds} s of CPU time")
    if done.returncode:
        pytest.fail(f"{function.__name__}{arguments} fails:\n{done.stderr.decode()[-2000:]}")
    return Cost(*json.loads(done.stdout.splitlines()[-1]))


def assert_linear(
    function: Callable[..., object],
    size: int,
    *arguments: str | float,
    seconds: int = SECONDS,
    memory_mib: int = MEMORY_MIB,
) -> Cost:
    """Assert that twice the size at most doubles the CPU time, within a tolerance.

    The function's first argument is the size. Return the cost of twice the size.
    """

    def of(size: int) -> Cost:
        return cost(function, size, *arguments, seconds=seconds, memory_mib=memory_mib)

    return steady_growth(of, size, function.__name__)


def steady_growth(of: Callable[[int], Cost], size: int, name: str) -> Cost:
    """Assert that of the least times for a size and for twice the size one is at most in line."""
    once, twice = of(size), of(2 * size)
    for _ in range(TRIES - 1):
        if _is_linear(once, twice):
            break
        once = min(once, of(size), key=_time)
        twice = min(twice, of(2 * size), key=_time)
    assert _is_linear(once, twice), (
        f"{name} takes {once.seconds:.2f} s for {size} and {twice.seconds:.2f} s for twice the size"
    )
    return twice


def _is_linear(once: Cost, twice: Cost) -> bool:
    return twice.seconds <= GROWTH * max(once.seconds, NOISE)


def _time(found: Cost) -> float:
    return found.seconds


def _main(seconds: str, memory_mib: str, module: str, name: str, arguments: str) -> None:
    import resource

    function = getattr(import_module(module), name)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_mib) << 20, resource.RLIM_INFINITY))
    memory = _memory(_CURRENT)
    with Stopwatch() as watch:
        function(*json.loads(arguments))
    print(json.dumps([watch.seconds, _memory(_PEAK) - memory]))  # noqa: T201 -- to the parent process


def _memory(which: str) -> int:
    """Return the memory of this process in bytes.

    Linux counts the peak of the parent process into ``ru_maxrss``, but not into ``VmHWM``.
    """
    import resource

    status = Path("/proc/self/status")
    if status.exists():
        rows = dict(
            line.split(":", 1) for line in status.read_text("ascii", "replace").splitlines()
        )
        return int(rows[which].split()[0]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS: in bytes


if __name__ == "__main__":
    _main(*sys.argv[1:])
