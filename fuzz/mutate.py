"""The plain engine: seeds changed at random, for where atheris can't be had; and shrinking.

An input that takes too long or too much memory is a finding like any other.
"""

from __future__ import annotations

import random
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from fuzz import limits
from fuzz.seeds import TOKENS

Check = Callable[[bytes], None]
_MOST_CHANGES: Final = 6
_SHRINKING_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Search:
    """What came of a search: the input that failed and how, if one did."""

    inputs: int
    data: bytes = b""
    failure: BaseException | None = None


def search(check: Check, seeds: Sequence[bytes], seconds: float, seed: int) -> Search:
    """Try the seeds, then changed ones, until one fails or the time is over."""
    chance = random.Random(seed)  # noqa: S311 -- not for secrets
    end = time.monotonic() + seconds
    inputs = 0
    with memory_limit():
        while time.monotonic() < end:
            data = seeds[inputs] if inputs < len(seeds) else changed(seeds, chance)
            inputs += 1
            if failure := failure_of(check, data):
                return Search(inputs, data, failure)
    return Search(inputs)


def failure_of(check: Check, data: bytes) -> BaseException | None:
    """Return what an input breaks; None if all holds."""
    try:
        with time_limit():
            check(data)
    except Exception as failure:  # noqa: BLE001 -- whatever it is, it is what we look for
        return failure
    return None


def changed(seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """Return one of the seeds with a few changes."""
    data = chance.choice(seeds)
    for _ in range(chance.randint(1, _MOST_CHANGES)):
        start, end = sorted(chance.randint(0, len(data)) for _ in range(2))
        other = chance.choice(seeds)
        data = chance.choice(
            [
                data[:start] + chance.choice(TOKENS) + data[start:],
                data[:start] + chance.choice(TOKENS) + data[end:],
                data[:start] + chance.randbytes(1) + data[start + 1 :],
                data[:start] + data[end:],
                data[:end] + data[start:],
                data[:start] + other[chance.randint(0, len(other)) :],
            ]
        )
    return data[: limits.INPUT]


def shrink(check: Check, data: bytes) -> bytes:
    """Return a smaller input that fails in the same way, as far as the time allows."""
    wanted = _kind_of(failure_of(check, data))
    end = time.monotonic() + _SHRINKING_SECONDS
    size = len(data) // 2
    while size and wanted:
        for at in range(len(data) - size, -1, -size):
            smaller = data[:at] + data[at + size :]
            if time.monotonic() > end:
                return data
            if _kind_of(failure_of(check, smaller)) == wanted:
                data = smaller
        size = min(size, len(data)) // 2
    return data


def _kind_of(failure: BaseException | None) -> tuple[str, str] | None:
    """Tell failures apart by their type and the first words of what they say."""
    return None if failure is None else (type(failure).__name__, str(failure)[:20])


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise TimeoutError in what takes too long."""

    def too_slow(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"more than {limits.SECONDS_AN_INPUT} seconds for one input")

    before = signal.signal(signal.SIGALRM, too_slow)
    signal.setitimer(signal.ITIMER_REAL, limits.SECONDS_AN_INPUT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def memory_limit() -> Iterator[None]:
    """Raise MemoryError in what takes too much."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limits.MEMORY_MIB << 20, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
