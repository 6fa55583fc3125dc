"""A URL that is asked for once, and the document that came of it."""

from dataclasses import dataclass, field

from usp._crawl.messages import FetchFailed
from usp._parse import Document, Kind
from usp.objects.fetch_info import FetchInfo


@dataclass(slots=True, eq=False)
class SharedDocument:
    """A document and where it stands in the tree: shared by all URLs that redirect to it."""

    document: Document | None = None
    expanded_level: int | None = None
    """The lowest level at which it stands open as an index."""
    judged: bool = False
    """Whether the cursor has come to it."""


@dataclass(slots=True, eq=False)
class Resource:
    """A URL that is asked for once, however often it is declared."""

    url: str
    level: int
    is_guess: bool
    kind: Kind | None = None
    """What to read it as, where that isn't left to its first bytes."""
    may_fall_back: bool = True
    """Whether its other scheme is worth trying, where this one is dead."""
    attempts: int = 0
    declared_level: int | None = None
    """The lowest level at which the tree declares it."""
    failure: FetchFailed | None = None
    fetch_info: FetchInfo | None = None
    """How the document came by this very URL."""
    shared: SharedDocument = field(default_factory=SharedDocument)
    fallback: "Resource | None" = None
    """The same URL with the other scheme, asked for since this one is dead."""

    @property
    def own_answer(self) -> Document | FetchFailed | None:
        """What came of asking for it and nothing else."""
        return self.failure or self.shared.document

    @property
    def answer(self) -> Document | FetchFailed | None:
        """What came of asking for it, one way or the other, if anything has."""
        return self.effective.own_answer

    @property
    def effective(self) -> "Resource":
        """What to wait for, and what stands in the tree: the fallback, unless that is dead as well."""
        return self if self.fallback is None or self.fallback.failure else self.fallback
