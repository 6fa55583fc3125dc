"""Whom the client on aiohttp talks to: addresses, credentials, certificates, proxies.

Nothing here leaves the machine: addresses of 127.0.0.0/8 play the public and the private host.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loops import body, in_crawl, message, run
from tests.responses import error
from tests.server import Answer, LoopbackServer, redirect
from tests.servers import Certificate, ServerAt, TLSServer, Tunnels
from usp.exceptions import SitemapException
from usp.web_client._aiohttp.connector import Verify
from usp.web_client._http.address_guard import AddressRule
from usp.web_client.aio_client import AioWebClient


class Elsewhere(AioWebClient):
    """A client in a world in which 127.0.0.1 is the open internet, and nothing else is."""

    @staticmethod
    def _is_public(address: str) -> bool:
        return address == "127.0.0.1"


pytestmark = pytest.mark.usefixtures("no_settings")


@pytest.fixture
def inside() -> Iterator[LoopbackServer]:
    """A server in the private network of that world."""
    with ServerAt("127.0.0.2") as running:
        running.otherwise = b"secret"
        yield running


# Addresses


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_refused_address_is_not_even_connected_to(scheme: str) -> None:
    async def main() -> str:
        async with AioWebClient(private_addresses="refuse") as client:
            return await message(client, f"{scheme}://127.0.0.1:{port}/")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        said = run(main())
        listening.settimeout(0.05)
        with pytest.raises(TimeoutError):
            listening.accept()
    assert said == "127.0.0.1 is at 127.0.0.1, which is not a public address: refused"


def test_a_name_with_several_addresses_is_refused_too() -> None:
    async def main() -> None:
        async with AioWebClient(private_addresses="refuse") as client:
            answer = error(await client.get("http://localhost:9/"))
        assert "not a public address" in answer.message()
        assert not answer.retryable()
        assert not answer.no_response()

    run(main())


def test_a_crawl_from_inside_goes_where_it_likes(
    server: LoopbackServer, inside: LoopbackServer
) -> None:
    server.site["/a"] = redirect(inside.at("/b"))

    async def main() -> None:
        async with in_crawl(AioWebClient(), server.url) as client:
            assert await body(client, server.at("/a")) == b"secret"

    run(main())


def test_a_crawl_from_outside_does_not_go_inside(
    server: LoopbackServer, inside: LoopbackServer
) -> None:
    server.site |= {"/a": b"open", "/r": redirect("/s"), "/s": redirect(inside.at("/b"))}

    async def main() -> None:
        async with in_crawl(Elsewhere(), server.url) as client:
            assert await body(client, server.at("/a")) == b"open"
            assert "127.0.0.2" in await message(client, inside.at("/b"))
            assert "127.0.0.2" in await message(client, server.at("/r")), "by a redirect"
            assert await body(client, server.at("/a")) == b"open", "and it goes on outside"
        assert inside.requested == []
        async with in_crawl(Elsewhere(private_addresses="allow"), server.url) as client:
            assert await body(client, server.at("/r")) == b"secret"

    run(main())


@pytest.mark.parametrize("first", ["a redirect", "another host"])
def test_the_first_request_may_lead_inside(
    server: LoopbackServer, inside: LoopbackServer, first: str
) -> None:
    server.site["/robots.txt"] = redirect(inside.at("/b"))

    async def main() -> None:
        async with in_crawl(Elsewhere(), server.url) as client:
            url = server.at("/robots.txt") if first == "a redirect" else inside.at("/b")
            assert "refused" in await message(client, url)

    run(main())
    assert inside.requested == []


def test_a_homepage_without_an_address_counts_as_outside(inside: LoopbackServer) -> None:
    async def main() -> None:
        async with in_crawl(AioWebClient(), f"http://{'x' * 70}/") as client:
            assert "refused" in await message(client, inside.url)

    run(main())
    assert inside.requested == []


def test_crawls_at_the_same_time_are_judged_each_by_its_own(
    server: LoopbackServer, inside: LoopbackServer
) -> None:
    server.otherwise = b"open"

    async def main() -> None:
        async with (
            Elsewhere() as client,
            client.for_crawl(inside.url) as theirs,
            client.for_crawl(server.url) as ours,
        ):
            assert await body(theirs, inside.at("/b")) == b"secret"
            assert await body(ours, server.at("/b")) == b"open"
            assert "refused" in await message(ours, inside.at("/b")), "over a kept connection"
            assert await body(theirs, inside.at("/b")) == b"secret"
            answers = await asyncio.gather(
                *(body(theirs, inside.at("/b")) for _ in range(5)),
                *(message(ours, inside.at("/b")) for _ in range(5)),
            )
            assert answers[:5] == [b"secret"] * 5
            assert all("refused" in str(answer) for answer in answers[5:])

    run(main())


def test_a_proxy_may_be_inside(inside: LoopbackServer) -> None:
    inside.site["http://far.example/a"] = b"through the proxy"

    async def main(rule: AddressRule) -> None:
        client = Elsewhere(proxies={"http": inside.url}, private_addresses=rule)
        async with in_crawl(client, "http://far.example/") as own:
            assert await body(own, "http://far.example/a") == b"through the proxy"

    run(main("auto"))
    run(main("refuse"))


# Credentials


def test_credentials_stay_in_the_domain_of_the_homepage(
    server: LoopbackServer, inside: LoopbackServer
) -> None:
    server.site |= {"/a": b"x", "/r": redirect(inside.at("/b")), "/s": redirect("/a")}
    given = {"Authorization": "Bearer abc", "Cookie": "own=1", "X-Other": "goes along"}

    async def main() -> None:
        async with in_crawl(AioWebClient(headers=given), server.url) as client:
            for path in ("/a", "/r", "/s"):
                await body(client, server.at(path))
            await body(client, inside.at("/b"))

    run(main())
    for request in server.requests:
        assert request.headers["authorization"] == "Bearer abc"
        assert "own=1" in request.headers["cookie"]
    for request in inside.requests:
        assert not {"authorization", "cookie"} & set(request.headers)
        assert request.headers["x-other"] == "goes along"


def test_userinfo_stays_with_its_host(server: LoopbackServer, inside: LoopbackServer) -> None:
    server.site |= {"/a": redirect("/b"), "/b": redirect(inside.at("/c"))}
    url = server.at("/a").replace("http://", "http://user:p%40ss@")

    async def main() -> None:
        async with in_crawl(AioWebClient(), server.url) as client:
            await body(client, url)

    run(main())
    basic = "Basic dXNlcjpwQHNz"
    assert [request.headers.get("authorization") for request in server.requests] == [basic, basic]
    assert "authorization" not in inside.requests[0].headers


def test_cookies_stay_with_their_host_and_their_crawl(
    server: LoopbackServer, inside: LoopbackServer
) -> None:
    server.site |= {
        "/a": Answer(status=302, headers={"Set-Cookie": "k=v; Path=/", "Location": "/b"}),
        "/b": redirect(inside.at("/c")),
    }

    async def main() -> None:
        async with AioWebClient() as client:
            async with client.for_crawl(server.url) as first:
                await body(first, server.at("/a"))
            async with client.for_crawl(server.url) as second:
                await body(second, server.at("/b"))

    run(main())
    assert [request.headers.get("cookie") for request in server.requests] == [None, "k=v", None]
    assert [request.headers.get("cookie") for request in inside.requests] == [None, None]


def test_netrc(server: LoopbackServer, inside: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login user password secret\n")
    server.site["/a"] = redirect(inside.at("/b"))

    async def main(*, trust_env: bool) -> None:
        async with in_crawl(AioWebClient(trust_env=trust_env), server.url) as client:
            await body(client, server.at("/a"))

    run(main(trust_env=True))
    run(main(trust_env=False))
    sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == ["Basic dXNlcjpzZWNyZXQ=", None]
    assert "authorization" not in inside.requests[0].headers


# Certificates


def test_an_unknown_authority_is_refused_for_good(secure: TLSServer) -> None:
    async def main() -> None:
        async with AioWebClient() as client:
            answer = error(await client.get(secure.url))
        assert "certificate" in answer.message().lower()
        assert answer.untrusted()
        assert not answer.retryable()

    run(main())


@pytest.mark.parametrize("how", ["file", "folder", "context", "none", "environment"])
def test_authorities(
    secure: TLSServer,
    certificate: Certificate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    if how == "environment":
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.file))
    ways: dict[str, Verify] = {
        "file": certificate.file,
        "folder": certificate.as_folder(tmp_path),
        "context": ssl.create_default_context(cafile=str(certificate.file)),
        "none": False,
        "environment": True,
    }

    async def main() -> None:
        async with AioWebClient(verify=ways[how]) as client:
            assert await body(client, secure.url) == b"hello"

    run(main())


def test_authorities_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing")
    for name in ("none.pem", "empty.pem"):
        with pytest.raises(SitemapException, match=name):
            AioWebClient(verify=tmp_path / name)


# Proxies


def test_a_tunnel_through_a_proxy(
    secure: TLSServer, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with AioWebClient(verify=certificate.file) as client:
            assert await body(client, secure.url) == b"hello"

    with Tunnels() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.removeprefix("http://"))
        run(main())
        assert proxy.requested == [f"127.0.0.1:{secure.port}"]
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        run(main())
        assert len(proxy.requested) == 1


def test_the_credentials_of_a_proxy(server: LoopbackServer) -> None:
    server.site["http://far.example/a"] = b"through the proxy"
    proxy = server.url.replace("http://", "http://user:secret@")

    async def main() -> None:
        async with AioWebClient(proxies={"http": proxy}) as client:
            assert await body(client, "http://far.example/a") == b"through the proxy"

    run(main())
    assert server.requests[0].headers["proxy-authorization"] == "Basic dXNlcjpzZWNyZXQ="


def test_a_proxy_that_is_none() -> None:
    async def main() -> str:
        async with AioWebClient(proxies={"all": "socks5://user:secret@127.0.0.1:1"}) as client:
            return await message(client, "http://far.example/")

    assert run(main()) == "not an HTTP(S) proxy: socks5"


def test_a_proxy_that_makes_no_tunnels(server: LoopbackServer) -> None:
    async def main() -> None:
        async with AioWebClient(proxies={"https": server.url}) as client:
            answer = error(await client.get("https://far.example/"))
            assert answer.message().startswith("the proxy responded 501")
            assert (answer.status_code(), answer.retryable()) == (501, False)

    run(main())
