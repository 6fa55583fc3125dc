"""What a caller can choose about a crawl of many sites, checked once; it can be pickled.

The defaults differ from those of a crawl of one site: few requests to each, limits on its time,
pages and bytes, few retries, short waits for hosts that don't respond.
"""

import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from usp._crawl.policy import ROBOTS_AGENT, Policy, PolicyFields, agent_name, policy_with
from usp._crawl.selection import Selection
from usp._docstrings import explains
from usp._validate import argument_error, check_flags, check_instance, check_int, check_strings
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.web_client.aio_client import AioWebClient, CachingResolver

BAD_INPUT: Final = "bad_input"
"""The outcome of a line that names no site."""
OUTCOMES: Final = (*map(str, Outcome), BAD_INPUT)
_ENGINES: Final = ("local", "dask")
_POLICY: Final = Policy(
    per_host=2,
    concurrency=4,
    prefetch=4,
    max_attempts=2,
    retry_budget=20,
    backoff_max=10.0,
    host_failure_threshold=2,
    limit=1_000_000,
    max_bytes=2 * 1024**3,
    max_seconds=600.0,
    hash_bodies=True,
)
CLIENT_SETTINGS: Final[Mapping[str, Any]] = {
    "timeout": (5.0, 30.0),
    "first_response_timeout": 15.0,
    "document_deadline": 120.0,
    "private_addresses": "refuse",
}
"""What the client of a crawl has instead of its own defaults."""
_CONTACT: Final = re.compile(r"https?://|[^\s@]@[^\s@]")
"""What an identifying user agent has: where its owner can be reached (RFC 9110 10.1.5)."""
_REQUESTS_OF_A_SITE: Final = 4


class BulkFields(PolicyFields, total=False):
    """The keywords of ``crawl`` and ``crawl_shard``: their own, and the fields of ``Policy``."""

    user_agent: str
    sites_at_once: int
    per_domain: int
    per_address: int
    max_pages_per_site: int
    max_seconds_per_site: float
    max_bytes_per_site: int
    retry: Iterable[str]
    previous: str | None
    record: str | None
    replay: str | None
    use_robots: bool
    use_known_paths: bool | None
    client_settings: Mapping[str, Any]


LIMITS_OF_A_SITE: Final = {
    "max_pages_per_site": "limit",
    "max_seconds_per_site": "max_seconds",
    "max_bytes_per_site": "max_bytes",
}
"""The limits of a site, and the fields of a policy that they are."""
_EXPLAINED: Final = """
    :param user_agent: who crawls, with a URL or an e-mail address, such as
        ``mybot/1.0 (+https://example.org/bot)``; it is required.
    :param sites_at_once: how many sites a worker crawls at once.
    :param per_domain: requests at once to the hosts of one registered domain.
    :param per_address: requests at once from a worker to one IP address.
    :param max_pages_per_site: pages of one site, which then ends; it is marked (``limit``).
    :param max_seconds_per_site: the time of one site, which then ends with what it has.
    :param max_bytes_per_site: the bytes of all bodies of one site, which then ends.
    :param retry: outcomes; sites of shards that are done and have one of these are crawled again.
    :param previous: the folder of an earlier crawl; what has not changed since is copied from it.
    :param record: a folder, which gets a recording of each shard, ``part-00017.warc.gz``.
    :param replay: a folder of recordings that are read instead of the network.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param client_settings: further keywords of ``AioWebClient``, such as ``proxies``. Private
        addresses are refused, unless ``{"private_addresses": "allow"}`` says otherwise."""

explains_bulk = explains(_EXPLAINED, ":param bulk_fields:")


