"""Records what 1.8.1 does: ``python tests/compat/record.py PYTHON``.

PYTHON is an interpreter with ultimate-sitemap-parser 1.8.1, requests_mock and requests_cache. It
runs each program in ``programs/``, whose output goes to ``data/NAME.json``, and
``make_pickles.py``, which writes ``data/*.pickle``. The data is never edited by hand: where 1.8.1
is wrong, ``corrections.py`` says so, with the reason.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
DATA = HERE / "data"
RECORDED_VERSION = "1.8.1"
ENVIRONMENT = {"PYTHONHASHSEED": "0", "TZ": "UTC", "PYTHONUTF8": "1"}


def run(python: str, script: Path, *arguments: str) -> str:
    """Return what a script prints; the hash seed and the time zone are fixed."""
    done = subprocess.run(
        [python, str(script), *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **ENVIRONMENT},
        timeout=60,
        check=False,
    )
    if done.returncode:
        # Of 1.8.1 only the last line is shown: a traceback would show its source.
        shown = done.stderr if python == sys.executable else done.stderr.strip().rpartition("\n")[2]
        raise RuntimeError(f"{script.name} ended with {done.returncode}:\n{shown}")
    return done.stdout


def main(python: str) -> None:
    version = subprocess.run(
        [python, "-c", "import usp; print(usp.__version__)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    if version != RECORDED_VERSION:
        sys.exit(f"{python} has usp {version}, not {RECORDED_VERSION}")
    DATA.mkdir(exist_ok=True)
    for program in sorted(PROGRAMS.glob("*.py")):
        facts = json.loads(run(python, program))
        text = json.dumps(facts, indent=1, ensure_ascii=False)
        (DATA / f"{program.stem}.json").write_text(text + "\n", encoding="utf-8")
    run(python, HERE / "make_pickles.py", str(DATA))


if __name__ == "__main__":
    main(*sys.argv[1:])
