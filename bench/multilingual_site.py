"""A site in four languages with planted faults, for ``check.py``; served by its own process.

Each sitemap has the pages of one language, so that a cluster is spread over four sitemaps. In some
clusters the German page doesn't link back to the English one. The last sitemap lists some pages
once more. Sitemaps are generated when they are requested, so that the server takes little memory.
"""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from bench.documents import SITEMAPS
from bench.site import server_process

LANGUAGES: Final = ("en", "de", "fr", "es")
PAGES_IN_A_SITEMAP: Final = 50_000
XHTML: Final = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
RULES: Final = "".join(f"Disallow: /private-{number}/\n" for number in range(40))
INDEX: Final = "/index.xml"
REPEATED: Final = "/repeated.xml"


@dataclass(frozen=True, slots=True)
class MultilingualSite:
    """How many clusters there are, and how many faults."""

    clusters: int
    broken: int
    repeated: int

    @property
    def urls(self) -> int:
        """The number of entries."""
        return len(LANGUAGES) * self.clusters + self.repeated

    @property
    def broken_clusters(self) -> range:
        """The numbers of clusters in which a link is missing, spread over all."""
        return range(0, self.clusters, self.clusters // self.broken)[: self.broken]

    @property
    def repeated_clusters(self) -> range:
        """The numbers of clusters whose Spanish page is listed twice."""
        return range(1, self.clusters, self.clusters // self.repeated)[: self.repeated]


def page(home: str, language: str, cluster: int) -> str:
    """Return the URL of a page."""
    return f"{home}/{language}/category-{cluster % 97}/page-{cluster}"


def alternates(
    home: str, language: str, cluster: int, broken: frozenset[int]
) -> list[tuple[str, str]]:
    """Return the alternates of a page: codes and URLs."""
    languages = LANGUAGES[1:] if language == "de" and cluster in broken else LANGUAGES
    return [(each, page(home, each, cluster)) for each in languages]


@contextmanager
def served(site: MultilingualSite) -> Iterator[str]:
    """Serve the site inside of a ``with`` block, whose value is the homepage."""
    with server_process("bench.multilingual_site", json.dumps(asdict(site))) as homepage:
        yield homepage


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, site: MultilingualSite) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.site = site
        self.home = f"http://127.0.0.1:{self.server_port}"
        self.broken = frozenset(site.broken_clusters)

    def body(self, path: str) -> bytes | None:
        """Return the body at a path, or None."""
        if path == "/robots.txt":
            return f"User-agent: *\n{RULES}Sitemap: {self.home}{INDEX}\n".encode()
        if path == INDEX:
            starts = range(0, self.site.clusters, PAGES_IN_A_SITEMAP)
            paths = [f"/{language}-{start}.xml" for start in starts for language in LANGUAGES]
            locations = "".join(
                f"<sitemap><loc>{self.home}{each}</loc></sitemap>\n" for each in (*paths, REPEATED)
            )
            return f"<sitemapindex {SITEMAPS}>\n{locations}</sitemapindex>\n".encode()
        if path == REPEATED:
            urls = (page(self.home, "es", each) for each in self.site.repeated_clusters)
            return _urlset("".join(f"<url><loc>{url}</loc></url>\n" for url in urls))
        language, dash, start = path.strip("/").removesuffix(".xml").partition("-")
        return self._sitemap(language, int(start)) if dash else None

    def _sitemap(self, language: str, start: int) -> bytes:
        end = min(start + PAGES_IN_A_SITEMAP, self.site.clusters)
        return _urlset("".join(self._entry(language, each) for each in range(start, end)))

    def _entry(self, language: str, cluster: int) -> str:
        links = "".join(
            f'<xhtml:link rel="alternate" hreflang="{code}" href="{href}"/>'
            for code, href in alternates(self.home, language, cluster, self.broken)
        )
        return f"<url><loc>{page(self.home, language, cluster)}</loc>{links}</url>\n"


def _urlset(entries: str) -> bytes:
    return f"<urlset {SITEMAPS} {XHTML}>\n{entries}</urlset>\n".encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        body = self.server.body(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


def main(site: MultilingualSite) -> None:
    """Serve until standard input is closed."""
    server = _Server(site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{server.home}/", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(MultilingualSite(**json.loads(sys.argv[1])))
