"""Documents that can be read as they are: small, uncompressed, valid UTF-8, with a known root.

Nearly all sitemaps and feeds are such documents. One look at the head replaces the steps for others
(``decompress``, ``decode``, ``sniff``), which cost more than the entries of a small document. It
never changes a result: a document that those steps would change is left to them.
"""

from collections.abc import Iterable
from typing import Final

from usp._parse.input.chunks import CHUNK_SIZE
from usp._parse.input.decode import declared_charset
from usp._parse.input.sniff import SniffResult, sniff_plain_head, sniff_plain_text

_MAX_SIZE: Final = CHUNK_SIZE
"""Larger ones are read in several chunks."""
_CHARSETS: Final = frozenset({None, "utf-8", "UTF-8"})


def plain_document(
    chunks: Iterable[bytes], charset: str | None, limit: int, urls: Iterable[str] = ()
) -> tuple[bytes, SniffResult] | None:
    """Return a document that can be read as it is, and its kind; None for any other document."""
    if not isinstance(chunks, list) or len(chunks) != 1 or charset not in _CHARSETS:
        return None
    data: bytes = chunks[0]
    if len(data) > _MAX_SIZE or len(data) > limit:
        return None
    sniffed = sniff_plain_head(data) or sniff_plain_text(data, *urls)
    if sniffed is None or declared_charset(data) not in _CHARSETS:
        return None
    return (data, sniffed) if _is_utf8(data) else None


def _is_utf8(data: bytes) -> bool:
    if b"\0" in data:
        return False  # maybe UTF-16
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
