"""The implementations to compare: this clone, and 1.8.1 and Scrapy in their own virtualenvs.

Nothing is measured in this process. Each implementation runs in its own process
(``jobs/worker.py``), so that they share no modules, caches or memory.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import venv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

ROOT: Final = Path(__file__).resolve().parent.parent
WORKER: Final = Path(__file__).parent / "jobs" / "worker.py"
SECONDS: Final = 1800.0
"""The time limit of a job; only a bug reaches it."""

JobResult = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Implementation:
    """One implementation: the interpreter that has it installed, and its job modules."""

    name: str
    python: str
    jobs: tuple[str, ...] = ("common",)


OURS: Final = Implementation("usp", sys.executable, ("common", "ours", "checking"))


@cache
def reference() -> Implementation | None:
    """Return 1.8.1, installed on first use; None if it can't be installed."""
    python = _installed("ultimate-sitemap-parser==1.8.1", ".venv-1.8.1")
    return Implementation("1.8.1", python) if python else None


@cache
def reference_with_pandas() -> str | None:
    """Return an interpreter with 1.8.1, pandas and pyarrow; None if they can't be installed."""
    return _installed("ultimate-sitemap-parser==1.8.1 pandas pyarrow", ".venv-1.8.1-pandas")


@cache
def scrapy() -> Implementation | None:
    """Return Scrapy, installed on first use; None if it can't be installed."""
    python = _installed("scrapy", ".venv-scrapy")
    return Implementation("Scrapy", python, ("scrapy_reader",)) if python else None


def _installed(requirements: str, folder: str) -> str | None:
    """Return an interpreter with these requirements; print why and return None if there is none."""
    home = ROOT / folder
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = home / "ready"
    if not ready.exists():
        print(f"setting up {folder} (once)", file=sys.stderr)
        venv.create(home, clear=True, with_pip=True)
        (home / ".gitignore").write_text("*\n")  # not part of this repository: its licence differs
        install = [str(python), "-m", "pip", "install", "--quiet", *requirements.split()]
        done = subprocess.run(install, capture_output=True, text=True, check=False)  # noqa: S603 -- a fixed command
        if done.returncode:
            shutil.rmtree(home)
            last = done.stderr.strip().rpartition("\n")[2]
            print(f"{requirements} is skipped: it could not be installed ({last})")
            return None
        ready.touch()
    return str(python)


def run_in_fresh_process(implementation: Implementation, job: str, *arguments: object) -> JobResult:
    """Run one job in a new process."""
    with WorkerProcess(implementation) as worker:
        return worker.run(job, *arguments)


def best(results: Iterable[JobResult], figure: str = "seconds") -> JobResult:
    """Return the result with the smallest figure, since noise only adds."""
    found = list(results)
    if failed := [result["error"] for result in found if "error" in result]:
        raise RuntimeError(f"a job failed: {failed[0]}")
    return min(found, key=lambda result: float(result[figure]))


class WorkerProcess:
    """A process of one implementation; it runs any number of jobs inside of a ``with`` block."""

    def __init__(
        self,
        implementation: Implementation,
        *,
        address_space: int = 0,
        seconds: float = SECONDS,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it; ``address_space`` limits its memory, ``seconds`` the time of each job."""
        self._seconds = seconds
        self._process = subprocess.Popen(  # noqa: S603 -- a fixed command
            [implementation.python, "-I", str(WORKER), str(address_space), *implementation.jobs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self._timed_out = False
        self._peak = 0.0
        if self._read_line() != "ready\n":
            raise RuntimeError(f"{implementation.name} can't be run by {implementation.python}")

    def run(self, job: str, *arguments: object) -> JobResult:
        """Run one job; the result of a job that dies or takes too long has an ``error``.

        ``peak`` is the peak resident memory of the process in MiB, ``above_idle`` the same less the
        memory before the job.
        """
        idle = self._memory("VmRSS")
        timer = threading.Timer(self._seconds, self._stop)
        timer.start()
        try:
            if self._process.stdin:
                self._process.stdin.write(json.dumps([job, arguments]) + "\n")
                self._process.stdin.flush()
            line = self._read_line()
        finally:
            timer.cancel()
        died = f"stopped after {self._seconds:.0f} s" if self._timed_out else "died"
        result: JobResult = json.loads(line) if line else {"error": died}
        peak = max(self._memory("VmHWM"), self._peak)
        return {**result, "peak": peak, "above_idle": max(peak - idle, 0)}

    def _read_line(self) -> str:
        return self._process.stdout.readline() if self._process.stdout else ""

    def _stop(self) -> None:
        self._timed_out = True
        self._peak = self._memory("VmHWM")
        self._process.kill()

    def _memory(self, name: str) -> float:
        """Return one memory figure of the process; 0 if the system has none."""
        status = Path(f"/proc/{self._process.pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        kibibytes = (int(line.split()[1]) for line in lines if line.startswith(name))
        return next(kibibytes, 0) / 1024

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
