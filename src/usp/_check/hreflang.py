"""hreflang over the whole site: pages that link to one another as versions in other languages.

All pages of a cluster list the same pages, and each of those has an entry. So a cluster needs no
graph, only sums: the *signature* of an entry is the sum of the hashes of its page and of those that
it lists. A cluster is whole if the hashes of the pages that have one signature add up to it. The
sum over (code, page) must agree as well. Pairs are compared for the other clusters alone
(``return_links``), in a second reading.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from usp._check.check_time import GoOn, always
from usp._check.listing import partition_of
from usp._check.origins import MAX_HOSTS, Origins, ReadHosts
from usp._check.partitions import COUNT, MASK, TOP_BYTE, Partitions, hash64
from usp._crawl.unique_urls import string_hash
from usp._parse import BoundedLookup

X_DEFAULT: Final = "x-default"
"""The version for all other languages. A link to it needs no return, though it may be one: a page
to choose a language links to all versions, and they give it as this."""
_X_DEFAULT: Final = hash64(X_DEFAULT) | 1
_MAX_CODES: Final = 10_000
"""How many spellings of codes are kept; there are some hundred."""
_MAX_CODE: Final = 64
"""How long they are."""
_MAX_UNSETTLED: Final = 1_000_000
_WHOLE, _PART = 0, 1

Alternates = Iterable[tuple[str, str]]
"""Codes of languages, and URLs."""


def code_of(written: str) -> str:
    """Return a code in the spelling in which it is compared."""
    return written.strip().lower()


def _hash_of_code(written: str) -> int:
    """Return the hash of a code; odd, so that no factor is zero."""
    return hash64(code_of(written)) | 1


class HreflangSignatures:
    """The signatures of all entries: which clusters are not whole."""

    def __init__(self, go_on: GoOn = always) -> None:
        self._records = Partitions(4, go_on)
        """Signature, page, sum over (code, page), id of the entry."""
        self._by_page = Partitions(2, go_on)
        """Page, signature."""
        self._open = Partitions(5, go_on)
        """Entries that list pages of hosts of which nothing was read yet, by these hosts."""
        self._defaults = Partitions(2, go_on)
        """Page, and what it gives as its version for all other languages."""
        self._left_out = Partitions(1, go_on)
        """Pages whose alternates are not compared."""
        self.left_out = 0
        """How many these are."""
        self.read_hosts = ReadHosts()
        self._origins = Origins()
        self._codes = BoundedLookup(_hash_of_code, _MAX_CODES, _MAX_CODE)
        self._later: Counter[str] = Counter()

    def add(self, url: str, alternates: Alternates, entry_id: int) -> None:
        """Add an entry; one without alternates tells that its host is read."""
        origin = self._origins.of(url)
        if origin is not None:
            self.read_hosts.add(origin.host)
        if alternates:
            page, codes = hash64(url), self._codes
            links = [(codes[code], string_hash(href) & MASK, href) for code, href in alternates]
            signature, later = self._signature(url, page, links)
            named = sum(code * target for code, target, _ in links) & MASK
            if later:
                self._add_open(page, signature, named, entry_id, later)
            else:
                self._add(page, signature, named, entry_id)

    def leave_out(self, url: str) -> None:
        """Add a page whose alternates are not compared: nobody knows whether it links back."""
        self.add(url, (), 0)
        self._left_out.add(partition_of(url), hash64(url))
        self.left_out += 1

    def suspects(self) -> Iterator[int]:
        """Yield the ids of the entries of all clusters that are not whole."""
        self._settle()
        unsettled = self._unsettled()
        for partition in range(COUNT):
            if not self._records.is_empty(partition):
                yield from self._suspects(partition, unsettled)

    def links_to_defaults(self, partition: int) -> set[tuple[int, ...]]:
        """Return pages and what they give as ``x-default``, for the pages of a partition."""
        return set(self._defaults.records(partition))

    def pages_left_out(self, partition: int) -> set[int]:
        """Return the pages of a partition whose alternates are not compared."""
        return set(self._left_out.read(partition))

    def unread_hosts(self) -> dict[str, int]:
        """Return hosts of which no sitemap was read, and how many entries link to them."""
        return {host: n for host, n in self._later.items() if host not in self.read_hosts}

    def close(self) -> None:
        """Free the disk space."""
        for records in (
            *(self._records, self._by_page, self._open, self._defaults, self._left_out),
        ):
            records.close()

    def _signature(
        self, url: str, page: int, links: Iterable[tuple[int, int, str]]
    ) -> tuple[int, dict[str, int]]:
        """Return the signature as far as hosts are read, and what each other host would add."""
        signature = page
        listed = {page}
        later: dict[str, int] = {}
        for code, target, href in links:
            if code == _X_DEFAULT:
                if target != page:
                    self._defaults.add(partition_of(url), page, target)
            elif target not in listed and (origin := self._origins.of(href)):
                listed.add(target)
                if origin.host in self.read_hosts:
                    signature += target
                else:
                    later[origin.host] = later.get(origin.host, 0) + target
        return signature & MASK, later

    def _add_open(
        self, page: int, signature: int, codes: int, entry_id: int, later: dict[str, int]
    ) -> None:
        partition = page >> TOP_BYTE
        self._open.add(partition, _WHOLE, page, signature, codes, entry_id)
        for host, part in later.items():
            if host in self._later or len(self._later) < MAX_HOSTS:
                self._later[host] += 1
            self._open.add(partition, _PART, hash64(host), part & MASK, 0, 0)

    def _add(self, page: int, signature: int, codes: int, entry_id: int) -> None:
        self._records.add(signature >> TOP_BYTE, signature, page, codes, entry_id)
        self._by_page.add(page >> TOP_BYTE, page, signature)

    def _settle(self) -> None:
        """Decide about the hosts that were unknown: now everything is read."""
        for partition in range(COUNT):
            entry: tuple[int, int, int, int] | None = None
            for what, page_or_host, total, codes, entry_id in self._open.records(partition):
                if what == _WHOLE:
                    if entry:
                        self._add(*entry)
                    entry = (page_or_host, total, codes, entry_id)
                elif entry and self.read_hosts.has_hash(page_or_host):
                    entry = (entry[0], (entry[1] + total) & MASK, *entry[2:])
            if entry:
                self._add(*entry)
        self._open.close()

    def _unsettled(self) -> set[int] | None:
        """Return the signatures of pages that have several; None if there are very many.

        Two entries for one page may list different pages, and each may be in a whole cluster.
        """
        unsettled: set[int] = set()
        for partition in range(COUNT):
            pages = self._by_page.read(partition)[0::2]
            if len(set(pages)) == len(pages):
                continue
            known: dict[int, int] = {}
            for page, signature in self._by_page.records(partition):
                first = known.setdefault(page, signature)
                if first != signature:
                    unsettled.update((first, signature))
            if len(unsettled) > _MAX_UNSETTLED:
                return None
        return unsettled

    def _suspects(self, partition: int, unsettled: set[int] | None) -> Iterator[int]:
        sums: dict[int, int] = {}
        first_codes: dict[int, int] = {}
        seen: set[tuple[int, int]] = set()
        failed: set[int] = set()
        for signature, page, codes, _ in self._records.records(partition):
            if (signature, page) not in seen:
                seen.add((signature, page))
                sums[signature] = sums.get(signature, 0) + page
            if first_codes.setdefault(signature, codes) != codes:
                failed.add(signature)
        failed.update(signature for signature, total in sums.items() if total & MASK != signature)
        failed.update(sums if unsettled is None else unsettled & sums.keys())
        if failed:
            for signature, _, _, entry_id in self._records.records(partition):
                if signature in failed:
                    yield entry_id
