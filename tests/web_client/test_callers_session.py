"""A session of the caller's: guarded, bounded and cancelled like our own, and never changed.

127.0.0.1 stands for a public host, 127.0.0.2 for a private or foreign one.
"""

import io
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
import requests_cache
import requests_mock
from requests.adapters import BaseAdapter, HTTPAdapter

import usp
from tests.loops import run
from tests.server import Answer, Handler, LoopbackServer, index, redirect, urlset
from tests.servers import Certificate, ServerAt, TLSServer, drip
from usp import aio
from usp.web_client.abstract_client import (
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

pytestmark = pytest.mark.usefixtures("no_settings")

TRIES = 40


class GuardedClient(RequestsWebClient):
    """A client for which 127.0.0.1 is a public address, and no other is."""

    thread_safe = True

    @staticmethod
    def _is_public(address: str) -> bool:
        return address == "127.0.0.1"


class OtherAdapter(HTTPAdapter):
    """An adapter of the caller's: its connections are those of urllib3."""


class SessionSubclass(requests.Session):
    pass


def with_other_adapter() -> requests.Session:
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, OtherAdapter())
    return session


class ReadingAdapter(HTTPAdapter):
    """An adapter that reads each body at once, so that the connection is released."""

    def send(self, *args: Any, **options: Any) -> requests.Response:
        response = super().send(*args, **options)
        len(response.content)
        return response


def with_bound_request() -> requests.Session:
    """A well-known recipe for a default timeout."""
    session = requests.Session()
    session.request = partial(session.request, timeout=5)  # type: ignore[method-assign]
    return session


def with_reading_hook() -> requests.Session:
    """A hook that reads each response, so that its connection is released."""
    session = with_other_adapter()

    def read(response: requests.Response, **_: object) -> None:
        len(response.content)

    session.hooks["response"].append(read)
    return session


SESSIONS: dict[str, Callable[[], requests.Session]] = {
    "plain": requests.Session,
    "subclass": SessionSubclass,
    "cache": lambda: requests_cache.CachedSession(backend="memory"),
    "other adapter": with_other_adapter,
    "bound request": with_bound_request,
    "reading hook": with_reading_hook,
}


@pytest.fixture(params=SESSIONS)
def session(request: pytest.FixtureRequest) -> Iterator[requests.Session]:
    with SESSIONS[request.param]() as made:
        yield made


@pytest.fixture
def private() -> Iterator[LoopbackServer]:
    with ServerAt("127.0.0.2") as running:
        running.otherwise = b"private"
        yield running


