"""``make bench-docs``: the figures of the last runs go into docs/benchmarks.md.

Where the page has a line ``<!-- figures of NAME -->``, what stands between it and the next
``<!-- end of figures -->`` is made anew from ``results/NAME.json``. A benchmark that wasn't run
here keeps the figures it has.
"""

import re
from typing import Final

from bench.results import kept
from bench.sides import ROOT

PAGE: Final = ROOT / "docs" / "benchmarks.md"
FIGURES: Final = re.compile(r"(<!-- figures of (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def renewed(text: str) -> str:
    """Put what was measured here into the text of the page."""
    return FIGURES.sub(_figures, text)


def _figures(place: re.Match[str]) -> str:
    found = kept(place[2])
    if found is None:
        return place[0]
    tables, full = found
    target = "bench-full" if full else "bench"
    command = f"Figures of `make {target} ARGS={place[2]}`."
    body = "\n\n".join([command, *(table.markdown() for table in tables)])
    return f"{place[1]}{body}\n{place[3]}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")
