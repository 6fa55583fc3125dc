"""Recordings of heads with any bytes, and what fails while a recording is written."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import run as run_process
from urllib.parse import unquote

import pytest

import usp
from tests.cli.command import environment
from tests.cli.command import usp as command
from tests.server import LoopbackServer, urlset
from tests.servers import raw
from tests.web_client.test_header_bytes import HEADS, ODD, respond_with
from tests.web_client.test_recording import aio_crawl, crawl
from usp.exceptions import StorageError
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    WebClientErrorResponse,
)
from usp.web_client.aio_client import AioWebClient
from usp.web_client.recording import AioRecordingWebClient, RecordingWebClient
from usp.web_client.replay import AioReplayWebClient, ReplayWebClient
from usp.web_client.requests_client import RequestsWebClient

HTTP_ERROR = b"HTTP/1.1 404 P\xe1gina n\xe3o encontrada\r\nContent-Length: 0\r\n\r\n"


def settled(make: Callable[[], object], expected: object) -> object:
    """What is made, in three tries at most: a connection that is reset takes another attempt."""
    made = make()
    for _ in range(2):
        made = made if made == expected else make()
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("odd", ODD)
def test_recording_and_replaying_change_nothing(
    server: LoopbackServer, tmp_path: Path, name: str, odd: str
) -> None:
    respond_with(server, HEADS[name] % ODD[odd])
    file, of_aio = tmp_path / "a.warc.gz", tmp_path / "b.warc.gz"
    found = crawl(server.url, RequestsWebClient())

    def record() -> object:
        with RecordingWebClient(file, replace=True) as client:
            return crawl(server.url, client)

    assert settled(record, found) == found
    assert crawl(server.url, ReplayWebClient(file)) == found
    in_asyncio = aio_crawl(server.url, AioWebClient)

    def record_in_asyncio() -> object:
        return aio_crawl(server.url, lambda: AioRecordingWebClient(of_aio, replace=True))

    assert settled(record_in_asyncio, in_asyncio) == in_asyncio
    assert aio_crawl(server.url, lambda: AioReplayWebClient(of_aio)) == in_asyncio
    for each in (file, of_aio):
        assert ODD[odd] in gzip.decompress(each.read_bytes())  # as it went over the wire


@pytest.mark.slow
def test_the_outcome_and_its_reason_are_the_same_with_record_and_replay(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.otherwise = raw(HTTP_ERROR)
    file = str(tmp_path / "site.warc.gz")
    plain = command("ls", server.url, "-f", "tried")
    assert plain.code == 1
    assert "404 Página não encontrada" in plain.out
    assert command("ls", server.url, "-f", "tried", "--record", file) == plain
    server.otherwise = 500
    assert command("ls", server.url, "-f", "tried", "--replay", file) == plain


@pytest.mark.slow
@pytest.mark.parametrize(
    "location",
    [b"/caf\xe9.xml", "/café.xml".encode(), b"/a%E9.xml", b"/a.xml\r\nLocation: /b.xml"],
)
def test_redirects_are_replayed_from_the_recordings_of_other_tools(
    server: LoopbackServer, tmp_path: Path, location: bytes
) -> None:
    server.site["/sitemap.xml"] = raw(
        b"HTTP/1.1 302 Tr\xe8s loin\r\nLocation: %b\r\nContent-Length: 0\r\n\r\n" % location
    )
    server.otherwise = urlset("https://example.org/page")
    file, bare = tmp_path / "a.warc.gz", tmp_path / "b.warc"
    with RecordingWebClient(file) as client:
        found = usp.sitemap_tree(server.at("sitemap.xml"), web_client=client)
    records = gzip.decompress(file.read_bytes()).split(b"WARC/1.1\r\n")
    kept = [each for each in records[1:] if b"WARC-Type: metadata" not in each]
    bare.write_bytes(b"".join(b"WARC/1.1\r\n" + each for each in kept))
    with ReplayWebClient(bare) as client:
        replayed = usp.sitemap_tree(server.at("sitemap.xml"), web_client=client)
    assert [page.url for page in replayed.all_pages()] == ["https://example.org/page"]
    urls = [[unquote(s.url) for s in tree.all_sitemaps()] for tree in (replayed, found)]
    assert urls[0] == urls[1]


class OddClient(AbstractWebClient):
    """A client of the caller's whose texts no file can have as they are."""

    def __init__(self, message: str) -> None:
        self.message = message

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        headers = {"ETag": self.message}
        return WebClientErrorResponse(self.message, False, status_code=404, headers=headers)


@pytest.mark.parametrize("message", ["404 caf\udce9", "404 € und \ud800", "404 \x00\x1b\x85"])
def test_any_text_of_a_client_is_recorded_and_replayed(tmp_path: Path, message: str) -> None:
    file = tmp_path / "site.warc.gz"
    found = crawl("https://example.org/", OddClient(message))
    with RecordingWebClient(file, OddClient(message)) as client:
        assert crawl("https://example.org/", client) == found
    assert crawl("https://example.org/", ReplayWebClient(file)) == found


def test_what_fails_while_a_record_is_written_is_no_fault_of_the_site(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("sitemap.xml")
    server.site["/sitemap.xml"] = urlset(server.at("page"))
    found = crawl(server.url, RequestsWebClient())
    file = tmp_path / "site.warc.gz"
    client = RecordingWebClient(file)
    client._file._writer.out = None  # whatever it is that fails
    assert crawl(server.url, client) == found
    with pytest.raises(StorageError, match=r"cannot write the recording site\.warc\.gz"):
        client.close()
    assert not file.exists()


RECORD = """
import sys
import usp
from usp import aio
import asyncio
url, file, how = sys.argv[1:]
try:
    if how == "asyncio":
        asyncio.run(aio.sitemap_tree(url, record=file))
    else:
        usp.sitemap_tree(url, record=file)
except usp.exceptions.StorageError as error:
    print(error)
"""


@pytest.mark.parametrize("how", ["threads", "asyncio"])
def test_no_room_for_the_body_that_is_recorded_is_a_storage_error(
    server: LoopbackServer, tmp_path: Path, how: str
) -> None:
    server.robots("sitemap.xml")
    server.site["/sitemap.xml"] = urlset(*(server.at(f"page{n}") for n in range(9000)))
    limited = ["/bin/sh", "-c", 'ulimit -f 100; exec "$@"', "sh", sys.executable, "-c", RECORD]
    ended = run_process(
        [*limited, server.url, str(tmp_path / "site.warc.gz"), how],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "File too large" in ended.stdout, ended.stderr
    assert "Traceback" not in ended.stderr
    assert [*tmp_path.iterdir()] == []