def answer_and_reset(handler: Handler) -> None:
    """Send a whole response and reset the connection: the address is gone with it."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nprivate")
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.connection.close()


def close_without_body(handler: Handler) -> None:
    """Redirect without a body and close: http.client has closed its socket by then."""
    head = "HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: /next\r\n\r\n"
    handler.wfile.write(head.encode())


# The address guard


@pytest.mark.parametrize("respond", [answer_and_reset, close_without_body])
def test_no_response_of_a_private_server_is_believed(
    server: LoopbackServer,
    private: LoopbackServer,
    session: requests.Session,
    respond: Callable[[Handler], None],
) -> None:
    server.site["/robots.txt"] = b"open"
    private.site["/a"] = respond
    with closing(GuardedClient(session=session)) as client:
        client.for_crawl(server.url)
        assert isinstance(client.get(server.at("/robots.txt")), AbstractWebClientSuccessResponse)
        responses = [client.get(private.at("/a")) for _ in range(TRIES)]
    believed = [each for each in responses if not isinstance(each, WebClientErrorResponse)]
    assert believed == []
    assert "/next" not in private.requested
    messages = {each.message() for each in responses if isinstance(each, WebClientErrorResponse)}
    refused = [text for text in messages if text.endswith(": refused")]
    assert refused, messages


def test_nothing_is_sent_to_a_private_server_over_plain_adapters(
    server: LoopbackServer, private: LoopbackServer
) -> None:
    server.site["/r"] = redirect(private.at("/a"))
    for make in (requests.Session, SessionSubclass, SESSIONS["cache"]):
        with make() as session, closing(GuardedClient(session=session)) as client:
            client.for_crawl(server.url)
            for url in (server.at("/r"), private.at("/a")):
                response = client.get(url)
                assert isinstance(response, WebClientErrorResponse)
                assert "127.0.0.2" in response.message()
    assert private.requested == []


def test_an_address_that_can_not_be_determined_is_refused_in_clear_words(
    server: LoopbackServer,
) -> None:
    server.site["/a"] = b"open"
    with requests.Session() as session:
        session.mount("http://", ReadingAdapter())
        client = GuardedClient(session=session, private_addresses="refuse")
        response = client.get(server.at("/a"))
        assert isinstance(response, WebClientErrorResponse)
        assert response.message() == (
            "the address of 127.0.0.1 can't be determined, so it may be private: refused"
        )
        assert not response.retryable()
        allowed = GuardedClient(session=session, private_addresses="allow").get(server.at("/a"))
        assert isinstance(allowed, AbstractWebClientSuccessResponse)
        allowed.close()


class FromMemory(BaseAdapter):
    """An adapter that never connects."""

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        response = requests.Response()
        response.status_code, response.url, response.request = 200, str(request.url), request
        response.raw = io.BytesIO(b"made up")
        return response

    def close(self) -> None:
        pass


def test_what_did_not_come_over_the_network_has_no_address() -> None:
    with requests.Session() as session:
        session.mount("http://", FromMemory())
        client = GuardedClient(session=session, private_addresses="refuse")
        assert client.get("http://h.example/").raw_data() == b"made up"  # type: ignore[attr-defined]
    with requests.Session() as session, requests_mock.Mocker(session=session) as mock:
        mock.get("http://h.example/", text="mocked")
        client = GuardedClient(session=session, private_addresses="refuse")
        assert client.get("http://h.example/").raw_data() == b"mocked"  # type: ignore[attr-defined]


def test_the_session_is_not_changed(server: LoopbackServer, session: requests.Session) -> None:
    server.site["/a"] = b"open"
    before = dict(vars(session))
    adapters = dict(session.adapters)
    with closing(RequestsWebClient(session=session)) as client:
        client.for_crawl(server.url)
        assert client.get(server.at("/a")).raw_data() == b"open"  # type: ignore[attr-defined]
    assert dict(vars(session)) == before
    assert dict(session.adapters) == adapters
    assert session.get(server.at("/a")).content == b"open"


def test_settings_of_a_plain_adapter_hold(server: LoopbackServer) -> None:
    failures = iter([503, 503])
    server.site["/a"] = lambda _: next(failures, b"open")
    with requests.Session() as session:
        from urllib3.util.retry import Retry

        session.mount("http://", HTTPAdapter(max_retries=Retry(2, status_forcelist=[503])))
        with closing(RequestsWebClient(session=session)) as client:
            assert client.get(server.at("/a")).raw_data() == b"open"  # type: ignore[attr-defined]


# Secrets


def secrets(server: LoopbackServer) -> set[str]:
    """The names of the headers with secrets that a server got."""
    names = {"authorization", "cookie"}
    return {name for request in server.requests for name in names & set(request.headers)}


def test_cookies_without_a_domain_stay_on_the_site(
    server: LoopbackServer, private: LoopbackServer, session: requests.Session
) -> None:
    session.cookies.set("consent", "yes")
    session.auth = ("user", "word")
    server.robots("/i.xml", "/r.xml")
    server.site["/i.xml"] = index(private.at("/a.xml"), server.at("/a.xml"))
    server.site["/r.xml"] = redirect(private.at("/b.xml"))
    server.site["/a.xml"] = urlset("/page")
    with closing(RequestsWebClient(session=session)) as client:
        usp.sitemap_tree_for_homepage(server.url, client, use_known_paths=False)
    assert {"/a.xml", "/b.xml"} <= set(private.requested)
    assert secrets(private) == set()
    cookies = {request.path: request.headers.get("cookie") for request in server.requests}
    assert cookies["/a.xml"] == cookies["/robots.txt"] == "consent=yes"
    assert list(session.cookies) == [*session.cookies]
    assert session.cookies.get("consent") == "yes"


def test_cookies_of_a_domain_and_of_servers_are_sent_to_it(
    server: LoopbackServer, private: LoopbackServer
) -> None:
    server.site["/a"] = Answer(status=302, headers={"Location": "/b", "Set-Cookie": "set=1"})
    server.site["/b"] = b"open"
    with requests.Session() as session, closing(RequestsWebClient(session=session)) as client:
        session.cookies.set("theirs", "1", domain="127.0.0.2")
        client.for_crawl(server.url)
        client.get(server.at("/a"))
        client.get(private.at("/c"))
    assert server.requests[-1].headers["cookie"] == "set=1"
    assert private.requests[-1].headers["cookie"] == "theirs=1"


def test_secrets_go_nowhere_in_a_crawl_that_began_from_a_file(
    server: LoopbackServer, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password it\n")
    file = tmp_path / "index.xml"
    file.write_bytes(index(server.at("/a.xml")))
    server.site["/a.xml"] = urlset("/page")
    given = {"Authorization": "Bearer abc", "Cookie": "a=b"}

    async def in_asyncio() -> None:
        async with AioWebClient(headers=given, private_addresses="allow") as client:
            await aio.sitemap_tree(file, web_client=client)

    with requests.Session() as session:
        session.auth = ("user", "word")
        session.headers["Cookie"] = "c=d"
        session.cookies.set("consent", "yes")
        for client in (
            RequestsWebClient(headers=given, private_addresses="allow"),
            RequestsWebClient(session=session, headers=given, private_addresses="allow"),
            RequestsWebClient(session=session, private_addresses="allow"),
        ):
            with closing(client):
                assert len(list(usp.sitemap_tree(file, web_client=client).all_pages())) == 1
    run(in_asyncio())
    assert server.requested == ["/a.xml"] * 4
    assert secrets(server) == set()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["listed", "redirected"])
def test_secrets_do_not_leave_https(
    server: LoopbackServer, secure: TLSServer, certificate: Certificate, tmp_path: Path, how: str
) -> None:
    """Over http, nothing goes out: no netrc, no cookie, no header."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password it\n")
    secure.otherwise = 404
    secure.site["/robots.txt"] = f"Sitemap: {secure.at('/i.xml')}\n"
    plain = server.at("/a.xml")
    secure.site["/i.xml"] = index(plain if how == "listed" else secure.at("/r.xml"))
    secure.site["/r.xml"] = redirect(plain)
    server.site["/a.xml"] = urlset("/page")
    verify = str(certificate.file)
    given = {"Authorization": "Bearer abc", "Cookie": "a=b"}

    async def in_asyncio(headers: dict[str, str]) -> None:
        async with AioWebClient(headers=headers, verify=verify) as client:
            await aio.sitemap_tree(secure.url, web_client=client)

    for headers in ({}, given):
        with requests.Session() as session, with_bound_request() as bound:
            session.cookies.set("consent", "yes")
            session.cookies.set("named", "yes", domain="127.0.0.1")
            for used in (None, session, bound):
                client = RequestsWebClient(session=used, headers=headers, verify=verify)
                with closing(client):
                    usp.sitemap_tree(secure.url, web_client=client)
        run(in_asyncio(headers))
    assert "authorization" in secrets(secure)
    assert secrets(server) == set()


