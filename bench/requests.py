"""The cost of a request: the CPU time that a crawl takes for each, beside 1.8.1 in the same run.

Many small sites on loopback ports, so that everything that a crawl does once a site counts, too.
The CPU time is that of the crawling process alone; the server is another one. A first site is
crawled before the clock starts, which loads all modules. The implementations take turns; the
shortest time of each is used.
"""

from collections.abc import Iterator
from typing import Final

from bench.implementations import OURS, JobResult, best, reference, run_in_fresh_process
from bench.many_sites import CHILDREN, REQUESTS, many_sites
from bench.results import Table

SITES: Final = 300
RUNS: Final = 3
METHODS: Final[dict[str, tuple[float, str]]] = {
    "usp, asyncio": (1.0, "crawl_sites_async"),
    "usp, threads": (2.0, "crawl_sites"),
}
"""How we crawl: the most CPU milliseconds a request, and the job."""
OLD: Final = "1.8.1"


def run(*, full: bool) -> Iterator[Table]:  # noqa: ARG001 -- both runs are the same
    """Measure all methods in turns."""
    limits = ", ".join(f"{limit:g} ms for {name}" for name, (limit, _) in METHODS.items())
    table = Table(
        f"{SITES} sites with {REQUESTS} requests each",
        ("method", "CPU ms per request", "ratio to 1.8.1", "pages"),
        f"a request takes less than {limits}",
    )
    found = _measure()
    for method, result in found.items():
        milliseconds = result["seconds"] * 1000 / (SITES * REQUESTS)
        ratio = result["seconds"] / found[OLD]["seconds"] if OLD in found else None
        table.rows.append([method, milliseconds, ratio, result["pages"]])
        is_over = method in METHODS and milliseconds >= METHODS[method][0]
        if result["pages"] != SITES * CHILDREN or is_over:
            table.failed.append(method)
    yield table


def _measure() -> dict[str, JobResult]:
    theirs = reference()
    jobs = {method: (OURS, job) for method, (_, job) in METHODS.items()}
    if theirs:
        jobs[OLD] = (theirs, "crawl_sites")
    with many_sites(SITES + 1) as homepages:
        rounds = [
            {method: run_in_fresh_process(*job, homepages) for method, job in jobs.items()}
            for _ in range(RUNS)
        ]
    return {method: best(found[method] for found in rounds) for method in rounds[0]}
