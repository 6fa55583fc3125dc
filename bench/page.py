"""``make bench-docs``: the figures of the last runs go into docs/benchmarks.md and README.md.

Where a page has a line ``<!-- figures of NAME -->``, what stands between it and the next
``<!-- end of figures -->`` is made anew from ``results/NAME.json``; for the name ``summary`` from a
few figures of all results. A benchmark that wasn't run here keeps the figures it has; the summary
needs all that it names.
"""

import re
from dataclasses import dataclass
from typing import Final

from bench.results import Table, kept
from bench.sides import ROOT

PAGES: Final = (ROOT / "docs" / "benchmarks.md", ROOT / "README.md")
FIGURES: Final = re.compile(r"(<!-- figures of (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the summary: a figure of ours and one of 1.8.1, each by its row and heading."""

    what: str
    """With ``{title}`` where the title of the table says it."""
    benchmark: str
    ours: tuple[str, str]
    theirs: tuple[str, str]


SUMMARY: Final = (
    *(
        Line(f"reading a page, µs: {kind}", "reading", (kind, "µs a page"), (kind, "1.8.1"))
        for kind in ("plain, mixed", "news, mixed", "images, mixed", "hreflang, mixed")
    ),
    Line("{title}, s", "tree", ("usp", "seconds"), ("1.8.1", "seconds")),
    Line("its peak memory, MiB", "tree", ("usp", "peak MiB"), ("1.8.1", "peak MiB")),
    Line(
        "the first page, s, of {title}",
        "streaming",
        ("usp, stream", "first page, s"),
        ("1.8.1, tree", "first page, s"),
    ),
    Line(
        "a crawl, s: {title}",
        "fetching",
        ("8 requests at once, the default", "seconds"),
        ("1.8.1", "seconds"),
    ),
    Line("a new TLS connection, ms of CPU", "tls", ("usp", "ms of CPU"), ("1.8.1", "ms of CPU")),
    Line(
        "`import usp`, and `usp.tree` of 1.8.1, ms",
        "startup",
        ("import usp", "ms, best"),
        ("1.8.1: import usp.tree", "ms, best"),
    ),
)


def renewed(text: str) -> str:
    """Put what was measured here into the text of a page."""
    return FIGURES.sub(_figures, text)


def _figures(place: re.Match[str]) -> str:
    name = place[2]
    body = _summary() if name == "summary" else _all_of(name)
    return f"{place[1]}{body}\n{place[3]}" if body else place[0]


def _all_of(name: str) -> str:
    found = kept(name)
    if found is None:
        return ""
    provenance = f"Figures of `{found.command}`, Python {found.python}."
    return "\n\n".join([provenance, *(table.markdown() for table in found.tables)])


def _summary() -> str:
    lines = ["| | usp | 1.8.1 | measured by |", "|---|---:|---:|---|"]
    for line in SUMMARY:
        found = kept(line.benchmark)
        if found is None:
            return ""
        table = found.tables[0]
        ours, theirs = (_figure(table, *place) for place in (line.ours, line.theirs))
        what = line.what.format(title=table.title)
        lines.append(f"| {what} | {ours} | {theirs} | `{found.command}` |")
    return "\n".join(lines)


def _figure(table: Table, row: str, heading: str) -> str:
    """Look up one cell, as it is shown."""
    headings, *rows = table.cells
    return next((cells[headings.index(heading)] for cells in rows if cells[0] == row), "-")


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(renewed(page.read_text("utf-8")), "utf-8")
