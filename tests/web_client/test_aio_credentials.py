"""Which hosts get credentials from the client on aiohttp."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loops import body, in_crawl, run
from tests.server import Answer, LoopbackServer, redirect
from tests.servers import ServerAt
from usp.web_client.aio_client import AioWebClient

pytestmark = pytest.mark.usefixtures("no_settings")


@pytest.fixture
def other() -> Iterator[LoopbackServer]:
    """A server on another host."""
    with ServerAt("127.0.0.2") as running:
        running.otherwise = b"secret"
        yield running


def test_credentials_stay_in_the_domain_of_the_homepage(
    server: LoopbackServer, other: LoopbackServer
) -> None:
    server.site |= {"/a": b"x", "/r": redirect(other.at("/b")), "/s": redirect("/a")}
    given = {
        "Authorization": "Bearer abc",
        "Cookie": "own=1",
        "X-Api-Key": "mine",
        "X-Other": "goes along",
    }

    async def main() -> None:
        async with in_crawl(AioWebClient(headers=given), server.url) as client:
            for path in ("/a", "/r", "/s"):
                await body(client, server.at(path))
            await body(client, other.at("/b"))

    run(main())
    for request in server.requests:
        assert request.headers["authorization"] == "Bearer abc"
        assert request.headers["x-api-key"] == "mine"
        assert "own=1" in request.headers["cookie"]
    for request in other.requests:
        assert not {"authorization", "cookie", "x-api-key"} & set(request.headers)
        assert request.headers["x-other"] == "goes along"


def test_credentials_in_a_url_stay_with_its_host(
    server: LoopbackServer, other: LoopbackServer
) -> None:
    server.site |= {"/a": redirect("/b"), "/b": redirect(other.at("/c"))}
    url = server.at("/a").replace("http://", "http://user:p%40ss@")

    async def main() -> None:
        async with in_crawl(AioWebClient(), server.url) as client:
            await body(client, url)

    run(main())
    basic = "Basic dXNlcjpwQHNz"
    assert [request.headers.get("authorization") for request in server.requests] == [basic, basic]
    assert "authorization" not in other.requests[0].headers


def test_cookies_stay_with_their_host_and_their_crawl(
    server: LoopbackServer, other: LoopbackServer
) -> None:
    server.site |= {
        "/a": Answer(status=302, headers={"Set-Cookie": "k=v; Path=/", "Location": "/b"}),
        "/b": redirect(other.at("/c")),
    }

    async def main() -> None:
        async with AioWebClient() as client:
            async with client.for_crawl(server.url) as first:
                await body(first, server.at("/a"))
            async with client.for_crawl(server.url) as second:
                await body(second, server.at("/b"))

    run(main())
    assert [request.headers.get("cookie") for request in server.requests] == [None, "k=v", None]
    assert [request.headers.get("cookie") for request in other.requests] == [None, None]


def test_netrc_credentials_stay_with_their_host(
    server: LoopbackServer, other: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login user password secret\n")
    server.site["/a"] = redirect(other.at("/b"))

    async def main(*, trust_env: bool = True, netrc: bool = True) -> None:
        made = AioWebClient(trust_env=trust_env, netrc=netrc)
        async with in_crawl(made, server.url) as client:
            await body(client, server.at("/a"))

    run(main())
    run(main(trust_env=False))
    run(main(netrc=False))
    sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == ["Basic dXNlcjpzZWNyZXQ=", None, None]
    assert "authorization" not in other.requests[0].headers
