"""Fetching: a site of a hundred children that take 50 ms each, beside 1.8.1 in one run.

Each side runs in a process of its own against the same loopback server; the sides take turns, and
the shortest time of each counts, since noise only ever adds.
"""

import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from bench.results import Table
from bench.sides import OURS, Side, reference

CHILDREN: Final = 100
SECONDS: Final = 0.05
RUNS: Final = 3
NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
CRAWL: Final = """
import logging, sys, time
logging.disable(logging.CRITICAL)
from usp.tree import sitemap_tree_for_homepage
options = {}
if len(sys.argv) > 2:
    from usp import Policy
    options["policy"] = Policy(per_host=int(sys.argv[2]))
start = time.perf_counter()
pages = sum(1 for _ in sitemap_tree_for_homepage(sys.argv[1], **options).all_pages())
print(pages, time.perf_counter() - start)
"""
WAYS: Final = {"8 requests at once, the default": (6.0, []), "16 at once": (10.0, ["16"])}
"""How we are asked to crawl, and how many times as fast as 1.8.1 that must be."""


class _Site(BaseHTTPRequestHandler):
    """robots.txt, an index, and children that take their time."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        host = f"http://{self.headers['Host']}"
        status, body = 200, b""
        if self.path == "/robots.txt":
            body = f"Sitemap: {host}/index".encode()
        elif self.path == "/index":
            entries = (f"<sitemap><loc>{host}/c{n}</loc></sitemap>" for n in range(CHILDREN))
            body = f'<sitemapindex xmlns="{NAMESPACE}">{"".join(entries)}</sitemapindex>'.encode()
        elif self.path.startswith("/c"):
            time.sleep(SECONDS)
            page = f"<url><loc>{host}{self.path}/page</loc></url>"
            body = f'<urlset xmlns="{NAMESPACE}">{page}</urlset>'.encode()
        else:
            status = 404
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


def run(*, full: bool) -> Iterator[Table]:  # noqa: ARG001 -- as quick as it can be
    """Measure both sides in turns."""
    table = Table(
        f"{CHILDREN} children that take {SECONDS * 1000:.0f} ms each",
        ("way", "seconds", "times as fast as 1.8.1", "pages"),
        "6 times as fast as 1.8.1 with the default, 10 times with 16 at once",
    )
    theirs = reference()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/"
    try:
        best = _best(url, theirs)
    finally:
        server.shutdown()
        server.server_close()
    old = best.pop("1.8.1", None)
    if old:
        table.rows.append(["1.8.1", old[1], 1.0, old[0]])
    for way, (pages, seconds) in best.items():
        ratio = old[1] / seconds if old else None
        table.rows.append([way, seconds, ratio, pages])
        if pages != CHILDREN or (ratio is not None and ratio < WAYS[way][0]):
            table.broken.append(way)
    yield table


def _best(url: str, theirs: Side | None) -> dict[str, tuple[int, float]]:
    best: dict[str, tuple[int, float]] = {}
    for _ in range(RUNS):
        if theirs:
            _keep_best(best, "1.8.1", _crawl(theirs, url, []))
        for way, (_, arguments) in WAYS.items():
            _keep_best(best, way, _crawl(OURS, url, arguments))
    return best


def _keep_best(best: dict[str, tuple[int, float]], way: str, found: tuple[int, float]) -> None:
    if way not in best or found[1] < best[way][1]:
        best[way] = found


def _crawl(side: Side, url: str, arguments: list[str]) -> tuple[int, float]:
    command = [side.python, "-c", CRAWL, url, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)  # noqa: S603 -- our own words
    pages, seconds = done.stdout.split()
    return int(pages), float(seconds)
