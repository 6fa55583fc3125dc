"""Cookies that a server set over https, without ``Secure``, and http URLs of the same host."""

from contextlib import closing
from pathlib import Path

import pytest

import usp
from tests.loops import run
from tests.server import Answer, LoopbackServer, index, redirect, urlset
from tests.servers import Certificate, TLSServer
from usp import aio
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

pytestmark = pytest.mark.usefixtures("no_settings")
SET = {"Set-Cookie": "sid=SECRET; Path=/"}


def crawl(way: str, source: str | Path, *, verify: str | bool) -> None:
    async def in_asyncio() -> None:
        made = AioWebClient(verify=verify, private_addresses="allow")
        async with made as client:
            await aio.sitemap_tree(source, web_client=client, concurrency=1)

    if way == "asyncio":
        run(in_asyncio())
        return
    with closing(RequestsWebClient(verify=verify, private_addresses="allow")) as client:
        usp.sitemap_tree(source, web_client=client, concurrency=1)


def cookies(server: LoopbackServer, path: str) -> list[str | None]:
    return [one.headers.get("cookie") for one in server.requests if one.path == path]


def serve(server: LoopbackServer, secure: TLSServer, how: str) -> None:
    """Serve a sitemap over https that sets a cookie, and one of the same host over http."""
    plain = server.at("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/page"))
    secure.otherwise = 404
    secure.site |= {
        "/i.xml": Answer(
            body=index(secure.at("/b.xml"), plain if how == "listed" else secure.at("/r.xml")),
            headers=SET,
        ),
        "/b.xml": urlset(secure.at("/page")),
        "/r.xml": redirect(plain),
    }


@pytest.mark.parametrize("way", ["threads", "asyncio"])
@pytest.mark.parametrize("how", ["listed", "redirected"])
def test_a_cookie_set_over_https_does_not_go_over_http(
    server: LoopbackServer, secure: TLSServer, certificate: Certificate, way: str, how: str
) -> None:
    serve(server, secure, how)
    secure.site["/robots.txt"] = f"Sitemap: {secure.at('/i.xml')}\n"
    crawl(way, secure.url, verify=str(certificate.file))
    assert cookies(secure, "/b.xml") == ["sid=SECRET"]
    assert cookies(server, "/a.xml") == [None]


@pytest.mark.parametrize("way", ["threads", "asyncio"])
@pytest.mark.parametrize("how", ["listed", "redirected"])
def test_a_cookie_set_over_https_goes_nowhere_over_http_in_a_crawl_of_a_file(
    server: LoopbackServer,
    secure: TLSServer,
    certificate: Certificate,
    tmp_path: Path,
    way: str,
    how: str,
) -> None:
    serve(server, secure, how)
    file = tmp_path / "index.xml"
    file.write_bytes(index(secure.at("/i.xml")))
    crawl(way, file, verify=str(certificate.file))
    assert cookies(secure, "/b.xml") == ["sid=SECRET"]
    assert cookies(server, "/a.xml") == [None]


@pytest.mark.parametrize("way", ["threads", "asyncio"])
def test_cookies_go_over_http_if_the_homepage_uses_it(server: LoopbackServer, way: str) -> None:
    server.site["/robots.txt"] = Answer(
        body=f"Sitemap: {server.at('/a.xml')}\n".encode(), headers=SET
    )
    server.site["/a.xml"] = urlset(server.at("/page"))
    crawl(way, server.url, verify=True)
    assert cookies(server, "/a.xml") == ["sid=SECRET"]
