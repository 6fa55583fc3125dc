"""Tables of results: printed, saved as JSON, and loaded again for the docs.

A benchmark is a module beside this one with a function ``run(*, full) -> Iterator[Table]``. Cells
are plain values, so that a table can be printed, saved as JSON, and written into the docs
(``page.py``).
"""

import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).with_name("results")

Cell = str | int | float | None


@dataclass(slots=True)
class Table:
    """One table: headings, rows of cells, and the target that they have to meet."""

    title: str
    headings: Sequence[str]
    target: str = ""
    rows: list[Sequence[Cell]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """The first cells of the rows that miss the target."""

    @property
    def cells(self) -> list[list[str]]:
        """The headings and all rows, as they are displayed."""
        return [list(self.headings), *([_displayed(cell) for cell in row] for row in self.rows)]

    @property
    def outcome(self) -> str:
        """Whether the target is met."""
        return f"missed by: {'; '.join(self.failed)}" if self.failed else "met"

    def text(self) -> str:
        """Return the table as text: the first column left-aligned, the others right-aligned."""
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
        if self.target:
            lines.append(f"target: {self.target}: {self.outcome}")
        return "\n".join([self.title, *lines])

    def markdown(self) -> str:
        """Return the table as Markdown, for the docs."""
        first, *rest = (f"| {' | '.join(row)} |" for row in self.cells)
        line = f"|---|{'---:|' * (len(self.headings) - 1)}"
        return "\n".join([f"{self.title}:", "", first, line, *rest, "", f"Target: {self.outcome}."])


def _displayed(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.2f}" if isinstance(cell, float) else cell


def save(name: str, tables: Sequence[Table], *, full: bool) -> Path:
    """Save the tables of one benchmark to ``results/NAME.json``; the last run is overwritten."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / ".gitignore").write_text("*\n")  # the figures belong to one machine
    path = FOLDER / f"{name}.json"
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


class SavedRun(NamedTuple):
    """The last run of a benchmark."""

    tables: list[Table]
    command: str
    """The command that ran it."""
    python: str


def load(name: str) -> SavedRun | None:
    """Return the last run of a benchmark; None if there is none."""
    path = FOLDER / f"{name}.json"
    if not path.exists():
        return None
    run = json.loads(path.read_text())
    command = f"make bench{'-full' if run['full'] else ''} ARGS={name}"
    return SavedRun([Table(**table) for table in run["tables"]], command, run["python"])
