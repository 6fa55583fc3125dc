"""The result of a job."""

import hashlib
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

JobResult = dict[str, Any]
Argument = TypeVar("Argument")
Value = TypeVar("Value")


def digest_of(urls: Iterable[str]) -> str:
    """Return a hash of these URLs in this order."""
    digest = hashlib.blake2b(digest_size=8)
    for url in urls:
        digest.update(url.encode("utf-8", "replace") + b"\n")
    return digest.hexdigest()


def timed_thrice(
    function: Callable[[Argument], Value], argument: Argument
) -> tuple[Value, dict[str, float]]:
    """Call a function three times; return its value, and the CPU seconds: the first, the least."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        value = function(argument)
        seconds.append(time.process_time() - start)
    return value, {"first": seconds[0], "seconds": min(seconds)}
