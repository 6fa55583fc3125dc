"""Sync: a run where nothing changed, one where one sitemap did, and polling of fifty newsrooms.

The large site has robots.txt, an index and its sub-sitemaps; every response has an ETag. Each run
is a process of its own; CPU time is that of the run, with the modules that it loads, and memory the
peak of the whole process.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.changing_sites import ServedSites, Sites, served
from bench.implementations import OURS, JobResult, run_in_fresh_process
from bench.results import Table

SITEMAPS: Final = 200
PAGES: Final = 5000
QUICK_PAGES: Final = 1000
NEWSROOMS: Final = 50
ROUNDS: Final = 3
MAX_CPU: Final = 1.0
MAX_MIB: Final = 60.0
MAX_BYTES_A_URL: Final = 25.0
HEADINGS: Final = (
    *("run", "requests", "answered 304", "bytes received", "changes", "CPU s", "peak MiB"),
    "bytes of state per URL",
)
NEWS_HEADINGS: Final = ("round", "requests", "answered 304", "bytes received", "changes", "seconds")


def run(*, full: bool) -> Iterator[Table]:
    """Measure runs of a large site, then rounds of newsrooms."""
    pages = PAGES if full else QUICK_PAGES
    with served(Sites(SITEMAPS, pages)) as sites, tempfile.TemporaryDirectory() as folder:
        yield _large_site(sites, pages, Path(folder) / "state.db")
    with served(Sites(newsrooms=NEWSROOMS)) as sites, tempfile.TemporaryDirectory() as folder:
        yield _newsrooms(sites, Path(folder) / "state.db")


def _large_site(sites: ServedSites, pages: int, state: Path) -> Table:
    urls = SITEMAPS * pages
    table = Table(
        f"{urls:,} URLs in {SITEMAPS} sitemaps",
        HEADINGS,
        f"nothing changed: {SITEMAPS + 2} requests answered 304, less than {MAX_CPU:g} s of CPU "
        f"and {MAX_MIB:g} MiB; at most {MAX_BYTES_A_URL:g} bytes of state per URL",
    )
    for name in ("the first", "nothing changed", "one sitemap changed"):
        if name == "one sitemap changed":
            sites.change()
        done = run_in_fresh_process(OURS, "sync", str(state), [f"{sites.home}/"])
        size = state.stat().st_size / urls
        table.rows.append([*_traffic(name, done), done["cpu"], done["peak"], size])
        if size > MAX_BYTES_A_URL or not _is_good(name, done):
            table.failed.append(name)
    return table


def _is_good(name: str, done: JobResult) -> bool:
    if name == "the first":
        return bool(done["changes"] == 0)
    unchanged, changes = (SITEMAPS + 2, 0) if name == "nothing changed" else (SITEMAPS + 1, 1)
    is_cheap = done["cpu"] < MAX_CPU and done["peak"] < MAX_MIB
    return is_cheap and (done["not_modified"], done["changes"]) == (unchanged, changes)


def _newsrooms(sites: ServedSites, state: Path) -> Table:
    table = Table(f"{NEWSROOMS} news sitemaps, a third of them with new stories", NEWS_HEADINGS)
    for number in range(ROUNDS + 1):
        if number:
            sites.publish()
        done = run_in_fresh_process(OURS, "sync", str(state), sites.news)
        name = f"round {number}" if number else "the first"
        table.rows.append([*_traffic(name, done), done["seconds"]])
    return table


def _traffic(name: str, done: JobResult) -> list[str | int]:
    return [name, done["requests"], done["not_modified"], done["bytes"], done["changes"]]
