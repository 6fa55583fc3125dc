"""Sync with clients of all kinds: recordings, and those that can't make conditional requests."""

import asyncio
import threading
from pathlib import Path

import pytest

import usp
import usp.aio
from tests.server import Handler, LoopbackServer
from tests.sync.rounds import PAGES, kept, urlset
from usp.exceptions import UsageError
from usp.web_client.abstract_client import AbstractWebClient, AbstractWebClientResponse
from usp.web_client.requests_client import RequestsWebClient


class PlainClient(AbstractWebClient):
    """A client of the caller's that knows nothing of validators."""

    def __init__(self) -> None:
        self._client = RequestsWebClient()

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        self._client.set_max_response_data_length(max_response_data_length)

    def get(self, url: str) -> AbstractWebClientResponse:
        return self._client.get(url)

    def close(self) -> None:
        self._client.close()


def test_the_hash_decides_where_a_client_makes_no_conditional_requests(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state, url = tmp_path / "state.db", f"{server.url}a.xml"
    server.site["/a.xml"] = kept(urlset("1"))
    client = PlainClient()
    try:
        for expected in (0, 1):
            with usp.sync(url, state=state, web_client=client) as found:
                assert list(found) == []
            report = found.reports[0]
            assert (report.unchanged, report.not_modified) == (expected, 0)
        server.site["/a.xml"] = kept(urlset("1", "2"))
        changes = list(usp.sync(url, state=state, web_client=client))
    finally:
        client.close()
    assert [change.url for change in changes] == [f"{PAGES}2"]
    assert all("if-none-match" not in request.headers for request in server.requests)


def test_recordings_of_runs_are_replayed_as_runs(server: LoopbackServer, tmp_path: Path) -> None:
    pytest.importorskip("warcio")
    from usp.web_client.recording import RecordingWebClient
    from usp.web_client.replay import ReplayWebClient

    url = f"{server.url}a.xml"
    bodies = [urlset("1"), urlset("1"), urlset("1", "2")]
    told: dict[str, list[list[str]]] = {"live": [], "replayed": []}
    for number, body in enumerate(bodies):
        server.site["/a.xml"] = kept(body)
        path = str(tmp_path / f"{number}.warc.gz")
        with RecordingWebClient(path) as client:
            found = list(usp.sync(url, state=tmp_path / "live.db", web_client=client))
        told["live"].append([change.url for change in found])
    for number in range(len(bodies)):
        with ReplayWebClient(str(tmp_path / f"{number}.warc.gz")) as replay:
            found = list(usp.sync(url, state=tmp_path / "replayed.db", web_client=replay))
        told["replayed"].append([change.url for change in found])
    assert told["live"] == told["replayed"] == [[], [], [f"{PAGES}2"]]


def test_a_recording_of_answers_not_modified_says_so_in_a_state_that_is_new(
    server: LoopbackServer, tmp_path: Path
) -> None:
    pytest.importorskip("warcio")
    from usp.web_client.recording import RecordingWebClient
    from usp.web_client.replay import ReplayWebClient

    url, path = f"{server.url}a.xml", str(tmp_path / "second.warc.gz")
    server.site["/a.xml"] = kept(urlset("1"))
    list(usp.sync(url, state=tmp_path / "live.db"))
    with RecordingWebClient(path) as client:
        list(usp.sync(url, state=tmp_path / "live.db", web_client=client))
    with ReplayWebClient(path) as replay:
        with usp.sync(url, state=tmp_path / "new.db", web_client=replay) as found:
            assert list(found) == []
        assert "not modified (304)" in str(found.reports[0].reason)
        with usp.sync(url, state=tmp_path / "live.db", web_client=replay) as known:
            assert list(known) == []
        assert known.reports[0].reason is None


def test_no_password_is_in_a_state(server: LoopbackServer, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    host = server.url.removeprefix("http://")
    child = f"http://reader:child-secret@{host}a.xml"
    index = f"<sitemapindex><sitemap><loc>{child}</loc></sitemap></sitemapindex>"
    server.site.update({"/index.xml": kept(index.encode()), "/a.xml": kept(urlset("1"))})
    source = f"http://me:site-secret@{host}index.xml"
    for _ in range(2):
        with usp.sync(source, state=state) as found:
            assert list(found) == []
        assert found.reports[0].pages == 1
    assert found.reports[0].site == f"{server.url}index.xml"
    for file in tmp_path.iterdir():
        assert b"secret" not in file.read_bytes()
    # Without its password a child could not be fetched, so such an index is always read.
    assert [request.headers.get("authorization", "") != "" for request in server.requests] == [
        True
    ] * len(server.requests)


def test_many_sites_are_read_at_once_in_asyncio_and_a_cancelled_run_changes_nothing(
    server: LoopbackServer, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    urls = [f"{server.url}{name}.xml" for name in "abc"]
    for url in urls:
        server.site[f"/{url.rpartition('/')[2]}"] = urlset("1")

    async def run() -> tuple[list[usp.Change], int]:
        async with usp.aio.sync(*urls, state=state) as found:
            changes = [change async for change in found]
        return changes, len(found.reports)

    async def cancelled() -> None:
        task = asyncio.create_task(run())
        await asyncio.to_thread(asked.wait, 10)
        task.cancel()
        await task

    assert asyncio.run(run()) == ([], 3)
    asked, release = threading.Event(), threading.Event()

    def slow(_handler: Handler) -> bytes:
        asked.set()
        release.wait(10)
        return urlset("1", "2")

    server.site["/a.xml"] = slow
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    release.set()
    assert list(usp.changes(state)) == []
    changes, _ = asyncio.run(run())
    assert [change.url for change in changes] == [f"{PAGES}2"]


def test_a_wrong_ca_bundle_leaves_no_state_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none.pem"))
    with pytest.raises(UsageError, match="REQUESTS_CA_BUNDLE"):
        usp.sync("https://h.example/", state=tmp_path / "state.db")
    assert not any(tmp_path.iterdir())
    (tmp_path / "a.xml").write_bytes(urlset("1"))
    with usp.sync(tmp_path / "a.xml", state=tmp_path / "state.db") as changes:
        assert list(changes) == [], "a file needs none"


@pytest.mark.parametrize("has_etag", [True, False])
def test_rules_of_a_robots_txt_that_has_not_changed_are_obeyed(
    has_etag: bool, server: LoopbackServer, tmp_path: Path
) -> None:
    rules = "User-agent: *\nDisallow: /b.xml\n"
    declared = "".join(f"Sitemap: {server.at(path)}\n" for path in ("/a.xml", "/b.xml"))
    server.site |= {path: urlset(server.at(f"{path}/1")) for path in ("/a.xml", "/b.xml")}

    def robots(handler: Handler) -> None:
        body = (rules + declared).encode()
        is_known = has_etag and handler.headers["If-None-Match"] == '"1"'
        handler.send_response(304 if is_known else 200)
        handler.send_header("Content-Length", "0" if is_known else str(len(body)))
        if has_etag:
            handler.send_header("ETag", '"1"')
        handler.end_headers()
        handler.wfile.write(b"" if is_known else body)

    server.site["/robots.txt"] = robots
    for _ in range(3):
        list(usp.sync(server.url, state=tmp_path / "state.db", robots="obey"))
    assert server.requested.count("/robots.txt") == 3
    assert "/a.xml" in server.requested
    assert "/b.xml" not in server.requested
