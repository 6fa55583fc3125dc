"""Columns: the cost of a page in a table, beside its page object and a scan of the same bytes.

One document of each kind, from memory. "columns" are all columns of ``pages`` in batches; "usual
columns" those that most tables have; "page objects" are made one by one and every field that has a
column is read. The scan is expat without handlers. All take turns in this process; the shortest CPU
time of each is used.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Final
from xml.parsers.expat import ParserCreate

from bench.documents import FORMATS
from bench.results import Table
from bench.shapes import KINDS, MIXED, ONE_SHAPE, document
from usp._parse import Pages, Source
from usp._tables.schema import TABLES

PAGES: Final = 50_000
QUICK_PAGES: Final = 20_000
RUNS: Final = 7
QUICK_RUNS: Final = 3
URL: Final = "https://www.example.org/sitemap.xml"
MAX_RATIO: Final = {"rss": 1.0, "atom": 1.0}
MAX_RATIO_OF_SITEMAPS: Final = 0.6
"""The most time, relative to page objects."""
ALL: Final = tuple(name for name in TABLES["pages"].names if name not in {"site", "sitemap_url"})
USUAL: Final = ("lastmod", "changefreq", "priority")
HEADINGS: Final = (
    "documents",
    "µs per page",
    "usual columns",
    "page objects",
    "scan",
    "ratio to page objects",
    "ratio to scan",
)
_fields: Final = attrgetter(
    *("url", "priority", "last_modified", "change_frequency", "news_story", "images"),
    *("alternates", "videos", "links", "title", "published_at", "updated_at"),
)


def run(*, full: bool) -> Iterator[Table]:
    """Measure each kind of document."""
    pages, runs = (PAGES, RUNS) if full else (QUICK_PAGES, QUICK_RUNS)
    target = (
        f"sitemaps: at most {MAX_RATIO_OF_SITEMAPS:g} of page objects; feeds: no more than those"
    )
    table = Table(f"{pages:,} pages of each, best of {runs}", HEADINGS, target)
    for name, text in _documents(pages):
        found = _measure(text.encode(), pages, runs)
        columns, objects, scan = found["columns"], found["objects"], found["scan"]
        times = [columns, found["usual"], objects, scan]
        table.rows.append([name, *times, columns / objects, columns / scan])
        if columns > objects * MAX_RATIO.get(name, MAX_RATIO_OF_SITEMAPS):
            table.failed.append(name)
    yield table


def _documents(pages: int) -> Iterator[tuple[str, str]]:
    for kind in KINDS:
        for variation in (ONE_SHAPE, MIXED):
            yield f"{kind}, {variation}", document(kind, variation, range(pages))
    for name in ("rss", "atom"):
        yield name, FORMATS[name].document(pages, lambda _, entry: entry)


def _measure(data: bytes, pages: int, runs: int) -> dict[str, float]:
    """Return the microseconds per page of each way."""
    ways: Mapping[str, Callable[[], object]] = {
        "columns": lambda: sum(len(one["url"]) for one in _pages(data).columns(ALL)),
        "usual": lambda: sum(len(one["url"]) for one in _pages(data).columns(USUAL)),
        "objects": lambda: sum(1 for page in _pages(data) if _fields(page)),
        "scan": lambda: ParserCreate().Parse(data, True),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(runs):
        for name, way in ways.items():
            start = time.process_time()
            way()
            best[name] = min(best[name], time.process_time() - start)
    return {name: seconds / pages * 1e6 for name, seconds in best.items()}


def _pages(data: bytes) -> Pages:
    return Pages(Source([data], URL))
