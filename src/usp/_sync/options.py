"""What a caller chooses for a sync, checked once; and what came of one site."""

import math
import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from usp._crawl.policy import Policy
from usp._crawl.selection import matches_patterns, parse_patterns
from usp._crawl.time_bounds import parse_bound
from usp._crawl.urls import LONE_SURROGATE, url_with_scheme
from usp._display import without_credentials
from usp._docstrings import explains_fields
from usp._keywords import CrawlFields
from usp._source import CrawlStart, SourceName, is_local
from usp._store import Store
from usp._sync.changes import Change, ChangeKind, kinds_named, microseconds_of
from usp._sync.reader import SyncReader, check_policy
from usp._sync.readings import RunRules
from usp._validate import argument_error, check_flags, check_int, check_number
from usp.exceptions import UsageError
from usp.helpers import strip_url_to_homepage
from usp.objects.outcome import Outcome
from usp.objects.problem import Problem

Share = float | str
"""A share: ``0.5``, or ``"50%"``."""
Keep = timedelta | str | None
"""How long something is kept: a duration such as ``90d``; None for ever."""
_SHARE: Final = re.compile(r"\s*(\d{1,3}(?:\.\d{1,6})?)\s?(%?)\s*")
_ALL: Final = 100
_NO_ANSWER: Final = frozenset({Outcome.BLOCKED, Outcome.UNREACHABLE})


class SyncFields(CrawlFields, total=False):
    """The keywords of a sync, beside its sources and its state."""

    confirm: int
    max_removed: Share
    emit: Iterable[str] | None
    emit_initial: bool
    due: bool
    jitter: float
    keep: Keep
    commit_each: bool


@dataclass(frozen=True, slots=True)
class SyncChoices:
    """What a caller chooses for a sync. Every field is a keyword of ``usp.sync``.

    :param confirm: in how many runs a URL must be absent before it is ``removed``; until then it is
        ``missing``.
    :param max_removed: the share of a site's URLs that may be removed at once, such as 0.5 or
        ``"50%"``; if more would be, none is, and the report says how many (``held_back``).
    :param emit: the kinds of changes to hand over, such as ``["added", "changed"]``; all by
        default. The others are in the state as well (``usp.changes``).
    :param emit_initial: whether the pages of the first run are ``added``.
    :param due: whether only those sitemaps are requested that are due, by how often each changed.
    :param jitter: wait up to so many seconds before each site of which something is due.
    :param keep: how long changes are kept, such as ``90d``; None for ever.
    :param commit_each: whether a change counts as taken when the next one is asked for; else all of
        them do when the stream is closed, or its ``with`` block ends.
    """

    confirm: int = 2
    max_removed: Share = 0.5
    emit: Iterable[str] | None = None
    emit_initial: bool = False
    due: bool = False
    jitter: float = 0
    keep: Keep = "90d"
    commit_each: bool = True


