"""Which failures pass, where redirects may lead, and who gets to see credentials."""

import http.client
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import urllib3
from requests.adapters import BaseAdapter
from urllib3.connection import HTTPConnection
from urllib3.exceptions import MaxRetryError, NameResolutionError, NewConnectionError, ProtocolError

from tests.responses import error
from tests.server import Answer, LoopbackServer, redirect, reset, stall
from tests.servers import ServerAt, full_house, raw
from usp.exceptions import AddressRefusedError, CancelledFetchError, DeadlineError
from usp.web_client._http.errors import is_transient
from usp.web_client.requests_client import RequestsWebClient

POOL = urllib3.HTTPConnectionPool("host.example")


@pytest.fixture(params=["own session", "plain session"])
def client(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[RequestsWebClient]:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with requests.Session() as session:
        made = RequestsWebClient(session=None if request.param == "own session" else session)
        made.set_timeout(0.3)
        yield made
        made.close()


@pytest.fixture
def other() -> Iterator[LoopbackServer]:
    """A server on another host."""
    with ServerAt("127.0.0.2") as running:
        running.otherwise = b"there"
        yield running


def as_requests_does(error: Exception) -> Exception:
    return requests.exceptions.ConnectionError(MaxRetryError(POOL, "/", error))


# What is_transient


@pytest.mark.parametrize(
    "failure",
    [
        requests.exceptions.ReadTimeout(),
        requests.exceptions.ConnectTimeout(),
        requests.exceptions.ChunkedEncodingError(),
        requests.exceptions.ConnectionError(ProtocolError("", ConnectionResetError())),
        requests.exceptions.ConnectionError(ProtocolError("", http.client.RemoteDisconnected(""))),
        ProtocolError("", http.client.IncompleteRead(b"")),
        as_requests_does(urllib3.exceptions.SSLError(ssl.SSLEOFError())),
        BrokenPipeError(),
        TimeoutError(),
    ],
    ids=repr,
)
def test_what_passes(failure: Exception) -> None:
    assert is_transient(failure)


@pytest.mark.parametrize(
    "failure",
    [
        as_requests_does(NewConnectionError(HTTPConnection("h"), "Connection aborted timed out")),
        as_requests_does(NameResolutionError("h", HTTPConnection("h"), socket.gaierror())),
        as_requests_does(urllib3.exceptions.SSLError(ssl.SSLCertVerificationError())),
        as_requests_does(urllib3.exceptions.SSLError(ssl.SSLError("WRONG_VERSION_NUMBER"))),
        requests.exceptions.ConnectionError("Connection aborted: RemoteDisconnected"),
        requests.exceptions.TooManyRedirects(),
        requests.exceptions.InvalidURL(),
        requests.exceptions.InvalidSchema(),
        urllib3.exceptions.DecodeError("", ValueError()),
        AddressRefusedError(),
        DeadlineError(),
        CancelledFetchError(),
        ConnectionRefusedError(),
        ValueError(),
    ],
    ids=repr,
)
def test_what_stays(failure: Exception) -> None:
    assert not is_transient(failure)


def test_the_cause_at_the_bottom_decides() -> None:
    refused = NewConnectionError(HTTPConnection("h"), "")
    refused.__cause__ = ConnectionRefusedError()
    assert not is_transient(as_requests_does(refused))
    slow = NewConnectionError(HTTPConnection("h"), "")
    slow.__cause__ = TimeoutError()
    assert is_transient(as_requests_does(slow))


def test_errors_that_go_round_in_circles() -> None:
    first, second = ValueError(), ConnectionResetError()
    first.__cause__, second.__cause__ = second, first
    assert is_transient(first)


def test_on_real_sockets(server: LoopbackServer, client: RequestsWebClient) -> None:
    server.site |= {"/reset": reset, "/stall": stall, "/loop": redirect("/loop")}
    server.site["/hang-up"] = lambda _: None
    for path in ("/reset", "/stall", "/hang-up"):
        answer = error(client.get(server.at(path)))
        assert answer.retryable(), path
        assert answer.status_code() is None
    loop = error(client.get(server.at("/loop")))
    assert (loop.retryable(), loop.status_code()) == (False, 302)
    not_tls = server.url.replace("http:", "https:")
    for url in ("http://127.0.0.1:1/", not_tls, "http://", "http://[", "http://a..b/", "//x", ""):
        assert not error(client.get(url)).retryable(), url


def test_a_host_that_does_not_take_connections(client: RequestsWebClient) -> None:
    with full_house() as url:
        answer = error(client.get(url))
    assert answer.retryable()
    assert answer.status_code() is None


def test_what_is_no_http_is_said_so(server: LoopbackServer, client: RequestsWebClient) -> None:
    server.site["/a"] = raw(b"garbage\r\n\r\n")
    answer = error(client.get(server.at("/a")))
    assert "BadStatusLine('garbage" in answer.message()
    assert answer.no_response()


@pytest.mark.parametrize(
    "said", ["soon", "-5", "1e9", "Mon, 01 Jan 2020 00:00:00 +99999999999999", "31 Dec 99999 1:1:1"]
)
def test_a_retry_after_that_means_nothing_says_nothing(
    server: LoopbackServer, client: RequestsWebClient, said: str
) -> None:
    server.site["/a"] = Answer(status=429, headers={"Retry-After": said})
    answer = error(client.get(server.at("/a")))
    assert (answer.status_code(), answer.retry_after(), answer.retryable()) == (429, None, True)


def test_a_hook_that_raises_for_the_status(server: LoopbackServer) -> None:
    server.site["/a"] = Answer(status=503, headers={"Retry-After": "7"})
    with requests.Session() as session:
        session.hooks["response"] = lambda response, **_: response.raise_for_status()
        answer = error(RequestsWebClient(session=session).get(server.at("/a")))
    assert (answer.status_code(), answer.retry_after(), answer.retryable()) == (503, 7.0, True)


def test_hooks_of_the_session_run_for_each_response(server: LoopbackServer) -> None:
    server.site |= {"/a": redirect("/b"), "/b": b"there"}
    seen: list[str] = []
    with requests.Session() as session:
        session.hooks["response"].append(lambda response, **_: seen.append(response.url))
        RequestsWebClient(session=session).get(server.at("/a"))
        assert len(session.hooks["response"]) == 1
    assert seen == [server.at("/a"), server.at("/b")]


# Where redirects may lead


class Trap(BaseAdapter):
    """What a caller may have mounted for another scheme."""

    def send(self, *_: object, **__: object) -> requests.Response:
        raise AssertionError("it was followed")

    def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://host.example/", "FILE:/x", "data:,x", "gopher://h/"]
)
def test_only_http_and_https(server: LoopbackServer, target: str) -> None:
    server.site["/a"] = redirect(target)
    with requests.Session() as session:
        for scheme in ("file:", "ftp:", "data:", "gopher:"):
            session.mount(scheme, Trap())
        client = RequestsWebClient(session=session)
        assert not error(client.get(server.at("/a"))).retryable()
        assert not error(client.get(target)).retryable()


