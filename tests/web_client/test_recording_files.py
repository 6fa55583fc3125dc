"""The files of recordings: what is in them, what never is, and which of them can be read."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import usp
from tests.server import Answer, Handler, LoopbackServer, redirect, urlset
from tests.web_client.sites_in_trouble import BIG, fill
from usp.exceptions import NoWebClientException, SitemapException, StorageError, UsageError
from usp.objects.sitemap import InvalidSitemap
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    LocalWebClient,
    WebClientErrorResponse,
)
from usp.web_client.recording import RecordingWebClient
from usp.web_client.replay import Recording, ReplayWebClient
from usp.web_client.requests_client import RequestsWebClient

PAGE = urlset("https://example.org/page")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "site.warc.gz"


def records(file: Path) -> list[Any]:
    """All records, with their digests checked and their content read."""
    with file.open("rb") as opened:
        found = []
        for record in ArchiveIterator(opened, check_digests="raise"):
            record.content = record.raw_stream.read()
            found.append(record)
        return found


def of_kind(file: Path, kind: str) -> list[Any]:
    return [record for record in records(file) if record.rec_type == kind]


def url_of(record: Any) -> str:
    return str(record.rec_headers.get_header("WARC-Target-URI"))


def record_site(server: LoopbackServer, file: Path, **options: Any) -> None:
    with RecordingWebClient(file, **options) as client:
        usp.sitemap_tree_for_homepage(server.url, client, backoff_initial=0.01, backoff_max=0.02)


def pages_of(found: Any) -> list[str]:
    return [page.url for page in found.all_pages()]


def test_a_recording_has_requests_and_responses_as_they_went_over_the_wire(
    server: LoopbackServer, file: Path
) -> None:
    fill(server, 1)
    record_site(server, file)
    assert {record.rec_headers.protocol for record in records(file)} == {"WARC/1.1"}
    responses = {url_of(record): record for record in of_kind(file, "response")}
    packed = responses[server.at("gzip.xml")]
    assert gzip.decompress(packed.content) == urlset("https://example.org/ok")
    assert packed.http_headers.get_header("Content-Encoding") == "gzip"
    raw = server.site["/deflate.xml"]
    assert isinstance(raw, Answer)
    assert responses[server.at("deflate.xml")].content == raw.body
    chunked = responses[server.at("chunked.xml")]
    assert chunked.content == urlset("https://example.org/chunked")
    assert chunked.http_headers.get_header("Transfer-Encoding") is None
    assert chunked.http_headers.get_header("X-Orig-Transfer-Encoding") == "chunked"
    assert responses[server.at("error-page.xml")].content == b"<html>blocked</html>"
    assert responses[server.at("half.xml")].rec_headers.get_header("WARC-Truncated") == "disconnect"
    for path, status in (("moved.xml", 302), ("moved-again.xml", 302), ("target.xml", 200)):
        assert responses[server.at(path)].http_headers.get_statuscode() == str(status)
    requested = {url_of(record): str(record.http_headers) for record in of_kind(file, "request")}
    assert requested.keys() == responses.keys()
    assert requested[server.at("ok.xml")].startswith("GET /ok.xml HTTP/1.1")
    assert f"Host: 127.0.0.1:{server.port}" in requested[server.at("ok.xml")]


def test_failures_are_metadata_records(server: LoopbackServer, file: Path) -> None:
    fill(server, 1)
    record_site(server, file)
    notes = [json.loads(record.content) for record in of_kind(file, "metadata")]
    assert notes[-1] == {"format": "usp-end/1", "fetches": len(notes) - 1}
    by_url = {note["url"]: note for note in notes[:-1]}
    dns = by_url["http://no-such-host.invalid/sitemap.xml"]
    assert (dns["outcome"], dns["no_response"]) == ("error", True)
    assert "retryable" not in dns
    busy = [note for note in notes[:-1] if note["url"] == server.at("busy.xml")]
    assert [note.get("retry_after") for note in busy] == [1.0, 1.0, None]
    assert by_url[server.at("half.xml")]["body"] == "failed"


def test_no_secret_gets_into_a_recording(server: LoopbackServer, file: Path) -> None:
    server.robots("sitemap.xml")
    server.site["/sitemap.xml"] = redirect(f"http://user:hush-3@127.0.0.1:{server.port}/real.xml")
    server.site["/real.xml"] = Answer(body=PAGE, headers={"Set-Cookie": "session=hush-4; Path=/"})
    headers = {
        "Authorization": "Bearer hush-1",
        "Cookie": "id=hush-2",
        "X-Api-Key": "hush-5",
        "Proxy-Authorization": "Basic hush-6",
        "Accept-Language": "de",
    }
    homepage = server.url.replace("://", "://user:hush-7@")
    with RecordingWebClient(file, RequestsWebClient(headers=headers), source=homepage) as client:
        found = usp.sitemap_tree_for_homepage(homepage, client)
    text = gzip.decompress(file.read_bytes()).decode()
    assert "hush" not in text
    assert "dXNlcj" not in text  # "user" in base64
    assert "Accept-Language: de" in text
    assert text.count("Authorization: [redacted]") > 1
    assert "Set-Cookie: [redacted]" in text
    assert pages_of(usp.sitemap_tree_for_homepage(homepage, ReplayWebClient(file))) == pages_of(
        found
    )


def test_no_password_of_a_url_that_a_server_quotes_gets_into_a_recording(
    server: LoopbackServer, file: Path
) -> None:
    def failed(handler: Handler) -> None:
        line = b"HTTP/1.1 500 failed for http://user:hush-1@h/x and http://user:hush-2/y@h/x\r\n"
        handler.wfile.write(line + b"Content-Length: 0\r\n\r\n")

    targets = [
        *("http://user:hush/3@h/", "http://user:x?hush-4@h/", "http://user:x#hush-5@h/"),
        *("http://user:hush-6%40h/", "http://user:hush-7\uff20h/", "//user:hush/8@h/"),
    ]
    names = [f"{number}.xml" for number in range(len(targets))]
    server.robots("failed.xml", "good.xml", *names)
    server.site["/failed.xml"] = failed
    server.site["/good.xml"] = redirect("/a//@me/good.xml")
    for name, target in zip(names, targets, strict=True):
        server.site[f"/{name}"] = redirect(target.encode().decode("latin-1"))
    with RecordingWebClient(file, RequestsWebClient()) as client:
        usp.sitemap_tree_for_homepage(server.url, client, policy=usp.Policy(max_attempts=1))
    text = gzip.decompress(file.read_bytes()).decode()
    assert "hush" not in text
    assert "HTTP/1.1 500 failed for http://h/x and http://h/x" in text
    assert "Location: /a//@me/good.xml" in text
    assert text.count("Location:") == len(targets) + 1


def test_a_recording_says_what_it_is_of(server: LoopbackServer, file: Path, tmp_path: Path) -> None:
    record_site(server, file)
    opened = Recording(file)
    assert opened.source == server.url
    assert opened.software == f"usp/{usp.__version__}"
    assert server.at("robots.txt") in opened.urls  # the first is the one that ended first
    named = tmp_path / "named.warc.gz"
    record_site(server, named, source="example.org")
    assert Recording(named).source == "example.org"


def test_a_file_that_exists_is_replaced_only_on_request(server: LoopbackServer, file: Path) -> None:
    file.write_bytes(b"precious")
    with pytest.raises(UsageError, match="exists already"):
        RecordingWebClient(file)
    with RecordingWebClient(file, replace=True):
        assert file.read_bytes() == b"precious"
    assert Recording(file).source is None
    with pytest.raises(UsageError, match=r"cannot write .*: No such file"):
        RecordingWebClient(file.parent / "missing" / "site.warc.gz")


def test_a_crawl_that_fails_leaves_a_recording_that_can_be_replayed(
    server: LoopbackServer, file: Path
) -> None:
    server.robots("sitemap.xml")
    server.site["/sitemap.xml"] = PAGE

    def stop(_: object) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), RecordingWebClient(file) as client:
        usp.sitemap_tree_for_homepage(server.url, client, stop_callback=stop)
    assert json.loads(records(file)[-1].content)["interrupted"] == "KeyboardInterrupt"
    found = usp.sitemap_tree_for_homepage(server.url, ReplayWebClient(file))
    assert pages_of(found) == ["https://example.org/page"]


_KILLED = """
import os, signal, sys, usp
from usp.web_client.recording import RecordingWebClient
client = RecordingWebClient(sys.argv[1])
for number, page in enumerate(usp.iter_pages(sys.argv[2], web_client=client)):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_no_half_file_and_the_next_run_cleans_up(
    server: LoopbackServer, file: Path
) -> None:
    server.robots("sitemap.xml")
    server.site["/sitemap.xml"] = BIG
    command = [sys.executable, "-c", _KILLED, str(file), server.url]
    ended = subprocess.run(command, check=False)
    assert ended.returncode == -signal.SIGKILL
    [left] = file.parent.iterdir()
    assert left != file
    record_site(server, file)
    assert [*file.parent.iterdir()] == [file]
    assert Recording(file).source == server.url


