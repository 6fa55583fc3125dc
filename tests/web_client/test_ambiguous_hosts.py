"""URLs whose host parsers read differently: nothing is requested, so no secrets go astray.

``urllib.parse`` decides whether a host belongs to the site, and urllib3 what to connect to.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import requests

import usp
from tests.loops import run
from tests.server import Answer, LoopbackServer, index, urlset
from tests.servers import ServerAt
from usp import aio
from usp.web_client._http.urls import is_web_url
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

pytestmark = pytest.mark.usefixtures("no_settings")

HOMEPAGE = "http://site.example/"
SECRETS = {"Authorization": "Bearer s3cr3t", "Cookie": "own=s3cr3t"}
URLS = [
    "http://evil.test\\.site.example/x.xml",
    "//evil.test\\.site.example/x.xml",
    "http://evil.test:80\\.site.example/x.xml",
    "http://evil.test\\@site.example/x.xml",
    "http://[::1]evil.site.example/x.xml",
    "http://evil.test\t.site.example/x.xml",
    "http://evil.test%2f.site.example/x.xml",
    "http://evil.test\uff0f.site.example/x.xml",
]


@pytest.fixture
def evil(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    """The server of all hosts but ``site.example`` and those below it."""
    look_up = socket.getaddrinfo
    with ServerAt("127.0.0.2") as running:
        running.otherwise = urlset("http://evil.test/page")

        def resolve(host: str | bytes | None, *_: Any, **options: Any) -> Any:
            name = host.decode() if isinstance(host, bytes) else host or ""
            is_site = f".{name}".endswith(".site.example")
            address, port = ("127.0.0.1", server.port) if is_site else ("127.0.0.2", running.port)
            return look_up(address, port, type=options.get("type", socket.SOCK_STREAM))

        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        yield running


def by_requests() -> None:
    with closing(RequestsWebClient(headers=SECRETS)) as client:
        usp.sitemap_tree_for_homepage(HOMEPAGE, client, use_known_paths=False)


def by_session() -> None:
    with requests.Session() as session, closing(RequestsWebClient(session=session)) as client:
        session.auth = ("user", "s3cr3t")
        session.cookies.set("without_domain", "s3cr3t")
        session.cookies.set("with_domain", "s3cr3t", domain=".site.example")
        usp.sitemap_tree_for_homepage(HOMEPAGE, client, use_known_paths=False)


def by_asyncio() -> None:
    async def main() -> None:
        async with AioWebClient(headers=SECRETS) as client:
            await aio.sitemap_tree_for_homepage(HOMEPAGE, client, use_known_paths=False)

    run(main())


def from_robots(server: LoopbackServer, url: str) -> None:
    server.site["/robots.txt"] = f"Sitemap: {url}\n"


def from_index(server: LoopbackServer, url: str) -> None:
    server.site["/robots.txt"] = f"Sitemap: {HOMEPAGE}i.xml\n"
    server.site["/i.xml"] = index(url)


def from_redirect(server: LoopbackServer, url: str) -> None:
    server.site["/robots.txt"] = f"Sitemap: {HOMEPAGE}r.xml\n"
    location = url.encode().decode("latin-1")  # as http.server writes it
    server.site["/r.xml"] = Answer(302, headers={"Location": location})


@pytest.mark.parametrize("way", [by_requests, by_session, by_asyncio])
@pytest.mark.parametrize("named", [from_robots, from_index, from_redirect])
def test_secrets_of_a_site_do_not_go_to_a_host_that_only_looks_like_it(
    server: LoopbackServer,
    evil: LoopbackServer,
    named: Callable[[LoopbackServer, str], None],
    way: Callable[[], None],
) -> None:
    for url in URLS:
        named(server, url)
        way()
    assert [one for one in evil.requests if {"authorization", "cookie"} & one.headers.keys()] == []
    assert "s3cr3t" in str(server.requests[0].headers), "the site itself gets them"


@pytest.mark.parametrize(
    "url",
    [
        "http://h.example",
        "HTTPS://H.example:8080/a",
        " http://h.example/",
        "http://user:p\\ss@h.example/",
        "http://user@name:pass@h.example?q",
        "http://[2001:db8::1]:80/",
        "http://[fe80::1%25eth0]#x",
        "http://b\u00fccher.example/\\",
        "http://under_score.example:/",
    ],
)
def test_an_ordinary_url_is_a_web_url(url: str) -> None:
    assert is_web_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h.example/",
        "http:/h.example/",
        "http:///a",
        "http://user@/",
        "http://a\\b/",
        "http://a b/",
        "http://a\x00/",
        "http://[::1]a/",
        "http://a[::1]/",
        "http://[::1/",
        "http://h.example:80a/",
        "http://h.example:80:80/",
    ],
)
def test_a_url_with_a_malformed_host_is_no_web_url(url: str) -> None:
    assert not is_web_url(url)
