"""Print the Pythons of this machine that usp supports, one per line: version and path.

They are looked for on the PATH and among the versions of pyenv. An interpreter that doesn't start
is skipped.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OLDEST = (3, 11)
NAME = re.compile(r"python3\.\d+(?:\.exe)?")
QUESTION = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"


def candidates() -> Iterator[Path]:
    """Yield the files that may be a Python, those on the PATH first."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    folders = [*map(Path, os.get_exec_path()), *sorted(pyenv.glob("*/bin"), reverse=True)]
    for folder in folders:
        yield from sorted(file for file in folder.glob("python3.*") if NAME.fullmatch(file.name))


def ask(python: Path) -> tuple[str, str] | None:
    """Return the version of an interpreter and its path; None if it doesn't start."""
    try:
        done = subprocess.run(
            [python, "-c", QUESTION], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    version, _, path = done.stdout.strip().partition(" ")
    return version, path


def main() -> None:
    """Print one Python per line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--except", dest="known", type=Path, help="skip the version of this one")
    args = parser.parse_args()
    seen = {found[0] for found in [ask(args.known) if args.known else None] if found}
    for python in candidates():
        found = ask(python)
        if found is None or found[0] in seen or tuple(map(int, found[0].split("."))) < OLDEST:
            continue
        seen.add(found[0])
        sys.stdout.write(f"{found[0]} {found[1]}\n")


if __name__ == "__main__":
    main()
