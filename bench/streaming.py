"""Streaming: the first page of a large site, and what it takes to see all, beside 1.8.1 in one run.

robots.txt names an index whose children have 50,000 URLs each; the server thinks for 50 ms before
each answer. We stream (``iter_pages``), 1.8.1 builds its tree and walks it; both read robots.txt
and probe no known paths. Each side runs in a fresh process; the earliest first page counts. Memory
is the highest resident memory of the whole process that streams the site to its end, Python and
all modules included (Linux only: it comes from ``/proc``).
"""

from collections.abc import Iterator
from typing import Final

from bench.results import Table
from bench.sides import OURS, best, fresh, reference
from bench.site import CHILD_PAGES, Site, served

URLS: Final = 1_000_000
QUICK_URLS: Final = 200_000
RUNS: Final = 2
QUICK_RUNS: Final = 1
LEAST_FOR_A_MILLION: Final = 50.0
"""How many times as soon as 1.8.1; it builds the tree first, so less is due on a smaller site."""
MOST: Final = 80.0
"""MiB of the whole process."""
HEADINGS: Final = ("way", "first page, s", "times as soon", "all pages, s", "peak MiB", "pages")


def run(*, full: bool) -> Iterator[Table]:
    """Measure both sides in turns."""
    urls = URLS if full else QUICK_URLS
    least = LEAST_FOR_A_MILLION * urls / URLS
    table = Table(
        f"{urls:,} URLs in {urls // CHILD_PAGES} sitemaps, 50 ms an answer",
        HEADINGS,
        f"first page at least {least:g} times as soon as 1.8.1, streaming under {MOST:g} MiB",
    )
    theirs = reference()
    with served(Site(urls // CHILD_PAGES, CHILD_PAGES, seconds=0.05)) as homepage:
        ways = {"1.8.1, tree": (theirs, "crawl"), "usp, stream": (OURS, "stream")}
        rounds = [
            {way: fresh(side, job, homepage) for way, (side, job) in ways.items() if side}
            for _ in range(RUNS if full else QUICK_RUNS)
        ]
    found = {way: best((answers[way] for answers in rounds), "first") for way in rounds[0]}
    for way, answer in found.items():
        old = found.get("1.8.1, tree")
        sooner = old["first"] / answer["first"] if old else None
        seconds, peak, pages = (answer[figure] for figure in ("seconds", "peak", "pages"))
        table.rows.append([way, answer["first"], sooner, seconds, peak, pages])
        late = sooner is not None and sooner < least
        if pages != urls or (answer is not old and (late or peak >= MOST)):
            table.broken.append(way)
    yield table
