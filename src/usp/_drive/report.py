"""The one place where a crawl logs. Loggers have the names that users of 1.8.1 configure."""

import logging
from typing import Final

from usp._crawl.messages import Answer, FetchFailed, FetchRequest
from usp._parse.sniff import Kind

_log: Final = logging.getLogger("usp.fetch_parse")
_NOT_FOUND: Final = 404


def asking(request: FetchRequest) -> None:
    """Say that a request goes out."""
    again = f" (try {request.attempt})" if request.attempt > 1 else ""
    _log.info("Fetching level %d sitemap %s%s", request.level, request.url, again)


def answered(request: FetchRequest, answer: Answer, *, final: bool) -> None:
    """Say what came of it: nothing at a guessed URL, or a failure to be retried, is no warning."""
    if isinstance(answer, FetchFailed):
        expected = not final or (request.probing and answer.status == _NOT_FOUND)
        level = logging.INFO if expected else logging.WARNING
        _log.log(level, "Could not fetch %s: %s", request.url, answer.message)
    elif answer.kind is Kind.INVALID:
        level = logging.INFO if request.probing else logging.WARNING
        _log.log(level, "Not a sitemap: %s: %s", answer.url, answer.reason)
    else:
        _log.info("Read %s as %s", answer.url, answer.kind)
        _log.debug("%s leads to %d sitemaps", answer.url, len(answer.children))


def assumed_homepage(url: str, homepage: str) -> None:
    """Say that a URL was cut down to its homepage."""
    level = logging.INFO if f"{url}/" == homepage else logging.WARNING
    logging.getLogger("usp.tree").log(level, "Taking %s as the homepage of %s", homepage, url)


def helper_failed(url: str, message: str, *, expected: bool) -> None:
    """Say that the helper of 1.8.1 could not fetch a URL."""
    level = logging.INFO if expected else logging.WARNING
    logging.getLogger("usp.helpers").log(level, "Could not fetch %s: %s", url, message)
