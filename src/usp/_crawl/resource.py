"""A resource: a URL that is fetched at most once, and the document that came of it."""

from dataclasses import dataclass

from usp._crawl.messages import FetchFailed, ResponseProgress
from usp._parse import Document, Kind
from usp.objects.fetch_info import FetchInfo

Origin = tuple[str, str]
"""A scheme, and a host with its port."""


@dataclass(slots=True, eq=False)
class SharedDocument:
    """A document, shared by all URLs that redirect to it."""

    document: Document | None = None
    expanded_level: int | None = None
    """The lowest level at which the tree expands it as an index."""
    reached: bool = False
    """Whether the cursor has reached it."""


@dataclass(slots=True, eq=False)
class Resource:
    """A URL that is fetched at most once, however often it is declared."""

    url: str
    level: int
    is_guess: bool
    origin: Origin
    kind: Kind | None = None
    """The kind to parse it as; None to detect it."""
    may_fall_back: bool = True
    """Whether the other scheme is worth a request if this one gives no response."""
    attempts: int = 0
    for_rules_only: bool = False
    """It is a robots.txt that the crawl obeys, and that nothing else asked for."""
    declared_level: int | None = None
    """The lowest level at which the tree declares it."""
    failure: FetchFailed | None = None
    """Why it failed, if no retry follows."""
    last_failure: FetchFailed | None = None
    """Why the last attempt failed, if a retry follows."""
    progress: ResponseProgress | None = None
    """What is known of a response that has not arrived yet, once it is requested."""
    fetch_info: FetchInfo | None = None
    """What the response to this very URL said."""
    _shared: SharedDocument | None = None
    fallback: "Resource | None" = None
    """The same URL by the other scheme, requested since this one gave no response."""

    @property
    def shared(self) -> SharedDocument:
        """The document, which other URLs may share; made when it is needed: most fail alone."""
        if self._shared is None:
            self._shared = SharedDocument()
        return self._shared

    def share(self, other: "Resource") -> None:
        """Share the document of another resource."""
        self._shared = other.shared

    @property
    def own_result(self) -> Document | FetchFailed | None:
        """The result of requesting this very URL, if there is one yet."""
        return self.failure or (self._shared.document if self._shared else None)

    @property
    def result(self) -> Document | FetchFailed | None:
        """The result by this scheme or the other, if there is one yet."""
        return self.effective.own_result

    @property
    def effective(self) -> "Resource":
        """The resource that stands in the tree: the fallback, unless that failed as well."""
        return self if self.fallback is None or self.fallback.failure else self.fallback
