"""``usp.diff``: what is different between two inputs."""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final, Self, Unpack

from usp._closing import ClosesAtExit, close_unless_read, is_being_read
from usp._crawl.policy import Policy
from usp._crawl.selection import matches_patterns, parse_patterns
from usp._diff.compare import Comparer
from usp._diff.differences import Difference, DifferenceKind
from usp._diff.keys import UrlKeys
from usp._diff.records import SideCounts, differing_groups
from usp._diff.sides import COLUMNS, TABLES, PlaceNumbers, Side
from usp._drive.run import CrawlClient
from usp._inputs.listing import ListingStream, open_listing
from usp._keywords import CrawlFields, crawl_keywords, explains_crawl
from usp._sorting import LineSorter
from usp._source import STDIN, SourceName
from usp._sync.reader import check_policy
from usp._validate import argument_error, check_choices
from usp.exceptions import UsageError
from usp.objects.events import Observer
from usp.objects.outcome import Outcome
from usp.web_client.abstract_client import AbstractWebClient

_SIDES: Final = 2


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One side of a comparison.

    :param name: the input, as it was named.
    :param kind: what it is: ``site``, ``sitemap``, ``file``, ``recording``, ``csv``, ``jsonl``,
        ``parquet``, ``arrow``, ``database``, ``folder``, ``state`` or ``list``.
    :param outcome: what came of reading it; None if it doesn't say, as a CSV file.
    :param pages: its rows; a URL that several sitemaps list counts for each.
    :param urls: its different URLs, as far as they were compared.
    :param is_whole: whether all of it was read, as far as it says.
    :param not_urls: the rows that have no URL, such as the totals of another tool; they were left
        out.
    :param incomplete_url: the first sitemap that was not read, or not whole; None if there is none,
        or if it doesn't say.
    """

    name: str
    kind: str
    outcome: Outcome | None
    pages: int
    urls: int
    is_whole: bool
    not_urls: int = 0
    incomplete_url: str | None = None


class Diff(ClosesAtExit, Iterator[Difference]):
    """Differences in the order of their URLs; ``usp.diff`` returns it.

    Both sides are read when the first difference is asked for. It is a context manager; closing it
    removes its temporary file, and so does its end. Another thread may close it.
    """

    _work: "_Work"
    _found: Generator[Difference]

    @classmethod
    def _start(cls, work: "_Work") -> Self:
        found = cls.__new__(cls)
        found._work, found._found = work, work.differences()
        return found

    @property
    def counts(self) -> Counter[DifferenceKind]:
        """The differences so far, by kind; those that were not asked for, too."""
        return self._work.counts

    @property
    def same(self) -> int:
        """The URLs so far in which nothing is different."""
        return self._work.urls.same + self._work.alike

    @property
    def sides(self) -> tuple[DiffSide, ...]:
        """A and B, as far as they were read."""
        return tuple(self._work.side_reports())

    @property
    def is_answered(self) -> bool:
        """Whether both sides could be read, at least in part."""
        return self._work.is_answered

    @property
    def is_whole(self) -> bool:
        """Whether both sides were read whole, as far as they say."""
        return self.is_answered and all(side.is_whole for side in self._work.sides)

    def __next__(self) -> Difference:
        try:
            return next(self._found)
        except ValueError as error:
            if is_being_read(error) and self._work.is_ending:  # another thread closes it
                raise StopIteration from None
            raise

    def close(self) -> None:
        """End it: nothing more is read.

        Another thread may call this, too. Where one is waiting for the next difference, it ends
        there, as soon as it looks; a side that was not read to its end makes it not answered.
        """
        self._work.is_ending = True
        if not close_unless_read(self._found):
            self._work.end_soon()


class _Work:
    """A comparison, from two inputs to differences."""

    def __init__(
        self,
        listings: Sequence[ListingStream],
        client: CrawlClient,
        keys: UrlKeys,
        emit: frozenset[DifferenceKind],
        policy: Policy,
    ) -> None:
        numbers = PlaceNumbers()
        self._listings = listings
        self._client = client
        self._emit = emit
        self._include = parse_patterns("include", policy.include)
        self._exclude = parse_patterns("exclude", policy.exclude)
        self.sides = [Side(letter, keys, numbers) for letter in "ab"]
        self.urls = SideCounts()
        self.counts: Counter[DifferenceKind] = Counter()
        self.alike = 0
        """URLs with several rows, or in other sitemaps, of which nothing is different."""
        self.is_answered = False
        """Whether both sides were read, at least in part; before that, nothing can be said."""
        self.is_ending = False
        """Whether it is closed, or will be by the thread that reads it."""

    def end_soon(self) -> None:
        """End the reading of a side; any thread may do so."""
        for listing in self._listings:
            listing.end_soon()

    def side_reports(self) -> Iterator[DiffSide]:
        for side, urls in zip(self.sides, (self.urls.a, self.urls.b), strict=True):
            if side.kind is not None:
                yield DiffSide(
                    side.name,
                    str(side.kind),
                    side.outcome,
                    side.rows,
                    urls,
                    side.is_whole,
                    side.not_urls,
                    side.incomplete_url,
                )

    def differences(self) -> Generator[Difference]:
        """Read both sides, and yield the wanted differences."""
        with closing(LineSorter()) as sorter:
            with closing(self._client):  # both sides are fetched with it
                for side, listing in zip(self.sides, self._listings, strict=True):
                    side.read(listing, sorter.add)
                    if self.is_ending or not side.was_read:
                        return
            self.is_answered = True
            comparer = Comparer(*(side.facts() for side in self.sides))
            for group in differing_groups(sorter.merged(), self.urls):
                if self.is_ending:
                    return
                is_different = False
                for found in comparer.differences(group):
                    is_different = True
                    if self._is_chosen(found):
                        self.counts[found.change] += 1
                        if found.change in self._emit:
                            yield found
                self.alike += not is_different

    def _is_chosen(self, found: Difference) -> bool:
        urls = {found.url, found.old_url or found.url}
        return any(matches_patterns(url, self._include, self._exclude) for url in urls)


@explains_crawl
def diff(
    a: SourceName,
    b: SourceName,
    *,
    ignore: Iterable[str] = (),
    map: Mapping[str, str] | None = None,
    column: str | Iterable[str | None] | None = None,
    emit: Iterable[str] | None = None,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **crawl_fields: Unpack[CrawlFields],
) -> Diff:
    """Compare two things that list pages, and iterate over what is different.

    Each can be a site, a sitemap or a file, an export, a recording, the state of a sync, a list of
    URLs, or a table of another tool; its content says what it is. Both are read when the first
    difference is asked for. Differences come in the order of their URLs. Memory doesn't grow with
    the number of pages: they are sorted in a temporary file.

    :param a: what to compare with.
    :param b: what is compared; what it has and A doesn't, is ``added``.
    :param ignore: what doesn't matter in URLs: ``scheme``, ``www``, ``slash`` (at the end of the
        path), ``case``, ``query-order``.
    :param map: prefixes of URLs of A, and what stands for each in B; the longest that fits counts.
    :param column: the column with URLs, in a table of another tool; two if A and B differ.
    :param emit: the kinds of differences to hand over; all by default.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param observer: called with each event of the crawls; see ``usp.objects.events``.
    :param policy: limits and options of the crawls. ``include`` and ``exclude`` choose which
        differences are counted and handed over.
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``per_host=4`` or ``timeout=5``.
    :return: an iterator of differences, with ``counts``, ``sides``, ``is_whole`` and ``close()``.
    :raises UsageError: if an argument is wrong, or an input can't be read.
    :raises MissingExtraError: if a library is missing that reads an input.
    """
    if a == b == STDIN:
        raise UsageError("a and b can't both be standard input.")
    policy, client = crawl_keywords(policy, web_client, crawl_fields)
    check_policy(policy, "include_sitemaps", "exclude_sitemaps")
    reading = {
        "web_client": client,
        "use_robots": use_robots,
        "use_known_paths": use_known_paths,
        "observer": observer,
        "policy": replace(policy, include=(), exclude=()),
    }
    keys = UrlKeys.of(ignore, {} if map is None else map)
    listings = _opened((a, b), _columns(column), reading)
    return Diff._start(_Work(listings, client, keys, _kinds(emit), policy))


def _opened(
    sources: Iterable[SourceName], columns: Iterable[str | None], reading: Mapping[str, Any]
) -> list[ListingStream]:
    return [
        open_listing(source, TABLES, columns=COLUMNS, column=column, fingerprints=True, **reading)
        for source, column in zip(sources, columns, strict=True)
    ]


def _columns(given: object) -> list[str | None]:
    """Return the column with URLs of each side."""
    if given is None or isinstance(given, str):
        return [given] * _SIDES
    names = list(given) if isinstance(given, Iterable) else []
    if len(names) != _SIDES or not all(name is None or isinstance(name, str) for name in names):
        raise argument_error("column", "the name of a column, or two of them", given)
    return names


def _kinds(given: Iterable[str] | None) -> frozenset[DifferenceKind]:
    if given is None:
        return frozenset(DifferenceKind)
    return frozenset(map(DifferenceKind, check_choices("emit", given, DifferenceKind)))
