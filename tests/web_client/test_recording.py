"""Recordings: a crawl that is recorded and replayed gives the same twice."""

import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.loops import run
from tests.server import Answer, Handler, LoopbackServer, urlset
from tests.servers import TLSServer
from tests.web_client.sites_in_trouble import fill
from usp import aio
from usp._crawl.discovery import StartUrl
from usp._crawl.options import CrawlOptions
from usp._drive.run import run as drive
from usp.objects.fetch_info import FetchInfo, StoredDocument
from usp.objects.outcome import FoundBy
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, InvalidSitemap
from usp.web_client.abstract_aio_client import (
    AbstractAioWebClientSuccessResponse,
    AioCrawlScope,
)
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.recording import AioRecordingWebClient, RecordingWebClient
from usp.web_client.replay import AioReplayWebClient, ReplayWebClient
from usp.web_client.requests_client import RequestsWebClient

QUICK: dict[str, Any] = {"backoff_initial": 0.01, "backoff_max": 0.02}


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as bound:  # bound and not listening: connections are refused
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "site.warc.gz"


def everything(sitemap: AbstractSitemap) -> object:
    """All that a tree says, but for the times of its requests."""
    info = replace(sitemap.fetch_info, fetched_at=None, seconds=None)
    root = sitemap if isinstance(sitemap, IndexWebsiteSitemap) else None
    return (
        type(sitemap).__name__,
        sitemap.url,
        info,
        (sitemap.reason, sitemap.code) if isinstance(sitemap, InvalidSitemap) else None,
        [page.to_dict() for page in sitemap.pages],
        sitemap.problems,
        root and (root.outcome, root.tried),
        [*map(everything, sitemap.sub_sitemaps)],
    )


def crawl(url: str, client: AbstractWebClient, **options: Any) -> object:
    return everything(usp.sitemap_tree_for_homepage(url, client, **QUICK, **options))


def aio_crawl(url: str, client: Any, **options: Any) -> object:
    async def crawled() -> object:
        async with client() as made:
            found = await aio.sitemap_tree_for_homepage(url, made, **QUICK, **options)
            return everything(found)

    return run(crawled())


@pytest.mark.parametrize("concurrency", [1, 32])
def test_a_replayed_crawl_gives_what_the_recorded_one_gave(
    server: LoopbackServer, closed_port: int, file: Path, concurrency: int
) -> None:
    fill(server, closed_port)
    with RecordingWebClient(file) as client:
        recorded = crawl(server.url, client, hash_bodies=True, concurrency=concurrency)
    count = len(server.requests)
    with ReplayWebClient(file) as replay:
        for other in (1, 3, 32):
            assert crawl(server.url, replay, hash_bodies=True, concurrency=other) == recorded, other
    assert aio_crawl(server.url, lambda: AioReplayWebClient(file), hash_bodies=True) == recorded
    assert len(server.requests) == count


def test_a_crawl_in_asyncio_is_recorded_and_replayed(
    server: LoopbackServer, closed_port: int, file: Path
) -> None:
    fill(server, closed_port)
    recorded = aio_crawl(server.url, lambda: AioRecordingWebClient(file))
    count = len(server.requests)
    assert aio_crawl(server.url, lambda: AioReplayWebClient(file)) == recorded
    assert crawl(server.url, ReplayWebClient(file)) == recorded
    assert len(server.requests) == count


def test_a_stream_is_replayed(server: LoopbackServer, closed_port: int, file: Path) -> None:
    fill(server, closed_port)
    with (
        RecordingWebClient(file) as client,
        usp.iter_pages(server.url, web_client=client, **QUICK) as pages,
    ):
        recorded = ([page.to_dict() for page in pages], pages.outcome, pages.tried, pages.problems)
    with usp.iter_pages(server.url, web_client=ReplayWebClient(file), **QUICK) as pages:
        replayed = ([page.to_dict() for page in pages], pages.outcome, pages.tried, pages.problems)
    assert replayed == recorded


def test_an_untrusted_certificate_is_replayed(secure: TLSServer, file: Path) -> None:
    with RecordingWebClient(file) as client:
        recorded = crawl(secure.url, client)
    assert "certificate" in str(recorded).lower()
    assert crawl(secure.url, ReplayWebClient(file)) == recorded


def test_a_timeout_is_replayed(server: LoopbackServer, file: Path) -> None:
    def late(handler: Handler) -> Answer:
        handler.owner.closing.wait(0.6)
        return Answer()

    server.robots("late.xml")
    server.site["/late.xml"] = late
    with RecordingWebClient(file, RequestsWebClient(timeout=0.2)) as client:
        recorded = crawl(server.url, client, max_attempts=2)
    assert "timed out" in str(recorded).lower()
    assert crawl(server.url, ReplayWebClient(file), max_attempts=2) == recorded


def test_a_replay_does_not_wait_for_the_server_to_recover(
    server: LoopbackServer, file: Path
) -> None:
    server.site["/robots.txt"] = Answer(503, headers={"Retry-After": "60"})
    server.otherwise = Answer(429, headers={"Retry-After": "60"})
    with RecordingWebClient(file) as client:
        recorded = crawl(server.url, client)
    started = time.monotonic()
    replayed = everything(usp.sitemap_tree_for_homepage(server.url, ReplayWebClient(file)))
    with usp.iter_pages(server.url, web_client=ReplayWebClient(file)) as pages:
        assert list(pages) == []
    assert time.monotonic() - started < 20
    assert replayed == recorded


