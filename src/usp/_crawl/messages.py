"""What the crawl core and a driver exchange: requests to make, and their results.

A driver may be the caller's own, so a result is checked when it is made.
"""

import math
from dataclasses import dataclass, field

from usp._crawl.selection import Selection
from usp._display import redact, without_credentials
from usp._parse import EVERY_CHILD, MAX_DOCUMENT_BYTES, ChildSelection, Document, Kind
from usp._validate import argument_error, check_bool, check_instance, check_int, check_number
from usp.objects.fetch_info import NOT_FETCHED, FetchInfo, StoredDocument, Validators
from usp.objects.problem import CODES


def check_problem_code(name: str, given: str) -> str:
    """Return a code of the table of problems."""
    if check_instance(name, given, str) not in CODES:
        raise argument_error(name, "the code of a problem", given)
    return given


@dataclass(slots=True)
class ResponseProgress:
    """What a driver has seen of a response so far: it may set this on any thread, at any time."""

    began: bool = False
    """The head of a response with a document arrived."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What our drivers need to know of a document beside its URL."""

    kind: Kind | None = None
    """The kind to parse it as; None to detect it."""
    extensions: bool = False
    """Whether its pages keep unknown elements."""
    count_pages: Selection | None = None
    """Count its pages, those that this selection takes; None to count nothing."""
    hash_body: bool = False
    """Whether the SHA-256 of its body is wanted."""
    stored: StoredDocument | None = None
    """The document that an earlier crawl stored: used again if it is unchanged."""
    max_bytes: int = MAX_DOCUMENT_BYTES
    progress: ResponseProgress = field(default_factory=ResponseProgress, compare=False)
    children: ChildSelection = field(default=EVERY_CHILD, compare=False)
    """Which of the sitemaps that it lists are kept."""
    url: str = field(default="", compare=False)
    """The URL by which the crawl knows it: without credentials."""
    robots_agent: str | None = None
    """Read what a robots.txt says to this agent: on the thread that reads the document, since many
    rules take a while. None if nobody will ask."""

    @property
    def is_fresh(self) -> bool:
        """Whether the stored document is used without a request."""
        return self.stored is not None and self.stored.fresh

    @property
    def validators(self) -> Validators:
        """What makes the request conditional."""
        return self.stored.fetch_info.validators if self.stored else Validators()


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A request to make: fetch this URL, and pass the result to the crawl."""

    url: str
    """The URL, with the user and password that were given for it; the repr omits them."""
    level: int = 0
    """The depth in the tree; robots.txt and known paths are at level 0."""
    is_guess: bool = False
    """Nothing declares the URL, so a 404 is no failure."""
    attempt: int = 1
    """1 for the first attempt, more for a retry."""
    validators: Validators = field(default_factory=Validators)
    """Make the request conditional with these, if there are any."""
    _options: ReadOptions = field(default_factory=ReadOptions, repr=False)

    def __repr__(self) -> str:
        url = without_credentials(self.url)
        return (
            f"FetchRequest(url={url!r}, level={self.level}, is_guess={self.is_guess}, "
            f"attempt={self.attempt}, validators={self.validators})"
        )


@dataclass(frozen=True, slots=True)
class FetchFailed:
    """The result of a request that brought no document."""

    message: str
    retryable: bool = False
    """The failure is transient: a retry may help."""
    status: int | None = None
    """The HTTP status, if there was a response."""
    no_response: bool = False
    """No response came: the name did not resolve, the connection failed or timed out."""
    untrusted: bool = False
    """The host responds, but its certificate is not trusted."""
    challenged: bool = False
    """The response is a bot challenge: the site refuses, whatever the status says."""
    client_error: bool = False
    """The client itself failed: it raised an exception."""
    retry_after: float | None = None
    """The seconds to wait, if the server asked for that."""
    code: str = "SM101"
    """The problem code of the failure."""
    fetch_info: FetchInfo = NOT_FETCHED
    """What the response said, if there was one: ``fetch_info`` of the ``InvalidSitemap``."""

    def __post_init__(self) -> None:
        check_instance("message", self.message, str)
        object.__setattr__(self, "message", redact(self.message))  # clients may quote the URL
        for name in ("retryable", "no_response", "untrusted", "challenged", "client_error"):
            check_bool(name, getattr(self, name))
        if self.status is not None:
            check_int("status", self.status, 0)
        if self.retry_after is not None:
            check_number("retry_after", self.retry_after, 0, math.inf)
        check_problem_code("code", self.code)
        check_instance("fetch_info", self.fetch_info, FetchInfo)

    def reason(self, url: str) -> str:
        """Return the reason of the ``InvalidSitemap`` at a URL."""
        return f"Unable to fetch sitemap from {url}: {self.message}"


@dataclass(frozen=True, slots=True)
class NotModified:
    """The result of a conditional request whose document has not changed (304)."""

    fetch_info: FetchInfo = field(default_factory=FetchInfo)
    _document: "Document | FetchFailed | None" = field(default=None, repr=False, compare=False)
    """The stored document, if a driver has inspected it."""


@dataclass(frozen=True, slots=True)
class TruncatedBody:
    """The result of a request whose body ended early: retried, and kept if no retry brings more."""

    failure: FetchFailed
    document: Document
    """What the received part of the body contains."""


FetchResult = Document | TruncatedBody | NotModified | FetchFailed
