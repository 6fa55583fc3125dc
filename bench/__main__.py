"""``make bench``: what reading costs, next to the least that XML reading can cost.

The floor is a bare expat scan: the same bytes, no handlers, nothing kept. Each row is the best of
several runs, since noise only ever adds; the ratio is what travels from one machine to another.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from xml.parsers import expat

from usp.tree import sitemap_from_str

PAGES = 5_000
RUNS = 7


def sitemap(pages: int) -> bytes:
    """A plain sitemap as a content system writes it."""
    entries = "".join(
        f"<url><loc>https://example.org/articles/{number}</loc>"
        f"<lastmod>2024-05-{number % 28 + 1:02}T12:00:00+00:00</lastmod>"
        "<changefreq>weekly</changefreq><priority>0.8</priority></url>\n"
        for number in range(pages)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    ).encode()


def scan(document: bytes) -> None:
    """Let expat see every byte and tell nobody."""
    expat.ParserCreate().Parse(document, True)


def read(document: bytes) -> None:
    """Read the document and walk its pages, as a user does."""
    found = sum(1 for _ in sitemap_from_str(document).all_pages())
    if found != PAGES:
        sys.exit(f"bench: {found} pages read, {PAGES} written")


def best_of(runs: int, job: Callable[[bytes], None], document: bytes) -> float:
    """The shortest of several runs, in seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        job(document)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Measure and print the table."""
    document = sitemap(PAGES)
    floor = best_of(RUNS, scan, document)
    ours = best_of(RUNS, read, document)
    print(f"{PAGES:,} URLs, {len(document):,} bytes, Python {sys.version.split()[0]}")
    print(f"{'':<20}{'ms':>8}{'us/page':>10}{'ratio':>8}")
    for name, seconds in (("bare expat scan", floor), ("usp, every page", ours)):
        a_page = seconds / PAGES * 1e6
        print(f"{name:<20}{seconds * 1e3:>8.1f}{a_page:>10.2f}{seconds / floor:>8.1f}")


if __name__ == "__main__":
    main()
