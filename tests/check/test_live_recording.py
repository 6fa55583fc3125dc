"""Live pages in a recording: a replay finds what was found, without a network."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.check.documents import NOW
from tests.check.source_pairs import page
from tests.server import Answer, LoopbackServer, Plain, redirect
from usp.exceptions import UsageError
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    CrawlScope,
)
from usp.web_client.recording import RecordingWebClient
from usp.web_client.replay import AioReplayWebClient, ReplayWebClient

SELECTED = ["SM35", "SM66", "SM75", "SM9"]
IMAGES = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'


class OwnReplay(AbstractWebClient):
    """A client of a program that answers from a recording, and knows nothing of asyncio."""

    replays = True

    def __init__(self, path: Path) -> None:
        self._replay = ReplayWebClient(path)

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        self._replay.set_max_response_data_length(max_response_data_length)

    def get(self, url: str) -> AbstractWebClientResponse:
        return self._replay.get(url)

    def for_crawl(self, homepage_url: str) -> CrawlScope:
        return self._replay.for_crawl(homepage_url)


@pytest.fixture
def other_server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as server:
        yield server


@pytest.fixture
def site(server: LoopbackServer, other_server: LoopbackServer) -> LoopbackServer:
    """A site with pages of all kinds, and one page on another host that refuses it."""
    pages: dict[str, Plain] = {
        "/": page(),
        "/gone": 410,
        "/refused": Answer(403, "no", headers={"Cf-Mitigated": "challenge"}),
        "/moved": redirect("/moved-again"),
        "/moved-again": redirect("/pictures"),
        "/hidden": page(X_Robots_Tag="otherbot: noindex"),
        "/long": page(body="text " * 300_000),
        "/flaky": 500,
    }
    server.site |= pages
    entries = [f"<url><loc>{server.at(path)}</loc></url>" for path in pages]
    image = f"<image:image><image:loc>{server.at('/lost.png')}</image:loc></image:image>"
    entries.append(f"<url><loc>{server.at('/pictures')}</loc>{image}</url>")
    entries.append(f"<url><loc>{other_server.at('/private')}</loc></url>")
    server.site["/pictures"] = page()
    server.site["/sitemap.xml"] = (
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" {IMAGES}>'
        f"{''.join(entries)}</urlset>"
    )
    server.robots("/sitemap.xml")
    other_server.site["/robots.txt"] = "User-agent: *\nDisallow: /private\n"
    return server


def found(source: str | Path, **options: Any) -> tuple[list[usp.Occurrence], usp.LiveSummary]:
    occurrences: list[usp.Occurrence] = []
    chosen = {"live": "all", "select": SELECTED, "max_attempts": 2, "now": NOW, **options}
    with usp.check(source, on_occurrence=occurrences.append, **chosen) as stream:
        list(stream)
    assert stream.live is not None
    return occurrences, stream.live


def test_a_replay_finds_what_was_found_without_a_network(
    site: LoopbackServer, other_server: LoopbackServer, tmp_path: Path
) -> None:
    path = tmp_path / "site.warc.gz"
    with RecordingWebClient(path) as client:
        recorded = found(site.url, web_client=client)
    codes = {one.code for one in recorded[0]}
    assert {"SM352", "SM660", "SM901", "SM902", "SM903", "SM906", "SM911"} <= codes
    assert "SM904" not in codes
    requests = len(site.requests), len(other_server.requests)
    with ReplayWebClient(path) as client:
        assert found(site.url, web_client=client) == recorded
    assert found(path) == recorded
    assert (len(site.requests), len(other_server.requests)) == requests


def test_a_page_that_a_recording_lacks_is_not_verified(
    site: LoopbackServer, tmp_path: Path
) -> None:
    path = tmp_path / "site.warc.gz"
    with RecordingWebClient(path) as client:
        list(usp.check(site.url, web_client=client, now=NOW))
    occurrences, summary = found(path)
    not_verified = [one.detail for one in occurrences if one.code == "SM906"]
    assert len(not_verified) > 5
    assert all("is not in the recording" in detail for detail in not_verified[1:])
    assert summary.verified <= 1  # the crawl may have requested the homepage


def test_the_recording_of_a_replay_has_its_live_pages_without_a_network(
    site: LoopbackServer, tmp_path: Path
) -> None:
    path, copy = tmp_path / "site.warc.gz", tmp_path / "copy.warc.gz"
    with RecordingWebClient(path) as client:
        recorded = found(site.url, web_client=client)
    requests = len(site.requests)
    with ReplayWebClient(path) as replay, RecordingWebClient(copy, replay) as client:
        assert found(site.url, web_client=client) == recorded
    assert found(copy) == recorded
    assert len(site.requests) == requests


def test_a_client_that_replays_but_not_in_asyncio_is_refused_at_the_call(
    site: LoopbackServer, tmp_path: Path
) -> None:
    path = tmp_path / "site.warc.gz"
    with RecordingWebClient(path) as client:
        recorded = found(site.url, web_client=client)
    requests = len(site.requests)
    with pytest.raises(UsageError, match=r"OwnReplay replays a recording, but has no for_asyncio"):
        usp.check(site.url, web_client=OwnReplay(path), live="all")
    given = found(
        site.url, web_client=OwnReplay(path), live_client=lambda: AioReplayWebClient(path)
    )
    assert given == recorded
    assert len(site.requests) == requests


def test_a_live_client_is_used_also_beside_a_replay(site: LoopbackServer, tmp_path: Path) -> None:
    path, without_pages = tmp_path / "site.warc.gz", tmp_path / "sitemaps.warc.gz"
    with RecordingWebClient(path) as client:
        recorded = found(site.url, web_client=client)
    with RecordingWebClient(without_pages) as client:
        list(usp.check(site.url, web_client=client, now=NOW))
    assert found(without_pages, live_client=lambda: AioReplayWebClient(path)) == recorded
