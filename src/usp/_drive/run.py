"""Which client a crawl fetches with, and which driver runs it: threads, or one request at a time on
the caller's thread if the client is not thread-safe, or no other thread is needed.

A recording has a driver of its own, which replays it in the order in which it was recorded.
"""

import threading
from collections.abc import Generator
from dataclasses import replace

from usp._crawl.core import Crawl
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._drive import events, inline, replay, threads
from usp._drive.fetch import Fetcher
from usp._drive.time_limit import TimeLimit
from usp._store import Store
from usp.objects.events import CrawlFinished, Observer
from usp.web_client import (
    ClientSettings,
    as_web_client,
    check_aio_settings,
    own_aio_client,
    own_client,
)
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.abstract_client import AbstractWebClient


class CrawlClient:
    """The client of a crawl: the caller's, which stays open, or one of its own, which it closes.

    One of its own is made when it is first needed: requests takes long to import, and a recording
    is a file.
    """

    def __init__(
        self,
        given: AbstractWebClient | None,
        settings: ClientSettings | None = None,
        source: str | None = None,
        *,
        is_owned: bool = False,
    ) -> None:
        """Fetch with a client, or with a new one that has some settings.

        :param source: what is recorded, if the settings say so, and it is one source.
        :param is_owned: whether a client that is given belongs to the crawl, too.
        :raises UsageError: if what is given is no client.
        """
        self._client = None if given is None else as_web_client(given)
        self._settings = settings or ClientSettings()
        self._source = source
        self._is_owned = given is None or is_owned

    @property
    def is_open(self) -> bool:
        """Whether the client is there: the caller's always is."""
        return self._client is not None

    @property
    def replays(self) -> bool:
        """Whether a recording answers, and no network."""
        return self._settings.replay is not None or bool(self._client and self._client.replays)

    def opened(self) -> AbstractWebClient:
        """Return the client.

        :raises UsageError: if the file of a recording can't be read or written.
        """
        if self._client is None:
            self._client = own_client(self._settings, self._source)
        return self._client

    def for_asyncio(self) -> AbstractAioWebClient:
        """Return a new client for asyncio with the same settings and the same recording."""
        if self._client is None:  # nothing else was fetched
            return own_aio_client(self._settings, self._source)
        return self._client.for_asyncio()

    def check_for_asyncio(self) -> None:
        """Raise if the settings are none of a client for asyncio; nothing is opened.

        :raises UsageError: if one isn't: a SOCKS proxy, say.
        """
        check_aio_settings(self._settings)

    def close(self) -> None:
        """Close the client, if it belongs to the crawl."""
        if self._client is not None and self._is_owned:
            self._client.close()


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
        elif uses_threads(client, crawl.policy):
            yield from threads.steps(crawl, fetch, ended, emit)
        else:
            yield from inline.steps(crawl, fetch, ended, emit)


def uses_threads(client: AbstractWebClient, policy: Policy) -> bool:
    """Tell whether requests run in threads: several at once, or one that may have to be left.

    On the thread of a request, only Ctrl-C ends it, and only on the main thread. A time limit needs
    another one.
    """
    is_main = threading.current_thread() is threading.main_thread()
    may_leave = policy.max_seconds is not None or not is_main
    return bool(client.thread_safe) and (policy.concurrency > 1 or may_leave)


def run(
    crawl: Crawl, client: AbstractWebClient, homepage: str, observer: Observer | None = None
) -> None:
    """Run a crawl of a site to its end."""
    emit = events.emitter(observer)
    for _ in steps(crawl, client, homepage, emit):
        pass
    emit(CrawlFinished(crawl.outcome))
