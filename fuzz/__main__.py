"""``python -m fuzz``: each target for a bounded time, each in a process of its own.

Ends with 1 when something was found; what broke it is saved, made smaller, and can be run again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz.limits import SECONDS_AN_INPUT
from fuzz.targets import TARGETS

FOUND = Path(__file__).parent / "found"
SHOWN_LINES = 40
NOISE = ("#", "INFO:", "WARNING:")  # libFuzzer on its way
STARTING = 60  # a worker may take so long to start and to read its seeds


def main() -> int:
    """MatchRun what was asked for."""
    options = parse_args()
    if options.replay:
        return run_worker("--target", options.targets[0], "--replay", str(options.replay))
    options.found.mkdir(parents=True, exist_ok=True)
    broken = [name for name in options.targets if not fuzz(name, options)]
    if broken:
        print(f"fuzz: found something in {', '.join(broken)}; the inputs are in {options.found}")
    return 1 if broken else 0


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=20, help="for each target (20)")
    parser.add_argument("--found", type=Path, default=FOUND, help="where diagnostics are saved")
    parser.add_argument("--engine", choices=["atheris", "random"], help="atheris if it is there")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (1)")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one saved input again")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(f"there is no target {', '.join(sorted(unknown))}")
    if options.replay and len(options.targets) != 1:
        parser.error("--replay needs the one target that the file belongs to")
    options.targets = options.targets or list(TARGETS)
    return options


def fuzz(name: str, options: argparse.Namespace) -> bool:
    """Fuzz one target; tell whether it held."""
    before = set(options.found.iterdir())
    arguments = ["--target", name, "--seconds", str(options.seconds), "--seed", str(options.seed)]
    arguments += ["--found", str(options.found)]
    arguments += ["--engine", options.engine] if options.engine else []
    limit = options.seconds + STARTING + SECONDS_AN_INPUT
    status, said = run_quietly(*arguments, limit=limit)
    if status == 0:
        print(f"{name}: {said.splitlines()[-1] if said else 'nothing was run'}", flush=True)
        return True
    telling = [line for line in said.splitlines() if not line.startswith(NOISE)]
    print("\n".join(telling[-SHOWN_LINES:]))
    for path in sorted(set(options.found.iterdir()) - before):
        smaller = ["--target", name, "--shrink", str(path)]
        run_quietly(*smaller, limit=STARTING)
        print(f"{name}: to see it again: python -m fuzz {name} --replay {path}", flush=True)
    return False


def run_worker(*arguments: str) -> int:
    """MatchRun a worker that speaks for itself."""
    return subprocess.run([*WORKER, *arguments], check=False).returncode  # noqa: S603 -- our own


def run_quietly(*arguments: str, limit: float) -> tuple[int, str]:
    """MatchRun a worker; return its status and what it said."""
    with tempfile.TemporaryDirectory(prefix="usp-fuzz-") as work:
        try:
            done = subprocess.run(  # noqa: S603 -- our own
                [*WORKER, *arguments],
                check=False,
                text=True,
                errors="replace",
                timeout=limit,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TMPDIR": work},  # libFuzzer ends the worker, and cleans nothing
            )
        except subprocess.TimeoutExpired:
            return 1, f"the worker did not end within {limit} seconds"
    return done.returncode, done.stdout


WORKER = (sys.executable, "-m", "fuzz.worker")

if __name__ == "__main__":
    sys.exit(main())
