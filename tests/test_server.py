"""The loopback server of the tests: it responds, records, misbehaves and ends as the test says."""

import time

import pytest
import requests

from tests.server import Answer, Handler, LoopbackServer, index, redirect, reset, stall, urlset


def test_each_kind_of_answer_is_sent_and_each_request_recorded(server: LoopbackServer) -> None:
    server.site = {
        "/text": "héllo",
        "/bytes": b"\x00",
        "/gone": 410,
        "/full": Answer(200, "x", {"X-Kind": "full"}),
        "/call": lambda handler: handler.path,
        "/exact?q=1": "exact",
        "/moved": redirect("/text"),
    }
    with requests.Session() as session:
        assert session.get(server.at("/text")).content == "héllo".encode()
        assert session.get(server.at("/bytes")).content == b"\x00"
        assert session.get(server.at("/gone")).status_code == 410
        assert session.get(server.at("/full")).headers["X-Kind"] == "full"
        assert session.get(server.at("/call?a=b")).text == "/call?a=b"
        assert session.get(server.at("/exact?q=1")).text == "exact"
        assert session.get(server.at("/moved")).url == server.at("/text")
        assert session.head(server.at("/text")).headers["Content-Length"] == "6"
        assert session.get(server.at("/other")).status_code == 404
    assert server.requested[:3] == ["/text", "/bytes", "/gone"]
    assert server.requests[-2].method == "HEAD"
    assert server.requests[0].headers["host"] == f"127.0.0.1:{server.port}"


def test_a_connection_can_be_reset(server: LoopbackServer) -> None:
    server.site["/"] = reset
    with pytest.raises(requests.ConnectionError, match="reset"):
        requests.get(server.url, timeout=5)


def test_the_server_ends_while_a_response_is_stalled() -> None:
    with LoopbackServer({"/": stall}) as server:
        with pytest.raises(requests.ReadTimeout):
            requests.get(server.url, timeout=0.1)
        before = time.monotonic()
    assert time.monotonic() - before < 10


def test_an_exception_in_a_callable_fails_the_test() -> None:
    def faulty(handler: Handler) -> str:
        return handler.headers["X-Never-Sent"].strip()

    with (
        pytest.raises(ExceptionGroup, match="loopback server"),
        LoopbackServer({"/": faulty}) as server,
        pytest.raises(requests.ConnectionError),
    ):
        requests.get(server.url, timeout=5)


def test_urls_in_generated_xml_are_escaped() -> None:
    assert b"<url><loc>http://h/?a=1&amp;b=2</loc></url>" in urlset("http://h/?a=1&b=2")
    assert b"<sitemap><loc>http://h/s.xml</loc></sitemap>" in index("http://h/s.xml")
