"""What a sitemap listed: its URLs, their dates, a fingerprint of their other fields, as few bytes.

On real sitemaps a URL takes 6 to 12 bytes. Columns compress better than entries: all URLs, then all
dates, then all fingerprints. The document itself is not kept: what was lost in a transfer can be
merged into a listing, and comparing two of them parses nothing.
"""

import sys
import zlib
from array import array
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise, repeat
from typing import Any, Final, NamedTuple

from usp._parse import PageColumns

FORMAT: Final = 1
"""The number of the form in which listings are written."""
FINGERPRINTED: Final = (
    *("changefreq", "priority", "published_at", "title"),
    *("news", "images", "videos", "alternates", "links"),
)
"""The columns of pages that make the fingerprint. A change of this list is a new ``FORMAT``."""
COLUMNS: Final = ("lastmod", *FINGERPRINTED)
"""The columns of pages that a listing needs."""

_SEPARATOR: Final = "\0"
_NO_DATE: Final = -(2**62)
_LEVEL: Final = 6
"""Of zlib. The highest takes four times as long for three hundredths less."""
_HEAD: Final = 5 * 8
"""The bytes before the columns: the format, the number of entries, the size of each column."""
_NOTHING: Final = (None,) * len(FINGERPRINTED)


class ListedPage(NamedTuple):
    """What is kept of one URL."""

    lastmod: int | None
    """The date, in microseconds since 1970."""
    fields: int
    """A fingerprint of the other fields; 0 if there are none."""


Listing = Mapping[str, ListedPage]
"""The entries of a sitemap by URL, in the order of the document."""


class ListingBuilder:
    """Collects a listing while the columns of a sitemap are read."""

    def __init__(self) -> None:
        self.entries: dict[str, ListedPage] = {}
        self.news = 0
        """The number of URLs with a news story."""

    def add(self, columns: PageColumns) -> None:
        """Add some pages."""
        fields = map(_fingerprint, zip(*(columns[name] for name in FINGERPRINTED), strict=True))
        entries = map(ListedPage, columns["lastmod"], fields)
        urls: list[str] = columns["url"]
        if any(_SEPARATOR in url for url in urls):
            urls = [url.replace(_SEPARATOR, "") for url in urls]
        self.entries.update(zip(urls, entries, strict=True))
        self.news += sum(map(bool, columns["news"]))


def _fingerprint(values: tuple[Any, ...]) -> int:
    """Return a number that differs where listed values do; the same in every process."""
    return 0 if values == _NOTHING else zlib.crc32(_bytes(repr(values)))


def url_hash(url: str) -> int:
    """Return 32 bits of a URL, for a first look at whether a sitemap lists it."""
    return zlib.crc32(_bytes(url))


def hashes_of(listing: Listing) -> bytes:
    """Return the hashes of all URLs of a listing, four bytes each."""
    return _little(array("I", map(url_hash, listing))).tobytes()


def read_hashes(data: bytes) -> "array[int]":
    """Return hashes that ``hashes_of`` has written."""
    hashes = array("I")
    hashes.frombytes(data)
    return _little(hashes)


def encode(listing: Listing) -> bytes:
    """Return a listing as compressed bytes."""
    urls = _bytes(_SEPARATOR.join(listing))
    dates = [_NO_DATE if one.lastmod is None else one.lastmod for one in listing.values()]
    steps = array("q", (after - before for before, after in pairwise([0, *dates])))
    fields = array("I", (one.fields for one in listing.values()))
    parts = (urls, _planes(steps), _planes(fields) if any(fields) else b"")
    head = array("Q", [FORMAT, len(listing), *(len(part) for part in parts)])
    return zlib.compress(_little(head).tobytes() + b"".join(parts), _LEVEL)


def decode(data: bytes) -> dict[str, ListedPage]:
    """Return the listing of compressed bytes, in its order."""
    count, (urls, dates, fields) = _parts(data)
    if not count:
        return {}
    moments = accumulate(_values("q", dates, count))
    prints = _values("I", fields, count) if fields else repeat(0, count)
    return {
        url: ListedPage(None if moment == _NO_DATE else moment, mark)
        for url, moment, mark in zip(_urls(urls), moments, prints, strict=True)
    }


def urls_of(data: bytes) -> Iterator[str]:
    """Yield the URLs of compressed bytes alone: cheaper than all of the listing."""
    count, (urls, _, _) = _parts(data)
    return iter(_urls(urls) if count else ())


def _parts(data: bytes) -> tuple[int, list[bytes]]:
    """Return the number of entries, and the bytes of each column."""
    plain = zlib.decompress(data)
    head = array("Q")
    head.frombytes(plain[:_HEAD])
    _, count, *sizes = _little(head)
    ends = accumulate(sizes, initial=_HEAD)
    return count, [plain[start:end] for start, end in pairwise(ends)]


def _urls(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogatepass").split(_SEPARATOR)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _planes(values: "array[int]") -> bytes:
    """Return numbers as bytes, the first byte of each, then the second: similar ones compress."""
    data, size = _little(values).tobytes(), values.itemsize
    return b"".join(data[at::size] for at in range(size))


def _values(code: str, data: bytes, count: int) -> "array[int]":
    """Return the numbers that ``_planes`` has written."""
    values = array(code)
    plain, size = bytearray(len(data)), values.itemsize
    for at in range(size):
        plain[at::size] = data[at * count : (at + 1) * count]
    values.frombytes(bytes(plain))
    return _little(values)


def _little(values: "array[int]") -> "array[int]":
    """Return numbers in the byte order of the file: little-endian on every machine."""
    if sys.byteorder == "big":
        values.byteswap()
    return values
