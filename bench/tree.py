"""Tree: a large site over loopback, built and walked, beside 1.8.1 in one run.

robots.txt names an index whose children have 50,000 URLs each, the most that the protocol allows;
each side crawls it in a fresh process and reads every field of every page. The sides take turns;
the quicker round of each counts. Memory is the highest resident memory of the
whole process, Python and all modules included (Linux only: it comes from ``/proc``). What a side
keeps on disk is not in it.
"""

from collections.abc import Iterator
from typing import Final

from bench.results import Table
from bench.sides import OURS, Answer, best, fresh, reference
from bench.site import CHILD_PAGES, Site, served

URLS: Final = 1_000_000
QUICK_URLS: Final = 200_000
RUNS: Final = 2
LEAST: Final = 8.0
"""How many times as fast as 1.8.1."""
MOST: Final = 0.5
"""How much of the memory of 1.8.1."""
HEADINGS: Final = (
    "side",
    "seconds",
    "of CPU",
    "peak MiB",
    "times as fast as 1.8.1",
    "share of MiB",
    "pages",
)


def run(*, full: bool) -> Iterator[Table]:
    """Measure both sides in turns."""
    urls = URLS if full else QUICK_URLS
    table = Table(
        f"a tree of {urls:,} URLs in {urls // CHILD_PAGES} sitemaps",
        HEADINGS,
        f"at least {LEAST:g} times as fast as 1.8.1, with at most {MOST:g} of its peak memory",
    )
    found = _measure(urls)
    old = found.get("1.8.1")
    for name, answer in found.items():
        faster = old["seconds"] / answer["seconds"] if old else None
        share = answer["peak"] / old["peak"] if old and old["peak"] else None
        figures = [answer[figure] for figure in ("seconds", "cpu", "peak")]
        table.rows.append([name, *figures, faster, share, answer["pages"]])
        slow = faster is not None and faster < LEAST
        large = share is not None and share > MOST
        if answer["pages"] != urls or (name == OURS.name and (slow or large)):
            table.broken.append(name)
    yield table


def _measure(urls: int) -> dict[str, Answer]:
    sides = [side for side in (reference(), OURS) if side]
    with served(Site(children=urls // CHILD_PAGES, pages=CHILD_PAGES)) as homepage:
        rounds = [
            {side.name: fresh(side, "crawl", homepage, "plain") for side in sides}
            for _ in range(RUNS)
        ]
    return {side.name: best(found[side.name] for found in rounds) for side in sides}