# Threads that a server keeps busy


def endless_interim(handler: Handler) -> None:
    """Send ``100 Continue`` for ever."""
    while not handler.owner.closing.wait(0.001):
        handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")


CHUNKED = "Transfer-Encoding: chunked\r\n\r\n0\r\n"
SLOW: dict[str, Callable[[Handler], None]] = {
    "100 Continue": endless_interim,
    "trailers": drip(CHUNKED, b"X-Trailer: 1\r\n", 0.01),  # type: ignore[dict-item]
    "status line": drip("X: ", b"x", 0.01),  # type: ignore[dict-item]
    "headers": drip("", b"X-Header: 1\r\n", 0.2),  # type: ignore[dict-item]
}


def fetching_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "usp-fetch"]


@pytest.mark.parametrize("slow", SLOW)
@pytest.mark.parametrize("kind", ["own", "plain", "subclass"])
def test_no_thread_is_busy_after_the_crawl(server: LoopbackServer, kind: str, slow: str) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = SLOW[slow]
    assert fetching_threads() == []
    with requests.Session() as plain, SessionSubclass() as subclass:
        given = {"own": None, "plain": plain, "subclass": subclass}[kind]
        client = GuardedClient(session=given, private_addresses="allow")
        with closing(client):
            begun = time.monotonic()
            usp.sitemap_tree_for_homepage(server.url, client, max_seconds=0.5)
            assert time.monotonic() - begun < 5
            until = time.monotonic() + 5
            while fetching_threads() and time.monotonic() < until:
                time.sleep(0.02)
            assert fetching_threads() == []
