"""The sides of a comparison: this clone, and 1.8.1 and Scrapy in virtualenvs of their own.

Rules of this room: nothing is measured in this process; each side works in a process of its own
(``jobs/worker.py``), so that neither sees the other's modules, caches or memory.
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
"""No job takes so long, unless something is broken."""

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Side:
    """One implementation, named by the interpreter that has it, and the jobs it can do."""

    name: str
    python: str
    jobs: tuple[str, ...] = ("both",)


OURS: Final = Side("usp", sys.executable, ("both", "ours"))


@cache
def reference() -> Side | None:
    """Return 1.8.1, installed on first use; None where it can't be."""
    python = _installed("ultimate-sitemap-parser==1.8.1", ".venv-1.8.1")
    return Side("1.8.1", python) if python else None


@cache
def scrapy() -> Side | None:
    """Return Scrapy, installed on first use; None where it can't be."""
    python = _installed("scrapy", ".venv-scrapy")
    return Side("Scrapy", python, ("peer",)) if python else None


def _installed(requirement: str, folder: str) -> str | None:
    """Return an interpreter that has it, made once; None, with a line that says so, without."""
    home = ROOT / folder
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = home / "ready"
    if not ready.exists():
        print(f"setting up {folder} (once)", file=sys.stderr)
        venv.create(home, clear=True, with_pip=True)
        (home / ".gitignore").write_text("*\n")  # its licence is not ours
        install = [str(python), "-m", "pip", "install", "--quiet", requirement]
        done = subprocess.run(install, capture_output=True, text=True, check=False)  # noqa: S603 -- our own words
        if done.returncode:
            shutil.rmtree(home)
            last = done.stderr.strip().rpartition("\n")[2]
            print(f"{requirement} is left out: it could not be installed ({last})")
            return None
        ready.touch()
    return str(python)


def fresh(side: Side, job: str, *arguments: object) -> Answer:
    """Have one job done by a process of its own."""
    with Reader(side) as reader:
        return reader.ask(job, *arguments)


def best(answers: Iterable[Answer], figure: str = "seconds") -> Answer:
    """Keep the answer with the least of a figure, since noise only ever adds."""
    found = list(answers)
    if failed := [answer["error"] for answer in found if "error" in answer]:
        raise RuntimeError(f"a job could not be done: {failed[0]}")
    return min(found, key=lambda answer: float(answer[figure]))


class Reader:
    """A process of one side, for as many jobs as the ``with`` block gives it."""

    def __init__(
        self,
        side: Side,
        *,
        address_space: int = 0,
        seconds: float = SECONDS,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it; ``address_space`` bounds its memory, ``seconds`` the time of each job."""
        self._seconds = seconds
        self._process = subprocess.Popen(  # noqa: S603 -- our own words
            [side.python, "-I", str(WORKER), str(address_space), *side.jobs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self._overdue = False
        self._highest = 0.0
        if self._read_line() != "ready\n":
            raise RuntimeError(f"{side.name} can't be run by {side.python}")

    def ask(self, job: str, *arguments: object) -> Answer:
        """Have one job done; a job that dies or takes too long is answered with its ``error``.

        ``peak`` is the process's highest resident memory so far, in MiB, and ``above_idle`` that
        less what it had before the job.
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
        died = f"stopped after {self._seconds:.0f} s" if self._overdue else "died"
        answer: Answer = json.loads(line) if line else {"error": died}
        peak = max(self._memory("VmHWM"), self._highest)
        return {**answer, "peak": peak, "above_idle": max(peak - idle, 0)}

    def _read_line(self) -> str:
        return self._process.stdout.readline() if self._process.stdout else ""

    def _stop(self) -> None:
        self._overdue = True
        self._highest = self._memory("VmHWM")
        self._process.kill()

    def _memory(self, name: str) -> float:
        """Look up one figure of the process; 0 where the system doesn't tell, or it is gone."""
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