@pytest.mark.parametrize("target", ["http://[", "http://a..b/", "http://\x00/", "https://:99999/"])
def test_redirects_to_what_is_no_url(
    server: LoopbackServer, client: RequestsWebClient, target: str
) -> None:
    server.site["/a"] = redirect(target)
    assert not error(client.get(server.at("/a"))).retryable()


# Credentials


def names(server: LoopbackServer) -> list[str]:
    """The credentials that a server was shown."""
    return [name for name in ("authorization", "cookie") if name in server.requests[-1].headers]


def test_userinfo_and_cookies_stay_with_their_host(
    server: LoopbackServer, other: LoopbackServer, client: RequestsWebClient
) -> None:
    there = Answer(status=302, headers={"Location": other.at("/b"), "Set-Cookie": "a=b"})
    server.site["/a"] = there
    for _ in range(2):
        client.get(server.at("/a").replace("//", "//user:secret@"))
        assert names(other) == []
    assert names(server) == ["authorization", "cookie"]


def test_what_a_session_sends_stays_in_the_domain_of_the_homepage(
    server: LoopbackServer, other: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server.site["/r"] = redirect(other.at("/b"))
    with requests.Session() as session:
        session.auth = ("user", "secret")
        session.headers["Cookie"] = "a=b"
        client = RequestsWebClient(session=session)
        client.get(other.at("/b"))
        assert names(other) == ["authorization", "cookie"], "nobody has said whose crawl it is"
        client.for_crawl(server.url)
        client.get(server.at("/a"))
        assert names(server) == ["authorization", "cookie"]
        for url in (other.at("/b"), server.at("/r")):
            client.get(url)
            assert names(other) == []
        (tmp_path / "netrc").write_text("machine 127.0.0.2 login me password it\n")
        client.get(other.at("/b"))
        assert other.requests[-1].headers["authorization"] == "Basic bWU6aXQ=", "meant for it"
        assert (session.auth, session.headers["Cookie"]) == (("user", "secret"), "a=b")


def test_a_header_that_a_session_sets_is_a_credential_too(
    server: LoopbackServer, other: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with requests.Session() as session:
        session.headers["Authorization"] = "Bearer secret"
        client = RequestsWebClient(session=session)
        client.for_crawl(server.url)
        client.get(server.at("/a"))
        client.get(other.at("/b"))
    assert (names(server), names(other)) == (["authorization"], [])


@pytest.mark.parametrize(
    ("homepage", "host", "trusted"),
    [
        ("https://example.org/", "example.org", True),
        ("https://example.org/", "www.example.org", True),
        ("https://www.example.org/", "cdn.example.org", True),
        ("https://www.example.org/", "example.org", True),
        ("https://example.org/", "badexample.org", False),
        ("https://example.org/", "example.org.evil.example", False),
        ("https://a.example.org/", "b.example.org", False),
        ("https://B\u00fccher.example/", "xn--bcher-kva.example", True),
    ],
)
def test_the_domain_of_the_homepage(homepage: str, host: str, trusted: bool) -> None:
    sent: list[bool] = []

    class Recorder(BaseAdapter):
        def send(
            self, request: requests.PreparedRequest, *_: object, **__: object
        ) -> requests.Response:
            sent.append("Authorization" in request.headers)
            raise requests.exceptions.ConnectionError

        def close(self) -> None:
            """Do nothing."""

    with requests.Session() as session:
        session.auth = ("user", "secret")
        session.mount("https://", Recorder())
        client = RequestsWebClient(session=session)
        client.for_crawl(homepage)
        client.get(f"https://{host}/")
    assert sent == [trusted]
