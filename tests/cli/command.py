"""Runs the command as a real process, for the tests of this folder.

The process runs in Python's development mode, which reports unclosed sockets and files on stderr;
without the proxies of the environment, which can't reach the loopback interface; and with the
default buffering. ``usp`` and ``script`` fork a process that has its imports done (``tests.warm``),
unless it gets environment variables that Python reads when it starts; the others start a new one.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import usp as package
from tests.warm import WarmPython, starts_alike

DEVELOPMENT = ("-X", "dev")
USP = (sys.executable, *DEVELOPMENT, "-m", "usp")
WARM = WarmPython(
    (
        "usp.aio",
        "usp._export.arrow",
        "usp._report.run",
        "usp.cli._config",
        "usp.cli._parser",
        *(f"usp.cli._{name}" for name in ("ls", "find", "demo", "export", "crawl")),
        *(f"usp.cli._{name}" for name in ("check", "report", "diff", "sync", "changes")),
    ),
    DEVELOPMENT,
)
TIMEOUT = 60
FOUND = re.compile(
    r"(?P<found>found: [\d,]+ sitemaps?\b.*?), (?:[\d,]+ min )?[\d.]+ s"
    r"(?:; (?P<partial>partial: .*))?"
)


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that has ended: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def messages(self) -> list[str]:
        """The lines on stderr that are not part of the log."""
        return [line for line in self.err.splitlines() if line.startswith("usp: ")]

    @property
    def found(self) -> str:
        """The last line on stderr, without the time: what was found."""
        found = FOUND.fullmatch(self._last)
        return found["found"] if found else self._last

    @property
    def partial(self) -> str | None:
        """Why something is missing, by the last line on stderr."""
        found = FOUND.fullmatch(self._last)
        return found["partial"] if found else None

    @property
    def _last(self) -> str:
        return (self.err.splitlines() or [""])[-1]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    dropped = ("PROXY", "proxy", "PYTHONUNBUFFERED")
    kept = {name: value for name, value in os.environ.items() if not name.endswith(dropped)}
    return {**kept, **(extra or {})}


def search_path(*extra: Path) -> str:
    """The value of ``PYTHONPATH`` for these folders, then the one of the package under test."""
    home = Path(package.__file__).parent.parent
    return os.pathsep.join(str(folder) for folder in (*extra, home))


def usp(*args: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Finished:
    """Run ``usp`` with these arguments and wait for its end."""
    return _python("-m", "usp", *args, env=env, cwd=cwd)


def redirected(how: str, *args: str) -> Finished:
    """Run ``usp`` with a redirection in shell syntax, such as ``2>&-``."""
    return run("/bin/sh", "-c", f'exec "$@" {how}', "sh", *USP, *args)


def script(code: str, *args: str, env: Mapping[str, str] | None = None) -> Finished:
    """Run a Python program and wait for its end."""
    return _python("-c", code, *args, env=env)


def _python(*args: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Finished:
    if starts_alike(env or ()):
        return _finished(WARM.run(*args, env=environment(env), cwd=cwd or Path.cwd()))
    return run(sys.executable, *DEVELOPMENT, *args, env=env, cwd=cwd)


def run(*command: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Finished:
    done = subprocess.run(
        command, capture_output=True, check=False, env=environment(env), timeout=TIMEOUT, cwd=cwd
    )
    return _finished(done)


def _finished(done: "subprocess.CompletedProcess[bytes]") -> Finished:
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


def start(
    *args: str,
    program: tuple[str, ...] = USP,
    env: Mapping[str, str] | None = None,
    stdin: int | None = None,
) -> "subprocess.Popen[bytes]":
    """Start ``usp`` with these arguments; stdout and stderr are pipes."""
    return subprocess.Popen(
        [*program, *args],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(env),
    )
