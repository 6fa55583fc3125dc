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
        members = Partitions(4, self._go_on)
        try:
            for partition in range(COUNT):
                for page, code, target, entry_id in self._out.records(partition):
                    cluster = clusters.set_of(page)
                    if not clusters.is_marked(cluster):
                        members.add(cluster % COUNT, cluster, code, entry_id, target)
            for partition in range(COUNT):
                yield from _conflicts(members.records(partition))
        finally:
            members.close()


def _conflicts(members: Iterable[tuple[int, ...]]) -> Iterator[FaultyLink]:
    """Yield the conflicts among (cluster, code, entry_id, target)."""
    # The order within an entry stays: of two URLs for one code, which is a fault of that entry
    # alone, the first one counts.
    in_order = sorted(members, key=itemgetter(0, 1, 2))
    for _, of_code in groupby(in_order, itemgetter(0, 1)):
        first_by_target: dict[int, int] = {}
        for entry_id, of_entry in groupby(of_code, itemgetter(2)):
            first_by_target.setdefault(next(of_entry)[3], entry_id)
        agreed, *others = first_by_target.items()
        for target, entry_id in others:
            yield FaultyLink(LinkFault.CONFLICT, entry_id, target, agreed[1])