def test_a_url_that_was_not_recorded_is_a_permanent_failure(
    server: LoopbackServer, file: Path
) -> None:
    with RecordingWebClient(file) as client:
        crawl(server.url, client)
    found = usp.sitemap_tree(f"{server.url}other.xml", web_client=ReplayWebClient(file))
    [invalid] = found.sub_sitemaps
    assert isinstance(invalid, InvalidSitemap)
    assert f"{server.url}other.xml is not in the recording" in invalid.reason


def test_attempts_come_in_their_order_and_each_crawl_begins_anew(
    server: LoopbackServer, file: Path
) -> None:
    answers = iter([Answer(503), Answer(body="second"), Answer(body="third")])
    server.site["/x"] = lambda _: next(answers)
    url = server.at("x")
    with RecordingWebClient(file) as client:
        for _ in range(3):
            response = client.get(url)
            if isinstance(response, AbstractWebClientSuccessResponse):
                response.raw_data()
    replay = ReplayWebClient(file)
    first, *others = (replay.get(url) for _ in range(4))
    assert isinstance(first, WebClientErrorResponse)
    assert first.status_code() == 503
    bodies = [r.raw_data() for r in others if isinstance(r, AbstractWebClientSuccessResponse)]
    assert bodies == [b"second", b"third", b"third"]


def test_attempts_by_head_and_by_get_have_an_order_of_their_own(
    server: LoopbackServer, file: Path
) -> None:
    url, answers = server.at("x"), iter([Answer(410), Answer(503), Answer(404)])
    server.site["/x"] = lambda _: next(answers)

    async def statuses(scope: AioCrawlScope) -> list[int | None]:
        found = []
        for request in (scope.head, scope.get, scope.get):
            response = await request(url)
            assert isinstance(response, WebClientErrorResponse)
            found.append(response.status_code())
        return found

    async def record() -> list[int | None]:
        async with AioRecordingWebClient(file) as client, client.for_crawl(server.url) as scope:
            return await statuses(scope)

    assert run(record()) == [410, 503, 404]
    scope = AioReplayWebClient(file).for_crawl(server.url)
    orders = [scope.order_in_recording(url, method=method) for method in ("HEAD", "GET")]
    assert orders == [0, 1]
    assert run(statuses(scope)) == [410, 503, 404]
    assert scope.order_in_recording(url) == 2


def test_a_url_of_which_only_the_head_was_requested_is_not_in_the_recording(
    server: LoopbackServer, file: Path
) -> None:
    server.site["/x"] = "text"

    async def record() -> None:
        async with AioRecordingWebClient(file) as client, client.for_crawl(server.url) as scope:
            response = await scope.head(server.at("x"))
            assert isinstance(response, AbstractAioWebClientSuccessResponse)
            await response.close()

    run(record())
    response = ReplayWebClient(file).for_crawl(server.url).get(server.at("x"))
    assert isinstance(response, WebClientErrorResponse)
    assert response.message() == f"{server.at('x')} is not in the recording"


def test_conditional_requests_are_recorded(server: LoopbackServer, file: Path) -> None:
    body = urlset("https://example.org/stored")

    def unchanged(handler: Handler) -> Answer:
        etag = {"ETag": '"one"'}
        if handler.headers.get("If-None-Match") == '"one"':
            return Answer(304, headers=etag)
        return Answer(body=body, headers=etag)

    server.site["/sitemap.xml"] = unchanged
    url = server.at("sitemap.xml")
    stored = StoredDocument(url, [body], FetchInfo(status=200, etag='"one"'))

    def crawled(client: AbstractWebClient, *, again: bool) -> object:
        find = (lambda _url: stored) if again else None
        made = usp.Crawl._started(
            url, [StartUrl(url, FoundBy.GIVEN)], options=CrawlOptions(find_stored=find)
        )
        drive(made, client, server.url)
        return everything(made.tree())

    with RecordingWebClient(file) as client:
        recorded = [crawled(client, again=False), crawled(client, again=True)]
    assert "status=304" in str(recorded[1])
    replay = ReplayWebClient(file)
    assert [crawled(replay, again=False), crawled(replay, again=True)] == recorded
    assert crawled(ReplayWebClient(file), again=False) == recorded[0]


def test_a_dead_host_is_replayed_whatever_was_requested_of_it(
    server: LoopbackServer, closed_port: int, file: Path
) -> None:
    dead = [f"http://127.0.0.1:{closed_port}/{number}.xml" for number in range(40)]
    server.site["/robots.txt"] = "".join(f"Sitemap: {url}\n" for url in dead)
    with RecordingWebClient(file) as client:
        recorded = crawl(server.url, client)
    assert "given up" in str(recorded)
    assert crawl(server.url, ReplayWebClient(file)) == recorded
    assert aio_crawl(server.url, lambda: AioReplayWebClient(file)) == recorded
