"""What is told of a crawl: events for the caller's observer, lines for the log.

The one node where a crawl logs. Loggers have the names that users of 1.8.1 configure.
"""

import logging
from collections.abc import Callable, Iterator
from functools import singledispatch
from typing import Any, Final

from usp._crawl.messages import FetchFailed, FetchRequest, FetchResult, TruncatedBody
from usp._parse import Document, Kind
from usp.objects.events import (
    Event,
    Observer,
    PagesRead,
    RequestFailed,
    RequestStarted,
    RetryScheduled,
    SitemapParsed,
)

# All exist from the import on, since programs set levels and handlers by name.
_log: Final = logging.getLogger("usp.fetch_parse")
_tree_log: Final = logging.getLogger("usp.tree")
_fetch_log: Final = logging.getLogger("usp.helpers")
_invalid_log: Final = logging.getLogger("usp.objects.sitemap")
logging.getLogger("usp").addHandler(logging.NullHandler())  # quiet, until somebody listens
_NOT_FOUND: Final = 404

Emit = Callable[[Event], None]


def emitter(observer: Observer | None) -> Emit:
    """Return what events are to be told to: the log, and the observer if there is one."""
    if observer is None:
        return _write

    def emit(event: Event) -> None:
        _write(event)
        observer(event)

    return emit


def asked(request: FetchRequest) -> RequestStarted:
    """Return the event of a request going out."""
    return RequestStarted(request.url, request.level, request.attempt, request.is_guess)


def answered(request: FetchRequest, answer: FetchResult, delay: float | None) -> Iterator[Event]:
    """Yield the events of an answer; ``delay`` is that before the next try, if there is one."""
    url, attempt, is_guess = request.url, request.attempt, request.is_guess
    if isinstance(answer, TruncatedBody):
        answer = answer.failure if delay is not None else answer.document
    if isinstance(answer, FetchFailed) and delay is not None:
        yield RetryScheduled(url, attempt, answer.message, answer.status, delay)
    elif isinstance(answer, FetchFailed):
        yield RequestFailed(url, attempt, answer.message, answer.status, is_guess)
    elif isinstance(answer, Document):
        kind, children = str(answer.kind), len(answer.children)
        yield SitemapParsed(url, answer.url, kind, children, is_guess, answer.reason)
        if answer.page_count is not None:
            yield PagesRead(answer.url, answer.page_count)


@singledispatch
def _write(event: Any) -> None:  # noqa: ANN401 -- any event that the log doesn't care for
    """Write an event to the log."""


@_write.register
def _(event: RequestStarted) -> None:
    again = f" (try {event.attempt})" if event.attempt > 1 else ""
    _log.info("Fetching level %d sitemap %s%s", event.level, event.url, again)


@_write.register
def _(event: SitemapParsed) -> None:
    if event.kind == Kind.INVALID:
        level = logging.INFO if event.is_guess else logging.WARNING
        _log.log(level, "Not a sitemap: %s: %s", event.final_url, event.reason)
        _invalid_log.info("Invalid sitemap: %s: %s", event.final_url, event.reason)
    else:
        _log.info("Read %s as %s", event.final_url, event.kind)
        _log.debug("%s leads to %d sitemaps", event.final_url, event.sitemaps)


@_write.register
def _(event: RetryScheduled) -> None:
    _fetch_log.info("Could not fetch %s: %s", event.url, event.message)


@_write.register
def _(event: RequestFailed) -> None:
    """Nothing at a guessed URL is no warning."""
    expected = event.is_guess and event.status == _NOT_FOUND
    level = logging.INFO if expected else logging.WARNING
    _fetch_log.log(level, "Could not fetch %s: %s", event.url, event.message)
    _invalid_log.info("Invalid sitemap: %s: %s", event.url, event.message)


def not_closed(url: str, error: BaseException) -> None:
    """Say that a client could not let go of a connection; its document is here all the same."""
    _log.debug("Could not close the response from %s: %r", url, error)


def assumed_homepage(url: str, homepage: str) -> None:
    """Say that a URL was cut down to its homepage."""
    level = logging.INFO if f"{url}/" == homepage else logging.WARNING
    _tree_log.log(level, "Taking %s as the homepage of %s", homepage, url)


def helper_failed(url: str, message: str, *, expected: bool) -> None:
    """Say that the helper of 1.8.1 could not fetch a URL."""
    level = logging.INFO if expected else logging.WARNING
    _fetch_log.log(level, "Could not fetch %s: %s", url, message)
