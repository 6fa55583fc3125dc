"""``make bench``: runs every benchmark, or those named (``python -m bench recovery memory``).

``make bench-full`` (``--full``) uses the sizes for which the targets are stated, and takes longer.
A benchmark is a module beside this file that ``BENCHMARKS`` names.
"""

import compileall
import sys
import time
from importlib import import_module
from typing import Final

from bench.implementations import ROOT
from bench.results import Table, save

FULL: Final = "--full"
BENCHMARKS: Final = (
    "startup",
    "reading",
    "columns",
    "real",
    "fetching",
    "requests",
    "tls",
    "tree",
    "streaming",
    "recovery",
    "memory",
    "export",
    "sync",
    "diff",
    "check",
    "bulk",
    "report",
)
FULL_ONLY: Final = ("growth",)
"""Benchmarks that take minutes: they run only if named, or at full size."""


def main(names: list[str]) -> int:
    """Run the benchmarks, print and save their tables; return 1 if a target is missed."""
    full = FULL in names
    names = [name for name in names if name != FULL]
    known = BENCHMARKS + FULL_ONLY
    if unknown := set(names) - set(known):
        print(f"bench: unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
        return 2
    # As pip does when it installs a package: some machines keep Python from doing it later.
    compileall.compile_dir(ROOT / "src", quiet=1)
    missed = False
    for name in names or (known if full else BENCHMARKS):
        start = time.perf_counter()
        tables: list[Table] = []
        for table in import_module(f"bench.{name}").run(full=full):
            print(f"\n{table.text()}", flush=True)
            tables.append(table)
            missed = missed or bool(table.failed)
        path = save(name, tables, full=full)
        print(f"\n{name}: {time.perf_counter() - start:.0f} s, saved in results/{path.name}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
