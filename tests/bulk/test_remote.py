"""Crawls into folders that are not local: whatever fsspec reaches."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from tests.bulk.sites import QUICK, ManySites, kind_of, pages_of
from tests.cli.command import usp
from tests.server import Answer, LoopbackServer
from usp import bulk
from usp.bulk import InputLine, crawl_shard, shards
from usp.bulk._folder import crawl_folder
from usp.bulk._markers import CrawlManifest
from usp.bulk._status import read_status
from usp.exceptions import StorageError, UsageError

fsspec = pytest.importorskip("fsspec", reason="needs the extra scale")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def memory() -> Iterator[str]:
    yield f"memory://crawl-{uuid4()}"
    fsspec.filesystem("memory").store.clear()


def assert_crawled(out: str) -> None:
    """A crawl of two shards into a folder has its files, and can be continued and retried."""
    numbers = [number for number in range(14) if kind_of(number) != "unreachable"]
    with ManySites() as sites:
        parts = shards([sites.homepage(one) for one in numbers], 2)
        for shard in parts:
            crawl_shard(shard.lines, out, shard=shard.number, **QUICK)
        count = len(sites.requests)
        for shard in parts:
            crawl_shard(shard.lines, out, shard=shard.number, **QUICK)
        assert len(sites.requests) == count
        for shard in parts:
            crawl_shard(shard.lines, out, shard=shard.number, retry=["blocked"], **QUICK)
        assert len(sites.requests) == count + 2
        urls = [url for one in numbers for url in pages_of(one, sites.homepage(one))]
    files, path = fsspec.core.url_to_fs(out)
    found = sorted(name.removeprefix(f"{path}/") for name in files.find(path))
    tables = ("pages", "problems", "sitemaps", "sites")
    assert found == [
        *("_done/00000.json", "_done/00001.json"),
        *(f"{table}/part-0000{shard}.parquet" for table in tables for shard in range(2)),
    ]
    read = [
        parquet.read_table(files.open(f"{path}/{one}")) for one in found if one.startswith("pa")
    ]
    assert sorted(url for table in read for url in table.column("url").to_pylist()) == sorted(urls)
    folder = crawl_folder(out)
    CrawlManifest("list", "0", len(numbers), 2, {}).write(folder)
    status = read_status(folder)
    assert (status.sites_done, status.missing) == (len(numbers), ())


def assert_refreshed(first: str, second: str) -> None:
    """Worker processes crawl a list, and once more: what is unchanged is copied."""
    with ManySites() as sites:
        chosen = {**QUICK, "workers": 1, "shards": 2}
        one = bulk.crawl(sites.homepages(3), first, **chosen)
        two = bulk.crawl(sites.homepages(3), second, previous=first, **chosen)
    assert one.is_done
    assert two.is_done
    assert two.rows == one.rows
    assert (one.unchanged, two.unchanged) == (0, 5)


def test_a_crawl_goes_to_a_folder_in_memory(memory: str) -> None:
    assert_crawled(memory)


def test_a_crawl_goes_to_an_s3_bucket() -> None:
    pytest.importorskip("s3fs", reason="make test-s3 has s3fs, and a server")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            url = next(line.split()[-1] for line in server.stderr or () if "Running on" in line)
            options = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
            with pytest.MonkeyPatch.context() as patch:
                for name, value in {**options, "AWS_ENDPOINT_URL": url}.items():
                    patch.setenv(name, value)
                fsspec.filesystem("s3").mkdir("crawls")
                assert_crawled("s3://crawls/one")
                assert_refreshed("s3://crawls/two", "s3://crawls/three")
        finally:
            server.kill()


def test_a_url_that_nothing_can_reach_is_one_clear_line() -> None:
    with pytest.raises(UsageError, match="'nowhere://x' can't be reached"):
        crawl_shard([InputLine(1, "a.org")], "nowhere://x", **QUICK)


MALFORMED = (
    *("http://h:99999/", "http://", "http://[::1/", "HTTPS://[::1/", "github://x"),
    *("http://u:PWx/y@h/", "http://u:PW\uff20h/", "sftp://u:PWx/y@h/"),
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("url", MALFORMED)
def test_a_malformed_url_of_a_folder_is_wrong_use_and_shows_no_password(url: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: bulk.status(url),
        lambda: crawl_shard([InputLine(1, "a.org")], url, **QUICK),
        lambda: crawl_shard([InputLine(1, "a.org")], "memory://x", previous=url, **QUICK),
    ]
    for call in calls:
        with pytest.raises(UsageError) as error:
            call()
        assert "PW" not in str(error.value)
    ended = usp("crawl", "--status", url)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert "PW" not in ended.err


def test_whatever_the_driver_of_a_folder_raises_is_one_clear_line(server: LoopbackServer) -> None:
    server.site["/out/_crawl.json"] = Answer(500)
    ended = usp("crawl", "--status", server.at("/out"))
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (3, "", 1)
    assert "500" in ended.err
    with pytest.raises(StorageError, match="501"):
        crawl_folder(server.at("/other")).write("file", b"")
