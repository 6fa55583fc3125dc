"""``sitemap.fetch_info`` against a loopback server, in every driver."""

import gzip
import hashlib
import pickle
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

import usp
from tests.loops import run
from tests.server import Answer, Handler, LoopbackServer, Plain, redirect, urlset
from tests.servers import raw
from usp import aio
from usp.objects.abstract_sitemap import AbstractSitemap
from usp.objects.events import Event, ResponseReceived
from usp.objects.fetch_info import FetchInfo, Validators
from usp.objects.sitemap import InvalidSitemap

BODY = urlset("http://h.example/1", "http://h.example/2")
COMPRESSED = gzip.compress(BODY, mtime=0)
HEADERS = {
    "Content-Type": "application/xml; charset=UTF-8",
    "ETag": 'W/"abc"',
    "Last-Modified": "Wed, 01 May 2024 10:00:00 GMT",
}

Fetch = Callable[..., AbstractSitemap]
"""Fetches one sitemap, and returns it."""


def in_threads(url: str, **options: Any) -> AbstractSitemap:
    (sitemap,) = usp.sitemap_tree(url, **options).sub_sitemaps
    return sitemap


def inline(url: str, **options: Any) -> AbstractSitemap:
    return in_threads(url, concurrency=1, **options)


def in_asyncio(url: str, **options: Any) -> AbstractSitemap:
    (sitemap,) = run(aio.sitemap_tree(url, **options)).sub_sitemaps
    return sitemap


@pytest.fixture(params=[in_threads, inline, in_asyncio])
def fetch(request: pytest.FixtureRequest) -> Fetch:
    chosen: Fetch = request.param
    return chosen


def test_status_and_headers_are_those_of_the_response(server: LoopbackServer, fetch: Fetch) -> None:
    server.site["/a.xml"] = Answer(body=BODY, headers=HEADERS)
    before = datetime.now(UTC)
    sitemap = fetch(server.at("/a.xml"))
    info = sitemap.fetch_info
    assert info.status == 200
    assert info.content_type == "application/xml; charset=UTF-8"
    assert info.content_encoding is None
    assert info.etag == 'W/"abc"'
    assert info.last_modified == "Wed, 01 May 2024 10:00:00 GMT"
    assert info.http_last_modified == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert sitemap.http_last_modified == info.http_last_modified
    assert info.validators == Validators('W/"abc"', "Wed, 01 May 2024 10:00:00 GMT")
    assert info.redirects == sitemap.redirects == ()
    assert info.bytes_received == len(BODY)
    assert info.attempts == 1
    assert info.sha256 is None
    assert not info.not_modified
    assert not info.truncated
    assert info.fetched_at is not None
    assert before <= info.fetched_at <= datetime.now(UTC)
    assert info.seconds is not None
    assert 0 < info.seconds < 60


def test_headers_that_are_missing_or_malformed_are_none(
    server: LoopbackServer, fetch: Fetch
) -> None:
    server.site["/a.xml"] = Answer(body=BODY, headers={"Last-Modified": "yesterday"})
    info = fetch(server.at("/a.xml")).fetch_info
    assert (info.content_type, info.content_encoding, info.etag) == (None, None, None)
    assert info.last_modified == "yesterday"
    assert info.http_last_modified is None


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (BODY, None),
        (COMPRESSED, None),
        (COMPRESSED, "gzip"),
        (zlib.compress(BODY), "deflate"),
    ],
    ids=["plain", "gzip file", "gzip encoding", "deflate encoding"],
)
def test_size_and_hash_are_of_the_body_as_received(
    server: LoopbackServer, fetch: Fetch, body: bytes, encoding: str | None
) -> None:
    headers = {"Content-Encoding": encoding} if encoding else {}
    server.site["/a.xml"] = Answer(body=body, headers=headers)
    sitemap = fetch(server.at("/a.xml"), hash_bodies=True)
    assert len(list(sitemap.all_pages())) == 2
    assert sitemap.fetch_info.content_encoding == encoding
    assert sitemap.fetch_info.bytes_received == len(body)
    assert sitemap.fetch_info.sha256 == hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize("piece", [1, 100, len(BODY)])
