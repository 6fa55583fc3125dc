"""Growth: how time and memory grow with a site, from ten thousand URLs to millions.

The sites are those of ``tree``, without a delay; each is crawled in fresh processes, and every
field of every page is read. Memory is the highest resident memory of the whole process (Linux
only). How many workers meet in it is chance, so our tree is built twice: of time and memory the
less counts. Takes minutes, so it is part of the full run only.
"""

from collections.abc import Iterator
from typing import Final

from bench.results import Cell, Table
from bench.sides import OURS, Answer, best, fresh, reference
from bench.site import CHILD_PAGES, Site, served

SIZES: Final = (10_000, 100_000, 1_000_000, 2_600_000)
FROM: Final = 1_000_000
"""The size from which on the memory must not grow."""
RUNS: Final = 2
NOISE: Final = 1.05
"""Memory of one and the same crawl differs by a few hundredths from run to run."""
HEADINGS: Final = (
    "URLs",
    "tree, s",
    "tree, MiB",
    "stream, s",
    "stream, MiB",
    "1.8.1, s",
    "1.8.1, MiB",
)


def run(*, full: bool) -> Iterator[Table]:  # noqa: ARG001 -- there is no quick way to grow
    """Measure every size."""
    rule = f"a tree of {SIZES[-1]:,} URLs takes no more memory than one of {FROM:,}"
    table = Table("sites of different sizes, built or streamed, and walked", HEADINGS, rule)
    peaks: dict[int, float] = {}
    for urls in SIZES:
        found = _measure(urls)
        row: list[Cell] = [f"{urls:,}"]
        for answer in found:
            row += [answer.get("seconds"), answer.get("peak")]
        table.rows.append(row)
        peaks[urls] = found[0]["peak"]
        wrong = any(answer.get("pages") != urls for answer in found if answer)
        if wrong or peaks[urls] > peaks.get(FROM, peaks[urls]) * NOISE:
            table.broken.append(f"{urls:,}")
    yield table


def _measure(urls: int) -> tuple[Answer, Answer, Answer]:
    """Crawl a site of this size: our tree, our stream, and the tree of 1.8.1."""
    theirs = reference()
    pages = min(urls, CHILD_PAGES)
    with served(Site(children=urls // pages, pages=pages)) as homepage:
        return (
            _least([fresh(OURS, "crawl", homepage, "plain") for _ in range(RUNS)]),
            fresh(OURS, "stream", homepage),
            fresh(theirs, "crawl", homepage, "plain") if theirs else {},
        )


def _least(answers: list[Answer]) -> Answer:
    return {**best(answers), "peak": min(answer["peak"] for answer in answers)}
