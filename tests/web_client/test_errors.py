"""Transient and permanent errors of the client on requests, and redirects to other schemes."""

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
from tests.servers import raw, server_at_capacity
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


def as_requests_does(error: Exception) -> Exception:
    return requests.exceptions.ConnectionError(MaxRetryError(POOL, "/", error))


# Transient and permanent


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
        socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
    ],
    ids=repr,
)
def test_an_error_is_transient(failure: Exception) -> None:
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
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        ValueError(),
    ],
    ids=repr,
)
def test_an_error_is_permanent(failure: Exception) -> None:
    assert not is_transient(failure)


def test_the_innermost_cause_decides() -> None:
    refused = NewConnectionError(HTTPConnection("h"), "")
    refused.__cause__ = ConnectionRefusedError()
    assert not is_transient(as_requests_does(refused))
    slow = NewConnectionError(HTTPConnection("h"), "")
    slow.__cause__ = TimeoutError()
    assert is_transient(as_requests_does(slow))


def test_a_cycle_of_causes_ends() -> None:
    first, second = ValueError(), ConnectionResetError()
    first.__cause__, second.__cause__ = second, first
    assert is_transient(first)


def test_errors_of_real_sockets(server: LoopbackServer, client: RequestsWebClient) -> None:
    server.site |= {"/reset": reset, "/stall": stall, "/loop": redirect("/loop")}
    server.site["/hang-up"] = lambda _: None
    for path in ("/reset", "/stall", "/hang-up"):
        response = error(client.get(server.at(path)))
        assert response.retryable(), path
        assert response.status_code() is None
    loop = error(client.get(server.at("/loop")))
    assert (loop.retryable(), loop.status_code()) == (False, 302)
    not_tls = server.url.replace("http:", "https:")
    for url in ("http://127.0.0.1:1/", not_tls, "http://", "http://[", "http://a..b/", "//x", ""):
        assert not error(client.get(url)).retryable(), url


def test_a_connect_timeout_is_transient(client: RequestsWebClient) -> None:
    with server_at_capacity() as url:
        response = error(client.get(url))
    assert response.retryable()
    assert response.status_code() is None


def test_a_response_that_is_not_http_is_reported(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    server.site["/a"] = raw(b"garbage\r\n\r\n")
    response = error(client.get(server.at("/a")))
    assert "BadStatusLine('garbage" in response.message()
    assert response.no_response()


@pytest.mark.parametrize(
    "header",
    ["soon", "-5", "1e9", "Mon, 01 Jan 2020 00:00:00 +99999999999999", "31 Dec 99999 1:1:1"],
)
def test_an_invalid_retry_after_is_ignored(
    server: LoopbackServer, client: RequestsWebClient, header: str
) -> None:
    server.site["/a"] = Answer(status=429, headers={"Retry-After": header})
    response = error(client.get(server.at("/a")))
    assert (response.status_code(), response.retry_after(), response.retryable()) == (
        429,
        None,
        True,
    )


def test_a_hook_of_the_session_may_raise_for_the_status(server: LoopbackServer) -> None:
    server.site["/a"] = Answer(status=503, headers={"Retry-After": "7"})
    with requests.Session() as session:
        session.hooks["response"] = lambda response, **_: response.raise_for_status()
        response = error(RequestsWebClient(session=session).get(server.at("/a")))
    assert (response.status_code(), response.retry_after(), response.retryable()) == (
        503,
        7.0,
        True,
    )


def test_hooks_of_the_session_run_for_each_response(server: LoopbackServer) -> None:
    server.site |= {"/a": redirect("/b"), "/b": b"there"}
    seen: list[str] = []
    with requests.Session() as session:
        session.hooks["response"].append(lambda response, **_: seen.append(response.url))
        RequestsWebClient(session=session).get(server.at("/a"))
        assert len(session.hooks["response"]) == 1
    assert seen == [server.at("/a"), server.at("/b")]


# Redirects


class Trap(BaseAdapter):
    """An adapter that a caller may have mounted for another scheme."""

    def send(self, *_: object, **__: object) -> requests.Response:
        raise AssertionError("it was followed")

    def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://host.example/", "FILE:/x", "data:,x", "gopher://h/"]
)
def test_only_http_and_https_are_fetched(server: LoopbackServer, target: str) -> None:
    server.site["/a"] = redirect(target)
    with requests.Session() as session:
        for scheme in ("file:", "ftp:", "data:", "gopher:"):
            session.mount(scheme, Trap())
        client = RequestsWebClient(session=session)
        assert not error(client.get(server.at("/a"))).retryable()
        assert not error(client.get(target)).retryable()


@pytest.mark.parametrize("target", ["http://[", "http://a..b/", "http://\x00/", "https://:99999/"])
def test_a_redirect_to_an_invalid_url_is_a_permanent_error(
    server: LoopbackServer, client: RequestsWebClient, target: str
) -> None:
    server.site["/a"] = redirect(target)
    assert not error(client.get(server.at("/a"))).retryable()
