"""Check: the rules about a whole site, on a site with planted faults.

First the rules alone, with entries that are made in the measured process; then the whole of
``usp check`` over loopback, with all rules, on a smaller site. Both must find exactly what was
planted. CPU time is that of the measured process, and memory its peak resident memory. The last
table has single steps.
"""

import sys
from collections.abc import Iterator
from typing import Final

from bench.implementations import OURS, WorkerProcess, run_in_fresh_process
from bench.jobs.checking import HOME
from bench.jobs.result import JobResult, digest_of
from bench.multilingual_site import MultilingualSite, page, served
from bench.results import Table

RULES_ALONE: Final = MultilingualSite(250_000, broken=1_000, repeated=10_000)
FULL_RULES_ALONE: Final = MultilingualSite(2_500_000, broken=1_000, repeated=10_000)
WHOLE: Final = MultilingualSite(10_000, broken=100, repeated=1_000)
FULL_WHOLE: Final = MultilingualSite(250_000, broken=1_000, repeated=10_000)
MAX_MIB: Final = 500.0
MAX_ROBOTS: Final = 2.0
"""Microseconds."""
SECONDS: Final = 7200.0
HEADINGS: Final = (
    *("URLs", "seconds", "CPU s", "CPU µs per URL", "peak MiB", "repeated", "broken clusters"),
    "other findings",
)
STEPS: Final = 200_000


def run(*, full: bool) -> Iterator[Table]:
    """Measure a site, then single steps."""
    if sys.platform != "linux":
        print("check is skipped: memory is measured on Linux only")
        return
    site = FULL_RULES_ALONE if full else RULES_ALONE
    with WorkerProcess(OURS, seconds=SECONDS) as worker:
        found = worker.run("check_entries", site.clusters, site.broken, site.repeated)
    yield _table("rules about a whole site, alone", site, found, HOME)
    site = FULL_WHOLE if full else WHOLE
    with served(site) as homepage, WorkerProcess(OURS, seconds=SECONDS) as worker:
        found = worker.run("check_site", homepage)
    yield _table("usp check over loopback, all rules", site, found, homepage.rstrip("/"))
    yield _steps()


def _table(title: str, site: MultilingualSite, found: JobResult, home: str) -> Table:
    target = f"exactly what was planted, within {MAX_MIB:g} MiB"
    table = Table(title, HEADINGS, target)
    name = f"{site.urls:,}"
    if "error" in found:
        table.rows.append([name, found["error"], *[None] * (len(HEADINGS) - 2)])
        table.failed.append(name)
        return table
    counts: dict[str, int] = found["counts"]
    repeated, broken = counts.get("SM365", 0), counts.get("SM583", 0)
    others = sum(counts.values()) - repeated - broken
    cpu = found["cpu"]
    costs = (found["seconds"], cpu, cpu / site.urls * 1e6, found["peak"])
    table.rows.append([name, *costs, repeated, broken, others])
    if found["peak"] > MAX_MIB or others or found["digests"] != _planted(site, home):
        table.failed.append(name)
    return table


def _planted(site: MultilingualSite, home: str) -> dict[str, str]:
    return {
        "SM365": digest_of(page(home, "es", each) for each in site.repeated_clusters),
        "SM583": digest_of(page(home, "en", each) for each in site.broken_clusters),
    }


def _steps() -> Table:
    target = f"a verdict of robots.txt in {MAX_ROBOTS:g} µs"
    table = Table(f"single steps, {STEPS:,} URLs", ("step", "CPU µs per URL"), target)
    costs = run_in_fresh_process(OURS, "check_steps", STEPS)
    for step, cost in costs["steps"].items():
        table.rows.append([step, cost])
        if step.startswith("robots") and cost > MAX_ROBOTS:
            table.failed.append(step)
    return table
