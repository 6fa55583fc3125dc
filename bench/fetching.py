"""Fetching: a site of a hundred sitemaps that take 50 ms each, beside 1.8.1 in the same run.

Each implementation runs in its own process against the same loopback server. They take turns; the
shortest time of each is used, since noise only adds.
"""

from collections.abc import Iterator
from typing import Final

from bench.implementations import (
    OURS,
    Implementation,
    JobResult,
    best,
    reference,
    run_in_fresh_process,
)
from bench.results import Table
from bench.site import Site, served

SITE: Final = Site(children=100, pages=1, seconds=0.05)
RUNS: Final = 3
METHODS: Final[dict[str, tuple[float, str, list[int]]]] = {
    "8 concurrent, the default": (6.0, "fetch", []),
    "8 concurrent, asyncio": (6.0, "fetch_async", []),
    "16 concurrent": (10.0, "fetch_with_concurrency", [16]),
}
"""How we crawl: the least speedup over 1.8.1, the job, and its arguments."""


def run(*, full: bool) -> Iterator[Table]:  # noqa: ARG001 -- both runs are the same
    """Measure all methods in turns."""
    table = Table(
        f"{SITE.children} sitemaps, {SITE.seconds * 1000:.0f} ms per response",
        ("method", "seconds", "speedup over 1.8.1", "pages"),
        "6 times as fast as 1.8.1 with 8 concurrent requests, 10 times with 16",
    )
    found = _measure(reference())
    old = found.get("1.8.1", {})
    for method, result in found.items():
        ratio = old["seconds"] / result["seconds"] if old else None
        table.rows.append([method, result["seconds"], ratio, result["pages"]])
        least = METHODS[method][0] if method in METHODS else 0.0
        if result["pages"] != SITE.children or (ratio is not None and ratio < least):
            table.failed.append(method)
    yield table


def _measure(theirs: Implementation | None) -> dict[str, JobResult]:
    rounds: list[dict[str, JobResult]] = []
    with served(SITE) as homepage:
        for _ in range(RUNS):
            found = {"1.8.1": run_in_fresh_process(theirs, "fetch", homepage)} if theirs else {}
            for method, (_, job, arguments) in METHODS.items():
                found[method] = run_in_fresh_process(OURS, job, homepage, *arguments)
            rounds.append(found)
    return {method: best(found[method] for found in rounds) for method in rounds[0]}
