"""Jobs for Scrapy's sitemap reader.

It returns raw strings: dates are not parsed, and the children of stories and images are not read.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scrapy.utils.sitemap import (  # type: ignore[import-not-found]  # installed in its own virtualenv
    Sitemap,
)

from bench.jobs.result import JobResult, digest_of, timed_thrice


def read_all(folder: str, _kind: str) -> JobResult:
    """Parse all documents of a folder from their bytes, into dictionaries."""
    documents = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    urls: list[str] = []
    start = time.process_time()
    for document in documents:
        urls += [entry["loc"] for entry in Sitemap(document)]
    seconds = time.process_time() - start
    return {"seconds": seconds, "pages": len(urls), "urls": digest_of(urls)}


def read_each(paths: list[str]) -> JobResult:
    """Parse each of these documents three times; return the results in the same order."""
    list(Sitemap(b"<urlset><url><loc>https://warm.example/</loc></url></urlset>"))
    return {"documents": [_read_thrice(Path(path).read_bytes()) for path in paths]}


def _read_thrice(document: bytes) -> JobResult:
    try:
        urls, seconds = timed_thrice(_urls, document)
    except Exception as error:  # noqa: BLE001 -- an exception is a result, too
        return {"error": type(error).__name__}
    return {**seconds, "pages": len(urls), "urls": digest_of(urls)}


def _urls(document: bytes) -> list[str]:
    return [entry["loc"] for entry in Sitemap(document)]


JOBS: Final[dict[str, Callable[..., JobResult]]] = {
    "read_all": read_all,
    "read_each": read_each,
}
