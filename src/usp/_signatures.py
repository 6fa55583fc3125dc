"""How files begin that are neither a sitemap nor any other text: recordings, tables, databases."""

import zlib
from typing import Final

__all__ = ["FILE_KINDS", "SIGNATURE_BYTES", "kind_of_file"]

FILE_KINDS: Final = {
    b"SQLite format 3\0": "database",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"WARC/": "recording",
}
"""The first bytes of each kind of file."""
SIGNATURE_BYTES: Final = 1024
"""How much of a file is needed, compressed or not: the header of gzip may have a file name."""
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31
"""What zlib takes for a gzip file, with its header."""


def kind_of_file(head: bytes) -> str | None:
    """Return what a file is that begins so, gzipped or not; None if it may be text."""
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(_GZIP_WINDOW).decompress(head, SIGNATURE_BYTES)
        except zlib.error:  # who reads it says what is wrong
            return None
    return next((kind for mark, kind in FILE_KINDS.items() if head.startswith(mark)), None)
