"""Tree: a large site as a tree, beside 1.8.1 in the same run.

robots.txt declares an index whose sub-sitemaps have 50,000 URLs each, the most that the protocol
allows. Each implementation crawls it in a fresh process and reads every field of every page. They
take turns; the faster run of each is used. Memory is the peak resident memory of the whole process,
Python and all modules included (Linux only: it comes from ``/proc``); temporary files are not in
it.
"""

from collections.abc import Iterator
from typing import Final

from bench.implementations import OURS, JobResult, best, reference, run_in_fresh_process
from bench.results import Table
from bench.site import CHILD_PAGES, Site, served

URLS: Final = 1_000_000
QUICK_URLS: Final = 200_000
RUNS: Final = 2
MIN_SPEEDUP: Final = 8.0
"""The least speedup over 1.8.1."""
MAX_MEMORY_RATIO: Final = 0.5
"""The most memory, relative to 1.8.1."""
HEADINGS: Final = (
    "implementation",
    "seconds",
    "CPU seconds",
    "peak MiB",
    "speedup over 1.8.1",
    "memory ratio",
    "pages",
)


def run(*, full: bool) -> Iterator[Table]:
    """Measure both implementations in turns."""
    urls = URLS if full else QUICK_URLS
    table = Table(
        f"a tree of {urls:,} URLs in {urls // CHILD_PAGES} sitemaps",
        HEADINGS,
        f"{MIN_SPEEDUP:g} times as fast as 1.8.1, at most {MAX_MEMORY_RATIO:g} of its peak memory",
    )
    found = _measure(urls)
    old = found.get("1.8.1")
    for name, result in found.items():
        speedup = old["seconds"] / result["seconds"] if old else None
        ratio = result["peak"] / old["peak"] if old and old["peak"] else None
        figures = [result[figure] for figure in ("seconds", "cpu", "peak")]
        table.rows.append([name, *figures, speedup, ratio, result["pages"]])
        slow = speedup is not None and speedup < MIN_SPEEDUP
        large = ratio is not None and ratio > MAX_MEMORY_RATIO
        if result["pages"] != urls or (name == OURS.name and (slow or large)):
            table.failed.append(name)
    yield table


def _measure(urls: int) -> dict[str, JobResult]:
    implementations = [implementation for implementation in (reference(), OURS) if implementation]
    with served(Site(children=urls // CHILD_PAGES, pages=CHILD_PAGES)) as homepage:
        rounds = [
            {
                implementation.name: run_in_fresh_process(
                    implementation, "crawl", homepage, "plain"
                )
                for implementation in implementations
            }
            for _ in range(RUNS)
        ]
    return {
        implementation.name: best(found[implementation.name] for found in rounds)
        for implementation in implementations
    }
