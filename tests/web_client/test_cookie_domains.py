"""A cookie for a public suffix, such as co.uk, goes to no site of somebody else's."""

import socket
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
import requests

import usp
from tests.loops import run
from tests.server import Answer, LoopbackServer, urlset
from usp import aio
from usp.web_client._http.credentials import allows_cookie_domain
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

pytestmark = pytest.mark.usefixtures("no_settings")


@pytest.fixture
def names(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> LoopbackServer:
    """The server of every host."""
    look_up = socket.getaddrinfo

    def resolve(host: Any, *_: Any, **options: Any) -> Any:
        return look_up("127.0.0.1", server.port, type=options.get("type", socket.SOCK_STREAM))

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return server


def by_threads(homepage: str) -> None:
    with closing(RequestsWebClient(private_addresses="allow")) as client:
        usp.sitemap_tree(homepage, web_client=client, use_known_paths=False)


def by_session(homepage: str) -> None:
    with requests.Session() as session:
        client = RequestsWebClient(session=session, private_addresses="allow")
        usp.sitemap_tree(homepage, web_client=client, use_known_paths=False)


def by_asyncio(homepage: str) -> None:
    async def main() -> None:
        async with AioWebClient(private_addresses="allow") as client:
            await aio.sitemap_tree(homepage, web_client=client, use_known_paths=False)

    run(main())


@pytest.mark.parametrize("crawl", [by_threads, by_session, by_asyncio])
@pytest.mark.parametrize(
    ("home", "domain", "other", "goes_there"),
    [
        ("bank.co.uk", "co.uk", "evil.co.uk", False),
        ("bank.co.uk", ".co.uk", "evil.co.uk", False),
        ("bank.com", "com", "evil.com", False),
        ("a.github.io", "github.io", "b.github.io", False),
        ("github.io", "github.io", "x.github.io", False),
        ("www.bank.co.uk", "bank.co.uk", "cdn.bank.co.uk", True),
        ("www.bank.co.uk", "", "cdn.bank.co.uk", False),
    ],
)
def test_a_cookie_goes_to_hosts_of_a_registered_domain_only(
    names: LoopbackServer,
    crawl: Callable[[str], None],
    home: str,
    domain: str,
    other: str,
    goes_there: bool,
) -> None:
    sitemap = f"http://{other}:{names.port}/there.xml"
    attribute = f"; Domain={domain}" if domain else ""
    names.site |= {
        "/robots.txt": Answer(
            body=f"Sitemap: {sitemap}\n", headers={"Set-Cookie": f"sid=1; Path=/{attribute}"}
        ),
        "/there.xml": urlset("http://bank.example/page"),
    }
    crawl(f"http://{home}:{names.port}/")
    sent = [one.headers.get("cookie") for one in names.requests if one.path == "/there.xml"]
    assert sent == ["sid=1" if goes_there else None]


@pytest.mark.parametrize(
    ("domain", "host", "allowed"),
    [
        ("github.io", "github.io", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("localhost", "localhost", True),
        ("Example.ORG", "www.example.org", True),
        ("org", "www.example.org", False),
    ],
)
def test_a_domain_that_nobody_registered_is_for_its_own_host(
    domain: str, host: str, allowed: bool
) -> None:
    assert allows_cookie_domain(domain, host) is allowed
