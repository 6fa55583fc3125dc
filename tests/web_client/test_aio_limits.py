"""Limits of the asyncio client over all crawls, per registered domain and per address; DNS."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

import usp
import usp.aio
from tests.server import Handler, LoopbackServer, Plain, urlset
from usp.exceptions import UsageError
from usp.web_client.aio_client import AioWebClient, CachingResolver

HOSTS = ("a.one.test", "b.one.test", "two.test", "three.test")


class EveryHostIsHere(AbstractResolver):
    """Has the address of this machine for all hosts."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        found = socket.AF_INET
        flags = socket.AI_NUMERICHOST
        return [
            ResolveResult(
                hostname=host, host="127.0.0.1", port=port, family=found, proto=0, flags=flags
            )
        ]

    async def close(self) -> None:
        pass


class CountedRequests:
    """Answers every request after a moment, and counts those that are in flight at once.

    Until as many as expected were, the first ones wait for the others, however slow the machine is.
    """

    def __init__(self, expected: int = 1) -> None:
        self.peak = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._expected = expected
        self._all_there = threading.Event()

    def __call__(self, handler: Handler) -> Plain:
        with self._lock:
            self._in_flight += 1
            self.peak = max(self.peak, self._in_flight)
            if self.peak >= self._expected:
                self._all_there.set()
        self._all_there.wait(2)
        handler.owner.closing.wait(0.02)
        with self._lock:
            self._in_flight -= 1
        return 404


def fetch_all(server: LoopbackServer, expected: int, **settings: Any) -> int:
    """Request each host several times, all at once; return how many requests were in flight."""
    server.otherwise = counted = CountedRequests(expected)

    async def main() -> None:
        resolver = EveryHostIsHere()
        async with AioWebClient(resolver=resolver, trust_env=False, **settings) as client:
            urls = [f"http://{host}:{server.port}/x" for host in HOSTS * 4]
            await asyncio.gather(*map(client.get, urls))
        assert set(resolver.asked) == set(HOSTS)

    asyncio.run(main())
    assert len(server.requests) == 4 * len(HOSTS)
    return counted.peak


def test_requests_to_one_registered_domain_are_limited(server: LoopbackServer) -> None:
    assert fetch_all(server, 3, per_domain=1) == 3  # a.one.test and b.one.test are one


def test_requests_to_one_address_are_limited(server: LoopbackServer) -> None:
    assert fetch_all(server, 2, per_address=2) == 2


def test_without_such_limits_all_requests_are_in_flight_at_once(server: LoopbackServer) -> None:
    assert fetch_all(server, 5) > 4


def test_a_limit_must_be_a_number_of_requests() -> None:
    with pytest.raises(UsageError, match="per_domain must be an integer, at least 1, not 0"):
        AioWebClient(per_domain=0)


def test_the_caching_resolver_looks_a_host_up_once_whether_it_is_there_or_not() -> None:
    async def main() -> None:
        resolver = CachingResolver(threads=2)
        found = await asyncio.gather(*(resolver.resolve("localhost", 80) for _ in range(5)))
        assert {one["host"] for each in found for one in each} == {"127.0.0.1"}
        assert {one["port"] for each in found for one in each} == {80}
        missing = "no-such-host.invalid"
        for _ in range(3):
            with pytest.raises(socket.gaierror):
                await resolver.resolve(missing)
        assert len(resolver._answers) == 2
        first = resolver._answers[missing]
        with pytest.raises(OSError):  # noqa: PT011 -- whatever the system says
            await resolver.resolve(missing)
        assert resolver._answers[missing] is first
        await resolver.close()

    asyncio.run(main())


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were looked up; the name server fails at the first of them."""
    asked = list[str]()
    real = socket.getaddrinfo

    def fail_first(host: str, *args: Any, **options: Any) -> Any:
        asked.append(host)
        if len(asked) == 1:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return real(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", fail_first)
    return asked


def test_a_name_server_that_fails_for_a_moment_is_asked_again(
    server: LoopbackServer, lookups: list[str]
) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    home = server.url.replace("127.0.0.1", "localhost")

    async def main() -> usp.Outcome | None:
        resolver = CachingResolver()
        try:
            async with AioWebClient(resolver=resolver) as client:
                tree = await usp.aio.sitemap_tree(
                    home, web_client=client, backoff_initial=0.7, scheme_fallback=False
                )
                return tree.outcome
        finally:
            await resolver.close()

    assert asyncio.run(main()) == "found"
    assert lookups.count("localhost") == 2
    lookups.clear()
    assert usp.sitemap_tree(home, backoff_initial=0.01, scheme_fallback=False).outcome == "found"


def test_a_temporary_failure_is_shared_by_requests_of_the_same_moment(lookups: list[str]) -> None:
    async def main() -> None:
        resolver = CachingResolver()
        for _ in range(3):
            with pytest.raises(socket.gaierror):
                await resolver.resolve("localhost")
        await resolver.close()

    asyncio.run(main())
    assert lookups == ["localhost"]


def test_the_caching_resolver_keeps_a_limited_number_of_answers() -> None:
    async def main() -> None:
        resolver = CachingResolver(max_hosts=2)
        for number in range(1, 5):
            await resolver.resolve(f"127.0.0.{number}")
        assert list(resolver._answers) == ["127.0.0.3", "127.0.0.4"]
        await resolver.close()

    asyncio.run(main())
