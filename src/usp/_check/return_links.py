"""The links between pages of clusters that are not whole: which of them are wrong, exactly.

- A link without return: the page that it leads to has an entry, which doesn't link back, not even
  as ``x-default``.
- A link to a page that no sitemap lists.
- Another name: a page gives its own language by another code than a page that links to it.
- A conflict: pages that link to one another give two URLs for one code.
"""

from array import array
from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from usp._check.check_time import GoOn, always
from usp._check.disjoint_sets import DisjointSets
from usp._check.hreflang import X_DEFAULT, Alternates, HreflangSignatures, code_of
from usp._check.listing import UrlListing, partition_of
from usp._check.origins import Origins
from usp._check.partitions import COUNT, TOP_BYTE, Partitions, hash64

_X_DEFAULT = hash64(X_DEFAULT)


class LinkFault(IntEnum):
    """What is wrong with a link; the numbers are those of the codes."""

    NO_RETURN = 583
    CONFLICT = 585
    UNLISTED = 586
    OTHER_NAME = 587


class FaultyLink(NamedTuple):
    """A link that is wrong."""

    fault: LinkFault
    entry_id: int
    target: int
    """The hash of the URL that it leads to."""
    other: int
    """The id of the entry that contradicts it: that of the target, or, for a conflict, the one that
    gives another URL; of the entry itself if no sitemap lists the target."""


class ReturnLinks:
    """The links of suspect entries."""

    def __init__(self, signatures: HreflangSignatures, go_on: GoOn = always) -> None:
        self._go_on = go_on
        self._signatures = signatures
        self._origins = Origins()
        self._out = Partitions(4, go_on)
        """Page, code, target, id of the entry; by page."""
        self._in = Partitions(4, go_on)
        """Target, page, code, id of the entry; by target."""
        self._pages = Partitions(1, go_on)

    def add(self, url: str, alternates: Alternates, entry_id: int) -> None:
        """Add a suspect entry."""
        page, partition = hash64(url), partition_of(url)
        self._pages.add(page >> TOP_BYTE, page)
        for written, href in alternates:
            code = code_of(written)
            target = hash64(href)
            self._out.add(partition, page, hash64(code), target, entry_id)
            origin = self._origins.of(href)
            if code == X_DEFAULT or target == page or origin is None:
                continue
            if origin.host in self._signatures.read_hosts:
                self._in.add(partition_of(href), target, page, hash64(code), entry_id)

    def faults(self, listing: UrlListing) -> Iterator[FaultyLink]:
        """Yield what is wrong, once everything was added."""
        clusters = DisjointSets(self._sorted_pages())
        for partition in range(COUNT):
            if not self._in.is_empty(partition):
                yield from self._link_faults(partition, listing, clusters)
        yield from self._conflicts(clusters)

    def close(self) -> None:
        """Free the disk space."""
        for records in (self._out, self._in, self._pages):
            records.close()

    def _sorted_pages(self) -> "array[int]":
        """Return the hashes of all suspect pages, sorted."""
        pages: array[int] = array("Q")
        for partition in range(COUNT):
            pages.extend(sorted(set(self._pages.read(partition))))
        return pages

    def _link_faults(
        self, partition: int, listing: UrlListing, clusters: DisjointSets
    ) -> Iterator[FaultyLink]:
        links: set[tuple[int, int]] = set()
        own_codes: dict[int, set[int]] = {}
        for page, code, target, _ in self._out.records(partition):
            if code == _X_DEFAULT:
                continue
            links.add((page, target))
            if page == target:
                own_codes.setdefault(page, set()).add(code)
        listed = listing.first_entries(partition)
        defaults = self._signatures.links_to_defaults(partition)
        left_out = self._signatures.pages_left_out(partition)
        for target, page, code, entry_id in self._in.records(partition):
            if target not in listed:
                yield FaultyLink(LinkFault.UNLISTED, entry_id, target, entry_id)
            elif (target, page) in links:
                clusters.join(target, page)
                if target in own_codes and code not in own_codes[target]:
                    clusters.mark(target)
                    yield FaultyLink(LinkFault.OTHER_NAME, entry_id, target, listed[target])
            elif target not in left_out and (target, page) not in defaults:
                yield FaultyLink(LinkFault.NO_RETURN, entry_id, target, listed[target])

    def _conflicts(self, clusters: DisjointSets) -> Iterator[FaultyLink]:
        """Yield each URL of a cluster that is not the first one for its code.

        Other names are conflicts as well, and tell more; clusters with such a fault are left out.
        """
        members, others = Partitions(4, self._go_on), Partitions(5, self._go_on)
        try:
            for partition in range(COUNT):
                self._add_members(partition, clusters, members)
            for partition in range(COUNT):
                _add_others(members, partition, others)
            members.close()
            for partition in range(COUNT):
                yield from _first_of_each(others.records(partition))
        finally:
            members.close()
            others.close()

    def _add_members(self, partition: int, clusters: DisjointSets, members: Partitions) -> None:
        """Add (cluster, code, entry_id, target) for the pages of a partition."""
        entries = groupby(self._out.records(partition), itemgetter(0, 3))
        for (page, entry_id), links in entries:
            cluster = clusters.set_of(page)
            if clusters.is_marked(cluster):
                continue
            targets: dict[int, int] = {}
            for _, code, target, _ in links:
                # Two URLs for one code are a fault of this entry alone: the first one counts.
                targets.setdefault(code, target)
            for code, target in targets.items():
                members.add(cluster % COUNT, cluster, code, entry_id, target)


def _add_others(members: Partitions, partition: int, others: Partitions) -> None:
    """Add (cluster, code, target, entry_id, first entry) for each URL that is not the first one.

    By this URL: a cluster may be the whole site, and is never in memory at once.
    """
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for cluster, code, entry_id, target in members.records(partition):
        found = entry_id, target
        first[cluster, code] = min(first.get((cluster, code), found), found)
    for cluster, code, entry_id, target in members.records(partition):
        agreed_id, agreed = first[cluster, code]
        if target != agreed:
            others.add(target >> TOP_BYTE, cluster, code, target, entry_id, agreed_id)


def _first_of_each(others: Iterable[tuple[int, ...]]) -> Iterator[FaultyLink]:
    """Yield one conflict for each URL of a cluster and code: that of the first entry with it."""
    first: dict[tuple[int, int, int], tuple[int, int]] = {}
    for cluster, code, target, entry_id, agreed_id in others:
        key, found = (cluster, code, target), (entry_id, agreed_id)
        first[key] = min(first.get(key, found), found)
    for (_, _, target), (entry_id, agreed_id) in first.items():
        yield FaultyLink(LinkFault.CONFLICT, entry_id, target, agreed_id)
