"""The address guard (SSRF) of the client on aiohttp.

Nothing here leaves the machine: addresses of 127.0.0.0/8 stand for public and private hosts.
"""

import asyncio
import socket
from collections.abc import Iterator

import pytest

from tests.loops import body, in_crawl, message, run
from tests.responses import error
from tests.server import LoopbackServer, redirect
from tests.servers import ServerAt
from usp.web_client._http.address_guard import AddressRule
from usp.web_client.aio_client import AioWebClient


class GuardedClient(AioWebClient):
    """A client for which 127.0.0.1 is a public address, and no other is."""

    @staticmethod
    def _is_public(address: str) -> bool:
        return address == "127.0.0.1"


pytestmark = pytest.mark.usefixtures("no_settings")


@pytest.fixture
def private() -> Iterator[LoopbackServer]:
    """A server with a private address."""
    with ServerAt("127.0.0.2") as running:
        running.otherwise = b"secret"
        yield running


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_nothing_connects_to_a_refused_address(scheme: str) -> None:
    async def main() -> str:
        async with AioWebClient(private_addresses="refuse") as client:
            return await message(client, f"{scheme}://127.0.0.1:{port}/")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        reported = run(main())
        listening.settimeout(0.05)
        with pytest.raises(TimeoutError):
            listening.accept()
    assert reported == "127.0.0.1 is at 127.0.0.1, which is not a public address: refused"


def test_a_name_with_several_private_addresses_is_refused() -> None:
    async def main() -> None:
        async with AioWebClient(private_addresses="refuse") as client:
            response = error(await client.get("http://localhost:9/"))
        assert "not a public address" in response.message()
        assert not response.retryable()
        assert not response.no_response()

    run(main())


def test_the_crawl_of_a_private_site_may_reach_any_address(
    server: LoopbackServer, private: LoopbackServer
) -> None:
    server.site["/a"] = redirect(private.at("/b"))

    async def main() -> None:
        async with in_crawl(AioWebClient(), server.url) as client:
            assert await body(client, server.at("/a")) == b"secret"

    run(main())


def test_the_crawl_of_a_public_site_does_not_reach_private_addresses(
    server: LoopbackServer, private: LoopbackServer
) -> None:
    server.site |= {"/a": b"open", "/r": redirect("/s"), "/s": redirect(private.at("/b"))}

    async def main() -> None:
        async with in_crawl(GuardedClient(), server.url) as client:
            assert await body(client, server.at("/a")) == b"open"
            assert "127.0.0.2" in await message(client, private.at("/b"))
            assert "127.0.0.2" in await message(client, server.at("/r")), "by a redirect"
            assert await body(client, server.at("/a")) == b"open", "and the crawl continues"
        assert private.requested == []
        async with in_crawl(GuardedClient(private_addresses="allow"), server.url) as client:
            assert await body(client, server.at("/r")) == b"secret"

    run(main())


@pytest.mark.parametrize("first", ["a redirect", "another host"])
def test_the_first_request_may_lead_to_a_private_address(
    server: LoopbackServer, private: LoopbackServer, first: str
) -> None:
    server.site["/robots.txt"] = redirect(private.at("/b"))

    async def main() -> None:
        async with in_crawl(GuardedClient(), server.url) as client:
            url = server.at("/robots.txt") if first == "a redirect" else private.at("/b")
            assert "refused" in await message(client, url)

    run(main())
    assert private.requested == []


def test_a_homepage_that_can_not_be_looked_up_counts_as_public(private: LoopbackServer) -> None:
    async def main() -> None:
        async with in_crawl(AioWebClient(), f"http://{'x' * 70}/") as client:
            assert "refused" in await message(client, private.url)

    run(main())
    assert private.requested == []


def test_concurrent_crawls_have_their_own_verdicts(
    server: LoopbackServer, private: LoopbackServer
) -> None:
    server.otherwise = b"open"

    async def main() -> None:
        async with (
            GuardedClient() as client,
            client.for_crawl(private.url) as theirs,
            client.for_crawl(server.url) as ours,
        ):
            assert await body(theirs, private.at("/b")) == b"secret"
            assert await body(ours, server.at("/b")) == b"open"
            assert "refused" in await message(ours, private.at("/b")), "over a kept connection"
            assert await body(theirs, private.at("/b")) == b"secret"
            responses = await asyncio.gather(
                *(body(theirs, private.at("/b")) for _ in range(5)),
                *(message(ours, private.at("/b")) for _ in range(5)),
            )
            assert responses[:5] == [b"secret"] * 5
            assert all("refused" in str(response) for response in responses[5:])

    run(main())


def test_a_proxy_may_have_a_private_address(private: LoopbackServer) -> None:
    private.site["http://far.example/a"] = b"through the proxy"

    async def main(rule: AddressRule) -> None:
        client = GuardedClient(proxies={"http": private.url}, private_addresses=rule)
        async with in_crawl(client, "http://far.example/") as own:
            assert await body(own, "http://far.example/a") == b"through the proxy"

    run(main("auto"))
    run(main("refuse"))