def test_a_full_disk_ends_the_recording_and_not_the_crawl(server: LoopbackServer) -> None:
    server.robots("sitemap.xml")
    server.site["/sitemap.xml"] = urlset(
        *(f"https://example.org/{n}/{os.urandom(8).hex()}" for n in range(9000))
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "site.warc.gz"
        client = RecordingWebClient(file)
        with Path("/dev/full").open("wb", 0) as full:
            client._file._writer.out = full
            found = usp.sitemap_tree_for_homepage(server.url, client)
            assert len(pages_of(found)) == 9000
            with pytest.raises(StorageError, match="No space left"):
                client.close()
        assert [*Path(folder).iterdir()] == []


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_recording_that_was_cut_off_is_refused(
    server: LoopbackServer, file: Path, part: float
) -> None:
    record_site(server, file)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(UsageError, match="cut off"):
        ReplayWebClient(file)
    file.write_bytes(gzip.decompress(whole)[: int(len(whole) * part)])
    with pytest.raises(UsageError, match=r"cut off|not a recording"):
        ReplayWebClient(file)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"<urlset/>", "neither gzip nor WARC/"),
        (gzip.compress(PAGE), "is not a recording"),
        (b"\x1f\x8b and then something", "is not a recording"),
        (b"WARC/1.1\r\nnonsense", "is not a recording"),
        (b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 9\r\n\r\nxx", "malformed"),
        (b"WARC/1.1\r\nWARC-Type: resource\r\nContent-Length: 9\r\n\r\nxx", "cut off"),
    ],
)
def test_other_files_are_refused_with_one_clear_line(
    file: Path, content: bytes, reason: str
) -> None:
    file.write_bytes(content)
    with pytest.raises(UsageError, match=reason) as raised:
        Recording(file)
    assert "\n" not in str(raised.value)
    assert str(file) in str(raised.value)


