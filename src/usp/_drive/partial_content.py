"""Responses with a part of a document: status 206, though no request of ours asks for a part.

A broken cache or proxy sends what it has of a document that somebody else asked a part of. The
connection ends as it should, so nothing else shows that something is missing.

``Content-Range`` means nothing in other successful responses (RFC 9110, 14.4): it is not read.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Self

from usp._crawl.messages import FetchFailed
from usp._drive import response_facts as facts

_RANGE: Final = re.compile(
    r"bytes +([0-9]{1,18})-([0-9]{1,18})/(?:([0-9]{1,18})|\*)", re.IGNORECASE
)
"""The ``Content-Range`` of one part (RFC 9110, 14.4): first byte, last byte, and size if known."""
_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class PartialContent:
    """A part of a document."""

    failure: FetchFailed
    """Why the document is not whole."""
    is_beginning: bool
    """Whether it is the beginning, which can be read like a body that broke off."""
    claimed_size: int | None
    """The size of the document if, by its ``Content-Range``, this part is all of it."""

    def is_whole(self, received: int) -> bool:
        """Tell whether a part of so many bytes is all of the document.

        A range counts bytes with their content encoding, as they are received. Of a body that a
        client decoded, that number is not known, so such a part is not called whole.
        """
        return received == self.claimed_size

    @classmethod
    def of(cls, response: Any, status: int | None) -> Self | None:  # noqa: ANN401 -- any response
        """Return what a response claims to have of a document; None if it is no part."""
        if status != HTTPStatus.PARTIAL_CONTENT:
            return None
        named = facts.text(response.header("Content-Range"))
        part = _RANGE.fullmatch((named or "").strip())
        first, last, size = (int(number or 0) for number in part.groups()) if part else (-1, 0, 0)
        is_all = first == 0 and size == last + 1
        which = f"Content-Range {named[:_SHOWN]}" if named else "without Content-Range"
        # No retry: whatever keeps the part sends it again.
        failure = FetchFailed(f"206 Partial Content, {which}", status=status)
        return cls(failure, is_beginning=first == 0, claimed_size=size if is_all else None)
