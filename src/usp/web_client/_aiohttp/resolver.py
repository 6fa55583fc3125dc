"""Addresses of hosts, looked up once for all crawls of a client.

A crawl of many sites meets each host a few times within a minute, and many hosts that don't exist.
So what was found is kept, and that nothing was found, too. The lookups have threads of their own:
those of the event loop are few, and parsing needs them.
"""

import asyncio
import socket
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult

from usp._validate import check_int, check_number

__all__ = ["CachingResolver"]


class _Answer(NamedTuple):
    """What a lookup brought: addresses with their families, or why there are none."""

    addresses: tuple[tuple[socket.AddressFamily, str], ...] = ()
    error: tuple[object, ...] = ()
    """The arguments of the error, which is raised anew for each request."""


class CachingResolver(AbstractResolver):
    """Looks up the addresses of hosts by the system's resolver, and keeps them for a while."""

    def __init__(
        self, *, threads: int = 64, seconds: float = 600.0, max_hosts: int = 50_000
    ) -> None:
        """Make a resolver; it may be used in one event loop.

        :param threads: how many hosts are looked up at once.
        :param seconds: how long an answer is kept, also that there is no such host.
        :param max_hosts: how many answers are kept.
        """
        self._seconds = check_number("seconds", seconds, 0)
        self._max_hosts = check_int("max_hosts", max_hosts, 1)
        self._threads = ThreadPoolExecutor(check_int("threads", threads, 1), "usp-dns")
        self._answers: OrderedDict[str, tuple[float, asyncio.Future[_Answer]]] = OrderedDict()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host.

        :raises OSError: if it has none.
        """
        answer = await asyncio.shield(self._lookup(host))  # others may wait for it, too
        if answer.error:
            raise socket.gaierror(*answer.error)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=found,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for found, address in answer.addresses
            if family in (socket.AF_UNSPEC, found)
        ]

    async def close(self) -> None:
        """End the threads; a lookup that is under way is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _lookup(self, host: str) -> asyncio.Future[_Answer]:
        now = time.monotonic()
        kept = self._answers.get(host)
        if kept and kept[0] > now:
            return kept[1]
        loop = asyncio.get_running_loop()
        found = loop.run_in_executor(self._threads, _look_up, host)
        self._answers[host] = (now + self._seconds, found)
        self._answers.move_to_end(host)
        if len(self._answers) > self._max_hosts:
            self._answers.popitem(last=False)
        return found


def _look_up(host: str) -> _Answer:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except socket.gaierror as error:
        return _Answer(error=error.args)
    except (OSError, UnicodeError) as error:
        return _Answer(error=(socket.EAI_NONAME, str(error)))
    # A link-local address of IPv6 needs its scope, which no public host has.
    return _Answer(tuple(dict.fromkeys((family, str(where[0])) for family, *_, where in found)))