@dataclass(frozen=True, slots=True)
class BulkOptions:
    """The choices of one crawl of many sites."""

    user_agent: str
    sites_at_once: int = 100
    per_domain: int = 2
    per_address: int = 8
    retry: frozenset[str] = frozenset()
    previous: str | None = None
    record: str | None = None
    replay: str | None = None
    use_robots: bool = True
    use_known_paths: bool | None = None
    client_settings: Mapping[str, Any] = field(default_factory=dict)
    policy: Policy = _POLICY

    def __post_init__(self) -> None:
        if not _CONTACT.search(check_instance("user_agent", self.user_agent, str)):
            raise argument_error(
                "user_agent",
                "who you are and how to reach you, such as 'mybot/1.0 (+https://example.org/bot)'",
                self.user_agent,
            )
        for name in ("sites_at_once", "per_domain", "per_address"):
            check_int(name, getattr(self, name), 1)
        check_flags(use_robots=self.use_robots)
        for outcome in self.retry:
            if outcome not in OUTCOMES:
                raise argument_error("retry", f"some of {', '.join(OUTCOMES)}", outcome)
        for name in ("record", "replay"):
            if getattr(self, name) == "":
                raise argument_error(name, "the name of a folder", "")
        if self.record is not None and self.replay is not None:
            raise UsageError("record can't be used together with replay.")
        if self.record is not None and self.retry:  # it would have nothing of the other sites
            raise UsageError("record can't be used together with retry.")

    @classmethod
    def of(cls, given: BulkFields, policy: Policy | None = None) -> Self:
        """Return the options of a caller.

        :raises UsageError: if one is wrong, or the user agent is missing.
        """
        values: dict[str, Any] = dict(given)
        if "user_agent" not in values:
            raise UsageError(
                "user_agent is missing: say who you are and how to reach you, such as "
                "'mybot/1.0 (+https://example.org/bot)'."
            )
        own = {one.name: values.pop(one.name) for one in fields(cls) if one.name in values}
        for name, of_policy in LIMITS_OF_A_SITE.items():
            if name in values:
                values[of_policy] = values.pop(name)
        own["retry"] = frozenset(check_strings("retry", own.get("retry", ())))
        base = policy or _POLICY
        agent = agent_name(str(own["user_agent"]))
        if agent and base.robots_agent == ROBOTS_AGENT:  # the rules are those for who is named
            values.setdefault("robots_agent", agent)
        return cls(**own, policy=policy_with(base, values))  # type: ignore[arg-type]  # it checks them

    @property
    def selection(self) -> dict[str, str]:
        """Which pages and sitemaps are wanted, as text: rows are copied between equal ones only."""
        names = (*(one.name for one in fields(Selection)), "limit")
        return {name: _as_text(getattr(self.policy, name)) for name in names}

    def client(self, resolver: CachingResolver | None = None) -> AioWebClient:
        """Return the client of a worker.

        :raises UsageError: if a setting of it is wrong.
        """
        return AioWebClient(
            **{
                **CLIENT_SETTINGS,
                "concurrency": self.sites_at_once * _REQUESTS_OF_A_SITE,
                "per_domain": self.per_domain,
                "per_address": self.per_address,
                "resolver": resolver,
                "user_agent": self.user_agent,
                **self.client_settings,
            }
        )


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Where the shards of a crawl are run."""

    engine: str = "local"
    workers: int | None = None
    """Processes; by default one for each CPU."""
    scheduler: str | None = None
    """The address of a Dask scheduler; None for one in this process."""
    log_level: int = logging.ERROR
    log_file: str | None = None

    def __post_init__(self) -> None:
        if self.engine not in _ENGINES:
            raise argument_error("engine", " or ".join(map(repr, _ENGINES)), self.engine)
        if self.workers is not None:
            check_int("workers", self.workers, 1)
        if self.scheduler is not None and self.engine != "dask":
            raise UsageError("scheduler needs the engine dask.")

    @property
    def processes(self) -> int:
        """How many worker processes there are."""
        return self.workers or os.cpu_count() or 1


def _as_text(value: object) -> str:
    pattern = getattr(value, "pattern", None)
    if pattern is not None:
        return str(pattern)
    if isinstance(value, tuple | list):
        return ", ".join(map(_as_text, value))
    return str(value)
