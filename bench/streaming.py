"""Streaming: the time to the first and to the last page of a large site, beside 1.8.1.

robots.txt declares an index whose sub-sitemaps have 50,000 URLs each; each response is delayed by
50 ms. We stream (``iter_pages``); 1.8.1 builds its tree and iterates over it. Both read robots.txt
and try no known paths. Each implementation runs in a fresh process; the earliest first page is
used. Memory is the peak resident memory of the whole process, Python and all modules included
(Linux only: it comes from ``/proc``).
"""

from collections.abc import Iterator
from typing import Final

from bench.implementations import OURS, best, reference, run_in_fresh_process
from bench.results import Table
from bench.site import CHILD_PAGES, Site, served

URLS: Final = 1_000_000
QUICK_URLS: Final = 200_000
RUNS: Final = 2
QUICK_RUNS: Final = 1
MIN_SPEEDUP_FOR_A_MILLION: Final = 50.0
"""The least speedup to the first page; proportionally less on a smaller site."""
MAX_MIB: Final = 80.0
"""The most memory of the whole process."""
HEADINGS: Final = ("method", "first page, s", "speedup", "all pages, s", "peak MiB", "pages")


def run(*, full: bool) -> Iterator[Table]:
    """Measure both implementations in turns."""
    urls = URLS if full else QUICK_URLS
    least = MIN_SPEEDUP_FOR_A_MILLION * urls / URLS
    table = Table(
        f"{urls:,} URLs in {urls // CHILD_PAGES} sitemaps, 50 ms per response",
        HEADINGS,
        f"first page {least:g} times as fast as 1.8.1, streaming in less than {MAX_MIB:g} MiB",
    )
    theirs = reference()
    with served(Site(urls // CHILD_PAGES, CHILD_PAGES, seconds=0.05)) as homepage:
        methods = {"1.8.1, tree": (theirs, "crawl"), "usp, stream": (OURS, "stream")}
        rounds = [
            {
                method: run_in_fresh_process(implementation, job, homepage)
                for method, (implementation, job) in methods.items()
                if implementation
            }
            for _ in range(RUNS if full else QUICK_RUNS)
        ]
    found = {method: best((results[method] for results in rounds), "first") for method in rounds[0]}
    for method, result in found.items():
        old = found.get("1.8.1, tree")
        speedup = old["first"] / result["first"] if old else None
        seconds, peak, pages = (result[figure] for figure in ("seconds", "peak", "pages"))
        table.rows.append([method, result["first"], speedup, seconds, peak, pages])
        late = speedup is not None and speedup < least
        if pages != urls or (result is not old and (late or peak >= MAX_MIB)):
            table.failed.append(method)
    yield table
