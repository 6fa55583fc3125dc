"""The process that is measured: started by ``sides.py`` in the interpreter of either side.

It says when it is ready, takes one job a line (JSON: its name and its argument) and answers each
with one line.

Rules of this room: run as a file, so that nothing of this project is imported but what the
interpreter has installed as ``usp``; only names that 1.8.1 has too; no clock runs while a file is
opened.
"""

import hashlib
import json
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from usp.objects.sitemap import AbstractSitemap, InvalidSitemap
from usp.tree import sitemap_from_str, sitemap_tree_for_homepage

Answer = dict[str, Any]

FIELDS: Final = (
    "url",
    "priority",
    "last_modified",
    "change_frequency",
    "news_story",
    "images",
    "alternates",
)


def walk(sitemap: AbstractSitemap, fields: tuple[str, ...]) -> Answer:
    """Look at these fields of every page, and at every sitemap below."""
    digest = hashlib.blake2b(digest_size=8)
    pages = 0
    for page in sitemap.all_pages():
        values = [getattr(page, name) for name in fields]
        digest.update(str(values[0]).encode("utf-8", "replace") + b"\n")
        pages += 1
    kinds: Counter[str] = Counter()
    reason = ""
    for below in sitemap.all_sitemaps():
        digest.update(below.url.encode("utf-8", "replace") + b"\n")
        kinds[type(below).__name__] += 1
        if isinstance(below, InvalidSitemap):
            reason = reason or below.reason[:200]
    return {"pages": pages, "sitemaps": kinds, "reason": reason, "urls": digest.hexdigest()}


def read(path: str) -> Answer:
    """Read a document from its text; the seconds are the processor's."""
    text = Path(path).read_text("utf-8")
    start = time.process_time()
    found = walk(sitemap_from_str(text), FIELDS)
    return {"seconds": time.process_time() - start, **found}


def crawl(homepage: str) -> Answer:
    """Fetch what the robots.txt below this URL declares, and look at the URL of every page."""
    start = time.perf_counter()
    tree = sitemap_tree_for_homepage(homepage, use_known_paths=False, normalize_homepage_url=False)
    found = walk(tree, FIELDS[:1])
    return {"seconds": time.perf_counter() - start, **found}


JOBS: Final[dict[str, Callable[[str], Answer]]] = {
    "read": read,
    "crawl": crawl,
}


def main() -> None:
    """Bound the address space where asked to, and work."""
    if limit := int(sys.argv[1]):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    logging.disable()
    print("ready", flush=True)
    for line in sys.stdin:
        job, argument = json.loads(line)
        try:
            answer = JOBS[job](argument)
        except Exception as error:  # noqa: BLE001 -- whatever ends a reading is a result
            answer = {"error": type(error).__name__}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
