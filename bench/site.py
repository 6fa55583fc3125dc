"""A site to crawl: robots.txt, an index, and its sub-sitemaps, on the loopback interface.

The server is a separate process (this file, run as a module), so that it does not affect the
measured processes. It ends when its standard input is closed, however its owner ended. The
sub-sitemaps differ only in a number that is inserted into one document. The first ones are made
before anything is measured: to make one takes as long as to read some ten thousand pages of it, on
one of the cores that the measured processes use. The others are made when they are requested, so
that a million URLs take no more memory in the server than a few hundred thousand.
"""

import json
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from bench.documents import SITEMAPS
from bench.implementations import ROOT
from bench.shapes import ONE_SHAPE, SITE, document

CHILD: Final = "/child-"
CHILD_PAGES: Final = 50_000
"""The most pages that the protocol allows in one sitemap."""
_READY_PAGES: Final = 400_000
"""So many pages of a site are made before it is served."""


@dataclass(frozen=True, slots=True)
class Site:
    """What the server serves, and how."""

    children: int
    pages: int
    """Pages of each sub-sitemap."""
    seconds: float = 0.0
    """The delay before each response."""
    certificate: str = ""
    """A file with certificate and key, for https; each response then closes its connection."""


@contextmanager
def served(site: Site) -> Iterator[str]:
    """Serve the site inside of a ``with`` block, whose value is the homepage."""
    with server_process("bench.site", json.dumps(asdict(site))) as homepage:
        yield homepage


@contextmanager
def server_process(module: str, argument: str) -> Iterator[str]:
    """Run a server inside of a ``with`` block, whose value is the line that it prints first.

    Leaving the block closes the pipes, which ends the server.
    """
    with subprocess.Popen(  # noqa: S603 -- a fixed command
        [sys.executable, "-m", module, argument],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        yield process.stdout.readline().strip() if process.stdout else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, site: Site) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.site = site
        self.document = document("plain", ONE_SHAPE, range(site.pages)).encode()
        self.home = f"http{'s' if site.certificate else ''}://127.0.0.1:{self.server_port}"
        if site.certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(site.certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        ready = min(site.children, _READY_PAGES // max(site.pages, 1))
        self._ready = {str(number): self._child(str(number)) for number in range(ready)}

    def body(self, path: str) -> bytes | None:
        """Return the body at a path, or None."""
        if path == "/robots.txt":
            return f"Sitemap: {self.home}/index\n".encode()
        if path == "/index":
            locations = (f"{self.home}{CHILD}{at}" for at in range(self.site.children))
            entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>\n" for url in locations)
            return f"<sitemapindex {SITEMAPS}>\n{entries}</sitemapindex>\n".encode()
        if path.startswith(CHILD):
            number = path.removeprefix(CHILD)
            return self._ready.get(number) or self._child(number)
        return None

    def _child(self, number: str) -> bytes:
        """Return a sub-sitemap."""
        return self.document.replace(f"<loc>{SITE}/".encode(), f"<loc>{SITE}/{number}/".encode())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        time.sleep(self.server.site.seconds)
        body = self.server.body(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        if self.server.site.certificate:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


def main(site: Site) -> None:
    """Serve until standard input is closed."""
    server = _Server(site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{server.home}/", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(Site(**json.loads(sys.argv[1])))
