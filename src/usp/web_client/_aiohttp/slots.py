"""Slots: how many requests of a client may be in flight, over all crawls.

There is a limit in all; there may be one for each registered domain, and one for each address. A
request takes the slots of its domain and its address first, so that it holds no slot that requests
to other hosts could use while it waits for those.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

from usp._domains import registered_domain

__all__ = ["Release", "RequestSlots"]

Release = Callable[[], None]
"""Gives the slots of one request back."""
LookUpHost = Callable[[str], Awaitable[list[str]]]
"""Returns the addresses of a host, or raises ``OSError``."""


@dataclass(slots=True)
class _Slots:
    """The slots of one key, and how many requests have one or wait for one."""

    free: asyncio.Semaphore
    users: int = 0


@dataclass(slots=True)
class _KeyedSlots:
    """So many slots for each key; keys that nobody uses are forgotten."""

    limit: int
    _by_key: dict[Hashable, _Slots] = field(default_factory=dict)

    async def acquire(self, key: Hashable) -> Release:
        slots = self._by_key.get(key)
        if slots is None:
            slots = self._by_key[key] = _Slots(asyncio.Semaphore(self.limit))
        slots.users += 1
        with ExitStack() as held:
            held.callback(self._leave, key, slots)
            await slots.free.acquire()
            held.callback(slots.free.release)
            return held.pop_all().close

    def _leave(self, key: Hashable, slots: _Slots) -> None:
        slots.users -= 1
        if not slots.users:
            del self._by_key[key]


class RequestSlots:
    """The slots of one client."""

    def __init__(
        self, limit: int, per_domain: int | None, per_address: int | None, look_up: LookUpHost
    ) -> None:
        self._all = asyncio.Semaphore(limit)
        self._domains = None if per_domain is None else _KeyedSlots(per_domain)
        self._addresses = None if per_address is None else _KeyedSlots(per_address)
        self._look_up = look_up

    async def acquire(self, host: str, *, is_direct: bool) -> Release:
        """Wait for a slot; return what gives it back.

        :param is_direct: whether the request connects to the host itself, not to a proxy.
        """
        if self._domains is None and self._addresses is None:
            await self._all.acquire()
            return self._all.release
        with ExitStack() as held:
            if self._domains:
                held.callback(await self._domains.acquire(registered_domain(host) or host))
            if self._addresses and is_direct and (address := await self._address(host)):
                held.callback(await self._addresses.acquire(address))
            await self._all.acquire()
            held.callback(self._all.release)
            return held.pop_all().close

    async def _address(self, host: str) -> str | None:
        """Return one of the addresses of a host: the same for all hosts that have the same."""
        with suppress(OSError, UnicodeError):
            return min(await self._look_up(host), default=None)
        return None
