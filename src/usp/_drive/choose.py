"""Which driver carries a crawl: the client decides, by what it can bear."""

from collections.abc import Iterator

from usp._crawl.machine import Crawl
from usp._drive import inline, threads
from usp._drive.fetch import Fetcher
from usp._store import Store
from usp.web_client.abstract_client import AbstractWebClient


def steps(
    crawl: Crawl, client: AbstractWebClient, homepage: str, store: Store | None = None
) -> Iterator[None]:
    """Carry a crawl of a site on, with requests side by side where the client allows."""
    client.start_crawl(homepage)
    fetch = Fetcher(client, store or Store(), crawl.policy.max_document_bytes)
    if client.thread_safe and crawl.policy.total > 1:
        return threads.steps(crawl, fetch, client)
    return inline.steps(crawl, fetch)


def run(crawl: Crawl, client: AbstractWebClient, homepage: str) -> None:
    """Carry a crawl of a site to its end."""
    for _ in steps(crawl, client, homepage):
        pass
