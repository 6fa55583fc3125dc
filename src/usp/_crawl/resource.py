"""A URL that is asked for once, and the document that came of it."""

from dataclasses import dataclass, field

from usp._crawl.messages import Answer, FetchFailed
from usp._parse.document import Document
from usp._parse.input.sniff import Kind
from usp.objects.fetch_info import Arrival


@dataclass(slots=True, eq=False)
class Standing:
    """A document and where it stands in the tree: shared by all URLs that redirect to it."""

    document: Document | None = None
    opened_at: int | None = None
    """The lowest level at which it stands open as an index."""
    judged: bool = False
    """Whether the cursor has come to it."""


@dataclass(slots=True, eq=False)
class Resource:
    """A URL that is asked for once, however often it is declared."""

    url: str
    level: int
    probing: bool
    kind: Kind | None = None
    """What to read it as, where that isn't left to its first bytes."""
    two_ways: bool = True
    """Whether its other scheme is worth trying, where this one is dead."""
    tries: int = 0
    placed_at: int | None = None
    """The lowest level at which the tree declares it."""
    failure: FetchFailed | None = None
    arrival: Arrival | None = None
    """How the document came by this very URL."""
    standing: Standing = field(default_factory=Standing)
    twin: "Resource | None" = None
    """The same URL with the other scheme, asked for since this one is dead."""

    @property
    def own_answer(self) -> Answer | None:
        """What came of asking for it and nothing else."""
        return self.failure or self.standing.document

    @property
    def answer(self) -> Answer | None:
        """What came of asking for it, one way or the other, if anything has."""
        return self.in_its_stead.own_answer

    @property
    def in_its_stead(self) -> "Resource":
        """What to wait for, and what stands in the tree: the twin, unless that is dead as well."""
        return self if self.twin is None or self.twin.failure else self.twin
