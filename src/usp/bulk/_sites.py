"""What a line of the list names: a site, or nothing that can be crawled; and its shard.

A site is known by its key, so that a list may name it twice. Its shard is decided by its registered
domain, so that all hosts of a domain are in one, and the limits on requests to it hold.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b, sha256
from typing import Final
from urllib.parse import urlsplit

from yarl import URL

from usp._crawl.urls import is_start_url, url_with_scheme
from usp._domains import registered_domain
from usp._source import looks_like_sitemap
from usp._validate import argument_error, check_int
from usp.bulk._input import InputLine

MAX_SHARDS: Final = 100_000
"""The number of a shard has five digits."""
SITES_OF_A_SHARD: Final = 1000
_MIN_SHARDS: Final = 16
"""Fewer would leave workers without work, and lose more of it when one is killed."""
_SITES_OF_A_SMALL_SHARD: Final = 125
"""A worker crawls about so many at once; the files of smaller shards would be mostly footers."""
_USUAL_PORTS: Final = (None, 80, 443)
_QUOTES: Final = "\"'"
_NOT_IN_A_SITE: Final = frozenset(" \t\r\n\\")


@dataclass(frozen=True, slots=True)
class NamedSite:
    """A site that a line names."""

    name: str
    """What the crawl starts with: a bare domain, a homepage, or the URL of a sitemap."""
    key: str
    """The same for all lines that name this site, with whatever scheme, in letters or punycode."""
    domain: str
    """Its registered domain; its host, if that has none."""

    @classmethod
    def of(cls, text: str) -> "NamedSite | None":
        """Return the site that a text names; None if it names none.

        As with the commands, the path of a URL is dropped unless it looks like that of a sitemap.
        """
        typed = text.strip(_QUOTES).removeprefix("//")
        url = url_with_scheme(typed)
        if not is_start_url(url) or not _NOT_IN_A_SITE.isdisjoint(url):
            return None
        parts = urlsplit(url)
        user, at, _ = parts.netloc.rpartition("@")
        host = (parts.hostname or "").rstrip(".")
        port = "" if parts.port in _USUAL_PORTS else f":{parts.port}"
        path = f"{parts.path}?{parts.query}".rstrip("?") if looks_like_sitemap(url) else "/"
        shown = f"[{host}]" if ":" in host else host
        place = f"{user}{at}{shown}{port}{path}"
        name = f"{parts.scheme.lower()}://{place}" if "://" in typed else place.removesuffix("/")
        ascii_host = _ascii(host)
        key = f"{ascii_host}{port}{path}"
        return cls(name, key, registered_domain(ascii_host) or ascii_host)


def _ascii(host: str) -> str:
    """Return a host as the client looks it up; as it is, if DNS can't have it."""
    try:
        return host if host.isascii() else URL.build(host=host).raw_host or host
    except ValueError:
        return host


def domain_hash(text: str) -> int:
    """Return the hash that decides on the shard of a line: the same in every process."""
    site = NamedSite.of(text)
    key = site.domain if site else text
    return int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of the list, for one call of ``crawl_shard``; it can be pickled."""

    __module__ = "usp.bulk"  # where users find it

    number: int
    """Its number, from 0."""
    lines: tuple[InputLine, ...]
    """Its lines, in the order of the list."""


class SiteList:
    """A list of sites, divided into shards; a line takes some 60 bytes of memory."""

    def __init__(self, lines: Iterable[InputLine], shards: int | None = None) -> None:
        """Read a list.

        :param shards: the number of shards; by default one for a thousand lines, and more for a
            short list.
        """
        self._texts = bytearray()
        self._ends = array("Q", [0])
        self._numbers = array("Q")
        hashes = array("Q")
        digest = sha256()
        for number, text in lines:
            encoded = text.encode("utf-8", "backslashreplace")
            self._texts += encoded
            self._ends.append(len(self._texts))
            self._numbers.append(number)
            hashes.append(domain_hash(text))
            digest.update(b"%d\t%b\n" % (number, encoded))
        self.fingerprint = digest.hexdigest()
        """The same for the same lines."""
        self.shards = _default_shards(len(self)) if shards is None else _checked(shards)
        self._by_shard = [array("Q") for _ in range(self.shards)]
        for at, hashed in enumerate(hashes):
            self._by_shard[hashed % self.shards].append(at)

    def __len__(self) -> int:
        return len(self._numbers)

    def shard(self, number: int) -> Shard:
        """Return one of the shards."""
        return Shard(number, tuple(map(self._line, self._by_shard[number])))

    def __iter__(self) -> Iterator[Shard]:
        return map(self.shard, range(self.shards))

    def size_of(self, number: int) -> int:
        """Return the number of lines of a shard."""
        return len(self._by_shard[number])

    def _line(self, at: int) -> InputLine:
        text = self._texts[self._ends[at] : self._ends[at + 1]]
        return InputLine(self._numbers[at], text.decode("utf-8"))


def _default_shards(lines: int) -> int:
    wanted = -(-lines // SITES_OF_A_SHARD)
    least = min(_MIN_SHARDS, -(-lines // _SITES_OF_A_SMALL_SHARD))
    return min(max(wanted, least, 1), MAX_SHARDS)


def _checked(shards: int) -> int:
    if check_int("shards", shards, 1) > MAX_SHARDS:
        raise argument_error("shards", f"at most {MAX_SHARDS:,}", shards)
    return shards
