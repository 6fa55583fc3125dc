"""How a crawl behaves: one frozen value."""

import math
from dataclasses import dataclass, fields, replace
from typing import Final, TypedDict

from usp._crawl.selection import Kinds, Moment, Patterns, Selection, moment, parse_kind, patterns
from usp._parse import MAX_DOCUMENT_BYTES
from usp._validate import check_bool, check_int, check_number, check_optional_instance
from usp.exceptions import SitemapException

_WHOLE: Final = {
    "per_host": 1,
    "concurrency": 1,
    "prefetch": 1,
    "max_attempts": 1,
    "retry_budget": 0,
    "host_failure_threshold": 1,
    "max_level": 0,
    "max_document_bytes": 1,
    "max_sitemaps": 1,
    "limit": 1,
    "max_repeated_nodes": 0,
}
"""The fields that are whole numbers, and the least that makes sense."""
_MEASURED: Final = {"backoff_initial": 0, "backoff_factor": 1}
"""The fields that may have a fraction, and their least."""
_MONTH: Final = 30 * 24 * 3600
"""In seconds. No system waits much longer at once."""
_LIMITS_IN_SECONDS: Final = {"backoff_max": _MONTH, "max_seconds": None}
"""What limits time, and what it becomes beyond a month: no limit, as far as waiting goes."""
_MAY_BE_NONE: Final = frozenset(
    {"max_sitemaps", "limit", "max_seconds", "use_homepage", "use_newer_paths"}
)
_SWITCHES: Final = (
    "undated",
    "trust_index_lastmod",
    "use_homepage",
    "use_newer_paths",
    "scheme_fallback",
    "extensions",
)
_PATTERNS: Final = ("include", "exclude", "include_sitemaps", "exclude_sitemaps")


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits and manners of a crawl. What is None has no limit."""

    per_host: int = 8
    """How many requests may be under way to one host; fewer while it answers 429 or 503."""
    concurrency: int = 32
    """How many requests may be under way in all."""
    prefetch: int = 32
    """How many documents are fetched ahead of the page that a stream is at."""

    max_attempts: int = 5
    """How often one URL is asked for, while failures are of the kind that passes."""
    backoff_initial: float = 1.0
    """Seconds before the second try."""
    backoff_factor: float = 1.5
    """By how much each delay is longer than the one before."""
    backoff_max: float = 60.0
    """The limit on pauses, also on what ``Retry-After`` asks for; a month at most."""
    retry_budget: int = 1000
    """How many second and further tries a whole crawl may make."""
    host_failure_threshold: int = 3
    """After so many URLs in a row without an answer a host is asked one by one, then given up."""

    max_level: int = 11
    """How deep sitemaps may lie; robots.txt and known paths are at level 0."""
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    """How much of one document is read, as it came and unpacked."""
    max_sitemaps: int | None = 500_000
    """After how many sitemaps a crawl ends."""
    limit: int | None = None
    """After how many pages a crawl ends."""
    max_seconds: float | None = None
    """After what time a crawl ends, with what it has; more than a month is no limit."""
    max_repeated_nodes: int = 10_000
    """How many nodes may repeat an index that stands elsewhere in the tree already."""

    use_homepage: bool | None = None
    """Whether to look for sitemaps and feeds that the homepage names, in its HTML or its ``Link``
    header; None for only where it is needed."""
    use_newer_paths: bool | None = None
    """Whether to try paths that have become common since 1.8.1; None for where it is needed."""

    scheme_fallback: bool = True
    """Whether to try https where only http was declared and is dead, or the other way, once."""

    extensions: bool = False
    """Whether pages also hold the elements of their entries that mean nothing here."""

    since: Moment | None = None
    """Pages that changed before this are left out; see ``SitemapPage.updated_at``."""
    until: Moment | None = None
    """Pages that changed after this are left out."""
    undated: bool = True
    """Whether pages that don't say when they changed pass ``since`` and ``until``."""
    include: Patterns = ()
    """Only pages whose URL has one of these regular expressions in it."""
    exclude: Patterns = ()
    """No pages whose URL has one of these in it."""
    kind: Kinds = ()
    """Only pages with one of these: ``image``, ``news``, ``video``."""
    include_sitemaps: Patterns = ()
    """Of the sitemaps that an index names, only those whose URL has one of these in it."""
    exclude_sitemaps: Patterns = ()
    """No sitemaps whose URL has one of these in it, whatever names them."""
    trust_index_lastmod: bool = False
    """With ``since``: leave out sitemaps that are older by what their index says, often wrongly."""

    def __post_init__(self) -> None:
        self._check_numbers()
        for name in _SWITCHES:
            if not self._has_none(name):
                check_bool(name, getattr(self, name))
        for name in _PATTERNS:
            object.__setattr__(self, name, patterns(name, getattr(self, name)))
        object.__setattr__(self, "since", moment("since", self.since, last=False))
        object.__setattr__(self, "until", moment("until", self.until, last=True))
        object.__setattr__(self, "kind", parse_kind(self.kind))
        if self.since and self.until and self.since > self.until:  # type: ignore[operator]  # both moments now
            raise SitemapException(f"since ({self.since}) must not be after until ({self.until}).")

    def _check_numbers(self) -> None:
        for name, least in _WHOLE.items():
            if not self._has_none(name):
                check_int(name, getattr(self, name), least)
        for name, least in _MEASURED.items():
            check_number(name, getattr(self, name), least)
        for name, beyond in _LIMITS_IN_SECONDS.items():
            if (
                not self._has_none(name)
                and check_number(name, getattr(self, name), 0, math.inf) > _MONTH
            ):
                object.__setattr__(self, name, beyond)

    def _has_none(self, name: str) -> bool:
        return name in _MAY_BE_NONE and getattr(self, name) is None

    @property
    def selection(self) -> Selection:
        """What is wanted of the site."""
        return Selection(**{field.name: getattr(self, field.name) for field in fields(Selection)})

    def delay(self, tries_made: int, retry_after: float | None, jitter: float) -> float:
        """Return the seconds to wait before the next try; ``jitter`` (0 to 1) varies them."""
        grown = self._grown(tries_made - 1)
        varied = grown * (0.75 + jitter / 2)  # so that requests that failed together part
        return float(min(max(varied, retry_after or 0.0), self.backoff_max))

    def _grown(self, times: int) -> float:
        """Return the first delay, grown so often; with many tries no float can hold it."""
        try:
            return self.backoff_initial * float(self.backoff_factor) ** times
        except OverflowError:
            return self.backoff_max if self.backoff_initial else 0.0


