"""Slots: how many requests of a client may be in flight, over all crawls.

There is a limit in all; there may be one for each registered domain, and one for each address. A
request takes the slots of its domain and its address first, so that it holds no slot that requests
to other hosts could use while it waits for those.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from usp._domains import is_address, registered_domain

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
        has_slot = False
        try:
            has_slot = await slots.free.acquire()
        finally:
            if not has_slot:  # it was cancelled
                self._leave(key, slots)
        return partial(self._release, key, slots)

    def _release(self, key: Hashable, slots: _Slots) -> None:
        slots.free.release()
        self._leave(key, slots)

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
        held: list[Release] = []
        has_all = False
        try:
            if self._domains:
                held.append(await self._domains.acquire(registered_domain(host) or host))
            if self._addresses and is_direct and (address := await self._address(host)):
                held.append(await self._addresses.acquire(address))
            has_all = await self._all.acquire()
        finally:
            if not has_all:  # it was cancelled
                _release_all(held)
        held.append(self._all.release)
        return partial(_release_all, held)

    async def _address(self, host: str) -> str | None:
        """Return one of the addresses of a host: the same for all hosts that have the same."""
        if is_address(host):
            return host
        with suppress(OSError, UnicodeError):
            return min(await self._look_up(host), default=None)
        return None


def _release_all(held: list[Release]) -> None:
    for release in held:
        release()