def test_of_a_body_beyond_the_limit_as_much_is_read_whatever_the_size_of_its_parts(
    server: LoopbackServer, fetch: Fetch, piece: int
) -> None:
    def send(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for start in range(0, len(BODY), piece):
            handler.wfile.write(BODY[start : start + piece])

    server.site["/a.xml"] = send
    info = fetch(server.at("/a.xml"), hash_bodies=True, max_document_bytes=150).fetch_info
    assert info.bytes_received == 151
    assert info.sha256 == hashlib.sha256(BODY[:151]).hexdigest()


def test_the_hash_of_a_body_is_computed_on_request_only(
    server: LoopbackServer, fetch: Fetch
) -> None:
    server.site["/a.xml"] = BODY
    assert fetch(server.at("/a.xml")).fetch_info.sha256 is None
    assert fetch(server.at("/a.xml"), hash_bodies=False).fetch_info.sha256 is None
    hashed = fetch(server.at("/a.xml"), hash_bodies=True).fetch_info
    assert hashed.sha256 == hashlib.sha256(BODY).hexdigest()


def test_the_urls_that_redirected_are_listed_in_order(server: LoopbackServer, fetch: Fetch) -> None:
    server.site["/old.xml"] = redirect("/older.xml", status=301)
    server.site["/older.xml"] = redirect("/new.xml")
    server.site["/new.xml"] = BODY
    sitemap = fetch(server.at("/old.xml"))
    assert sitemap.url == server.at("/new.xml")
    assert sitemap.declared_url == server.at("/old.xml")
    assert sitemap.fetch_info.redirects == (server.at("/old.xml"), server.at("/older.xml"))
    assert sitemap.redirects == sitemap.fetch_info.redirects


@pytest.mark.parametrize("failures", [1, 2])
def test_attempts_count_retries(server: LoopbackServer, fetch: Fetch, failures: int) -> None:
    def answer(handler: Handler) -> Plain:
        return 503 if len(server.requested) <= failures else BODY

    server.site["/a.xml"] = answer
    info = fetch(server.at("/a.xml"), backoff_initial=0.01).fetch_info
    assert (info.status, info.attempts) == (200, failures + 1)


def test_a_truncated_body_is_marked_and_measured(server: LoopbackServer, fetch: Fetch) -> None:
    received = BODY[:-20]
    head = b"HTTP/1.1 200 OK\r\nETag: x\r\nContent-Length: 9999\r\n\r\n"
    server.site["/a.xml"] = raw(head + received)
    info = fetch(server.at("/a.xml"), max_attempts=2, backoff_initial=0.01).fetch_info
    assert info.truncated
    assert (info.status, info.etag, info.attempts) == (200, "x", 2)
    assert info.bytes_received == len(received)


def test_a_sitemap_that_no_response_brought_has_an_empty_fetch_info(
    server: LoopbackServer, fetch: Fetch
) -> None:
    server.site["/a.xml"] = raw(b"this is not HTTP\r\n\r\n")
    unreachable = fetch(server.at("/a.xml"), max_attempts=1)
    assert isinstance(unreachable, InvalidSitemap)
    assert unreachable.fetch_info == FetchInfo()
    assert usp.parse(BODY).fetch_info == FetchInfo()


def test_an_error_response_has_its_status_headers_and_times(
    server: LoopbackServer, fetch: Fetch
) -> None:
    server.site["/old.xml"] = redirect(server.at("/gone.xml"), 301)
    server.site["/gone.xml"] = Answer(410, BODY, {**HEADERS, "X-Other": "1"})
    before = datetime.now(UTC)
    gone = fetch(server.at("/old.xml"))
    assert isinstance(gone, InvalidSitemap)
    info = gone.fetch_info
    assert info.status == 410
    assert info.content_type == "application/xml; charset=UTF-8"
    assert info.validators == Validators('W/"abc"', "Wed, 01 May 2024 10:00:00 GMT")
    assert info.http_last_modified == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert info.redirects == gone.redirects == (server.at("/old.xml"),)
    assert info.bytes_received is None
    assert info.attempts == 1
    assert info.fetched_at is not None
    assert before <= info.fetched_at <= datetime.now(UTC)
    assert info.seconds is not None
    assert 0 < info.seconds < 60


def test_an_error_response_counts_its_attempts(server: LoopbackServer, fetch: Fetch) -> None:
    server.site["/a.xml"] = Answer(500)
    failed = fetch(server.at("/a.xml"), max_attempts=3, backoff_initial=0)
    assert (failed.fetch_info.status, failed.fetch_info.attempts) == (500, 3)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"\x8b\x05\x80br\x03", {"Content-Encoding": "br"}),
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
    ],
    ids=["an encoding that nobody requested", "a body that never came"],
)
def test_a_response_without_a_document_has_a_fetch_info(
    server: LoopbackServer, fetch: Fetch, answer: Plain
) -> None:
    server.site["/a.xml"] = answer
    failed = fetch(server.at("/a.xml"), max_attempts=1)
    assert isinstance(failed, InvalidSitemap)
    assert failed.fetch_info.status == 200
    assert failed.fetch_info.attempts == 1


