"""What the crawl machine and its driver say to one another.

A driver may be the caller's own, so what it says is looked at when it is said.
"""

import math
from dataclasses import dataclass

from usp._validate import instance, instance_or_none, number, problem_code, switch, whole
from usp._crawl.selection import Selection
from usp._parse.document import Document
from usp._parse.input.sniff import Kind


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """Please fetch this."""

    url: str
    level: int = 0
    probing: bool = False
    """The URL is a guess: that nothing is there is no news."""
    attempt: int = 1
    kind: Kind | None = None
    """What to read it as, where that isn't left to its first bytes."""
    extensions: bool = False
    """Its pages are also to hold what means nothing here."""
    counted: Selection | None = None
    """Where the number of its pages is wanted too: which pages count."""


@dataclass(frozen=True, slots=True)
class FetchFailed:
    """It could not be fetched."""

    message: str
    retryable: bool = False
    status: int | None = None
    """The HTTP status, if the client tells one."""
    silent: bool = False
    """The host gave no answer at all: no connection, no name, a time-out."""
    untrusted: bool = False
    """The host is there, but its certificate is not one to trust."""
    broken: bool = False
    """The client itself failed: it raised something."""
    retry_after: float | None = None
    """How many seconds the server asks us to wait."""
    salvaged: Document | None = None
    """What came before the connection broke: better than nothing when tries run out."""
    code: str = "SM101"
    """What it counts as among the problems of a sitemap."""

    def __post_init__(self) -> None:
        instance("message", self.message, str)
        for name in ("retryable", "silent", "untrusted", "broken"):
            switch(name, getattr(self, name))
        if self.status is not None:
            whole("status", self.status, 0)
        if self.retry_after is not None:
            number("retry_after", self.retry_after, 0, math.inf)
        instance_or_none("salvaged", self.salvaged, Document)
        problem_code("code", self.code)

    def reason(self, url: str) -> str:
        """Return why there is nothing at a URL, as the tree tells it."""
        return f"Unable to fetch sitemap from {url}: {self.message}"


Answer = Document | FetchFailed
