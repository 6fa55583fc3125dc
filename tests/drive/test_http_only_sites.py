"""A bare domain where only http responds is crawled as if http:// had been given.

The server has one port: a TLS handshake there fails in one way or another, anything else is HTTP.
"""

import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.cli.command import usp as command
from tests.crawl.simulation import REFUSED, run
from tests.drive.ways import WAYS, Finding
from tests.server import Answer, Handler, LoopbackServer, reset, stall, urlset
from usp import Crawl, FetchFailed, Outcome
from usp._crawl.messages import FetchResult
from usp.objects.sitemap import PagesXMLSitemap

_CLIENT_HELLO = b"\x16"
_ALERT = b"\x15\x03\x01\x00\x02\x02\x28"
"""A TLS alert: handshake failure."""


def reset_tls(handler: "PlainHandler") -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def answer_tls(data: bytes) -> "Callable[[PlainHandler], None]":
    def answer(handler: "PlainHandler") -> None:
        handler.connection.recv(65536)
        handler.connection.sendall(data)

    return answer


TLS: "dict[str, Callable[[PlainHandler], None]]" = {
    "reset": reset_tls,
    "closed": lambda handler: None,
    "TLS alert": answer_tls(_ALERT),
    "HTTP in answer to TLS": answer_tls(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    "silent": stall,
}
"""What a site without https does with a TLS handshake."""


class PlainHandler(Handler):
    """A connection without TLS; ``tls`` says what comes of one with it."""

    tls = staticmethod(reset_tls)

    def handle(self) -> None:
        if self.connection.recv(1, socket.MSG_PEEK) == _CLIENT_HELLO:
            type(self).tls(self)
            self.connection.close()
        else:
            super().handle()


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as running:
        yield running


def without_https(server: LoopbackServer, tls: str) -> str:
    """Let TLS handshakes with a server fail, and return its address without a scheme."""
    handler = type("Handler", (PlainHandler,), {"tls": staticmethod(TLS[tls])})
    server._listener.RequestHandlerClass = handler
    return f"127.0.0.1:{server.port}"


def with_robots(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/lost.xml")
    server.site["/a.xml"] = urlset(server.at("/page"))


def everywhere(status: int) -> Callable[[LoopbackServer], None]:
    def answer(server: LoopbackServer) -> None:
        server.otherwise = status

    return answer


def at_path(path: str, **others: Any) -> Callable[[LoopbackServer], None]:
    def answer(server: LoopbackServer) -> None:
        server.site |= {path: urlset(server.at("/page"))} | {
            f"/{name.replace('_', '.')}": answer for name, answer in others.items()
        }

    return answer


def with_link(server: LoopbackServer) -> None:
    server.site |= {
        "/": '<link rel="sitemap" href="/linked.xml">',
        "/linked.xml": urlset(server.at("/page")),
    }


def blocked_paths(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = 404
    server.otherwise = 403


SITES: dict[str, tuple[Callable[[LoopbackServer], None], Outcome]] = {
    "robots.txt": (with_robots, Outcome.PARTIAL),
    "a known path": (at_path("/sitemap.xml"), Outcome.FOUND),
    "wp-sitemap.xml": (at_path("/wp-sitemap.xml"), Outcome.FOUND),
    "a known path, robots.txt is reset": (
        at_path("/sitemap.xml", robots_txt=reset),
        Outcome.FOUND,
    ),
    "a link on the homepage": (with_link, Outcome.FOUND),
    "robots.txt alone": (lambda server: server.robots(), Outcome.NONE),
    "404": (everywhere(404), Outcome.NONE),
    "401": (everywhere(401), Outcome.BLOCKED),
    "403": (everywhere(403), Outcome.BLOCKED),
    "403, but no robots.txt": (blocked_paths, Outcome.BLOCKED),
    "500": (everywhere(500), Outcome.UNREACHABLE),
    "503": (everywhere(503), Outcome.UNREACHABLE),
}
QUICK: dict[str, Any] = {"backoff_initial": 0.01, "backoff_factor": 1.0}


def check(way: str, address: str, server: LoopbackServer, expected: Outcome) -> None:
    given = WAYS[way](f"http://{address}", 1.0, **QUICK)
    bare = WAYS[way](address, 1.0, **QUICK)
    assert bare.outcome is given.outcome is expected
    assert (bare.pages, bare.problems) == (given.pages, given.problems)
    assert results(bare) == results(given)
    assert all(attempt.url.startswith(server.url) for attempt in bare.tried)


def results(found: Finding) -> list[tuple[str, str, str]]:
    """What was tried; which request it is that gives a host up depends on time."""
    return [(attempt.url, attempt.stage, attempt.result) for attempt in found.tried]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("site", SITES)
def test_every_site_without_https_is_crawled_by_http(
    way: str, site: str, server: LoopbackServer
) -> None:
    prepare, expected = SITES[site]
    prepare(server)
    check(way, without_https(server, "TLS alert"), server, expected)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tls", TLS)
@pytest.mark.parametrize("site", ["wp-sitemap.xml", "403"])
def test_however_https_fails_the_site_is_crawled_by_http(
    way: str, tls: str, site: str, server: LoopbackServer
) -> None:
    prepare, expected = SITES[site]
    prepare(server)
    check(way, without_https(server, tls), server, expected)


@pytest.mark.parametrize("site", ["wp-sitemap.xml", "404", "403"])
def test_the_command_crawls_by_http(site: str, server: LoopbackServer) -> None:
    SITES[site][0](server)
    bare = command("ls", without_https(server, "TLS alert"))
    full = command("ls", server.url)
    assert (bare.code, bare.out, bare.found) == (full.code, full.out, full.found)
    assert bare.out.startswith(server.url)


@pytest.mark.parametrize("way", ["stream", "asyncio stream"])
@pytest.mark.parametrize(("status", "expected"), [(403, "blocked"), (200, "found")])
def test_a_sitemap_named_without_a_scheme_is_fetched_by_http(
    way: str, status: int, expected: str, server: LoopbackServer
) -> None:
    server.site["/a.xml"] = Answer(status, urlset(server.at("/page")))
    found = WAYS[way](f"{without_https(server, 'TLS alert')}/a.xml", **QUICK)
    assert found == WAYS[way](server.at("/a.xml"), **QUICK)
    assert found.outcome == expected


def test_without_scheme_fallback_http_is_not_tried(server: LoopbackServer) -> None:
    at_path("/sitemap.xml")(server)
    address = without_https(server, "TLS alert")
    found = WAYS["tree"](address, scheme_fallback=False, **QUICK)
    assert found.outcome is Outcome.UNREACHABLE
    assert server.requests == []


# Without I/O: what one port can't do.

ROBOTS_HTTPS = "https://h.example/robots.txt"
HOME_HTTPS = "https://h.example/"


def requested(site: dict[str, FetchResult]) -> tuple[Crawl, list[str]]:
    crawl = Crawl.for_site("h.example")
    return crawl, run(crawl, site)


def test_a_site_that_refuses_https_is_crawled_by_http() -> None:
    crawl, urls = requested({ROBOTS_HTTPS: REFUSED, HOME_HTTPS: REFUSED})
    assert urls[:2] == [ROBOTS_HTTPS, HOME_HTTPS]
    assert "http://h.example/wp-sitemap.xml" in urls
    assert crawl.outcome is Outcome.NONE
    assert crawl.tree().url == "http://h.example/"


def test_a_site_whose_homepage_responds_by_https_stays_there() -> None:
    crawl, urls = requested({ROBOTS_HTTPS: REFUSED})
    assert "https://h.example/sitemap.xml" in urls
    assert "http://h.example/sitemap.xml" not in urls
    assert crawl.tree().url == HOME_HTTPS


def test_an_untrusted_certificate_is_no_reason_for_http() -> None:
    untrusted = FetchFailed("bad certificate", no_response=True, untrusted=True)
    urls = [f"https://h.example/{path}" for path in ("", "robots.txt", "sitemap.xml")]
    _, made = requested(dict.fromkeys(urls, untrusted))
    assert not any(url.startswith("http:") for url in made)


def test_a_site_that_does_not_respond_at_all_keeps_https() -> None:
    class Refusing(dict[str, FetchResult]):
        def get(self, _url: str, _default: object = None) -> FetchResult:
            return REFUSED

    crawl, _ = requested(Refusing())
    assert crawl.outcome is Outcome.UNREACHABLE
    assert crawl.tree().url == HOME_HTTPS
    assert not [sub for sub in crawl.tree().all_sitemaps() if isinstance(sub, PagesXMLSitemap)]
