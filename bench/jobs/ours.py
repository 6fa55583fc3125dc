"""Jobs that only this clone can run, and the baselines other than 1.8.1."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final
from xml.parsers.expat import ParserCreate

import requests

import usp
from bench.jobs.common import ALL, PLAIN, read_all
from bench.jobs.result import JobResult
from usp._parse import Document, Source, inspect
from usp.objects.sitemap import InvalidSitemap


def read_with_expat(folder: str, kind: str) -> JobResult:
    """Do the same as ``read_all``, with the expat reader alone."""
    return read_all(folder, kind, lambda text: _inspected(text).pages)


def read_one_with_expat(path: str) -> JobResult:
    """Do the same as ``read``, with the expat reader alone."""
    text = Path(path).read_text("utf-8")
    start = time.process_time()
    document = _inspected(text)
    for page in document.pages:
        ALL(page)
    for child in document.children:
        InvalidSitemap(child.url, "not fetched")
    return {"seconds": time.process_time() - start}


def _inspected(text: str) -> Document:
    return inspect(replace(Source.of(text), expat_only=True))


def scan(folder: str) -> JobResult:
    """Scan the documents of a folder with expat, without handlers."""
    documents = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    start = time.process_time()
    for document in documents:
        ParserCreate().Parse(document, True)
    return {"seconds": time.process_time() - start}


def stream(homepage: str) -> JobResult:
    """Stream a site; return the time to the first page and to the last."""
    start, cpu = time.perf_counter(), time.process_time()
    first, pages = start, 0
    for page in usp.iter_pages(homepage):
        PLAIN(page)
        first = first if pages else time.perf_counter()
        pages += 1
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"first": first - start, "seconds": seconds, "cpu": cpu, "pages": pages}


def fetch_with_concurrency(homepage: str, per_host: int) -> JobResult:
    """Do the same as ``fetch``, with this many concurrent requests."""
    policy = usp.Policy(per_host=per_host)
    start = time.perf_counter()
    tree = usp.sitemap_tree_for_homepage(homepage, policy=policy)
    pages = sum(1 for _ in tree.all_pages())
    return {"seconds": time.perf_counter() - start, "pages": pages}


def fetch_async(homepage: str) -> JobResult:
    """Do the same as ``fetch``, in asyncio."""
    from usp import aio

    start = time.perf_counter()
    tree = asyncio.run(aio.sitemap_tree_for_homepage(homepage))
    pages = sum(1 for _ in tree.all_pages())
    return {"seconds": time.perf_counter() - start, "pages": pages}


def crawl_sites_async(homepages: list[str]) -> JobResult:
    """Do the same as ``crawl_sites`` in asyncio: many sites at once."""
    from usp import aio

    async def count_pages(homepages: list[str]) -> int:
        trees = aio.sitemap_trees(homepages, use_known_paths=False)
        return sum([sum(1 for _ in tree.all_pages()) async for _, tree in trees])

    async def measure() -> JobResult:
        await count_pages(homepages[:1])
        start = time.process_time()
        pages = await count_pages(homepages[1:])
        return {"seconds": time.process_time() - start, "pages": pages}

    return asyncio.run(measure())


def connect_with_requests(url: str, times: int) -> JobResult:
    """Do the same as ``connect``, with a plain ``requests.Session``."""
    with requests.Session() as session:
        session.get(url, timeout=10)
        start = time.process_time()
        responses = [session.get(url, timeout=10) for _ in range(times)]
        seconds = time.process_time() - start
    return {"seconds": seconds / times, "good": all(response.ok for response in responses)}


def sync(state: str, sources: list[str]) -> JobResult:
    """Sync sites; return the traffic, the number of changes, and the time."""
    start, cpu = time.perf_counter(), time.process_time()
    with usp.sync(*sources, state=state) as found:
        changes = sum(1 for _ in found)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    names = ("requests", "not_modified", "bytes")
    traffic = {name: sum(getattr(one, name) for one in found.reports) for name in names}
    return {**traffic, "changes": changes, "seconds": seconds, "cpu": cpu}


JOBS: Final[dict[str, Callable[..., JobResult]]] = {
    "read_with_expat": read_with_expat,
    "read_one_with_expat": read_one_with_expat,
    "scan": scan,
    "stream": stream,
    "fetch_with_concurrency": fetch_with_concurrency,
    "fetch_async": fetch_async,
    "crawl_sites_async": crawl_sites_async,
    "connect_with_requests": connect_with_requests,
    "sync": sync,
}
