"""What the rows of one URL in A and B mean: pure functions.

A side that was read in part says nothing about what it lacks, unless the sitemaps that listed the
URL on the other side were read whole here, or the sites that they are of.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from usp._diff.differences import Difference, DifferenceKind
from usp._diff.records import COMPARED, PageRow, RowGroup
from usp._inputs.state import FINGERPRINT
from usp._sync.changes import time_of

_LASTMOD: Final = "lastmod"


@dataclass(frozen=True, slots=True)
class SideFacts:
    """What is known of a side, beside its rows."""

    columns: AbstractSet[str] = frozenset()
    """The columns that all of its rows have."""
    is_whole: bool = True
    """Whether all of it was read, as far as it says."""
    whole_places: AbstractSet[int] = frozenset()
    """The sitemaps and sites that were read whole, by number."""
    sites: Mapping[int, AbstractSet[int]] = field(default_factory=dict)
    """The sites of each place that lists pages, by number; nothing where it doesn't say."""
    sitemaps: AbstractSet[int] = frozenset()
    """The sitemaps that list pages."""
    sitemap_urls: Sequence[str | None] = ()
    """The URL of each sitemap, by number; None for one of the other side."""

    def could_list(self, rows: Sequence[PageRow], other: "SideFacts") -> bool:
        """Tell whether a URL that isn't listed here may be, in what was not read.

        :param rows: those that list it on the other side.
        """
        return not self.is_whole and not all(self._has_read(row.place, other) for row in rows)

    def _has_read(self, place: int | None, other: "SideFacts") -> bool:
        """Tell whether what lists a URL on the other side was read whole here."""
        if place is None:
            return False
        sites = other.sites.get(place, frozenset())
        return place in self.whole_places or (bool(sites) and sites <= self.whole_places)

    def sitemaps_of(self, rows: Sequence[PageRow]) -> AbstractSet[int]:
        """Return the sitemaps of some rows."""
        return {row.place for row in rows if row.place is not None} & self.sitemaps

    def sitemap_url(self, row: PageRow) -> str | None:
        """Return the sitemap of a row."""
        return None if row.place is None else self.sitemap_urls[row.place]


class Comparer:
    """Says what is different about a URL, given the rows of both sides."""

    def __init__(self, a: SideFacts, b: SideFacts) -> None:
        self._a, self._b = a, b
        shared = a.columns & b.columns
        self._compares_dates = _LASTMOD in shared
        self._fields = [name for name in COMPARED if name in shared]
        self._compares_sitemaps = not a.sitemaps.isdisjoint(b.sitemaps)
        """Whether they belong together: those of two hosts, or of two files, have other names."""

    def differences(self, group: RowGroup) -> Iterator[Difference]:
        """Yield what is different about a URL."""
        a, b = group
        if not a:
            maybe = self._a.could_list(b, self._b)
            kind = DifferenceKind.MAYBE_ADDED if maybe else DifferenceKind.ADDED
            yield self._difference(kind, None, b[0])
        elif not b:
            maybe = self._b.could_list(a, self._a)
            kind = DifferenceKind.MAYBE_REMOVED if maybe else DifferenceKind.REMOVED
            yield self._difference(kind, a[0], None)
        else:
            yield from self._of_both(a, b)

    def _of_both(self, a: Sequence[PageRow], b: Sequence[PageRow]) -> Iterator[Difference]:
        if self._has_moved(a, b):
            yield self._difference(DifferenceKind.MOVED, a[0], b[0])
        for row_a, row_b in self._pairs(a, b):
            if fields := tuple(self._differing(row_a, row_b)):
                yield self._difference(DifferenceKind.CHANGED, row_a, row_b, fields)
                return

    def _has_moved(self, a: Sequence[PageRow], b: Sequence[PageRow]) -> bool:
        """Tell whether no sitemap that listed a URL lists it any more, as far as is known."""
        before, after = self._a.sitemaps_of(a), self._b.sitemaps_of(b)
        if not self._compares_sitemaps or not before or not after or before & after:
            return False
        return not self._a.could_list(b, self._b) and not self._b.could_list(a, self._a)

    def _pairs(
        self, a: Sequence[PageRow], b: Sequence[PageRow]
    ) -> Iterator[tuple[PageRow, PageRow]]:
        """Yield the rows to compare: those of the same sitemap; else the first of each side."""
        by_sitemap = {row.place: row for row in reversed(b)} if self._compares_sitemaps else {}
        shared = [(row, by_sitemap[row.place]) for row in a if row.place in by_sitemap]
        yield from shared or [(a[0], b[0])]

    def _differing(self, a: PageRow, b: PageRow) -> Iterator[str]:
        """Yield the names of the columns that differ."""
        if self._compares_dates and a.lastmod != b.lastmod:
            yield _LASTMOD
        if a.fields == b.fields:
            return
        values_a, values_b = a.values, b.values
        for name in self._fields:
            value_a, value_b = values_a.get(name), values_b.get(name)
            is_known = name != FINGERPRINT.name or (value_a and value_b)
            if is_known and value_a != value_b:
                yield name

    def _difference(
        self,
        kind: DifferenceKind,
        a: PageRow | None,
        b: PageRow | None,
        fields: tuple[str, ...] = (),
    ) -> Difference:
        shown = b or a
        return Difference(
            kind,
            shown.url if shown else "",
            a.url if a else None,
            self._b.sitemap_url(b) if b else None,
            self._a.sitemap_url(a) if a else None,
            time_of(b.lastmod) if b else None,
            time_of(a.lastmod) if a else None,
            fields,
        )
