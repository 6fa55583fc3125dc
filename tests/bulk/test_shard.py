"""``crawl_shard``: the rows of some sites, whatever the sites do, and what is left afterwards."""

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq
import pytest

from tests.bulk.sites import (
    ALLOWED,
    KINDS,
    OUTCOMES,
    QUICK,
    USER_AGENT,
    ManySites,
    Tables,
    expected_outcomes,
    expected_pages,
    files_below,
)
from tests.server import Answer, LoopbackServer, index, stall, urlset
from tests.web_client.test_aio_limits import CountedRequests, EveryHostIsHere
from usp._tables.batch import Batch
from usp.bulk import crawl_shard
from usp.bulk._options import BulkOptions
from usp.bulk._site import crawl_site
from usp.exceptions import UsageError
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.abstract_client import AbstractWebClientResponse
from usp.web_client.aio_client import CachingResolver

NUMBERS = range(2 * len(KINDS))


@pytest.fixture(scope="module")
def sites() -> Iterator[ManySites]:
    with ManySites() as running:
        yield running


def test_every_site_has_its_row_and_its_pages_whatever_it_does(
    sites: ManySites, tmp_path: Path
) -> None:
    done = crawl_shard(sites.homepages(len(NUMBERS)), tmp_path, **QUICK)
    tables = Tables(tmp_path)
    assert tables.outcomes() == expected_outcomes(NUMBERS)
    assert tables.pages() == expected_pages(sites, NUMBERS)
    assert done.sites == len(NUMBERS)
    assert done.outcomes == {name: 2 * [*OUTCOMES.values()].count(name) for name in done.outcomes}
    assert tables.query('SELECT DISTINCT "limit" FROM {sites} WHERE pages = 50') == [("SM704",)]
    assert {code for (code,) in tables.query("SELECT code FROM {problems}")} >= {"SM101"}


