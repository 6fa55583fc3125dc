"""Cancelling requests from another thread: they end at once, and nothing is left open."""

import gc
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial

import pytest
import requests

from tests.open_files import open_files
from tests.responses import body, error
from tests.server import Handler, LoopbackServer, redirect, reset, stall
from tests.servers import Certificate, TLSServer, drip
from tests.waiting import wait_until
from usp.exceptions import CancelledFetchError
from usp.web_client.abstract_client import (
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.requests_client import RequestsWebClient

SOON = 10.0
"""Far below every timeout that is set here, far above what a slow machine needs."""

Run = Callable[[Callable[[], object]], Callable[[], object]]


@pytest.fixture
def in_flight() -> Iterator[Run]:
    """Runs work in a thread; returns a function that waits for its result or its exception."""
    threads: list[threading.Thread] = []

    def run(work: Callable[[], object]) -> Callable[[], object]:
        ends: list[object] = []

        def guarded() -> None:
            try:
                ends.append(work())
            except Exception as error:  # noqa: BLE001 -- handed to the test
                ends.append(error)

        thread = threading.Thread(target=guarded)
        threads.append(thread)
        thread.start()

        def end() -> object:
            thread.join(SOON)
            assert ends, "it is still running"
            return ends[0]

        return end

    yield run
    for thread in threads:
        thread.join()


def test_abort_ends_a_wait_for_a_response(server: LoopbackServer, in_flight: Run) -> None:
    server.otherwise = stall
    with closing(RequestsWebClient()) as client:
        ends = [in_flight(lambda: client.get(server.url)) for _ in range(4)]
        wait_until(lambda: len(server.requested) == 4)
        begun = time.monotonic()
        client.abort()
        for end in ends:
            response = end()
            assert isinstance(response, WebClientErrorResponse)
            assert (response.message(), response.retryable()) == (
                "the request was cancelled",
                False,
            )
        assert time.monotonic() - begun < SOON / 2


@pytest.mark.parametrize("head", ["Content-Length: 100\r\n\r\n", "Connection: close\r\n\r\n"])
def test_abort_ends_a_body(server: LoopbackServer, in_flight: Run, head: str) -> None:
    server.otherwise = drip(head, b"x", pause=30)
    with closing(RequestsWebClient()) as client:
        response = client.get(server.url)
        assert isinstance(response, AbstractWebClientSuccessResponse)
        received: list[bytes] = []
        end = in_flight(lambda: received.extend(response.chunks()))
        wait_until(lambda: received)
        server.closing.set()
        client.abort()
        assert isinstance(end(), CancelledFetchError), "the body does not look complete"
        assert received == [b"x"]


def test_abort_ends_a_request_with_tls(certificate: Certificate, in_flight: Run) -> None:
    with (
        TLSServer(certificate.context()) as secure,
        closing(RequestsWebClient(verify=str(certificate.file))) as client,
    ):
        secure.otherwise = stall
        end = in_flight(lambda: client.get(secure.url))
        wait_until(lambda: secure.requested)
        client.abort()
        assert error(end()).message() == "the request was cancelled"  # type: ignore[arg-type]


def test_abort_ends_a_tls_handshake(in_flight: Run) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        closing(RequestsWebClient()) as client,
    ):
        end = in_flight(lambda: client.get(f"https://127.0.0.1:{silent.getsockname()[1]}/"))
        connection, _ = silent.accept()
        with connection:
            assert connection.recv(5), "the handshake has begun"
            client.abort()
            assert error(end()).message() == "the request was cancelled"  # type: ignore[arg-type]


def test_cancel_ends_a_wait_between_requests(server: LoopbackServer, in_flight: Run) -> None:
    with closing(RequestsWebClient(wait=600)) as client:
        client.get(server.url)
        scope = client.for_crawl(server.url)
        end = in_flight(lambda: scope.get(server.url))
        scope.cancel()
        assert error(end()).message() == "the request was cancelled"  # type: ignore[arg-type]
    assert len(server.requested) == 1


def test_after_abort_the_client_can_be_used_again(server: LoopbackServer) -> None:
    server.otherwise = b"hello"
    with closing(RequestsWebClient()) as client:
        for _ in range(2):
            assert body(client.get(server.url)) == b"hello"
            assert body(client.for_crawl(server.url).get(server.url)) == b"hello"
            client.abort()


def test_cancel_ends_one_crawl_and_abort_ends_all(server: LoopbackServer, in_flight: Run) -> None:
    go = threading.Event()

    def hold(handler: Handler) -> bytes:
        (go if handler.path == "/1" else handler.owner.closing).wait(20)
        return b"hello"

    server.otherwise = hold
    with closing(RequestsWebClient()) as client:
        scopes = [client.for_crawl(server.url) for _ in range(3)]
        ends = [
            in_flight(partial(scope.get, server.at(f"/{number}")))
            for number, scope in enumerate(scopes)
        ]
        wait_until(lambda: len(server.requested) == 3)
        assert scopes[0].cancel()
        assert error(ends[0]()).message() == "the request was cancelled"  # type: ignore[arg-type]
        go.set()
        assert body(ends[1]()) == b"hello"  # type: ignore[arg-type]
        assert client.abort()
        assert error(ends[2]()).message() == "the request was cancelled"  # type: ignore[arg-type]
        again = scopes[1].get(server.url)
        assert error(again).message() == "the request was cancelled", "a crawl stays cancelled"


def test_abort_leaves_the_callers_session_open(server: LoopbackServer) -> None:
    server.otherwise = drip("Content-Length: 1000\r\n\r\n", b"x")
    with requests.Session() as session:
        client = RequestsWebClient(session=session)
        response = client.get(server.url)
        assert isinstance(response, AbstractWebClientSuccessResponse)
        chunks = response.chunks()
        assert next(chunks) == b"x"
        client.abort()
        with pytest.raises(CancelledFetchError):
            list(chunks)
        response.close()
        server.otherwise = b"hello"
        assert session.get(server.url).content == b"hello"


def open_sockets() -> set[str]:
    return {file for file in open_files() if file.startswith("socket:")}


def test_nothing_is_left_open(certificate: Certificate, in_flight: Run) -> None:
    sockets, threads = open_sockets(), threading.active_count()
    client = RequestsWebClient(verify=str(certificate.file))
    with TLSServer(certificate.context()) as secure, LoopbackServer() as plain:
        secure.otherwise, plain.otherwise = b"hello", stall
        secure.site |= {"/stall": stall, "/404": 404, "/there": redirect("/")}
        body(client.get(secure.at("/there")))
        error(client.get(secure.at("/404")))
        unread = client.get(secure.url)
        first = in_flight(lambda: client.get(secure.at("/stall")))
        second = in_flight(lambda: client.get(plain.url))
        wait_until(lambda: "/stall" in secure.requested and plain.requested)
        client.abort()
        assert isinstance(first(), WebClientErrorResponse)
        assert isinstance(second(), WebClientErrorResponse)
        assert isinstance(unread, AbstractWebClientSuccessResponse)
        unread.close()
        client.close()
    assert open_sockets() - sockets == set()
    wait_until(lambda: threading.active_count() <= threads)


def test_connections_are_closed_though_an_error_holds_their_pool(server: LoopbackServer) -> None:
    sockets = open_sockets()
    server.site |= {"/a": b"hello", "/b": reset}
    client = RequestsWebClient()
    gc.disable()  # what urllib3 raised refers to the pool, and to itself
    try:
        unread = client.get(server.at("/a"))
        error(client.get(server.at("/b")))
        body(unread)
        client.close()
        wait_until(lambda: not open_sockets() - sockets)
    finally:
        gc.enable()