explains_sync = explains_fields(SyncChoices, "What you can choose, each a keyword")


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """What a caller has chosen for a sync, checked."""

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
    def of(cls, policy: Policy, chosen: SyncChoices) -> Self:
        """Check what a caller has chosen.

        :raises UsageError: if something is wrong.
        """
        check_flags(
            emit_initial=chosen.emit_initial, due=chosen.due, commit_each=chosen.commit_each
        )
        check_policy(policy)
        share = parse_share("max_removed", chosen.max_removed)
        confirm = check_int("confirm", chosen.confirm, 1)
        return cls(
            RunRules(confirm, share, chosen.emit_initial, chosen.due),
            kinds_named("emit", chosen.emit),
            replace(policy, include=(), exclude=(), hash_bodies=True),
            parse_patterns("include", policy.include),
            parse_patterns("exclude", policy.exclude),
            check_number("jitter", chosen.jitter, 0),
            parse_keep("keep", chosen.keep),
            chosen.commit_each,
        )

    def wants(self, change: Change) -> bool:
        """Tell whether a change is handed over."""
        is_wanted = change.change in self.emit
        return is_wanted and matches_patterns(change.url, self.include, self.exclude)

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
    :param is_baseline: whether it was the first run that came to its end, which reports no changes.
    :param changes: the number of changes that the run has found, by kind.
    :param pages: the pages that its sitemaps list; one that several list counts for each.
    :param held_back: the URLs that were not removed, since they were too many at once.
    :param sitemaps: the sitemaps that were read, changed or not; robots.txt is not counted.
    :param unchanged: those of them that were unchanged.
    :param incomplete: the sitemaps, and robots.txt, too, that were read, but not whole; they take
        nothing away.
    :param failed: the sitemaps that could not be read; what is known of them stays.
    :param requests: the number of requests, retries included.
    :param not_modified: those of them that were answered with 304.
    :param bytes: the bytes of all bodies as received.
    :param seconds: how long it took.
    :param reason: why a sitemap or robots.txt could not be read: the first reason, in words; of a
        site that gave no answer at all, that of the first URL tried. None if all could be read.
    :param stopped: the limit that ended the crawl before its end, such as ``max_seconds``; what was
        not read stays as it is known. None if it came to its end.
    :param incomplete_url: the first document that was read, but not whole; None if there is none.
    :param failed_url: the first sitemap that could not be read; None if there is none.
    """

    site: str
    outcome: Outcome
    is_baseline: bool
    changes: Counter[ChangeKind]
    pages: int
    held_back: int
    sitemaps: int
    unchanged: int
    incomplete: int
    failed: int
    requests: int
    not_modified: int
    bytes: int
    seconds: float
    reason: str | None = None
    stopped: Problem | None = None
    incomplete_url: str | None = None
    failed_url: str | None = None

    @classmethod
    def _of(cls, site: str, reader: SyncReader, outcome: Outcome, seconds: float) -> Self | None:
        """Return the report of a run; None if it did not come to its end."""
        result, traffic = reader.result, reader.traffic
        if result is None:
            return None
        guess_reason = traffic.guess_reason if outcome in _NO_ANSWER else None
        return cls(
            site,
            outcome,
            result.is_baseline,
            result.changes,
            result.pages,
            result.held_back,
            traffic.sitemaps,
            traffic.unchanged,
            traffic.incomplete,
            traffic.failed,
            traffic.requests,
            traffic.not_modified,
            traffic.bytes,
            seconds,
            traffic.reason or guess_reason,
            reader.stopped,
            traffic.incomplete_url,
            traffic.failed_url,
        )


@dataclass(frozen=True, slots=True)
class SyncSource:
    """One source of a sync."""

    source: SourceName
    name: str
    """The name of the site in the state."""
    site_id: int = field(default=0)


@dataclass(frozen=True, slots=True)
class DiscoveryChoice:
    """How sitemaps are found."""

    use_robots: bool
    use_known_paths: bool | None


def sources_of(
    given: Sequence[SourceName], policy: Policy, discovery: DiscoveryChoice
) -> list[SyncSource]:
    """Check sources, and name each; the same one twice counts once.

    :raises UsageError: if there is none, or one is no source.
    """
    if not given:
        raise UsageError("There is no source: name a website, a sitemap or a file.")
    named: dict[str, SyncSource] = {}
    for source in given:
        CrawlStart.for_source(
            source,
            policy,
            use_robots=discovery.use_robots,
            use_known_paths=discovery.use_known_paths,
            store=Store(),
        )
        name = site_key(source)
        if LONE_SURROGATE.search(name):
            raise UsageError(f"{name!r} is not UTF-8, so no state can keep it: rename it.")
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
    if not isinstance(given, str):
        return check_number(name, given, 0, 1)
    written = _SHARE.fullmatch(given)
    share = float(written[1]) / (_ALL if written[2] else 1) if written else math.inf
    if share > 1:
        raise argument_error(name, "a share such as 0.5 or '50%'", given)
    return share


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
