"""Growth: how time and memory grow with a site, from ten thousand URLs to millions.

The sites are those of ``tree``, without a delay. Each is crawled in fresh processes, and every
field of every page is read. Memory is the peak resident memory of the whole process (Linux only).
It depends on how many worker threads hold a document at the same time, so our tree is built twice,
and the smaller figures are used. Takes minutes, so it is part of the full run only.
"""

from collections.abc import Iterator
from typing import Final

from bench.implementations import OURS, JobResult, best, reference, run_in_fresh_process
from bench.results import Cell, Table
from bench.site import CHILD_PAGES, Site, served

SIZES: Final = (10_000, 100_000, 1_000_000, 2_600_000)
BASELINE: Final = 1_000_000
"""The size above which memory must not grow."""
RUNS: Final = 2
NOISE: Final = 1.05
"""The memory of the same crawl varies by a few percent from run to run."""
HEADINGS: Final = (
    "URLs",
    "tree, s",
    "tree, MiB",
    "stream, s",
    "stream, MiB",
    "1.8.1, s",
    "1.8.1, MiB",
)


def run(*, full: bool) -> Iterator[Table]:  # noqa: ARG001 -- both runs are the same
    """Measure every size."""
    target = f"a tree of {SIZES[-1]:,} URLs takes no more memory than one of {BASELINE:,}"
    table = Table("sites of different sizes, as a tree and as a stream", HEADINGS, target)
    peaks: dict[int, float] = {}
    for urls in SIZES:
        found = _measure(urls)
        row: list[Cell] = [f"{urls:,}"]
        for result in found:
            row += [result.get("seconds"), result.get("peak")]
        table.rows.append(row)
        peaks[urls] = found[0]["peak"]
        wrong = any(result.get("pages") != urls for result in found if result)
        if wrong or peaks[urls] > peaks.get(BASELINE, peaks[urls]) * NOISE:
            table.failed.append(f"{urls:,}")
    yield table


def _measure(urls: int) -> tuple[JobResult, JobResult, JobResult]:
    """Crawl a site of this size: our tree, our stream, and the tree of 1.8.1."""
    theirs = reference()
    pages = min(urls, CHILD_PAGES)
    with served(Site(children=urls // pages, pages=pages)) as homepage:
        return (
            _smallest(
                [run_in_fresh_process(OURS, "crawl", homepage, "plain") for _ in range(RUNS)]
            ),
            run_in_fresh_process(OURS, "stream", homepage),
            run_in_fresh_process(theirs, "crawl", homepage, "plain") if theirs else {},
        )


def _smallest(results: list[JobResult]) -> JobResult:
    return {**best(results), "peak": min(result["peak"] for result in results)}
