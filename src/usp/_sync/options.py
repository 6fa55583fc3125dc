"""What a caller chooses for a sync, checked once; and what came of one site."""

import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from usp._crawl.policy import Policy
from usp._crawl.selection import parse_patterns
from usp._crawl.time_bounds import parse_bound
from usp._crawl.urls import url_with_scheme
from usp._display import without_credentials
from usp._source import CrawlStart, SourceName, is_local
from usp._store import Store
from usp._sync.changes import Change, ChangeKind, kinds_named, microseconds_of
from usp._sync.reader import SyncReader, check_policy
from usp._sync.readings import RunRules
from usp._validate import argument_error, check_flags, check_int, check_number
from usp.exceptions import UsageError
from usp.helpers import strip_url_to_homepage
from usp.objects.outcome import Outcome

Share = float | str
"""A share: ``0.5``, or ``"50%"``."""
Keep = timedelta | str | None
"""How long something is kept: a duration such as ``90d``; None for ever."""
_PERCENT: Final = re.compile(r"\s*(\d{1,3}(?:\.\d{1,6})?)\s?%\s*")
_ALL: Final = 100


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """What a caller chooses for a sync."""

    rules: RunRules
    emit: frozenset[ChangeKind]
    policy: Policy
    """The policy of the crawls, without a choice of pages."""
    include: Sequence[re.Pattern[str]]
    """Only changes of URLs that match one of these are handed over."""
    exclude: Sequence[re.Pattern[str]]
    jitter: float
    keep: timedelta | None
    commit_each: bool
    """Whether each change is taken alone, when the next one is asked for."""

    @classmethod
    def of(
        cls,
        policy: Policy,
        *,
        confirm: int,
        max_removed: Share,
        emit: Iterable[str] | None,
        emit_initial: bool,
        due: bool,
        jitter: float,
        keep: Keep,
        commit_each: bool,
    ) -> Self:
        """Check what a caller has chosen.

        :raises UsageError: if something is wrong.
        """
        check_flags(emit_initial=emit_initial, due=due, commit_each=commit_each)
        check_int("confirm", confirm, 1)
        check_number("jitter", jitter, 0)
        check_policy(policy)
        share = parse_share("max_removed", max_removed)
        return cls(
            RunRules(confirm, share, emit_initial, due),
            kinds_named("emit", emit),
            replace(policy, include=(), exclude=(), hash_bodies=True),
            parse_patterns("include", policy.include),
            parse_patterns("exclude", policy.exclude),
            jitter,
            parse_keep("keep", keep),
            commit_each,
        )

    def wants(self, change: Change) -> bool:
        """Tell whether a change is handed over."""
        if change.change not in self.emit or any(one.search(change.url) for one in self.exclude):
            return False
        return not self.include or any(one.search(change.url) for one in self.include)

    def delay(self) -> float:
        """Return how many seconds to wait before a site, so that not all begin at once."""
        return random.uniform(0, self.jitter)  # noqa: S311 -- not a secret

    def forget_before(self) -> int | None:
        """Return the time before which changes are not kept; None to keep all of them."""
        if self.keep is None:
            return None
        return now() - self.keep // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SiteReport:
    """What came of one site.

    :param site: the site, sitemap or file.
    :param outcome: the outcome of the crawl.
    :param is_baseline: whether it was the first run, which reports no changes.
    :param changes: the number of changes that the run has found, by kind.
    :param pages: the pages that its sitemaps list; one that several list counts for each.
    :param held_back: the URLs that were not removed, since they were too many at once.
    :param sitemaps: the sitemaps that were read, changed or not; robots.txt counts.
    :param unchanged: those of them that were unchanged.
    :param failed: the sitemaps that could not be read; what is known of them stays.
    :param requests: the number of requests, retries included.
    :param not_modified: those of them that were answered with 304.
    :param bytes: the bytes of all bodies as received.
    :param seconds: how long it took.
    """

    site: str
    outcome: Outcome
    is_baseline: bool
    changes: Counter[ChangeKind]
    pages: int
    held_back: int
    sitemaps: int
    unchanged: int
    failed: int
    requests: int
    not_modified: int
    bytes: int
    seconds: float

    @classmethod
    def of(cls, site: str, reader: SyncReader, outcome: Outcome, seconds: float) -> Self | None:
        """Return the report of a run; None if it did not come to its end."""
        result, traffic = reader.result, reader.traffic
        if result is None:
            return None
        return cls(
            site,
            outcome,
            result.is_baseline,
            result.changes,
            result.pages,
            result.held_back,
            traffic.sitemaps,
            traffic.unchanged,
            traffic.failed,
            traffic.requests,
            traffic.not_modified,
            traffic.bytes,
            seconds,
        )


@dataclass(frozen=True, slots=True)
class SyncSource:
    """One source of a sync."""

    source: SourceName
    name: str
    """The name of the site in the state."""
    site_id: int = field(default=0)


def sources_of(
    given: Sequence[SourceName], policy: Policy, *, use_robots: bool, use_known_paths: bool | None
) -> list[SyncSource]:
    """Check sources, and name each; the same one twice counts once.

    :raises UsageError: if there is none, or one is no source.
    """
    if not given:
        raise UsageError("There is no source: name a website, a sitemap or a file.")
    named: dict[str, SyncSource] = {}
    for source in given:
        CrawlStart.for_source(
            source, policy, use_robots=use_robots, use_known_paths=use_known_paths, store=Store()
        )
        name = site_key(source)
        named.setdefault(name, SyncSource(source, name))
    return list(named.values())


def site_key(source: SourceName) -> str:
    """Return the name by which a state knows a source: the same for all spellings of a site."""
    name = os.fspath(source)
    if is_local(source):
        return name
    url = without_credentials(url_with_scheme(name))
    homepage = strip_url_to_homepage(url)
    return homepage if url.rstrip("/") == homepage.rstrip("/") else url


def parse_share(name: str, given: Share) -> float:
    """Return a share from 0 to 1.

    :raises UsageError: if it is none.
    """
    if isinstance(given, str):
        percent = _PERCENT.fullmatch(given)
        if percent is None or float(percent[1]) > _ALL:
            raise argument_error(name, "a share such as 0.5 or '50%'", given)
        return float(percent[1]) / _ALL
    return check_number(name, given, 0, 1)


def parse_keep(name: str, given: Keep) -> timedelta | None:
    """Return a duration; None for ever.

    :raises UsageError: if it is none.
    """
    duration = parse_bound(name, given, last=False)
    if duration is not None and not isinstance(duration, timedelta):
        raise argument_error(name, "a duration such as '90d'", given)
    return duration


def now() -> int:
    """Return the time, in microseconds since 1970."""
    return microseconds_of(datetime.now(UTC))
