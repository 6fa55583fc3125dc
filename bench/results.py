"""What a benchmark hands back, how it is printed, and where it is kept.

A benchmark is a module beside this one with a function ``run(*, full) -> Iterator[Table]``. Rows
hold plain values, so that the same table is printed for people, kept as JSON for programs, and put
into the docs (``page.py``).
"""

import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

KEPT: Final = Path(__file__).with_name("results")

Cell = str | int | float | None


@dataclass(slots=True)
class Table:
    """One table: rows of cells under headings, and the rule that they are held against."""

    title: str
    headings: Sequence[str]
    rule: str = ""
    rows: list[Sequence[Cell]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """The rows that break the rule, by what stands first in them."""

    @property
    def cells(self) -> list[list[str]]:
        """The headings and all rows, as they are shown."""
        return [list(self.headings), *([_shown(cell) for cell in row] for row in self.rows)]

    @property
    def verdict(self) -> str:
        """What came of the rule."""
        return f"broken by: {'; '.join(self.broken)}" if self.broken else "kept"

    def text(self) -> str:
        """The table as text: the first column to the left, the others to the right."""
        cells = self.cells
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.headings))]
        lines = [
            "  ".join(
                cell.rjust(width) if at else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        lines.insert(1, "  ".join("-" * width for width in widths))
        if self.rule:
            lines.append(f"rule: {self.rule}: {self.verdict}")
        return "\n".join([self.title, *lines])

    def markdown(self) -> str:
        """The table as Markdown, for the docs."""
        first, *rest = (f"| {' | '.join(row)} |" for row in self.cells)
        line = f"|---|{'---:|' * (len(self.headings) - 1)}"
        return "\n".join([f"{self.title}:", "", first, line, *rest, "", f"Rule: {self.verdict}."])


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.2f}" if isinstance(cell, float) else cell


def keep(name: str, tables: Sequence[Table], *, full: bool) -> Path:
    """Write the tables of one benchmark to ``results/NAME.json``, over those of the last run."""
    KEPT.mkdir(exist_ok=True)
    (KEPT / ".gitignore").write_text("*\n")  # figures of one machine on one day
    path = KEPT / f"{name}.json"
    run = {
        "benchmark": name,
        "full": full,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "tables": [asdict(table) for table in tables],
    }
    path.write_text(json.dumps(run, indent=1) + "\n")
    return path


class Kept(NamedTuple):
    """What is left of a benchmark's last run."""

    tables: list[Table]
    command: str
    """What it was made with."""
    python: str


def kept(name: str) -> Kept | None:
    """Return what a benchmark's last run found; None if it wasn't run here."""
    path = KEPT / f"{name}.json"
    if not path.exists():
        return None
    run = json.loads(path.read_text())
    command = f"make bench{'-full' if run['full'] else ''} ARGS={name}"
    return Kept([Table(**table) for table in run["tables"]], command, run["python"])
