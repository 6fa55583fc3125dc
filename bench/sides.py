"""The two sides of a comparison: this clone, and 1.8.1 in a virtualenv of its own.

Rules of this room: nothing is measured in this process; each side reads in a process of its own
(``reader.py``), so that neither sees the other's modules, caches or memory.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import venv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

ROOT: Final = Path(__file__).resolve().parent.parent
READER: Final = Path(__file__).with_name("reader.py")
REFERENCE: Final = "ultimate-sitemap-parser==1.8.1"
REFERENCE_HOME: Final = ROOT / ".venv-1.8.1"
SECONDS: Final = 600.0
"""No job takes so long, unless something is broken."""


@dataclass(frozen=True, slots=True)
class Side:
    """One implementation, named by the interpreter that has it."""

    name: str
    python: str


OURS: Final = Side("usp", sys.executable)


@cache
def reference() -> Side | None:
    """Return 1.8.1, installed on first use; None, with a line that says so, where it can't be."""
    python = REFERENCE_HOME / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = REFERENCE_HOME / "ready"
    if not ready.exists():
        print(f"setting up {REFERENCE_HOME.name} (once)", file=sys.stderr)
        venv.create(REFERENCE_HOME, clear=True, with_pip=True)
        (REFERENCE_HOME / ".gitignore").write_text("*\n")  # its licence is not ours
        install = [str(python), "-m", "pip", "install", "--quiet", REFERENCE]
        done = subprocess.run(install, capture_output=True, text=True, check=False)  # noqa: S603 -- our own words
        if done.returncode:
            shutil.rmtree(REFERENCE_HOME)
            last = done.stderr.strip().rpartition("\n")[2]
            print(f"1.8.1 is left out: {REFERENCE} could not be installed ({last})")
            return None
        ready.touch()
    return Side("1.8.1", str(python))


class Reader:
    """A process of one side, for as many jobs as the ``with`` block gives it."""

    def __init__(self, side: Side, *, address_space: int = 0, seconds: float = SECONDS) -> None:
        """Start it; ``address_space`` bounds its memory, ``seconds`` the time of each job."""
        self._seconds = seconds
        self._process = subprocess.Popen(  # noqa: S603 -- our own words
            [side.python, "-I", str(READER), str(address_space)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._overdue = False
        self._highest = 0
        if self._read_line() != "ready\n":
            raise RuntimeError(f"{side.python} can't run {READER.name}; is usp installed there?")

    def ask(self, job: str, argument: str) -> dict[str, Any]:
        """Have one job done; a job that dies or takes too long is answered with its ``error``.

        ``above_idle`` is the process's highest resident memory less what it had before, in bytes.
        """
        idle = self._memory("VmRSS")
        timer = threading.Timer(self._seconds, self._stop)
        timer.start()
        try:
            if self._process.stdin:
                self._process.stdin.write(json.dumps([job, argument]) + "\n")
                self._process.stdin.flush()
            line = self._read_line()
        finally:
            timer.cancel()
        died = f"stopped after {self._seconds:.0f} s" if self._overdue else "died"
        answer: dict[str, Any] = json.loads(line) if line else {"error": died}
        return {**answer, "above_idle": max(self._memory("VmHWM"), self._highest) - idle}

    def _read_line(self) -> str:
        return self._process.stdout.readline() if self._process.stdout else ""

    def _stop(self) -> None:
        self._overdue = True
        self._highest = self._memory("VmHWM")
        self._process.kill()

    def _memory(self, name: str) -> int:
        """Look up one figure of the process; 0 where the system doesn't tell, or it is gone."""
        status = Path(f"/proc/{self._process.pid}/status")
        lines = status.read_text().splitlines() if status.exists() else []
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), 0)

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
