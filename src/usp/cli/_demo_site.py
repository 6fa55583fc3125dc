"""The demo site: a sitemap of every kind, served on 127.0.0.1 at a free port.

``SITE`` is what the server serves, ``TREE`` what a crawl has to find. The server runs inside of a
``with`` block, and logs nothing.
"""

import gzip
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self

from usp.cli import _demo_documents as documents


@dataclass(frozen=True, slots=True)
class Served:
    """One response: its content type, and a function that makes its body for a base URL."""

    content_type: str
    body: Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class TreeLine:
    """One line of the tree: depth, path, class, and number of its own pages."""

    depth: int
    path: str
    kind: str
    pages: int = 0


def _text(template: str) -> Callable[[str], bytes]:
    return lambda base: template.replace("{base}", base).encode()


def _gzipped(template: str) -> Callable[[str], bytes]:
    plain = _text(template)
    return lambda base: gzip.compress(plain(base), mtime=0)  # the same bytes in every response


_XML: Final = "application/xml"

SITE: Final = {
    "/robots.txt": Served("text/plain", _text(documents.ROBOTS)),
    "/sitemaps/index.xml": Served(_XML, _text(documents.INDEX)),
    "/sitemaps/pages.xml": Served(_XML, _text(documents.PAGES)),
    "/sitemaps/languages.xml": Served(_XML, _text(documents.LANGUAGES)),
    "/sitemaps/pictures.xml": Served(_XML, _text(documents.PICTURES)),
    "/sitemaps/videos.xml": Served(_XML, _text(documents.VIDEOS)),
    "/sitemaps/archive/index.xml": Served(_XML, _text(documents.ARCHIVE_INDEX)),
    "/sitemaps/archive/2023.xml.gz": Served("application/gzip", _gzipped(documents.ARCHIVE_2023)),
    "/sitemaps/pages.txt": Served("text/plain", _text(documents.TEXT)),
    "/feeds/rss.xml": Served("application/rss+xml", _text(documents.RSS)),
    "/feeds/atom.xml": Served("application/atom+xml", _text(documents.ATOM)),
    "/feeds/atom-0.3.xml": Served("application/atom+xml", _text(documents.ATOM_0_3)),
    "/feeds/rss-1.0.xml": Served("application/rdf+xml", _text(documents.RSS_1_0)),
    "/feeds/media.xml": Served("application/rss+xml", _text(documents.MEDIA)),
    "/feeds/feed.json": Served("application/feed+json", _text(documents.JSON_FEED)),
    "/sitemap_news.xml": Served(_XML, _text(documents.NEWS)),
    "/": Served("text/html", _text(documents.HOMEPAGE)),
    "/sitemaps/partners.xml": Served(_XML, _text(documents.PARTNERS)),
    "/feeds/comments.xml": Served("application/rss+xml", _text(documents.COMMENTS)),
    "/wp-sitemap.xml": Served(_XML, _text(documents.WORDPRESS)),
}
"""The responses of the site, by path. robots.txt does not lead to the last five:
``/sitemap_news.xml`` is at a known path, ``/wp-sitemap.xml`` at a newer path, and the homepage
links to a sitemap and a feed."""

REDIRECTS: Final = {"/sitemap.xml": "/sitemaps/index.xml"}
"""A known path that redirects to a declared sitemap, which must not be listed twice."""

TREE: Final = (
    TreeLine(0, "/", "IndexWebsiteSitemap"),
    TreeLine(1, "/robots.txt", "IndexRobotsTxtSitemap"),
    TreeLine(2, "/sitemaps/index.xml", "IndexXMLSitemap"),
    TreeLine(3, "/sitemaps/pages.xml", "PagesXMLSitemap", 3),
    TreeLine(3, "/sitemaps/languages.xml", "PagesXMLSitemap", 2),
    TreeLine(3, "/sitemaps/pictures.xml", "PagesXMLSitemap", 2),
    TreeLine(3, "/sitemaps/videos.xml", "PagesXMLSitemap", 1),
    TreeLine(3, "/sitemaps/archive/index.xml", "IndexXMLSitemap"),
    TreeLine(4, "/sitemaps/archive/2023.xml.gz", "PagesXMLSitemap", 4),
    TreeLine(4, "/sitemaps/archive/lost.xml", "InvalidSitemap"),
    TreeLine(4, "/sitemaps/index.xml", "InvalidSitemap"),
    TreeLine(2, "/feeds/rss.xml", "PagesRSSSitemap", 2),
    TreeLine(2, "/feeds/atom.xml", "PagesAtomSitemap", 1),
    TreeLine(2, "/feeds/atom-0.3.xml", "PagesAtomSitemap", 1),
    TreeLine(2, "/feeds/rss-1.0.xml", "PagesRSSSitemap", 1),
    TreeLine(2, "/feeds/media.xml", "PagesRSSSitemap", 1),
    TreeLine(2, "/feeds/feed.json", "PagesJSONFeedSitemap", 2),
    TreeLine(2, "/sitemaps/pages.txt", "PagesTextSitemap", 2),
    TreeLine(1, "/sitemap_news.xml", "PagesXMLSitemap", 2),
    TreeLine(1, "/sitemaps/partners.xml", "PagesXMLSitemap", 1),
    TreeLine(1, "/wp-sitemap.xml", "PagesXMLSitemap", 1),
    TreeLine(1, "/feeds/comments.xml", "PagesRSSSitemap", 1),
)
"""What a crawl with all discovery stages has to find, in this order.

``lost.xml`` is missing, and the second ``index.xml`` is a loop.
"""


_REQUESTS_KEPT: Final = 200
"""More than a crawl makes; a site that is served for days keeps no more."""


class _Handler(BaseHTTPRequestHandler):
    timeout = 10  # an idle connection must not keep the server from stopping
    server: "_Server"

    def do_GET(self) -> None:
        site = self.server.site
        site.requested.append(self.path)
        if self.path in REDIRECTS:
            self.send_response(301)
            self.send_header("Location", REDIRECTS[self.path])
            self.end_headers()
        elif self.path in SITE:
            served = SITE[self.path]
            body = served.body(site.url.rstrip("/"))
            self.send_response(200)
            self.send_header("Content-Type", served.content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        else:
            self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the requests are in ``requested``."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close() waits for them
    request_queue_size = 128  # with fewer, one of many connections at once waits for a second

    def __init__(self, site: "DemoSite", port: int) -> None:
        self.site = site
        super().__init__(("127.0.0.1", port), _Handler)

    def finish_request(self, request: object, client_address: object) -> None:
        with suppress(ConnectionError):  # the client closed the connection
            super().finish_request(request, client_address)  # type: ignore[arg-type]


class DemoSite:
    """The demo site; it runs inside of a ``with`` block.

    :param port: 0 for any that is free.
    """

    def __init__(self, port: int = 0) -> None:
        self.requested: deque[str] = deque(maxlen=_REQUESTS_KEPT)
        """The last paths that were requested, in order."""
        self._server = _Server(self, port)
        # A daemon thread: Ctrl-C may come before the ``with`` block is entered, or while it exits.
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def url(self) -> str:
        """The homepage."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def wait(self) -> None:
        """Wait until Ctrl-C, which is raised here as ``KeyboardInterrupt``."""
        self._thread.join()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
