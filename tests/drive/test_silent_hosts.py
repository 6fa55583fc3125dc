"""A host that accepts connections and never responds is unreachable within a minute.

The time is scaled down by the client's ``first_response_timeout``; the defaults are added up.
"""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

import usp
from tests.cli.command import usp as command
from tests.drive.ways import WAYS
from tests.server import Handler, LoopbackServer, redirect, reset, urlset
from usp import Outcome, Policy
from usp.web_client._http.defaults import FIRST_RESPONSE_TIMEOUT
from usp.web_client._http.first_response import BOTH_SCHEMES, FirstResponses, ResponseWait
from usp.web_client.requests_client import RequestsWebClient

FIRST = 0.8
SECONDS = FIRST * BOTH_SCHEMES + 4  # the machine may be busy; without the limit it takes minutes


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a host that accepts connections, and never responds."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scheme", ["", "http://", "https://"])
def test_a_silent_host_is_unreachable_soon(way: str, scheme: str, silent: str) -> None:
    begun = time.monotonic()
    found = WAYS[way](f"{scheme}{silent}", FIRST)
    assert time.monotonic() - begun < SECONDS
    assert found.outcome is Outcome.UNREACHABLE
    assert {attempt.result for attempt in found.tried} == {"unreachable"}
    assert any("no response from 127.0.0.1" in attempt.detail for attempt in found.tried)


@pytest.mark.parametrize("way", ["tree", "stream"])
def test_a_silent_host_is_unreachable_soon_for_a_client_without_threads(
    way: str, silent: str
) -> None:
    begun = time.monotonic()
    found = WAYS[way](silent, FIRST, concurrency=1)
    assert time.monotonic() - begun < SECONDS
    assert found.outcome is Outcome.UNREACHABLE


def test_the_defaults_add_up_to_less_than_a_minute() -> None:
    """One wait for each scheme; what comes after it fails at once, whatever remains to be tried."""
    both = FIRST_RESPONSE_TIMEOUT * BOTH_SCHEMES
    assert both + 5 <= 60, "some seconds remain for a busy machine"
    assert FIRST_RESPONSE_TIMEOUT >= 30, "slow sites get a chance"


@pytest.mark.thorough
@pytest.mark.timeout(400)
def test_a_silent_host_takes_less_than_a_minute_by_default(silent: str) -> None:
    for crawl in WAYS.values():
        begun = time.monotonic()
        assert crawl(silent).outcome is Outcome.UNREACHABLE
        assert time.monotonic() - begun < 60
    begun = time.monotonic()
    ended = command("ls", silent)
    assert time.monotonic() - begun < 60
    assert ended.code == 3
    assert ended.messages[-1].startswith("usp: unreachable: ")


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_host_that_has_responded_gets_its_whole_timeout(way: str, server: LoopbackServer) -> None:
    def slow(_: Handler) -> bytes:
        time.sleep(1.6)
        return urlset(server.at("/page"))

    server.robots("/slow.xml")
    server.site["/slow.xml"] = slow
    assert WAYS[way](server.url, 1.0).pages == [server.at("/page")]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_the_body_of_a_first_response_may_take_longer(way: str, server: LoopbackServer) -> None:
    document = urlset(server.at("/page"))

    def slow_body(handler: Handler) -> None:
        close = "Connection: close\r\n" * (way == "tree")  # then the connection has no socket left
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(document)}\r\n{close}\r\n"
        handler.wfile.write(head.encode() + document[:100])
        time.sleep(1.6)
        handler.wfile.write(document[100:])

    server.site["/a.xml"] = slow_body
    source = server.at("/a.xml")
    options = {} if "stream" in way else {"use_known_paths": False}
    if "stream" not in way:
        server.robots("/a.xml")
        source = server.url
    found = WAYS[way](source, 1.0, **options)
    assert found.pages == [server.at("/page")]
    assert found.outcome is Outcome.FOUND


@pytest.mark.parametrize("way", WAYS)
def test_a_redirect_to_a_silent_host_is_given_up_soon(
    way: str, server: LoopbackServer, silent: str
) -> None:
    server.otherwise = redirect(f"http://{silent}/")
    begun = time.monotonic()
    found = WAYS[way](server.url, FIRST)
    assert time.monotonic() - begun < SECONDS
    assert found.outcome is Outcome.UNREACHABLE


@pytest.mark.parametrize("way", WAYS)
def test_attempts_that_fail_at_once_take_no_time(way: str, server: LoopbackServer) -> None:
    """A host that drops connections at first responds in the end: its time is not over."""
    server.robots("/a.xml")
    robots = server.site["/robots.txt"]

    def at_the_third_attempt(handler: Handler) -> bytes | str | None:
        if server.requested.count("/robots.txt") < 3:
            reset(handler)
            return None
        assert isinstance(robots, str)
        return robots

    server.site |= {"/robots.txt": at_the_third_attempt, "/a.xml": urlset(server.at("/page"))}
    found = WAYS[way](server.url, 5.0, backoff_initial=0.05, use_known_paths=False)
    assert found.pages == [server.at("/page")]


def test_other_crawls_with_the_same_client_wait_again(server: LoopbackServer) -> None:
    def slow(_: Handler) -> bytes:
        time.sleep(0.5)
        return urlset(server.at("/page"))

    server.site["/a.xml"] = slow
    with ExitStack() as stack:
        client = RequestsWebClient(first_response_timeout=0.3)
        stack.callback(client.close)
        policy = Policy(scheme_fallback=False)
        first = usp.sitemap_tree(server.at("/a.xml"), web_client=client, policy=policy)
        assert first.outcome is Outcome.UNREACHABLE
        server.site["/a.xml"] = urlset(server.at("/page"))
        second = usp.sitemap_tree(server.at("/a.xml"), web_client=client, policy=policy)
        assert second.outcome is Outcome.FOUND


def test_both_schemes_of_a_host_share_the_time() -> None:
    now = [100.0]
    hosts = FirstResponses(10.0, lambda: now[-1])
    wait = ResponseWait(hosts)
    wait.start("https://h.example:443/robots.txt")
    assert wait.until == 110.0
    now.append(108.0)
    wait.end()
    now.append(109.0)  # the pause before a retry counts
    wait.start("https://h.example/robots.txt")
    assert (wait.until, wait.is_over) == (110.0, False)
    now.append(110.0)
    assert wait.is_over
    assert wait.message == "no response from h.example within 10 seconds"
    wait.end()
    other = ResponseWait(hosts)
    other.start("http://h.example/robots.txt")
    assert other.until == 115.0, "the rest of one and a half times as long"
    another = ResponseWait(hosts)
    another.start("http://h.example:8080/robots.txt")
    assert another.until == 120.0, "another port is another host"
    now.append(112.0)
    other.end(responded=True)
    now.append(200.0)
    other.start("http://h.example/a.xml")
    assert other.until is None, "it has responded"


def test_time_without_a_request_does_not_count() -> None:
    now = [0.0]
    wait = ResponseWait(FirstResponses(10.0, lambda: now[-1]))
    wait.start("http://h.example/a.xml")
    now.append(1.0)
    wait.end()
    now.append(100.0)
    wait.start("http://h.example/b.xml")
    assert wait.until == 109.0


def test_a_client_can_wait_without_a_limit() -> None:
    wait = ResponseWait(FirstResponses(None))
    wait.start("http://h.example/")
    assert (wait.until, wait.seconds, wait.is_over) == (None, None, False)
