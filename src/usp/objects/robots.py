"""What robots.txt says for one agent: which URLs it may fetch, how slowly, and for what use."""

from dataclasses import dataclass, field
from typing import Protocol

from usp.objects.named_fields import pickled_by_name

__all__ = ["RobotsRule", "RobotsVerdict"]


@pickled_by_name
@dataclass(frozen=True, slots=True)
class RobotsRule:
    """A line of robots.txt that allows or disallows URLs.

    :param allows: whether it is an ``Allow`` line.
    :param pattern: the path in it, as it was written.
    :param line: its number, from 1.
    """

    allows: bool
    pattern: str
    line: int


class Rules(Protocol):
    """The compiled rules of robots.txt for one agent."""

    def allows(self, url: str, /) -> bool:
        """Tell whether a URL may be fetched."""

    def rule_for(self, url: str, /) -> RobotsRule | None:
        """Return the line that decides about a URL; None if none does, so that it is allowed."""


class RobotsSource(Protocol):
    """The robots.txt of a site, as a crawl found it."""

    def verdict(self, agent: str, homepage: str, /) -> "RobotsVerdict":
        """Return what it says for an agent."""


@pickled_by_name
@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """What the robots.txt of a host says for one agent (RFC 9309).

    :param agent: the name of the agent, such as ``Googlebot``.
    :param robots_url: the URL of robots.txt.
    :param status: the HTTP status of robots.txt; None if there was no response.
    :param reason: why there are no rules, in words; empty if robots.txt was read.
    :param allows_homepage: whether the homepage may be fetched.
    :param allows_sitemaps: whether the sitemaps that it declares at its own host may be fetched.
    :param crawl_delay: the seconds between two requests that it asks for, if it does.
    :param content_signal: its ``Content-Signal``, such as ``search=yes, ai-train=no``.
    """

    agent: str
    robots_url: str
    status: int | None
    reason: str
    allows_homepage: bool
    allows_sitemaps: bool
    crawl_delay: float | None
    content_signal: str | None
    _rules: Rules = field(repr=False, compare=False)

    def allows(self, url: str) -> bool:
        """Tell whether the agent may fetch a URL of this host."""
        return self._rules.allows(url)

    def rule_for(self, url: str) -> RobotsRule | None:
        """Return the line that decides about a URL; None if no line does."""
        return self._rules.rule_for(url)

    @property
    def status_text(self) -> str:
        """The HTTP status of robots.txt, or why there is none."""
        return self.reason if self.status is None else str(self.status)

    @property
    def content_signals(self) -> dict[str, str]:
        """The ``Content-Signal`` by name: ``{"search": "yes", "ai-train": "no"}``."""
        pairs = (part.partition("=") for part in (self.content_signal or "").split(","))
        return {name.strip().lower(): value.strip().lower() for name, is_, value in pairs if is_}
