"""The four ways in which the library crawls a source, with one result to compare."""

from collections.abc import Callable
from typing import Any, NamedTuple

import usp
from tests.loops import run
from usp import aio
from usp.objects.outcome import Attempt, Outcome
from usp.objects.problem import Problem
from usp.web_client.requests_client import RequestsWebClient


class Finding(NamedTuple):
    """What a crawl found."""

    outcome: Outcome | None
    pages: list[str]
    tried: tuple[Attempt, ...]
    problems: tuple[Problem, ...]


def tree(source: str, first_response_timeout: float | None = 36.0, **options: Any) -> Finding:
    client = RequestsWebClient(first_response_timeout=first_response_timeout)
    found = usp.sitemap_tree_for_homepage(source, client, **options)
    client.close()
    return finding_of_tree(found)


def finding_of_tree(found: Any) -> Finding:
    pages = [page.url for page in found.all_pages()]
    return Finding(found.outcome, pages, found.tried, found.problems)


def stream(source: str, first_response_timeout: float | None = 36.0, **options: Any) -> Finding:
    client = RequestsWebClient(first_response_timeout=first_response_timeout)
    with usp.iter_pages(source, web_client=client, **options) as pages:
        urls = [page.url for page in pages]
    client.close()
    return Finding(pages.outcome, urls, pages.tried, pages.problems)


def aio_tree(source: str, first_response_timeout: float | None = 36.0, **options: Any) -> Finding:
    async def crawl() -> Finding:
        async with aio.AioWebClient(first_response_timeout=first_response_timeout) as client:
            return finding_of_tree(await aio.sitemap_tree_for_homepage(source, client, **options))

    return run(crawl())


def aio_stream(source: str, first_response_timeout: float | None = 36.0, **options: Any) -> Finding:
    async def crawl() -> Finding:
        async with (
            aio.AioWebClient(first_response_timeout=first_response_timeout) as client,
            aio.iter_pages(source, web_client=client, **options) as pages,
        ):
            urls = [page.url async for page in pages]
        return Finding(pages.outcome, urls, pages.tried, pages.problems)

    return run(crawl())


WAYS: dict[str, Callable[..., Finding]] = {
    "tree": tree,
    "stream": stream,
    "asyncio tree": aio_tree,
    "asyncio stream": aio_stream,
}
