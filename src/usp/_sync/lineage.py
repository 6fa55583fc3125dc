"""Which sitemaps that a run has not met may be there all the same: a pure function.

A sitemap is gone only if what listed it was asked, and lists it no more. Nothing asks for it where
the caller left it out, nor where what led to it was not asked: robots.txt that is not read, known
paths that are not tried, an index that was left out itself.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from usp._crawl.resource_table import normalized


class Unmet(NamedTuple):
    """A known sitemap that a run has not met."""

    number: int
    url: str
    parent_url: str | None
    """What listed it; None if it was found otherwise: robots.txt itself, a known path."""
    children: Sequence[str]
    """The sitemaps that it listed."""


def place(url: str) -> str:
    """Return what is the same for all spellings of a URL, and for both schemes."""
    key, _ = normalized(url)
    return key.partition(":")[2]


def not_asked(unmet: Sequence[Unmet], left_out: Collection[str]) -> set[int]:
    """Return the numbers of the sitemaps that were not met since nothing asked for them.

    :param left_out: the places of the sitemaps that the caller left out.
    """
    by_place = {place(one.url): one for one in unmet}
    below: defaultdict[str, list[str]] = defaultdict(list)
    for at, one in by_place.items():
        below[at] += map(place, one.children)
        if one.parent_url is not None:
            below[place(one.parent_url)].append(at)
    open_ones = [at for at, one in by_place.items() if one.parent_url is None or at in left_out]
    found: dict[str, int] = {}
    while open_ones:
        at = open_ones.pop()
        if at in by_place and at not in found:
            found[at] = by_place[at].number
            open_ones += below[at]
    return set(found.values())
