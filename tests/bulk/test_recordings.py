"""A crawl of many sites that is recorded, and replayed without a network."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.bulk.sites import (
    QUICK,
    ManySites,
    Tables,
    expected_outcomes,
    expected_pages,
    files_below,
)
from tests.server import LoopbackServer, urlset
from usp import bulk
from usp.exceptions import UsageError
from usp.web_client.abstract_aio_client import AbstractAioWebClientSuccessResponse
from usp.web_client.recording import AioRecordingWebClient
from usp.web_client.replay import AioReplayWebClient, Recording

NUMBERS = range(14)
ALIKE = (
    "site, outcome, code, pages, problems, requests, robots_status FROM {sites}",
    "site, url, state, code, reason, http_status, sha256, pages, complete FROM {sitemaps}",
    "site, url, sitemap_url, position, lastmod_raw FROM {pages}",
    "site, sitemap_url, code, message, line FROM {problems}",
)
"""What a replay must give as it was."""


pytestmark = pytest.mark.slow  # most of them start workers


def crawl(sites: list[str], out: Path, **fields: Any) -> bulk.CrawlStatus:
    return bulk.crawl(sites, out, shards=2, workers=1, **QUICK | fields)


def test_a_replayed_crawl_has_the_rows_of_the_recorded_one(tmp_path: Path) -> None:
    recordings = tmp_path / "recordings"
    with ManySites() as sites:
        homepages = list(sites.homepages(len(NUMBERS)))
        pages = expected_pages(sites, NUMBERS)
        crawl(homepages, tmp_path / "one", record=str(recordings))
        count = len(sites.requests)
    assert sorted(files_below(recordings)) == [
        "_recordings.json",
        "part-00000.warc.gz",
        "part-00001.warc.gz",
    ]
    urls = {url for part in recordings.glob("*.gz") for url in Recording(part).urls}
    assert len(urls) >= count - len(NUMBERS)
    crawl(homepages, tmp_path / "two", replay=str(recordings))
    one, two = Tables(tmp_path / "one"), Tables(tmp_path / "two")
    assert two.outcomes() == expected_outcomes(NUMBERS)
    assert two.pages() == pages
    for query in (f"SELECT {rows} ORDER BY ALL" for rows in ALIKE):
        assert two.query(query) == one.query(query)


def test_one_shard_is_recorded_and_replayed_where_the_caller_maps_shards(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        server.robots("/sitemap.xml")
        server.site["/sitemap.xml"] = urlset(f"{server.url}page")
        bulk.crawl_shard(
            [server.url], tmp_path / "one", shard=3, record=str(tmp_path / "rec"), **QUICK
        )
        home = server.url
    fields = {**QUICK, "replay": str(tmp_path / "rec")}
    done = bulk.crawl_shard([home], tmp_path / "two", shard=3, **fields)
    assert done.rows["pages"] == 1
    with pytest.raises(UsageError, match=r"rec has no recording part-00004\.warc\.gz"):
        bulk.crawl_shard([home], tmp_path / "three", shard=4, **fields)


def test_recordings_of_another_crawl_are_neither_replaced_nor_replayed(tmp_path: Path) -> None:
    recordings = str(tmp_path / "recordings")
    with LoopbackServer() as server:
        server.robots("/sitemap.xml")
        server.site["/sitemap.xml"] = urlset(f"{server.url}page")
        crawl([server.url], tmp_path / "one", record=recordings)
        content = {path: path.read_bytes() for path in Path(recordings).iterdir()}
        with pytest.raises(UsageError, match="has the recordings of another crawl"):
            crawl([server.url], tmp_path / "two", record=recordings)
        with pytest.raises(UsageError, match=r"another list \(1 sites, these are 2\)"):
            crawl([server.url, "http://127.9.9.9/"], tmp_path / "three", replay=recordings)
        assert not (tmp_path / "three").exists(), "nothing is written before all is checked"
        with pytest.raises(UsageError, match=r"recorded without previous"):
            crawl(
                [server.url], tmp_path / "four", replay=recordings, previous=str(tmp_path / "one")
            )
        crawl([server.url], tmp_path / "one", record=recordings)  # goes on; all is done
    assert {path: path.read_bytes() for path in Path(recordings).iterdir()} == content


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"record": "a", "replay": "b"}, "record can't be used together with replay"),
        ({"record": "a", "retry": ["blocked"]}, "record can't be used together with retry"),
        ({"replay": "missing"}, "missing has no recordings of a crawl"),
        ({"record": ""}, "record must be the name of a folder"),
    ],
)
def test_wrong_use_is_one_line(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        crawl(["example.org"], tmp_path / "out", **fields)


def test_a_crawl_of_many_is_found_in_a_recording_at_once(tmp_path: Path) -> None:
    """Each crawl begins at its own fetches, however many others the file has."""
    with LoopbackServer() as server:
        server.site["/robots.txt"] = b"User-agent: *\n"

        async def record() -> None:
            async with AioRecordingWebClient(tmp_path / "many.warc.gz") as client:
                for number in range(150):
                    scope = client.for_crawl(f"{server.url}{number}/")
                    found = await scope.get(f"{server.url}robots.txt?{number}")
                    assert isinstance(found, AbstractAioWebClientSuccessResponse)
                    async for _ in found.chunks():
                        pass
                    await scope.close()

        asyncio.run(record())
        home = server.url

    async def replay(times: int) -> float:
        async with AioReplayWebClient(tmp_path / "many.warc.gz") as client:
            start = time.process_time()
            for number in range(times):
                scope = client.for_crawl(f"{home}{number % 150}/")
                found = scope.order_in_recording(f"{home}robots.txt?{number % 150}")
                assert found == number % 150
                await scope.close()
            return time.process_time() - start

    assert asyncio.run(replay(20_000)) < 20  # all fetches for each crawl would take minutes


def test_a_crawl_is_replayed_with_as_many_shards_as_it_was_recorded_with(tmp_path: Path) -> None:
    with ManySites() as sites:
        homepages = list(sites.homepages(4))
        bulk.crawl(homepages, tmp_path / "begun", shards=3, shard="1/3", workers=1, **QUICK)
        crawl(homepages, tmp_path / "one", record=str(tmp_path / "rec"))
    with pytest.raises(UsageError, match=r"shards must be 2, as in .*rec, not 3"):
        bulk.crawl(homepages, tmp_path / "begun", workers=1, replay=str(tmp_path / "rec"), **QUICK)
    with pytest.raises(UsageError, match="from the first run on: shard 0 is done"):
        bulk.crawl(homepages, tmp_path / "begun", workers=1, record=str(tmp_path / "new"), **QUICK)
    assert not (tmp_path / "new").exists()


def test_two_shares_of_a_crawl_record_into_one_folder(tmp_path: Path) -> None:
    """Whichever of them writes first what the folders are of: it is the same."""
    with ManySites() as sites:
        homepages = list(sites.homepages(4))
        for share in ("1/2", "2/2"):
            (tmp_path / "out" / "_crawl.json").unlink(missing_ok=True)  # as if both came at once
            bulk.crawl(
                homepages, tmp_path / "out", shards=2, shard=share, workers=1,
                record=str(tmp_path / "rec"), **QUICK,
            )  # fmt: skip
    assert sorted(one.name for one in (tmp_path / "rec").glob("part*")) == [
        "part-00000.warc.gz",
        "part-00001.warc.gz",
    ]


def test_recordings_elsewhere_are_replayed_from_a_copy(tmp_path: Path) -> None:
    folder = f"file://{tmp_path}/rec"
    with LoopbackServer() as server:
        server.robots("/sitemap.xml")
        server.site["/sitemap.xml"] = urlset(f"{server.url}page")
        crawl([server.url], tmp_path / "one", record=folder)
        home = server.url
    done = crawl([home], tmp_path / "two", replay=folder)
    assert done.rows["pages"] == 1
