"""Limits of the asyncio client over all crawls, per registered domain and per address; DNS."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from tests.server import Handler, LoopbackServer, Plain
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
        first = resolver._answers[missing][1]
        with pytest.raises(OSError):  # noqa: PT011 -- whatever the system says
            await resolver.resolve(missing)
        assert resolver._answers[missing][1] is first
        await resolver.close()

    asyncio.run(main())


def test_the_caching_resolver_keeps_a_limited_number_of_answers() -> None:
    async def main() -> None:
        resolver = CachingResolver(max_hosts=2)
        for number in range(1, 5):
            await resolver.resolve(f"127.0.0.{number}")
        assert list(resolver._answers) == ["127.0.0.3", "127.0.0.4"]
        await resolver.close()

    asyncio.run(main())
