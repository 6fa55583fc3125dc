"""Heads of HTTP as warcio writes and reads them: byte for byte, in Latin-1.

warcio itself writes ASCII. It percent-encodes other headers, so that a replay would have others,
and fails for a reason phrase; and it guesses the charset of what it reads.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from usp.web_client._warc import warcio_module

__all__ = ["head_class", "head_parser"]


@cache
def head_class() -> Any:  # noqa: ANN401 -- warcio has no types
    """Return the class of heads that are written.

    :raises MissingExtraError: if warcio is not installed.
    """
    base: Any = warcio_module("statusandheaders").StatusAndHeaders

    class Head(base):  # type: ignore[misc]  # of a module that is loaded on demand
        """A status line and headers, in Latin-1 as they were received."""

        def to_ascii_bytes(self, filter_func: Callable[..., Any] | None = None) -> bytes:
            """Return the bytes; a client of the caller's may have texts that Latin-1 hasn't."""
            text: str = self.to_str(filter_func)
            return text.encode("latin-1", "backslashreplace") + b"\r\n"

    return Head


@cache
def head_parser() -> Any:  # noqa: ANN401 -- warcio has no types
    """Return the parser of heads that are read."""
    base: Any = warcio_module("statusandheaders").StatusAndHeadersParser
    statuses: Any = warcio_module("recordloader").ArcWarcRecordLoader.HTTP_TYPES

    class Parser(base):  # type: ignore[misc]  # of a module that is loaded on demand
        """A parser that reads what the clients read."""

        @staticmethod
        def decode_header(line: bytes) -> str:
            return line.decode("latin-1")

    return Parser(statuses, verify=False)
