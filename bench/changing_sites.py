"""Sites that change, on the loopback interface: a large one, and many news sitemaps.

Like that of ``site``, the server is a separate process. Every response has an ETag; who sends it
back gets 304. ``change`` makes a sitemap list one page more, ``publish`` lets every third newsroom
publish three stories.
"""

import json
import sys
import threading
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from bench.documents import SITEMAPS
from bench.shapes import ONE_SHAPE, SITE, document
from bench.site import server_process

_CHILD: Final = "/child-"
_NEWS: Final = "/news-"
_CHANGE: Final = "/change"
_PUBLISH: Final = "/publish"
_STORIES: Final = 100
_ALL_STORIES: Final = 1000
_PUBLISHED: Final = 3
_EVERY: Final = 3


@dataclass(frozen=True, slots=True)
class Sites:
    """What the server serves."""

    children: int = 0
    """The sub-sitemaps of the large site."""
    pages: int = 0
    """The pages of each of them."""
    newsrooms: int = 0


@dataclass(frozen=True, slots=True)
class ServedSites:
    """The sites of a running server."""

    home: str
    newsrooms: int

    @property
    def news(self) -> list[str]:
        """The URLs of the news sitemaps."""
        return [f"{self.home}{_NEWS}{number}.xml" for number in range(self.newsrooms)]

    def change(self) -> None:
        """Let the first sub-sitemap list one page more."""
        self._get(_CHANGE)

    def publish(self) -> None:
        """Let every third newsroom publish some stories; as many old ones leave."""
        self._get(_PUBLISH)

    def _get(self, path: str) -> None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.home}{path}"):
            pass


@contextmanager
def served(sites: Sites) -> Iterator[ServedSites]:
    """Serve sites inside of a ``with`` block."""
    with server_process("bench.changing_sites", json.dumps(asdict(sites))) as line:
        yield ServedSites(line.strip(), sites.newsrooms)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, sites: Sites) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sites = sites
        self.home = f"http://127.0.0.1:{self.server_port}"
        self.document = document("plain", ONE_SHAPE, range(sites.pages)) if sites.pages else ""
        self.versions: Counter[str] = Counter()

    def body(self, path: str) -> str | None:
        """Return the body at a path, or None."""
        if path == "/robots.txt":
            return f"Sitemap: {self.home}/index\n"
        if path == "/index":
            urls = (f"{self.home}{_CHILD}{at}" for at in range(self.sites.children))
            entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>\n" for url in urls)
            return f"<sitemapindex {SITEMAPS}>\n{entries}</sitemapindex>\n"
        if path.startswith(_CHILD):
            number = path.removeprefix(_CHILD)
            new = f"<url><loc>{SITE}/new</loc></url>" * self.versions[path]
            text = self.document.replace("</urlset>", f"{new}</urlset>")
            return text.replace(f"<loc>{SITE}/", f"<loc>{SITE}/{number}/")
        if path.startswith(_NEWS):
            first = self.versions[path] * _PUBLISHED
            return _news(first).replace(f"<loc>{SITE}/", f"<loc>{SITE}{path}/")
        return None

    def command(self, path: str) -> bool:
        """Do what a path says, if it is a command."""
        if path == _CHANGE:
            self.versions[f"{_CHILD}0"] += 1
        elif path == _PUBLISH:
            for number in range(0, self.sites.newsrooms, _EVERY):
                self.versions[f"{_NEWS}{number}.xml"] += 1
        else:
            return False
        return True


@cache
def _news(first: int) -> str:
    """Return a news sitemap from a story on."""
    head, *stories = document("news", ONE_SHAPE, range(_ALL_STORIES)).split("<url>")
    stories[-1] = stories[-1].partition("</urlset>")[0]
    window = stories[first : first + _STORIES]
    return f"{head}{''.join(f'<url>{story}' for story in window)}</urlset>"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        if self.server.command(self.path):
            self._send(200, b"")
            return
        etag = f'"{self.server.versions[self.path]}"'
        if self.headers.get("If-None-Match") == etag:
            self._send(304, b"", etag)
            return
        body = self.server.body(self.path)
        self._send(404 if body is None else 200, (body or "").encode(), etag)

    def _send(self, status: int, body: bytes, etag: str = "") -> None:
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


def main(sites: Sites) -> None:
    """Serve until standard input is closed."""
    server = _Server(sites)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.home, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(Sites(**json.loads(sys.argv[1])))