def test_the_marker_has_the_counts_and_hashes_of_the_files(
    sites: ManySites, tmp_path: Path
) -> None:
    done = crawl_shard(sites.homepages(3), tmp_path, shard=17, **QUICK)
    marker = json.loads((tmp_path / "_done" / "00017.json").read_text())
    assert marker["rows"] == done.rows
    assert set(files_below(tmp_path)) == {*marker["files"], "_done/00017.json"}
    for name, file in marker["files"].items():
        content = (tmp_path / name).read_bytes()
        assert file == {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        assert (
            pq.ParquetFile(tmp_path / name).metadata.num_rows == done.rows[Path(name).parent.name]
        )


def test_a_shard_that_is_done_is_left_alone(sites: ManySites, tmp_path: Path) -> None:
    first = crawl_shard(sites.homepages(2), tmp_path, **QUICK)
    count = len(sites.requests)
    assert crawl_shard(sites.homepages(2), tmp_path, **QUICK) == first
    assert len(sites.requests) == count


def test_lines_that_name_a_site_twice_have_a_row_each_and_one_crawl(
    sites: ManySites, tmp_path: Path
) -> None:
    home = sites.homepage(0)
    bare = home.removeprefix("http://")
    done = crawl_shard([home, bare, "no site", home.upper()], tmp_path, **QUICK)
    tables = Tables(tmp_path)
    rows = tables.query("SELECT line, site, input, duplicate_of, pages FROM {sites} ORDER BY line")
    assert rows == [
        (1, home, home, None, 6),
        (2, home, bare, 1, 6),
        (3, "no site", "no site", None, None),
        (4, home, home.upper(), 1, 6),
    ]
    assert tables.pages() == expected_pages(sites, [0])
    assert done.outcomes == {"bad_input": 1, "found": 3}
    assert tables.query("SELECT code, message FROM {problems}") == [
        ("SM709", "'no site' is neither a domain nor a URL")
    ]


def test_a_list_names_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.org").write_bytes(urlset("https://a.org/secret"))
    names = ["./a.org", str(tmp_path / "a.org"), "sitemap.xml", "file:///etc/passwd"]
    done = crawl_shard(names, tmp_path / "out", **QUICK)
    assert done.rows["pages"] == 0
    assert set(done.outcomes) <= {"bad_input", "unreachable"}


def test_private_addresses_are_refused_unless_they_are_allowed(
    server: LoopbackServer, tmp_path: Path
) -> None:
    done = crawl_shard([server.url], tmp_path, user_agent=USER_AGENT, max_attempts=1)
    assert done.outcomes == {"unreachable": 1}
    assert server.requested == []


def test_a_site_that_is_slow_or_large_is_cut_and_marked_and_holds_up_no_other(
    server: LoopbackServer, sites: ManySites, tmp_path: Path
) -> None:
    server.robots("/index.xml")
    server.site["/index.xml"] = index(server.at("/a.xml"), server.at("/slow.xml"))
    server.site["/a.xml"] = urlset(*(server.at(f"/{page}") for page in range(5)))
    server.site["/slow.xml"] = stall
    started = time.monotonic()
    chosen = {**QUICK, "max_seconds_per_site": 1.0, "sites_at_once": 2}
    crawl_shard([server.url, *sites.homepages(4)], tmp_path, **chosen)
    assert time.monotonic() - started < 10
    rows = Tables(tmp_path).query('SELECT outcome, "limit", pages FROM {sites} WHERE line = 1')
    assert rows == [("partial", "SM705", 5)]
    assert len(Tables(tmp_path).outcomes()) == 5


def test_the_bytes_of_a_site_are_limited(server: LoopbackServer, tmp_path: Path) -> None:
    server.robots(*(f"/{number}.xml" for number in range(10)))
    for number in range(10):
        pages = (server.at(f"/{number}/{page}") for page in range(1000))
        server.site[f"/{number}.xml"] = urlset(*pages)
    chosen = {**QUICK, "max_bytes_per_site": 100_000, "max_pages_per_site": 100_000}
    crawl_shard([server.url], tmp_path, **chosen)
    [(outcome, limit, received)] = Tables(tmp_path).query(
        'SELECT outcome, "limit", bytes FROM {sites}'
    )
    assert (outcome, limit) == ("partial", "SM707")
    assert received < 500_000


def test_a_part_of_a_document_that_nobody_asked_for_is_not_whole(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("/s.txt")
    part = {"Content-Range": "bytes 0-29/60"}
    server.site["/s.txt"] = Answer(206, "http://h.example/1\nhttp://h.e", part)
    crawl_shard([server.url], tmp_path, **QUICK)
    tables = Tables(tmp_path)
    assert tables.query("SELECT outcome, pages FROM {sites}") == [("partial", 1)]
    assert ("SM102",) in tables.query("SELECT code FROM {problems}")


@pytest.mark.parametrize(
    ("hosts", "limits", "most"),
    [
        ([f"h{number}.one.test" for number in range(8)], {}, 2),  # the default for a domain
        ([f"h{number}.test" for number in range(12)], {}, 8),  # the default for an address
        ([f"h{number}.test" for number in range(8)], {"per_address": 3}, 3),
    ],
    ids=["one domain", "one address", "chosen"],
)
def test_requests_at_once_are_limited_over_all_sites(
    hosts: list[str], limits: Any, most: int, server: LoopbackServer, tmp_path: Path
) -> None:
    server.otherwise = counted = CountedRequests(most)
    client = {**ALLOWED, "resolver": EveryHostIsHere(), "trust_env": False}
    chosen = {**QUICK, **limits, "client_settings": client}
    crawl_shard([f"http://{host}:{server.port}/" for host in hosts], tmp_path, **chosen)
    assert counted.peak == most
    assert Tables(tmp_path).outcomes() == dict.fromkeys(range(1, len(hosts) + 1), "none")


class _Turns(asyncio.Semaphore):
    """Counts who has a turn, in all and at once."""

    def __init__(self, at_once: int) -> None:
        super().__init__(at_once)
        self.taken = self.now = self.most = 0

    async def acquire(self) -> Literal[True]:
        await super().acquire()
        self.taken += 1
        self.now += 1
        self.most = max(self.most, self.now)
        return True

    def release(self) -> None:
        self.now -= 1
        super().release()


def test_large_documents_are_read_few_at_a_time(server: LoopbackServer) -> None:
    pages = [server.at(f"/{number}") for number in range(8000)]
    server.site = {"/robots.txt": b"", "/large.xml": urlset(*pages), "/small.xml": urlset(pages[0])}
    rows: Counter[str] = Counter()

    async def take(batch: Batch) -> None:
        rows[batch.table.name] += batch.length

    async def crawl(turns: _Turns) -> None:
        options = BulkOptions.of({"user_agent": USER_AGENT, "client_settings": ALLOWED})
        async with options.client(CachingResolver()) as client:
            names = [server.at("/large.xml")] * 3 + [server.at("/small.xml")]
            sites = [crawl_site(name, options, client, take, None, turns) for name in names]
            await asyncio.gather(*sites)

    turns = _Turns(1)
    asyncio.run(crawl(turns))
    assert (turns.taken, turns.most, turns.now) == (3, 1, 0)
    assert rows["pages"] == 3 * 8000 + 1


class _BuggyClient(AbstractAioWebClient):
    """A client with a bug: it raises what no server can cause."""

    async def get(self, url: str) -> AbstractWebClientResponse:
        raise TypeError(f"no get for {url}")

    async def close(self) -> None:
        pass


def test_an_error_of_ours_is_a_row_and_a_problem(caplog: pytest.LogCaptureFixture) -> None:
    taken: list[Batch] = []

    async def take(batch: Batch) -> None:
        taken.append(batch)

    options = BulkOptions(USER_AGENT)
    row, _ = asyncio.run(crawl_site("http://127.0.0.1/", options, _BuggyClient(), take))
    assert (row["outcome"], row["code"], row["problems"]) == ("unreachable", "SM708", 1)
    problems = [row for batch in taken if batch.table.name == "problems" for row in batch]
    assert len(problems) == 1
    assert "no get for" in problems[0][5]
    assert "The crawl of http://127.0.0.1/ failed" in caplog.text


@pytest.mark.parametrize("agent", ["mybot", "", "Mozilla/5.0 (X11; Linux x86_64)"])
def test_the_user_agent_must_say_how_to_reach_its_owner(agent: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="user_agent must be who you are and how to reach you"):
        crawl_shard(["a.org"], tmp_path, user_agent=agent)
    with pytest.raises(UsageError, match="user_agent is missing: say who you are"):
        crawl_shard(["a.org"], tmp_path)


def test_sites_with_some_outcomes_are_crawled_again_and_the_others_stay(
    server: LoopbackServer, sites: ManySites, tmp_path: Path
) -> None:
    server.otherwise = 403
    names = [server.url, *sites.homepages(6), "no site"]
    crawl_shard(names, tmp_path, **QUICK)
    before = Tables(tmp_path).outcomes()
    assert before[1] == "blocked"
    server.otherwise = 404
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/new"))
    count = len(sites.requests)
    done = crawl_shard(names, tmp_path, retry=["blocked"], **QUICK)
    after = Tables(tmp_path)
    assert after.outcomes() == {**before, 1: "found"}
    assert after.pages() == expected_pages(sites, range(6)) + Counter([server.at("/new")])
    again = {host for host, *_ in sites.requests[count:]}
    assert again == {sites.homepage(3).split("/")[2]}, "the one that is blocked"
    assert done.sites == len(names)
    assert crawl_shard(names, tmp_path, retry=["unreachable"], **QUICK).sites == len(names)


def test_a_file_in_the_place_of_the_folder_is_wrong_use(sites: ManySites, tmp_path: Path) -> None:
    taken = tmp_path / "out"
    taken.write_text("a file where the folder should be")
    with pytest.raises(UsageError, match="out: File exists"):
        crawl_shard(sites.homepages(1), taken, **QUICK)
    assert list(files_below(tmp_path)) == ["out"]
