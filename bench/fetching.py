"""Fetching: a site of a hundred children that take 50 ms each, beside 1.8.1 in one run.

Each side runs in a process of its own against the same loopback server; the sides take turns, and
the shortest time of each counts, since noise only ever adds.
"""

from collections.abc import Iterator
from typing import Final

from bench.results import Table
from bench.sides import OURS, Answer, Side, best, fresh, reference
from bench.site import Site, served

SITE: Final = Site(children=100, pages=1, seconds=0.05)
RUNS: Final = 3
WAYS: Final[dict[str, tuple[float, str, list[int]]]] = {
    "8 requests at once, the default": (6.0, "fetch", []),
    "8 at once, asyncio": (6.0, "fetch_async", []),
    "16 at once": (10.0, "fetch_wide", [16]),
}
"""How we are asked to crawl: how many times as fast as 1.8.1 that must be, and the job."""


def run(*, full: bool) -> Iterator[Table]:  # noqa: ARG001 -- as quick as it can be
    """Measure all ways in turns."""
    table = Table(
        f"{SITE.children} children, {SITE.seconds * 1000:.0f} ms an answer",
        ("way", "seconds", "times as fast as 1.8.1", "pages"),
        "6 times as fast as 1.8.1 with 8 at once, 10 times with 16 at once",
    )
    found = _measure(reference())
    old = found.get("1.8.1", {})
    for way, answer in found.items():
        ratio = old["seconds"] / answer["seconds"] if old else None
        table.rows.append([way, answer["seconds"], ratio, answer["pages"]])
        least = WAYS[way][0] if way in WAYS else 0.0
        if answer["pages"] != SITE.children or (ratio is not None and ratio < least):
            table.broken.append(way)
    yield table


def _measure(theirs: Side | None) -> dict[str, Answer]:
    rounds: list[dict[str, Answer]] = []
    with served(SITE) as homepage:
        for _ in range(RUNS):
            found = {"1.8.1": fresh(theirs, "fetch", homepage)} if theirs else {}
            for way, (_, job, arguments) in WAYS.items():
                found[way] = fresh(OURS, job, homepage, *arguments)
            rounds.append(found)
    return {way: best(found[way] for found in rounds) for way in rounds[0]}