def test_a_redirect_loop_has_a_status(server: LoopbackServer, fetch: Fetch) -> None:
    server.site["/a.xml"] = redirect(server.at("/a.xml"), 302)
    assert fetch(server.at("/a.xml")).fetch_info.status == 302


def test_a_host_that_was_given_up_gives_no_url_the_fetch_info_of_another(
    server: LoopbackServer,
) -> None:
    paths = [f"/{number}.xml" for number in range(20)]
    server.robots(*paths)
    server.site |= dict.fromkeys(paths, Answer(503))
    tree = usp.sitemap_tree(
        server.at("/robots.txt"),
        per_host=1,
        max_attempts=1,
        host_failure_threshold=2,
        backoff_initial=0,
    )
    requested = {server.at(path) for path in server.requested}
    for sitemap in tree.sub_sitemaps[0].sub_sitemaps:
        was_requested = sitemap.url in requested
        assert sitemap.fetch_info.status == (503 if was_requested else None)
        assert sitemap.fetch_info.attempts == int(was_requested)
    assert 2 < len(requested) < 20


def test_sitemaps_that_redirect_to_one_document_have_redirects_of_their_own(
    server: LoopbackServer,
) -> None:
    server.robots("/old.xml", "/new.xml")
    server.site["/old.xml"] = redirect("/new.xml")
    server.site["/new.xml"] = Answer(body=COMPRESSED, headers=HEADERS)
    original = usp.sitemap_tree_for_homepage(server.url, use_known_paths=False)
    for tree in (original, pickle.loads(pickle.dumps(original))):
        old, new = tree.sub_sitemaps[0].sub_sitemaps
        assert old.redirects == (server.at("/old.xml"),)
        assert new.redirects == ()
        for sitemap in (old, new):
            assert sitemap.url == server.at("/new.xml")
            assert sitemap.fetch_info.bytes_received == len(COMPRESSED)
            assert sitemap.fetch_info.etag == HEADERS["ETag"]
        assert old == new, "how a sitemap was fetched doesn't count for equality"


def test_an_observer_gets_the_fetch_info_of_the_tree(server: LoopbackServer, fetch: Fetch) -> None:
    server.site["/a.xml"] = Answer(body=COMPRESSED, headers=HEADERS)
    events: list[Event] = []
    sitemap = fetch(server.at("/a.xml"), observer=events.append, hash_bodies=True)
    (received,) = [event for event in events if isinstance(event, ResponseReceived)]
    assert received.fetch_info == sitemap.fetch_info
    assert received.fetch_info.sha256
