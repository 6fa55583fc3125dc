"""Addresses of hosts, looked up once for all crawls of a client.

A crawl of many sites meets each host a few times within a minute, and many hosts that don't exist.
So what was found is kept, and that nothing was found, too, if that is final. The lookups have
threads of their own: those of the event loop are few, and parsing needs them.
"""

import asyncio
import socket
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult

from usp._validate import check_int, check_number

__all__ = ["CachingResolver"]

_FINAL: Final = frozenset(
    getattr(socket, name)
    for name in ("EAI_NONAME", "EAI_NODATA", "EAI_ADDRFAMILY")
    if hasattr(socket, name)  # the last two are not everywhere
)
"""The errors that are answers: there is no such host, or it has no address. Others say nothing of
the host: a name server that is slow or failed (SERVFAIL is EAI_AGAIN), too many open files."""
_TEMPORARY_SECONDS: Final = 0.5
"""How long other errors are kept: for requests of the same moment, and less than any retry waits
by default."""


class _Answer(NamedTuple):
    """What a lookup brought: addresses with their families, or why there are none."""

    addresses: tuple[tuple[socket.AddressFamily, str], ...] = ()
    error: tuple[object, ...] = ()
    """The arguments of the error, which is raised anew for each request."""
    at: float = 0.0
    """When it came."""

    @property
    def is_final(self) -> bool:
        return not self.error or self.error[0] in _FINAL


class CachingResolver(AbstractResolver):
    """Looks up the addresses of hosts by the system's resolver, and keeps them for a while."""

    def __init__(
        self, *, threads: int = 64, seconds: float = 600.0, max_hosts: int = 50_000
    ) -> None:
        """Make a resolver; it may be used in one event loop.

        :param threads: how many hosts are looked up at once.
        :param seconds: how long an answer is kept, also that there is no such host; a temporary
            failure is kept for half a second at most.
        :param max_hosts: how many answers are kept.
        """
        self._seconds = check_number("seconds", seconds, 0)
        self._max_hosts = check_int("max_hosts", max_hosts, 1)
        self._threads = ThreadPoolExecutor(check_int("threads", threads, 1), "usp-dns")
        self._answers: OrderedDict[str, asyncio.Future[_Answer]] = OrderedDict()

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
        kept = self._answers.get(host)
        if kept and self._is_valid(kept):
            return kept
        found = asyncio.get_running_loop().run_in_executor(self._threads, _look_up, host)
        self._answers[host] = found
        self._answers.move_to_end(host)
        if len(self._answers) > self._max_hosts:
            self._answers.popitem(last=False)
        return found

    def _is_valid(self, kept: asyncio.Future[_Answer]) -> bool:
        """Tell whether an answer may be used again; one that is still awaited is shared."""
        if not kept.done():
            return True
        answer = kept.result()
        seconds = self._seconds if answer.is_final else min(self._seconds, _TEMPORARY_SECONDS)
        return time.monotonic() < answer.at + seconds


def _look_up(host: str) -> _Answer:
    return _asked(host)._replace(at=time.monotonic())


def _asked(host: str) -> _Answer:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except socket.gaierror as error:
        return _Answer(error=error.args)
    except OSError as error:
        return _Answer(error=(socket.EAI_SYSTEM, str(error)))
    except UnicodeError as error:
        return _Answer(error=(socket.EAI_NONAME, str(error)))
    # A link-local address of IPv6 needs its scope, which no public host has.
    return _Answer(tuple(dict.fromkeys((family, str(where[0])) for family, *_, where in found)))
