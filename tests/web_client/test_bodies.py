"""Slow, truncated, endless and unwanted bodies, fetched with the client on requests."""

import gzip
import time
from collections.abc import Callable, Iterator

import pytest
import requests

from tests.responses import error
from tests.server import Answer, Handler, LoopbackServer, redirect
from tests.servers import drip, raw
from usp.exceptions import DeadlineError
from usp.web_client._http.errors import is_transient
from usp.web_client.abstract_client import (
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
)
from usp.web_client.requests_client import RequestsWebClient

DEADLINE = 0.4
SOON = 10
"""Far below the timeout of 60 seconds."""
LENGTH = "Content-Length: 1000\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(params=["own session", "plain session"])
def client(request: pytest.FixtureRequest) -> Iterator[RequestsWebClient]:
    with requests.Session() as session:
        own = request.param == "own session"
        made = RequestsWebClient(session=None if own else session)
        made.set_document_deadline(DEADLINE)
        yield made
        made.close()


@pytest.fixture
def own() -> Iterator[RequestsWebClient]:
    made = RequestsWebClient()
    made.set_document_deadline(DEADLINE)
    yield made
    made.close()


def success(response: AbstractWebClientResponse) -> AbstractWebClientSuccessResponse:
    assert isinstance(response, AbstractWebClientSuccessResponse)
    return response


def read(response: AbstractWebClientResponse) -> tuple[bytes, Exception | None]:
    """What was received of a body, and the error that ended it."""
    received = b""
    try:
        for chunk in success(response).chunks():
            received += chunk
    except Exception as failure:  # noqa: BLE001 -- handed to the test
        return received, failure
    finally:
        success(response).close()
    return received, None


# The deadline of a document


@pytest.mark.parametrize("head", [LENGTH, "Connection: close\r\n\r\n"])
def test_a_dripping_body_ends_at_the_deadline_with_what_was_received(
    server: LoopbackServer, client: RequestsWebClient, head: str
) -> None:
    server.site["/a"] = drip(head, b"x")
    begun = time.monotonic()
    received, failure = read(client.get(server.at("/a")))
    assert isinstance(failure, DeadlineError)
    assert not is_transient(failure)
    assert set(received) == set(b"x")
    assert DEADLINE <= time.monotonic() - begun < SOON