def test_a_missing_file_is_a_wrong_argument(file: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        ReplayWebClient(file)


@pytest.mark.parametrize("name", ["\ud800.warc.gz", "a\0b.warc.gz"])
def test_a_name_that_no_system_accepts_is_a_wrong_argument(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write"):
        RecordingWebClient(tmp_path / name)


@pytest.mark.skipif(sys.platform != "linux", reason="the names of files are UTF-8")
def test_the_names_of_a_recording_and_its_source_need_not_be_utf8(tmp_path: Path) -> None:
    source, file = (tmp_path / f"caf\udce9.{suffix}" for suffix in ("xml", "warc.gz"))
    source.write_bytes(PAGE)
    with RecordingWebClient(file, source=str(source)) as client:
        assert pages_of(usp.sitemap_tree(source, web_client=client)) == ["https://example.org/page"]
    assert (Recording(file).source or "").endswith("caf\\udce9.xml")


def test_a_recording_of_a_later_version_is_refused(server: LoopbackServer, file: Path) -> None:
    record_site(server, file)
    text = gzip.decompress(file.read_bytes())
    file.write_bytes(text.replace(b"usp-fetch/1", b"usp-fetch/2"))
    with pytest.raises(UsageError, match="usp-fetch/2"):
        ReplayWebClient(file)


_WITHOUT_WARCIO = """
import sys
sys.modules["warcio"] = None
from usp.web_client.recording import RecordingWebClient
from usp.web_client.replay import ReplayWebClient
for make in (RecordingWebClient, ReplayWebClient):
    try:
        make(sys.argv[1])
    except Exception as error:
        print(error)
"""


def test_without_warcio_one_line_names_the_extra(file: Path) -> None:
    command = [sys.executable, "-c", _WITHOUT_WARCIO, str(file)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    line = (
        "A recording needs warcio, which the extra warc installs: in a clone of usp, run pip "
        'install ".[warc]"\n'
    )
    assert printed == line * 2
    assert not file.exists()
    assert issubclass(UsageError, SitemapException)


class PlainResponse(AbstractWebClientSuccessResponse):
    def __init__(self, url: str, body: bytes) -> None:
        self._url = url
        self._body = body

    def status_code(self) -> int:
        return 200

    def status_message(self) -> str:
        return "OK"

    def header(self, case_insensitive_name: str) -> str | None:
        return "text/xml" if case_insensitive_name == "Content-Type" else None

    def raw_data(self) -> bytes:
        return self._body

    def url(self) -> str:
        return self._url


class OwnClient(AbstractWebClient):
    """A client of a program's own: some documents, an odd error, an exception."""

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        if url.endswith("robots.txt"):
            body = "".join(f"Sitemap: /{name}.xml\n" for name in ("good", "odd", "raises"))
            return PlainResponse(url, body.encode())
        if url.endswith("good.xml"):
            return PlainResponse(url, PAGE)
        if url.endswith("raises.xml"):
            raise OSError("the cable is missing")
        return WebClientErrorResponse("the shop is closed", retryable=False)


def test_a_client_of_the_callers_own_is_recorded(file: Path) -> None:
    with RecordingWebClient(file, OwnClient()) as client:
        recorded = usp.sitemap_tree_for_homepage("https://example.org/", client)
    replayed = usp.sitemap_tree_for_homepage("https://example.org/", ReplayWebClient(file))
    assert replayed.to_dict() == recorded.to_dict()
    assert replayed.tried == recorded.tried
    assert "OSError: the cable is missing" in {each.detail for each in replayed.tried}
    assert pages_of(replayed) == ["https://example.org/page"]


def test_a_client_without_network_access_is_replayed_as_such(file: Path) -> None:
    with RecordingWebClient(file, LocalWebClient()) as client, pytest.raises(NoWebClientException):
        client.get("https://example.org/")
    with pytest.raises(NoWebClientException):
        ReplayWebClient(file).get("https://example.org/")


class Writer:
    """Writes recordings as other tools do."""

    def __init__(self, *, gzipped: bool) -> None:
        self.file = io.BytesIO()
        self.writer = WARCWriter(self.file, gzip=gzipped)

    def response(self, url: str, status: str, body: bytes = b"", **headers: str) -> Any:
        named = [(name.replace("_", "-"), value) for name, value in headers.items()]
        record = self.writer.create_warc_record(
            url,
            "response",
            payload=io.BytesIO(body),
            length=len(body),
            http_headers=StatusAndHeaders(status, named, protocol="HTTP/1.1"),
        )
        self.writer.write_record(record)
        return record

    def revisit(self, url: str, of: Any) -> None:
        get = of.rec_headers.get_header
        record = self.writer.create_revisit_record(
            url,
            get("WARC-Payload-Digest"),
            get("WARC-Target-URI"),
            get("WARC-Date"),
            http_headers=StatusAndHeaders("200 OK", [("X", "y")], protocol="HTTP/1.1"),
        )
        self.writer.write_record(record)


@pytest.mark.parametrize("gzipped", [True, False])
def test_recordings_of_other_tools_are_replayed(file: Path, gzipped: bool) -> None:
    site = "https://example.org/"
    made = Writer(gzipped=gzipped)
    names = ("plain", "packed", "chunked", "both", "again", "moved", "gone", "busy", "br", "lost")
    robots = "".join(f"Sitemap: {site}{name}.xml\n" for name in names)
    made.response(f"{site}robots.txt", "200 OK", robots.encode())
    plain = made.response(f"{site}plain.xml", "200 OK", urlset(f"{site}plain"))
    packed = gzip.compress(urlset(f"{site}packed"))
    made.response(f"{site}packed.xml", "200 OK", packed, Content_Encoding="gzip")
    body = urlset(f"{site}chunked")
    wire = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    made.response(f"{site}chunked.xml", "200 OK", wire, Transfer_Encoding="chunked")
    body = gzip.compress(urlset(f"{site}both"))
    wire = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    made.response(
        f"{site}both.xml", "200 OK", wire, Transfer_Encoding="chunked", Content_Encoding="gzip"
    )
    made.revisit(f"{site}again.xml", plain)
    made.response(f"{site}moved.xml", "301 Moved", Location="/new%20place.xml")
    made.response(f"{site}new%20place.xml", "200 OK", urlset(f"{site}moved"))
    made.response(f"{site}gone.xml", "410 Gone")
    made.response(f"{site}busy.xml", "503 Busy", Retry_After="60")
    made.response(f"{site}busy.xml", "200 OK", urlset(f"{site}busy"))
    made.response(f"{site}br.xml", "200 OK", b"\x0b\x02\x80\x00\x01", Content_Encoding="br")
    file.write_bytes(made.file.getvalue())

    assert Recording(file).source == site
    found = usp.sitemap_tree_for_homepage(site, ReplayWebClient(file))
    listed = ["plain", "packed", "chunked", "both", "plain", "moved", "busy"]
    assert pages_of(found) == [f"{site}{name}" for name in listed]
    failed = {s.url: s.reason for s in found.all_sitemaps() if isinstance(s, InvalidSitemap)}
    assert "410 Gone" in failed[f"{site}gone.xml"]
    assert "content encoding br" in failed[f"{site}br.xml"]
    assert "not in the recording" in failed[f"{site}lost.xml"]
    [moved] = [s for s in found.all_sitemaps() if s.url.endswith("place.xml")]
    assert moved.fetch_info.redirects == (f"{site}moved.xml",)
    [busy] = [s for s in found.all_sitemaps() if s.url.endswith("busy.xml")]
    assert busy.fetch_info.attempts == 2


def test_one_gzip_stream_for_all_records_is_refused_with_one_line(file: Path) -> None:
    made = Writer(gzipped=False)
    for number in range(3):
        made.response(f"https://example.org/{number}", "200 OK", PAGE)
    file.write_bytes(gzip.compress(made.file.getvalue()))
    with pytest.raises(UsageError, match="compressed") as raised:
        Recording(file)
    assert "\n" not in str(raised.value)


def test_large_bodies_are_not_held_in_memory(server: LoopbackServer, file: Path) -> None:
    import tracemalloc

    size = 24 * 1024 * 1024

    def long(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // 65536):
            handler.wfile.write(bytes(65536))

    def chunks(response: AbstractWebClientResponse) -> Iterator[bytes]:
        assert isinstance(response, AbstractWebClientSuccessResponse)
        return response.chunks()

    server.site["/long"] = long
    with RecordingWebClient(file) as client:
        tracemalloc.start()
        assert sum(map(len, chunks(client.get(server.at("long"))))) == size
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < size / 4
    replay = ReplayWebClient(file)
    tracemalloc.start()
    assert sum(map(len, chunks(replay.get(server.at("long"))))) == size
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 4


def test_a_session_with_mocked_responses_is_recorded(file: Path) -> None:
    import requests_mock

    session = requests.Session()
    with requests_mock.Mocker(session=session) as mocked:
        mocked.get(requests_mock.ANY, status_code=404)
        mocked.get("https://example.org/sitemap.xml", content=PAGE, headers={"ETag": "x"})
        client = RequestsWebClient(session=session, private_addresses="allow")
        with RecordingWebClient(file, client) as recording:
            recorded = usp.sitemap_tree_for_homepage("https://example.org/", recording)
    assert pages_of(recorded) == ["https://example.org/page"]
    replayed = usp.sitemap_tree_for_homepage("https://example.org/", ReplayWebClient(file))
    assert replayed.to_dict() == recorded.to_dict()
    assert replayed.tried == recorded.tried
