"""The policy: every limit and option of a crawl, as one frozen value."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Final, Literal, TypedDict, get_args

from usp._crawl.selection import Kinds, Patterns, Selection, Undated, parse_kind, parse_patterns
from usp._crawl.time_bounds import Moment, parse_bound, resolve_bound
from usp._docstrings import explains_fields
from usp._parse import MAX_DOCUMENT_BYTES
from usp._validate import (
    argument_error,
    check_bool,
    check_instance,
    check_int,
    check_number,
    check_optional_instance,
    hint,
)
from usp.exceptions import UsageError
from usp.objects.named_fields import pickled_by_name

Robots = Literal["ignore", "obey"]
ROBOTS_AGENT: Final = "ultimate_sitemap_parser"
"""The name by which our clients introduce themselves."""
_INTEGERS: Final = {
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
    "max_bytes": 1,
    "max_repeated_nodes": 0,
}
"""The integer fields, and the least value of each."""
_NUMBERS: Final = {"backoff_initial": 0, "backoff_factor": 1}
"""The fields that may have a fraction, and the least value of each."""
_MONTH: Final = 30 * 24 * 3600
"""In seconds. No system waits much longer in one call."""
_TIME_LIMITS: Final = {"backoff_max": _MONTH, "max_crawl_delay": _MONTH, "max_seconds": None}
"""The limits in seconds, and what replaces a value of more than a month."""
_OPTIONAL: Final = frozenset(
    {"max_sitemaps", "limit", "max_bytes", "max_seconds", "use_homepage", "use_newer_paths"}
)
_BOOLEANS: Final = (
    "trust_index_lastmod",
    "use_homepage",
    "use_newer_paths",
    "scheme_fallback",
    "extensions",
    "hash_bodies",
)
_PATTERNS: Final = ("include", "exclude", "include_sitemaps", "exclude_sitemaps")


@pickled_by_name
@dataclass(frozen=True, slots=True)
class Policy:
    """Limits and options of a crawl. Every field is also a keyword of the functions that crawl.

    :param per_host: concurrent requests to one host; fewer while it answers 429 or 503.
    :param concurrency: concurrent requests in all.
    :param prefetch: documents that a stream fetches ahead of the page that you read.
    :param max_attempts: attempts to fetch one URL, while failures are transient.
    :param backoff_initial: seconds before the first retry.
    :param backoff_factor: by how much each further delay is longer.
    :param backoff_max: the longest delay in seconds, also for ``Retry-After``; at most a month.
    :param retry_budget: retries in the whole crawl.
    :param host_failure_threshold: URLs in a row that get no response, 429 or 503 before a host
        backs off to one request at a time.
    :param max_level: the depth of the tree; robots.txt and known paths are at level 0.
    :param max_document_bytes: the size of one document, as received and decompressed; the rest of
        a larger one is not read.
    :param max_sitemaps: sitemaps in the whole crawl, which then ends; None for no limit. No more
        than that are kept of an index.
    :param limit: pages in the whole crawl, which then ends; None for no limit.
    :param max_bytes: the bytes of all bodies as received, after which the crawl ends with what it
        has; None for no limit.
    :param max_seconds: the time of the whole crawl, which then ends with what it has, within two
        seconds; None for no limit, 0 for no time.
    :param max_repeated_nodes: nodes that repeat an index which the tree already contains.
    :param use_homepage: whether to look for sitemaps and feeds that the homepage names, in its HTML
        or its ``Link`` header; None for only where nothing else was found.
    :param use_newer_paths: whether to try paths that have become common since 1.8.1; None for only
        where nothing else was found.
    :param scheme_fallback: whether to try https once where http gives no response, or the reverse.
    :param robots: ``obey`` to request nothing that robots.txt disallows, and to keep its
        ``Crawl-delay``; ``ignore`` to read the sitemaps that it declares, and nothing else of it.
    :param robots_agent: the name of the agent whose rules are obeyed.
    :param max_crawl_delay: the longest ``Crawl-delay`` that is kept, in seconds; at most a month.
    :param extensions: whether pages keep elements that are unknown (``page.extensions``).
    :param hash_bodies: whether to compute the SHA-256 of each body (``fetch_info.sha256``).
    :param since: skip pages that changed before this: a date, a time, a text such as ``2026-01`` or
        ``48h``, or a ``timedelta`` before now; see ``SitemapPage.updated_at``.
    :param until: skip pages that changed after this.
    :param undated: ``keep`` or ``drop`` pages without a date when ``since`` or ``until`` is given.
    :param include: only pages whose URL matches one of these regular expressions.
    :param exclude: no pages whose URL matches one of these.
    :param kind: only pages with one of these: ``news``, ``image``, ``video``.
    :param include_sitemaps: of the sitemaps that an index lists, only those whose URL matches.
    :param exclude_sitemaps: no sitemaps whose URL matches, whatever declares them.
    :param trust_index_lastmod: with ``since``, skip sitemaps that their index says are older. The
        dates of an index are often wrong.
    """

    per_host: int = 8
    concurrency: int = 32
    prefetch: int = 32

    max_attempts: int = 5
    backoff_initial: float = 1.0
    backoff_factor: float = 1.5
    backoff_max: float = 60.0
    retry_budget: int = 1000
    host_failure_threshold: int = 3

    max_level: int = 11
    max_document_bytes: int = MAX_DOCUMENT_BYTES
    max_sitemaps: int | None = 500_000
    limit: int | None = None
    max_bytes: int | None = None
    max_seconds: float | None = None
    max_repeated_nodes: int = 10_000

    use_homepage: bool | None = None
    use_newer_paths: bool | None = None
    scheme_fallback: bool = True

    robots: Robots = "ignore"
    robots_agent: str = ROBOTS_AGENT
    max_crawl_delay: float = 60.0

    extensions: bool = False
    hash_bodies: bool = False

    since: Moment | None = None
    until: Moment | None = None
    undated: Undated = "keep"
    include: Patterns = ()
    exclude: Patterns = ()
    kind: Kinds = ()
    include_sitemaps: Patterns = ()
    exclude_sitemaps: Patterns = ()
    trust_index_lastmod: bool = False

    def __post_init__(self) -> None:
        self._check_numbers()
        for name in _BOOLEANS:
            if not self._is_absent(name):
                check_bool(name, getattr(self, name))
        if self.undated not in get_args(Undated):
            raise argument_error("undated", "'keep' or 'drop'", self.undated)
        if self.robots not in get_args(Robots):
            raise argument_error("robots", "'obey' or 'ignore'", self.robots)
        if not check_instance("robots_agent", self.robots_agent, str).strip():
            raise argument_error("robots_agent", "the name of an agent", self.robots_agent)
        for name in _PATTERNS:
            self._set(name, parse_patterns(name, getattr(self, name)))
        self._set("kind", parse_kind(self.kind))
        self._set("since", parse_bound("since", self.since, last=False))
        self._set("until", parse_bound("until", self.until, last=True))
        if isinstance(self.since, datetime) and isinstance(self.until, datetime):
            self._check_order(self.since, self.until)

    def _check_numbers(self) -> None:
        for name, least in _INTEGERS.items():
            if not self._is_absent(name):
                check_int(name, getattr(self, name), least)
        for name, least in _NUMBERS.items():
            check_number(name, getattr(self, name), least)
        for name, beyond in _TIME_LIMITS.items():
            if self._is_absent(name):
                continue
            if check_number(name, getattr(self, name), 0, math.inf) > _MONTH:
                self._set(name, beyond)

    def _is_absent(self, name: str) -> bool:
        return name in _OPTIONAL and getattr(self, name) is None

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @staticmethod
    def _check_order(since: datetime, until: datetime) -> None:
        if since > until:
            raise UsageError(f"since ({since}) must not be after until ({until}).")


def selection_of(policy: Policy, now: datetime | None) -> Selection:
    """Return the selection of a policy; durations count back from ``now``, which they need."""
    chosen: dict[str, Any] = {f.name: getattr(policy, f.name) for f in fields(Selection)}
    for name in ("since", "until"):
        if isinstance(chosen[name], datetime | None):
            continue
        if now is None:
            raise UsageError(f"now must be given: {name} is a duration, which counts back from it.")
        chosen[name] = resolve_bound(chosen[name], now)
    if chosen["since"] and chosen["until"]:
        Policy._check_order(chosen["since"], chosen["until"])
    return Selection(**chosen)


class PolicyFields(TypedDict, total=False):
    """The fields of a policy, as keywords of the functions that crawl."""

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
    max_bytes: int | None
    max_seconds: float | None
    max_repeated_nodes: int
    use_homepage: bool | None
    use_newer_paths: bool | None
    scheme_fallback: bool
    robots: Robots
    robots_agent: str
    max_crawl_delay: float
    extensions: bool
    hash_bodies: bool
    since: Moment | None
    until: Moment | None
    undated: Undated
    include: Patterns
    exclude: Patterns
    kind: Kinds
    include_sitemaps: Patterns
    exclude_sitemaps: Patterns
    trust_index_lastmod: bool


def policy_with(policy: Policy | None, changes: PolicyFields) -> Policy:
    """Return a policy, or the default one, with some fields changed."""
    unknown = sorted(set(changes) - set(PolicyFields.__annotations__))
    if unknown:
        raise TypeError(unexpected(unknown[0], PolicyFields.__annotations__))
    return replace(policy_or_default(policy), **changes)


def unexpected(name: str, known: Iterable[str]) -> str:
    """Return what to say of a keyword that no policy has."""
    return (
        f"unexpected keyword argument {name!r}: neither this function nor usp.Policy has it"
        f"{hint(name, known)}"
    )


def agent_name(user_agent: str) -> str | None:
    """Return the name of an agent in its ``User-Agent`` header, by which robots.txt knows it."""
    return next(iter(user_agent.partition("/")[0].split()), None)


def policy_or_default(policy: Policy | None) -> Policy:
    """Return the caller's policy, or the default one."""
    given = check_optional_instance("policy", policy, Policy)
    return Policy() if given is None else given


def without_delays(policy: Policy) -> Policy:
    """Return a policy that never waits between two requests."""
    return replace(policy, backoff_max=0.0, max_crawl_delay=0.0)


explains_policy = explains_fields(Policy, "The fields of ``Policy``, each a keyword here")
