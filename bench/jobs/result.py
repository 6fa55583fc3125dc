"""The result of a job."""

import hashlib
from collections.abc import Iterable
from typing import Any

JobResult = dict[str, Any]


def digest_of(urls: Iterable[str]) -> str:
    """Return a hash of these URLs in this order."""
    digest = hashlib.blake2b(digest_size=8)
    for url in urls:
        digest.update(url.encode("utf-8", "replace") + b"\n")
    return digest.hexdigest()
