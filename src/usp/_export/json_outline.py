"""The outline of a JSON object: its keys, however long its values are.

A row may have megabytes of images. Which columns it has is known without holding them in memory.
"""

import re
from collections.abc import Iterable
from typing import Final

_tokens: Final = re.compile(rb'\\.|["\[\]{}:,]|[^"\\\[\]{}:,]++', re.DOTALL).finditer
_MAX_BYTES: Final = 65536
"""Far more than the names of all columns take."""


def outline(parts: Iterable[bytes]) -> str:
    """Return a JSON object with nothing in its values: texts, lists and objects are empty.

    :param parts: the object, in parts.
    :raises ValueError: if its keys are longer than those of any row.
    """
    made, rest = _Outline(), b""
    for part in parts:
        data, end = rest + part, 0
        for token in _tokens(data):
            made.add(token[0])
            end = token.end()
        rest = data[end:]  # a backslash, without what it escapes
        if len(made.kept) > _MAX_BYTES:
            raise ValueError("its keys are too long")
    return (made.kept + rest).decode("utf-8", "replace")


class _Outline:
    """An outline that is made token by token. What is no JSON stays none."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self._depth = 0
        self._in_text = False
        self._in_value = False

    def add(self, token: bytes) -> None:
        """Add a token, unless it is inside of a value."""
        is_kept = self._depth <= 1
        if token == b'"':
            self._in_text = not self._in_text
        elif self._in_text:
            is_kept = is_kept and not self._in_value
        elif token in {b"[", b"{"}:
            self._depth += 1
        elif token in {b"]", b"}"}:
            self._depth -= 1
            is_kept = self._depth <= 1
        elif token in {b":", b","}:
            self._in_value = token == b":"
        if is_kept:
            self.kept += token
