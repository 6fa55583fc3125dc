"""``make bench-docs``: writes the figures of the last runs into benchmarks.md and README.md.

The text between ``<!-- figures of NAME -->`` and the next ``<!-- end of figures -->`` is generated
from ``results/NAME.json``; for the name ``summary``, from a few figures of all results. Figures of
a benchmark without results stay as they are.
"""

import re
from dataclasses import dataclass
from typing import Final

from bench.implementations import ROOT
from bench.results import Table, load

PAGES: Final = (ROOT / "docs" / "reference" / "benchmarks.md", ROOT / "README.md")
FIGURES: Final = re.compile(r"(<!-- figures of (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the summary: our figure and that of 1.8.1, each by row and heading."""

    label: str
    """May contain ``{title}``, the title of the table."""
    benchmark: str
    ours: tuple[str, str]
    theirs: tuple[str, str]


SUMMARY: Final = (
    *(
        Line(
            f"parsing generated documents, µs per page: {kind}",
            "reading",
            (kind, "µs per page"),
            (kind, "1.8.1"),
        )
        for kind in ("plain, mixed", "news, mixed", "images, mixed", "hreflang, mixed")
    ),
    *(
        Line(
            f"parsing real documents, µs per page: {size}",
            "real",
            (size, "µs per page"),
            (size, "1.8.1"),
        )
        for size in ("under 2 kB", "2 to 20 kB", "20 to 200 kB", "over 200 kB")
    ),
    Line("{title}, s", "tree", ("usp", "seconds"), ("1.8.1", "seconds")),
    Line("its peak memory, MiB", "tree", ("usp", "peak MiB"), ("1.8.1", "peak MiB")),
    Line(
        "time to first page, s: {title}",
        "streaming",
        ("usp, stream", "first page, s"),
        ("1.8.1, tree", "first page, s"),
    ),
    Line(
        "crawl, s: {title}",
        "fetching",
        ("8 concurrent, the default", "seconds"),
        ("1.8.1", "seconds"),
    ),
    Line("new TLS connection, CPU ms", "tls", ("usp", "CPU ms"), ("1.8.1", "CPU ms")),
    Line(
        "`import usp` (1.8.1: `import usp.tree`), ms",
        "startup",
        ("import usp", "ms, best"),
        ("1.8.1: import usp.tree", "ms, best"),
    ),
)


def updated(text: str) -> str:
    """Return the text of a page with the figures of the last runs."""
    return FIGURES.sub(_figures, text)


def _figures(match: re.Match[str]) -> str:
    name = match[2]
    body = _summary(match[0]) if name == "summary" else _tables(name)
    return f"{match[1]}{body}\n{match[3]}" if body else match[0]


def _tables(name: str) -> str:
    found = load(name)
    if found is None:
        return ""
    origin = f"Figures of `{found.command}`, Python {found.python}."
    return "\n\n".join([origin, *(table.markdown() for table in found.tables)])


def _summary(before: str) -> str:
    """Return the summary; lines of a benchmark without results stay as they were before."""
    lines = ["| | usp | 1.8.1 | measured by |", "|---|---:|---:|---|"]
    for line in SUMMARY:
        found = load(line.benchmark)
        if found is None:
            label = re.escape(line.label).replace(re.escape("{title}"), "[^|]*")
            lines += re.findall(rf"^\| {label} \|.*$", before, re.MULTILINE)
            continue
        table = found.tables[0]
        ours, theirs = (_figure(table, *cell) for cell in (line.ours, line.theirs))
        label = line.label.format(title=table.title)
        lines.append(f"| {label} | {ours} | {theirs} | `{found.command}` |")
    return "\n".join(lines)


def _figure(table: Table, row: str, heading: str) -> str:
    """Return one cell, as it is displayed."""
    headings, *rows = table.cells
    return next((cells[headings.index(heading)] for cells in rows if cells[0] == row), "-")


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(updated(page.read_text("utf-8")), "utf-8")
