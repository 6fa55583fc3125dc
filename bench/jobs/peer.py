"""Jobs for Scrapy's sitemap reader.

It gives raw strings, and of an entry's children only their own text: dates stay text, and what
stands inside a story or an image is not read.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scrapy.utils.sitemap import (  # type: ignore[import-not-found]  # in a virtualenv of its own
    Sitemap,
)

from bench.jobs.answer import Answer, digest_of


def read_all(folder: str, _kind: str) -> Answer:
    """Read all documents of a folder from their bytes: an entry is a dictionary, all there."""
    documents = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    urls: list[str] = []
    start = time.process_time()
    for document in documents:
        urls += [entry["loc"] for entry in Sitemap(document)]
    seconds = time.process_time() - start
    return {"seconds": seconds, "pages": len(urls), "urls": digest_of(urls)}


JOBS: Final[dict[str, Callable[..., Answer]]] = {"read_all": read_all}
