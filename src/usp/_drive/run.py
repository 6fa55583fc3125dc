"""Which driver runs a crawl: threads, or one request at a time if the client is not thread-safe.

A recording has a driver of its own, which replays it in the order in which it was recorded.
"""

import threading
from collections.abc import Generator
from dataclasses import replace

from usp._crawl.core import Crawl
from usp._crawl.options import CrawlOptions
from usp._drive import events, inline, replay, threads
from usp._drive.fetch import Fetcher
from usp._drive.time_limit import TimeLimit
from usp._store import Store
from usp.objects.events import CrawlFinished, Observer
from usp.web_client import as_web_client
from usp.web_client.abstract_client import AbstractWebClient


def options_for(client: AbstractWebClient, options: CrawlOptions) -> CrawlOptions:
    """Return the options of a crawl that fetches with a client, by what the client can do."""
    early, replays = bool(client.thread_safe), bool(client.replays)
    return replace(options, probe_early=early, skip_delays=replays)


def steps(
    crawl: Crawl,
    client: AbstractWebClient,
    homepage: str,
    emit: events.Emit,
    store: Store | None = None,
) -> Generator[None]:
    """Run a crawl to its end, one result per step, concurrently if the client allows it."""
    client = as_web_client(client)
    limit = crawl.policy.max_document_bytes
    if not client.streams:
        # A client that streams is stopped while reading, and keeps the limit that the caller set.
        # Any other may return a body at once, so it is told the limit, as 1.8.1 tells it.
        client.set_max_response_data_length(limit)
    with client.for_crawl(homepage) as scope:
        ended = TimeLimit(crawl)
        fetch = Fetcher(scope, store or Store(), limit, ended)
        if client.replays:
            yield from replay.steps(crawl, fetch, scope, ended, emit)
        elif client.thread_safe and (crawl.policy.concurrency > 1 or not _gets_signals()):
            yield from threads.steps(crawl, fetch, ended, emit)
        else:
            yield from inline.steps(crawl, fetch, ended, emit)


def _gets_signals() -> bool:
    """Tell whether Ctrl-C ends a request on this thread; on others, only the driver can end it."""
    return threading.current_thread() is threading.main_thread()


def run(
    crawl: Crawl, client: AbstractWebClient, homepage: str, observer: Observer | None = None
) -> None:
    """Run a crawl of a site to its end."""
    emit = events.emitter(observer)
    for _ in steps(crawl, client, homepage, emit):
        pass
    emit(CrawlFinished(crawl.outcome))
