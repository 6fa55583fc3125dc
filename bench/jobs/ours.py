"""Jobs that only this clone can do, and what it is held against besides 1.8.1."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final
from xml.parsers.expat import ParserCreate

import requests

import usp
from bench.jobs.answer import Answer
from bench.jobs.both import ALL, PLAIN, read_all
from usp._parse.document import Document, Source, inspect
from usp.objects.sitemap import InvalidSitemap


def read_carefully(folder: str, kind: str) -> Answer:
    """Do what ``read_all`` does, by the expat_only pattern_reader alone."""
    return read_all(folder, kind, lambda text: _inspected(text).pages)


def read_one_carefully(path: str) -> Answer:
    """Do what ``read`` does, by the expat_only pattern_reader alone."""
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


def scan(folder: str) -> Answer:
    """Have expat read the documents of a folder, and tell nobody."""
    documents = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    start = time.process_time()
    for document in documents:
        ParserCreate().Parse(document, True)
    return {"seconds": time.process_time() - start}


def stream(homepage: str) -> Answer:
    """Stream a site: when the first page was there, and when the last one was."""
    start, cpu = time.perf_counter(), time.process_time()
    first, pages = start, 0
    for page in usp.iter_pages(homepage):
        PLAIN(page)
        first = first if pages else time.perf_counter()
        pages += 1
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"first": first - start, "seconds": seconds, "cpu": cpu, "pages": pages}


def fetch_wide(homepage: str, per_host: int) -> Answer:
    """Do what ``fetch`` does, with so many requests at once."""
    policy = usp.Policy(per_host=per_host)
    start = time.perf_counter()
    tree = usp.sitemap_tree_for_homepage(homepage, policy=policy)
    pages = sum(1 for _ in tree.all_pages())
    return {"seconds": time.perf_counter() - start, "pages": pages}


def fetch_async(homepage: str) -> Answer:
    """Do what ``fetch`` does, by asyncio."""
    from usp import aio

    start = time.perf_counter()
    tree = asyncio.run(aio.sitemap_tree_for_homepage(homepage))
    pages = sum(1 for _ in tree.all_pages())
    return {"seconds": time.perf_counter() - start, "pages": pages}


def connect_plainly(url: str, times: int) -> Answer:
    """Do what ``connect`` does, with a session as requests makes it."""
    with requests.Session() as session:
        session.get(url, timeout=10)
        start = time.process_time()
        answers = [session.get(url, timeout=10) for _ in range(times)]
        seconds = time.process_time() - start
    return {"seconds": seconds / times, "good": all(answer.ok for answer in answers)}


JOBS: Final[dict[str, Callable[..., Answer]]] = {
    "read_carefully": read_carefully,
    "read_one_carefully": read_one_carefully,
    "scan": scan,
    "stream": stream,
    "fetch_wide": fetch_wide,
    "fetch_async": fetch_async,
    "connect_plainly": connect_plainly,
}
