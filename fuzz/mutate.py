"""Random mutation of seeds, where atheris isn't available, and minimization of failing inputs.

An input that takes too long or too much memory fails like any other.
"""

from __future__ import annotations

import random
import resource
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from fuzz import limits
from fuzz.seeds import TOKENS

Check = Callable[[bytes], None]
_MAX_CHANGES: Final = 6
_SHRINK_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The number of inputs tried, and the one that failed, if any, with its exception."""

    inputs: int
    data: bytes = b""
    failure: BaseException | None = None


def search(check: Check, drawn: Iterable[bytes], seconds: float) -> SearchResult:
    """Try inputs until one fails or the time is over."""
    end = time.monotonic() + seconds
    inputs = 0
    with memory_limit():
        for data in drawn:
            inputs += 1
            if failure := failure_of(check, data):
                return SearchResult(inputs, data, failure)
            if time.monotonic() >= end:
                break
    return SearchResult(inputs)


def mutations(seeds: Sequence[bytes], rng: random.Random) -> Iterator[bytes]:
    """Yield the seeds, then mutated ones without end."""
    yield from seeds
    while True:
        yield mutated(seeds, rng)


def failure_of(check: Check, data: bytes) -> BaseException | None:
    """Return the exception of an input; None if it passes."""
    try:
        with time_limit():
            check(data)
    except Exception as failure:  # noqa: BLE001 -- any exception is a failure
        return failure
    return None


def mutated(seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """Return one of the seeds with a few changes."""
    data = rng.choice(seeds)
    for _ in range(rng.randint(1, _MAX_CHANGES)):
        start, end = sorted(rng.randint(0, len(data)) for _ in range(2))
        other = rng.choice(seeds)
        data = rng.choice(
            [
                data[:start] + rng.choice(TOKENS) + data[start:],
                data[:start] + rng.choice(TOKENS) + data[end:],
                data[:start] + rng.randbytes(1) + data[start + 1 :],
                data[:start] + data[end:],
                data[:end] + data[start:],
                data[:start] + other[rng.randint(0, len(other)) :],
            ]
        )
    return data[: limits.INPUT]


def shrink(check: Check, data: bytes) -> bytes:
    """Return a smaller input that fails in the same way, within the time limit."""
    expected = _kind_of(failure_of(check, data))
    end = time.monotonic() + _SHRINK_SECONDS
    size = len(data) // 2
    while size and expected:
        for at in range(len(data) - size, -1, -size):
            smaller = data[:at] + data[at + size :]
            if time.monotonic() > end:
                return data
            if _kind_of(failure_of(check, smaller)) == expected:
                data = smaller
        size = min(size, len(data)) // 2
    return data


def _kind_of(failure: BaseException | None) -> tuple[str, str] | None:
    """Return what identifies a failure: its type and the start of its message."""
    return None if failure is None else (type(failure).__name__, str(failure)[:20])


@contextmanager
def time_limit() -> Iterator[None]:
    """Raise TimeoutError if the block takes too much CPU time."""

    def too_slow(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"more than {limits.SECONDS_AN_INPUT} seconds for one input")

    before = signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, limits.SECONDS_AN_INPUT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def memory_limit() -> Iterator[None]:
    """Raise MemoryError if the block takes too much memory."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limits.MEMORY_MIB << 20, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
