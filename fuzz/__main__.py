"""``python -m fuzz``: runs each target for a limited time, in its own process.

Exits with 1 if an input failed; the input is saved, minimized, and can be replayed.
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
NOISE = ("#", "INFO:", "WARNING:")  # progress of libFuzzer
STARTUP_SECONDS = 60  # how long a worker may take to start and to read its seeds


def main() -> int:
    """Run the requested targets."""
    options = parse_args()
    if options.replay:
        return run_worker("--target", options.targets[0], "--replay", str(options.replay))
    options.found.mkdir(parents=True, exist_ok=True)
    failed = [name for name in options.targets if not fuzz(name, options)]
    if failed:
        print(f"fuzz: {', '.join(failed)} failed; the inputs are in {options.found}")
    return 1 if failed else 0


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--seconds", type=int, default=20, help="for each target (20)")
    parser.add_argument("--found", type=Path, default=FOUND, help="where failing inputs are saved")
    parser.add_argument(
        "--engine", choices=["atheris", "random"], help="atheris if it is installed"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (1)")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one saved input again")
    options = parser.parse_args()
    if unknown := set(options.targets) - set(TARGETS):
        parser.error(
            f"unknown target {', '.join(sorted(unknown))}; choose from {', '.join(TARGETS)}"
        )
    if options.replay and len(options.targets) != 1:
        parser.error("--replay needs exactly one target, the one that the file belongs to")
    options.targets = options.targets or list(TARGETS)
    return options


def fuzz(name: str, options: argparse.Namespace) -> bool:
    """Fuzz one target; tell whether it passed."""
    before = set(options.found.iterdir())
    arguments = ["--target", name, "--seconds", str(options.seconds), "--seed", str(options.seed)]
    arguments += ["--found", str(options.found)]
    arguments += ["--engine", options.engine] if options.engine else []
    limit = options.seconds + STARTUP_SECONDS + SECONDS_AN_INPUT
    status, output = run_quietly(*arguments, limit=limit)
    if status == 0:
        print(f"{name}: {output.splitlines()[-1] if output else 'nothing was run'}", flush=True)
        return True
    lines = [line for line in output.splitlines() if not line.startswith(NOISE)]
    print("\n".join(lines[-SHOWN_LINES:]))
    for path in sorted(set(options.found.iterdir()) - before):
        arguments = ["--target", name, "--shrink", str(path)]
        run_quietly(*arguments, limit=STARTUP_SECONDS)
        print(f"{name}: to replay it: python -m fuzz {name} --replay {path}", flush=True)
    return False


def run_worker(*arguments: str) -> int:
    """Run a worker with its own output."""
    return subprocess.run([*WORKER, *arguments], check=False).returncode  # noqa: S603 -- our own


def run_quietly(*arguments: str, limit: float) -> tuple[int, str]:
    """Run a worker; return its exit status and its output."""
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
