"""Which driver carries a crawl: the client decides, by what it can bear."""

from collections.abc import Generator
from contextvars import copy_context

from usp._crawl.core import Crawl
from usp._drive import events, inline, threads
from usp._drive.fetch import Fetcher
from usp._store import Store
from usp.objects.events import CrawlFinished, Observer
from usp.web_client.abstract_client import AbstractWebClient


def steps(
    crawl: Crawl,
    client: AbstractWebClient,
    homepage: str,
    emit: events.Emit,
    store: Store | None = None,
) -> Generator[None]:
    """Carry a crawl of a site on, with requests side by side where the client allows.

    A crawl has a context of its own, by which a client can emit it from others.
    """
    context = copy_context()
    context.run(client.start_crawl, homepage)
    fetch = Fetcher(client, store or Store(), crawl.policy.max_document_bytes)
    if client.thread_safe and crawl.policy.concurrency > 1:
        yield from threads.steps(crawl, fetch, context, emit)
    else:
        yield from inline.steps(crawl, lambda request: context.run(fetch, request), emit)
    emit(CrawlFinished(crawl.outcome))


def run(
    crawl: Crawl, client: AbstractWebClient, homepage: str, observer: Observer | None = None
) -> None:
    """Carry a crawl of a site to its end."""
    for _ in steps(crawl, client, homepage, events.emitter(observer)):
        pass
