"""Events of a crawl: sent to the caller's observer and written to the log.

The only module in which a crawl logs. Loggers have the names that users of 1.8.1 configure.
"""

import logging
from collections.abc import Callable, Iterator
from functools import singledispatch
from typing import Any, Final

from usp._crawl.messages import (
    FetchFailed,
    FetchRequest,
    FetchResult,
    NotModified,
    TruncatedBody,
)
from usp._display import shown, without_credentials
from usp._parse import Document, Kind
from usp.objects.events import (
    Event,
    Observer,
    PagesRead,
    RequestFailed,
    RequestStarted,
    ResponseReceived,
    RetryScheduled,
    SitemapParsed,
)

# All exist from the import on, since programs set levels and handlers by name.
_log: Final = logging.getLogger("usp.fetch_parse")
_tree_log: Final = logging.getLogger("usp.tree")
_fetch_log: Final = logging.getLogger("usp.helpers")
_invalid_log: Final = logging.getLogger("usp.objects.sitemap")
logging.getLogger("usp").addHandler(logging.NullHandler())  # silent unless configured
_NOT_FOUND: Final = 404

Emit = Callable[[Event], None]


def emitter(observer: Observer | None) -> Emit:
    """Return a function that sends an event to the log, and to the observer if there is one."""
    if observer is None:
        return _write

    def emit(event: Event) -> None:
        _write(event)
        observer(event)

    return emit


def request_event(request: FetchRequest) -> RequestStarted:
    """Return the event of a request that is sent."""
    url = without_credentials(request.url)
    return RequestStarted(url, request.level, request.attempt, request.is_guess)


def result_events(
    request: FetchRequest, result: FetchResult, delay: float | None
) -> Iterator[Event]:
    """Yield the events of a result; ``delay`` is that before a retry, if there is one."""
    url, attempt = without_credentials(request.url), request.attempt
    is_guess = request.is_guess
    if isinstance(result, TruncatedBody):
        result = result.failure if delay is not None else result.document
    match result:
        case FetchFailed(message=message, status=status) if delay is not None:
            yield RetryScheduled(url, attempt, message, status, delay)
        case FetchFailed(message=message, status=status):
            yield RequestFailed(url, attempt, message, status, is_guess)
        case NotModified(fetch_info=fetch_info):
            yield ResponseReceived(url, url, fetch_info)
        case Document():
            final_url, children = result.url, result.child_count
            yield ResponseReceived(url, final_url, result.fetch_info)
            yield SitemapParsed(url, final_url, str(result.kind), children, is_guess, result.reason)
            if result.page_count is not None:
                yield PagesRead(final_url, result.page_count)


def _log_line(log: logging.Logger, level: int, message: str, *args: object) -> None:
    """Log one line: nothing that a site sent breaks it or controls a terminal."""
    if log.isEnabledFor(level):
        safe = (shown(arg) if isinstance(arg, str) else arg for arg in args)
        log.log(level, message, *safe, stacklevel=2)


@singledispatch
def _write(event: Any) -> None:  # noqa: ANN401 -- any event that the log doesn't need
    """Write an event to the log."""


@_write.register
def _(event: RequestStarted) -> None:
    retry = f" (attempt {event.attempt})" if event.attempt > 1 else ""
    message = "Fetching level %d sitemap %s%s"
    _log_line(_log, logging.INFO, message, event.level, event.url, retry)


@_write.register
def _(event: SitemapParsed) -> None:
    if event.kind == Kind.INVALID:
        level = logging.INFO if event.is_guess else logging.WARNING
        _log_line(_log, level, "Not a sitemap: %s: %s", event.final_url, event.reason)
        message = "Invalid sitemap: %s: %s"
        _log_line(_invalid_log, logging.INFO, message, event.final_url, event.reason)
    else:
        _log_line(_log, logging.INFO, "Parsed %s as %s", event.final_url, event.kind)
        _log_line(_log, logging.DEBUG, "%s lists %d sitemaps", event.final_url, event.sitemaps)


@_write.register
def _(event: RetryScheduled) -> None:
    message = "Could not fetch %s: %s; retry in %.1f s"
    _log_line(_fetch_log, logging.INFO, message, event.url, event.message, event.delay)


@_write.register
def _(event: RequestFailed) -> None:
    """A 404 at a guessed URL is no warning."""
    expected = event.is_guess and event.status == _NOT_FOUND
    level = logging.INFO if expected else logging.WARNING
    _log_line(_fetch_log, level, "Could not fetch %s: %s", event.url, event.message)
    _log_line(_invalid_log, logging.INFO, "Invalid sitemap: %s: %s", event.url, event.message)


def log_close_error(url: str, error: BaseException) -> None:
    """Log that a client could not close a response; its document was received all the same."""
    message = "Could not close the response from %s: %s"
    _log_line(_log, logging.DEBUG, message, url, repr(error))


def log_homepage(url: str, homepage: str) -> None:
    """Log that a URL was shortened to its homepage."""
    level = logging.INFO if f"{url}/" == homepage else logging.WARNING
    given = without_credentials(url)  # the log would find no line break in a password
    _log_line(_tree_log, level, "Using %s as the homepage of %s", homepage, given)


def log_helper_failure(url: str, message: str, *, expected: bool) -> None:
    """Log that ``helpers.get_url_retry_on_client_errors`` could not fetch a URL."""
    level = logging.INFO if expected else logging.WARNING
    _log_line(_fetch_log, level, "Could not fetch %s: %s", url, message)
