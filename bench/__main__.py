"""``make bench``: every benchmark, or those named (``python -m bench damage memory``).

``make bench-full`` (``--full``) takes the sizes that the rules are stated for, and longer.
A benchmark is a module beside this file; a row of ``BENCHMARKS`` makes it known.
"""

import sys
import time
from importlib import import_module
from typing import Final

from bench.results import Table, keep

FULL: Final = "--full"
BENCHMARKS: Final = (
    "startup",
    "reading",
    "fetching",
    "tls",
    "tree",
    "streaming",
    "damage",
    "memory",
)
FULL_ONLY: Final = ("growth",)
"""Those that take minutes, and are run when named or when all are run at full size."""


def main(names: list[str]) -> int:
    """MatchRun the benchmarks, print their tables as they come, and keep them; 1 if a rule is broken."""
    full = FULL in names
    names = [name for name in names if name != FULL]
    known = BENCHMARKS + FULL_ONLY
    if unknown := set(names) - set(known):
        print(f"bench: no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
        return 2
    broken = False
    for name in names or (known if full else BENCHMARKS):
        start = time.perf_counter()
        tables: list[Table] = []
        for table in import_module(f"bench.{name}").run(full=full):
            print(f"\n{table.text()}", flush=True)
            tables.append(table)
            broken = broken or bool(table.broken)
        path = keep(name, tables, full=full)
        print(
            f"\n{name}: {time.perf_counter() - start:.0f} s; kept in {path.parent.name}/{path.name}"
        )
    return int(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
