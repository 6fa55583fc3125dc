"""The command as a real process, for the tests of this folder.

The process runs in Python's development mode, so that a socket or file left open shows up on
stderr, without the proxies of the environment, which can't reach the loopback interface, and with
buffers as users have them.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

USP = (sys.executable, "-X", "dev", "-m", "usp")
TIMEOUT = 60


@dataclass(frozen=True, slots=True)
class CrawlFinished:
    """What is left of a process: its exit code, and the two streams as text."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> list[str]:
        """The lines on stderr that the command itself says, without the log."""
        return [line for line in self.err.splitlines() if line.startswith("usp: ")]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    dropped = ("PROXY", "proxy", "PYTHONUNBUFFERED")
    kept = {name: value for name, value in os.environ.items() if not name.endswith(dropped)}
    return {**kept, **(extra or {})}


def usp(*args: str, env: Mapping[str, str] | None = None) -> CrawlFinished:
    """Run ``usp`` with these arguments to its end."""
    return run(*USP, *args, env=env)


def redirected(how: str, *args: str) -> CrawlFinished:
    """Run ``usp`` with its streams redirected as a shell writes it: ``2>&-``."""
    return run("/bin/sh", "-c", f'exec "$@" {how}', "sh", *USP, *args)


def script(code: str, *args: str, env: Mapping[str, str] | None = None) -> CrawlFinished:
    """Run a Python program to its end."""
    return run(sys.executable, "-X", "dev", "-c", code, *args, env=env)


def run(*command: str, env: Mapping[str, str] | None = None) -> CrawlFinished:
    done = subprocess.run(
        command, capture_output=True, check=False, env=environment(env), timeout=TIMEOUT
    )
    return CrawlFinished(done.returncode, done.stdout.decode(), done.stderr.decode())


def start(
    *args: str, program: tuple[str, ...] = USP, env: Mapping[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    """Start ``usp`` with these arguments, its streams as pipes."""
    return subprocess.Popen(
        [*program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(env)
    )