class PolicyFields(TypedDict, total=False):
    """The fields of a policy, as keywords of the functions that take one."""

    per_host: int
    concurrency: int
    prefetch: int
    max_attempts: int
    backoff_initial: float
    backoff_factor: float
    backoff_max: float
    retry_budget: int
    host_failure_threshold: int
    max_level: int
    max_document_bytes: int
    max_sitemaps: int | None
    limit: int | None
    max_seconds: float | None
    max_repeated_nodes: int
    use_homepage: bool | None
    use_newer_paths: bool | None
    scheme_fallback: bool
    extensions: bool
    since: Moment | None
    until: Moment | None
    undated: bool
    include: Patterns
    exclude: Patterns
    kind: Kinds
    include_sitemaps: Patterns
    exclude_sitemaps: Patterns
    trust_index_lastmod: bool


def policy_of(policy: Policy | None, changes: PolicyFields) -> Policy:
    """Return a policy with some fields changed."""
    unknown = sorted(set(changes) - set(PolicyFields.__annotations__))
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}: no field of Policy")
    return replace(given_or_default(policy), **changes)


def given_or_default(policy: Policy | None) -> Policy:
    """Return the caller's policy, or what holds where he has none."""
    given = check_optional_instance("policy", policy, Policy)
    return Policy() if given is None else given