def test_a_dripping_chunked_body_ends_at_the_deadline(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    server.site["/a"] = drip(CHUNKED, b"1\r\nx\r\n")
    received, failure = read(client.get(server.at("/a")))
    assert isinstance(failure, DeadlineError)
    assert set(received) == set(b"x")


@pytest.mark.parametrize(
    "head",
    [f"{CHUNKED}1\r\nx\r\n", f"{CHUNKED}1\r\nx\r\n0\r\nTrailer: "],
    ids=["the length of a chunk", "a trailer"],
)
def test_endless_lines_between_chunks_end_at_the_deadline(
    server: LoopbackServer, own: RequestsWebClient, head: str
) -> None:
    server.site["/a"] = drip(head, b"0")
    begun = time.monotonic()
    received, failure = read(own.get(server.at("/a")))
    assert isinstance(failure, DeadlineError)
    assert received == b"x"
    assert time.monotonic() - begun < SOON


def test_endless_headers_end_at_the_deadline(
    server: LoopbackServer, own: RequestsWebClient
) -> None:
    server.site["/a"] = drip("X: ", b"x")
    begun = time.monotonic()
    response = error(own.get(server.at("/a")))
    assert "before its deadline" in response.message()
    assert not response.retryable()
    assert time.monotonic() - begun < SOON


def test_redirects_count_towards_the_deadline(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    def slow(handler: Handler) -> Answer:
        handler.owner.closing.wait(0.1)
        return redirect("/a")

    server.site["/a"] = slow
    response = error(client.get(server.at("/a")))
    assert "before its deadline" in response.message()
    assert len(server.requested) < 10


def test_each_document_has_its_own_deadline(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    def slow(handler: Handler) -> bytes:
        handler.owner.closing.wait(DEADLINE * 0.6)
        return b"x"

    server.site["/a"] = slow
    for _ in range(2):
        assert read(client.get(server.at("/a"))) == (b"x", None)


def test_there_may_be_no_deadline(server: LoopbackServer, client: RequestsWebClient) -> None:
    def slow(handler: Handler) -> bytes:
        handler.owner.closing.wait(DEADLINE * 1.5)
        return b"x"

    server.site["/a"] = slow
    client.set_document_deadline(None)
    assert read(client.get(server.at("/a"))) == (b"x", None)


def test_a_silent_server_ends_at_the_timeout_or_the_deadline(
    server: LoopbackServer, own: RequestsWebClient
) -> None:
    server.site["/a"] = drip(LENGTH, b"x", pause=30)
    begun = time.monotonic()
    assert isinstance(read(own.get(server.at("/a")))[1], DeadlineError)
    own.set_document_deadline(60)
    own.set_timeout(0.2)
    received, failure = read(own.get(server.at("/a")))
    assert received == b"x"
    assert failure is not None
    assert is_transient(failure), "a timeout is transient"
    assert time.monotonic() - begun < SOON


# Truncated and malformed bodies


@pytest.mark.parametrize(
    "response",
    [
        b"Content-Length: 10\r\n\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nA\r\nhello",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nmore",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n-1\r\nmore",
    ],
)
def test_what_was_received_is_yielded_before_the_error(
    server: LoopbackServer, client: RequestsWebClient, response: bytes
) -> None:
    server.site["/a"] = raw(b"HTTP/1.1 200 OK\r\n" + response)
    received, failure = read(client.get(server.at("/a")))
    assert received.startswith(b"hello")
    assert failure is not None
    assert is_transient(failure)


@pytest.mark.parametrize(
    "response",
    [
        b"Content-Length: 5\r\n\r\nhello and more",
        b"Content-Length: five\r\n\r\nhello",
        b"Content-Length: -5\r\n\r\nhello",
        b"Content-Length: +2\r\n\r\nhello",
        b"Content-Length: +0\r\n\r\nhello",
        b"Content-Length: 0_3\r\n\r\nhello",
        b"Content-Length: 5, 5\r\n\r\nhello",
        b"\r\nhello",
        b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n",
    ],
)
def test_a_wrong_content_length_is_tolerated(
    server: LoopbackServer, client: RequestsWebClient, response: bytes
) -> None:
    server.site["/a"] = raw(b"HTTP/1.1 200 OK\r\n" + response)
    assert read(client.get(server.at("/a"))) == (b"hello", None)


@pytest.mark.parametrize(
    "response",
    [b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nxxx", b"\x00" * 100],
)
def test_a_response_that_is_not_http_is_an_error(
    server: LoopbackServer, client: RequestsWebClient, response: bytes
) -> None:
    server.site["/a"] = raw(response)
    assert error(client.get(server.at("/a"))).status_code() is None


def test_two_lengths_that_differ_are_the_fault_of_the_server(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    server.site["/a"] = raw(
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nhello"
    )
    response = error(client.get(server.at("/a")))
    assert response.message().startswith("the response is malformed: Content-Length ")
    assert response.no_response()
    assert not response.retryable()


# Malformed lines of a head


MALFORMED = {
    "no colon": b"this is no header",
    "space before the colon": b"X-Foo : bar",
    "space in the name": b"Content Type: x",
    "no name": b": x",
    "CR inside": b"X-A: a\rb",
    "continuation of nothing": b" x: y",
    "envelope": b"From me",
    "continued": b"no header\r\n at all",
    "not ASCII": b"X-\xe9: y",
    "many": b"\r\n".join([b"no header"] * 100),
}
HELLO = {
    "length": b"Content-Length: 5\r\n\r\nhello",
    "chunks": b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "two CRs": b"Content-Length: 5\r\r\n\r\r\nhello",
}


def and_keep_open(response: bytes) -> Callable[[Handler], None]:
    def answer(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + response)
        handler.keep_open = True

    return answer


@pytest.mark.parametrize("hello", HELLO)
@pytest.mark.parametrize("line", MALFORMED)
def test_headers_after_a_malformed_line_count(
    server: LoopbackServer, client: RequestsWebClient, line: str, hello: str
) -> None:
    head = b"X-Before: 1\r\n" if line != "continuation of nothing" else b""
    head += MALFORMED[line] + b"\r\nX-After: 2\r\n"
    server.site["/a"] = and_keep_open(head + HELLO[hello])
    for _ in range(2):  # over one connection
        response = success(client.get(server.at("/a")))
        assert response.header("X-After") == "2"
        assert read(response) == (b"hello", None)


@pytest.mark.parametrize(
    "line",
    [
        b"Content-Length : 5",
        b"Transfer-Encoding : chunked",
        b"X-A: a\rContent-Length: 5",
        b"no header\r\n transfer-encoding: chunked",
        b"X Content-Length: 5",
    ],
)
def test_a_malformed_line_about_the_length_of_a_body_is_a_failure_at_once(
    server: LoopbackServer, client: RequestsWebClient, line: bytes
) -> None:
    server.site["/a"] = and_keep_open(line + b"\r\nContent-Length: 9\r\n\r\n0\r\n\r\nevil")
    response = error(client.get(server.at("/a")))
    assert response.message().startswith("the response is malformed: the line of its ")
    assert not response.retryable()


def test_malformed_lines_without_end_are_a_failure_at_once(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    server.site["/a"] = and_keep_open(b"no header\r\n" * 101)
    response = error(client.get(server.at("/a")))
    assert response.message() == "the response is malformed: more than 100 lines of its head"
    assert not response.retryable()


# Unwanted bodies


def connections(server: LoopbackServer, client: RequestsWebClient, response: Answer) -> int:
    """The number of connections that three error pages take."""
    ports = set()

    def note(handler: Handler) -> Answer:
        ports.add(handler.client_address[1])
        return response

    server.site["/a"] = note
    for _ in range(3):
        assert error(client.get(server.at("/a"))).status_code() == response.status
    return len(ports)


def test_a_small_error_page_keeps_the_connection(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    assert connections(server, client, Answer(status=404)) == 1
    assert connections(server, client, Answer(status=404, body=b"x" * 65536)) == 1


def test_a_small_chunked_error_page_keeps_the_connection(
    server: LoopbackServer, own: RequestsWebClient
) -> None:
    chunked = Answer(
        status=404, body=b"3\r\nabc\r\n0\r\n\r\n", headers={"Transfer-Encoding": "chunked"}
    )
    assert connections(server, own, chunked) == 1


def test_a_large_error_page_is_not_downloaded(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    assert connections(server, client, Answer(status=404, body=b"x" * 65537)) == 3


def endless(head: str, status: int, sent: list[int]) -> object:
    """A response without an end, as fast as it is read."""

    def response(handler: Handler) -> None:
        handler.wfile.write(f"HTTP/1.1 {status} Endless\r\n{head}".encode())
        while not handler.owner.closing.is_set():
            sent.append(handler.wfile.write(b"fff0\r\n" + b"x" * 0xFFF0 + b"\r\n"))

    return response


@pytest.mark.parametrize("status", [404, 302])
@pytest.mark.parametrize("head", [CHUNKED, "\r\n", "Content-Length: 9000000000\r\n\r\n"])
def test_an_unwanted_endless_body_is_not_read(
    server: LoopbackServer, client: RequestsWebClient, status: int, head: str
) -> None:
    sent: list[int] = []
    location = "Location: /b\r\n" if status == 302 else ""
    server.site |= {"/a": endless(location + head, status, sent), "/b": b"there"}  # type: ignore[dict-item]
    client.set_document_deadline(60)
    begun = time.monotonic()
    response = client.get(server.at("/a"))
    if status == 302:
        assert success(response).raw_data() == b"there"
    else:
        assert error(response).status_code() == status
    assert time.monotonic() - begun < SOON
    assert sum(sent) < 30_000_000, "what the system's buffers hold"


@pytest.mark.parametrize("status", [404, 302])
@pytest.mark.parametrize("head", [LENGTH, CHUNKED])
def test_an_unwanted_dripping_body_is_not_read(
    server: LoopbackServer, client: RequestsWebClient, status: int, head: str
) -> None:
    location = "Location: /b\r\n" if status == 302 else ""
    server.site |= {"/a": drip(location + head, b"0", status=status), "/b": b"there"}
    client.set_document_deadline(60)
    begun = time.monotonic()
    response = client.get(server.at("/a"))
    assert time.monotonic() - begun < SOON
    if status == 302:
        success(response).close()  # or its socket is left to the garbage collector
    assert server.requested == (["/a", "/b"] if status == 302 else ["/a"])


def test_a_gzip_bomb_in_a_redirect_is_not_decompressed(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    bomb = Answer(
        status=301,
        body=gzip.compress(bytes(50_000_000)),
        headers={"Content-Encoding": "gzip", "Location": "/b"},
    )
    server.site |= {"/a": bomb, "/b": b"there"}
    begun = time.thread_time()
    client.set_document_deadline(60)
    assert success(client.get(server.at("/a"))).raw_data() == b"there"
    assert time.thread_time() - begun < 0.1
