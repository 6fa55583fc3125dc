"""Documents that can be read as they are: small, uncompressed, valid UTF-8, with a known root.

Nearly all sitemaps and feeds are such documents. One look at the head replaces the steps for others
(``decompress``, ``decode``, ``sniff``), which cost more than the entries of a small document. It
never changes a result: a document that those steps would change is left to them.
"""

import re
from collections.abc import Iterable
from typing import Final

from usp._parse.input.sniff import Kind, SniffResult

_MAX_SIZE: Final = 64 * 1024
"""Bodies up to this size are kept in memory as one chunk (``usp._store``)."""
_HEAD: Final = re.compile(
    # A declaration that names UTF-8 or nothing, instructions, comments, and the root element.
    rb"(?:<\?xml version=([\"'])1\.0\1(?: encoding=([\"'])[uU][tT][fF]-8\2)?"
    rb"(?: standalone=([\"'])(?:yes|no)\3)? ?\?>)?+"
    rb"(?:[ \t\r\n]++|<!--(?:[^-]|-[^-])*+-->|<\?xml-stylesheet(?: [^?<>]{0,190}+)?\?>)*+"
    rb"<(?:(urlset)|(sitemapindex)|(rss)|(feed)|(rdf:RDF))[ \t\r\n>]"
)
_KINDS: Final = {4: Kind.URLSET, 5: Kind.INDEX, 6: Kind.RSS, 7: Kind.ATOM, 8: Kind.RSS}
"""By the group of the root element's name."""
_CHARSETS: Final = frozenset({None, "utf-8", "UTF-8"})


def plain_document(
    chunks: Iterable[bytes], charset: str | None, limit: int
) -> tuple[bytes, SniffResult] | None:
    """Return a document that can be read as it is, and its kind; None for any other document."""
    if not isinstance(chunks, list) or len(chunks) != 1 or charset not in _CHARSETS:
        return None
    data: bytes = chunks[0]
    head = _HEAD.match(data)
    if head is None or len(data) > min(limit, _MAX_SIZE) or not _is_utf8(data):
        return None
    name = head.lastindex or 0
    return data, SniffResult(_KINDS[name], head.start(name) - len(b"<"))


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
