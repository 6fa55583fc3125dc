"""Staying outside: which addresses count as public, and what a crawl that is outside refuses.

Nothing here leaves the machine: addresses of 127.0.0.0/8 play the public and the private host.
"""

import copy
import pickle
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import requests
import requests_cache
import requests_mock

from tests.server import Answer, LoopbackServer, redirect
from tests.servers import Certificate, ServerAt, TLSServer
from usp.exceptions import AddressRefusedError, SitemapException
from usp.web_client._http.address_guard import AddressRule, Guard, is_public
from usp.web_client._http.urls import host_of
from usp.web_client.abstract_client import (
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.requests_client import RequestsWebClient

PUBLIC = "127.0.0.1"


class Elsewhere(RequestsWebClient):
    """A client in a world in which 127.0.0.1 is the open internet, and nothing else is."""

    @staticmethod
    def _is_public(address: str) -> bool:
        return address == PUBLIC


@pytest.fixture
def inside() -> Iterator[LoopbackServer]:
    """A server in the private network of that world."""
    with ServerAt("127.0.0.2") as running:
        running.otherwise = b"secret"
        yield running


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def outside(
    clients: ExitStack,
    homepage: str,
    rule: AddressRule = "auto",
    session: requests.Session | None = None,
) -> Elsewhere:
    client = Elsewhere(session=session, private_addresses=rule)
    clients.callback(client.close)
    client.for_crawl(homepage)
    return client


def message(client: RequestsWebClient, url: str) -> str:
    response = client.get(url)
    assert isinstance(response, WebClientErrorResponse)
    assert not response.retryable()
    assert response.status_code() is None
    return response.message()


def body(client: RequestsWebClient, url: str) -> bytes:
    response = client.get(url)
    assert isinstance(response, AbstractWebClientSuccessResponse)
    return response.raw_data()


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "93.184.216.34",
        "2606:4700:4700::1111",
        "2a00:1450:4001:80e::200e",
        "64:ff9b::808:808",
        "::ffff:8.8.8.8",
        "2002:808:808::1",
    ],
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.0.3",
        "0.0.0.0",  # noqa: S104 -- an example
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",  # where clouds keep their secrets
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "239.1.2.3",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a00:1",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2001:db8::1",
        "2001::1",
        "fc00::1",
        "fd00::2",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "4000::1",
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


def test_host_of() -> None:
    assert host_of("HTTP://User:pw@Example.ORG.:80/x") == "example.org"
    assert host_of("http://[::1]:8000/") == "::1"


@pytest.mark.parametrize(
    ("rule", "home", "address", "admitted"),
    [
        ("allow", "8.8.8.8", "10.0.0.1", True),
        ("refuse", "10.0.0.1", "10.0.0.1", False),
        ("refuse", "8.8.8.8", "1.1.1.1", True),
        ("auto", "8.8.8.8", "10.0.0.1", False),
        ("auto", "8.8.8.8", "::ffff:10.0.0.1", False),
        ("auto", "8.8.8.8", "1.1.1.1", True),
        ("auto", "10.0.0.1", "10.0.0.2", True),
        ("auto", "10.0.0.1", "1.1.1.1", True),
    ],
)
def test_what_is_admitted(rule: AddressRule, home: str, address: str, admitted: bool) -> None:
    guard = Guard(rule)
    guard.start("home.example")
    if rule == "auto":
        guard.admit("home.example", home)
    if admitted:
        guard.admit("other.example", address)
        return
    with pytest.raises(AddressRefusedError, match=address):
        guard.admit("other.example", address)


def test_the_homepage_itself_may_not_move_inside() -> None:
    guard = Guard("auto")
    guard.start("home.example")
    guard.admit("home.example", "8.8.8.8")
    with pytest.raises(AddressRefusedError):
        guard.admit("home.example", "127.0.0.1")


def test_auto_refuses_nothing_before_a_crawl() -> None:
    Guard("auto").admit("host.example", "127.0.0.1")
    with pytest.raises(AddressRefusedError):
        Guard("refuse").admit("host.example", "127.0.0.1")


@pytest.mark.parametrize("home", [None, "", "a..b", "x" * 70])
def test_where_there_is_no_telling_a_crawl_is_outside(home: str | None) -> None:
    guard = Guard("auto")
    guard.start(home)
    with pytest.raises(AddressRefusedError):
        guard.admit("other.example", "127.0.0.1")
    guard.admit("other.example", "8.8.8.8")


def test_another_host_before_the_homepage_has_its_name_looked_up() -> None:
    inner = Guard("auto")
    inner.start("localhost")
    inner.admit("other.example", "10.0.0.1")
    outer = Guard("auto", {"127.0.0.1": True, "::1": True}.get)  # type: ignore[arg-type]
    outer.start("localhost")
    with pytest.raises(AddressRefusedError):
        outer.admit("other.example", "10.0.0.1")


def test_a_rule_that_is_none_raises() -> None:
    with pytest.raises(SitemapException, match="never"):
        RequestsWebClient(private_addresses="never")  # type: ignore[arg-type]


def test_a_guard_travels() -> None:
    for guard in (pickle.loads(pickle.dumps(Guard("refuse"))), copy.deepcopy(Guard("refuse"))):
        with pytest.raises(AddressRefusedError):
            guard.admit("host.example", "10.0.0.1")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_not_a_byte_is_sent_to_a_refused_address(scheme: str) -> None:
    client = RequestsWebClient(private_addresses="refuse")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        said = message(client, f"{scheme}://127.0.0.1:{port}/")
        connection, _ = listening.accept()
        with connection:
            connection.settimeout(5)
            assert connection.recv(100) == b""
    client.close()
    assert said == "127.0.0.1 is at 127.0.0.1, which is not a public address: refused"


def test_ipv6_is_looked_at_too() -> None:
    with ServerAt("::1") as server:
        server.site["/a"] = b"here"
        client = RequestsWebClient()
        assert body(client, server.at("/a")) == b"here"
        client.close()
        strict = RequestsWebClient(private_addresses="refuse")
        assert "::1" in message(strict, server.at("/a"))
        assert server.requested == ["/a"]


def test_a_crawl_from_inside_goes_where_it_likes(
    server: LoopbackServer, inside: LoopbackServer
) -> None:
    client = RequestsWebClient()
    client.for_crawl(server.url)
    server.site["/a"] = redirect(inside.at("/b"))
    assert body(client, server.at("/a")) == b"secret"
    client.close()


def test_a_crawl_from_outside_does_not_go_inside(
    server: LoopbackServer, inside: LoopbackServer, clients: ExitStack
) -> None:
    server.site |= {"/a": b"open", "/r": redirect("/s"), "/s": redirect(inside.at("/b"))}
    client = outside(clients, server.url)
    assert body(client, server.at("/a")) == b"open"
    assert "127.0.0.2" in message(client, inside.at("/b"))
    assert "127.0.0.2" in message(client, server.at("/r")), "by a redirect"
    assert body(client, server.at("/a")) == b"open", "and it goes on outside"
    assert inside.requested == []
    assert body(outside(clients, server.url, "allow"), server.at("/r")) == b"secret"


def test_the_first_request_may_be_the_redirect(
    server: LoopbackServer, inside: LoopbackServer, clients: ExitStack
) -> None:
    server.site["/robots.txt"] = redirect(inside.at("/b"))
    client = outside(clients, server.url)
    assert "refused" in message(client, server.at("/robots.txt"))
    assert inside.requested == []


def test_another_host_may_be_the_first_to_be_asked(
    server: LoopbackServer, inside: LoopbackServer, clients: ExitStack
) -> None:
    client = outside(clients, server.url)
    assert "refused" in message(client, inside.at("/b"))
    assert inside.requested == []


def test_each_crawl_finds_out_for_itself(
    server: LoopbackServer, inside: LoopbackServer, clients: ExitStack
) -> None:
    client = outside(clients, inside.url)
    assert body(client, inside.at("/b")) == b"secret"
    client.for_crawl(server.url)
    assert "refused" in message(client, inside.at("/b")), "over the connection that was kept"
    assert inside.requested == ["/b"]
    client.for_crawl(inside.url)
    assert body(client, inside.at("/b")) == b"secret"


def test_a_homepage_in_other_letters_is_the_same_host(
    server: LoopbackServer, clients: ExitStack
) -> None:
    client = outside(clients, f"HTTP://LOCALHOST.:{server.port}/")
    server.site["/a"] = b"here"
    if socket.gethostbyname("localhost") != PUBLIC:
        pytest.skip("localhost is somewhere else")
    assert body(client, f"http://localhost:{server.port}/a") == b"here"


def test_with_tls_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    certificate = Certificate(tmp_path_factory.mktemp("tls"))
    with TLSServer(certificate.context()) as server:
        server.site["/a"] = b"here"
        client = RequestsWebClient(verify=str(certificate.file), private_addresses="refuse")
        assert "refused" in message(client, server.at("/a"))
        client.close()
        assert server.requested == []


def test_a_proxy_may_be_inside(inside: LoopbackServer, clients: ExitStack) -> None:
    inside.site["http://far.example/a"] = b"through the proxy"
    client = outside(clients, "http://far.example/", "refuse")
    client.set_proxies({"http": inside.url})
    assert body(client, "http://far.example/a") == b"through the proxy"


def test_a_mock_has_no_address(clients: ExitStack) -> None:
    with requests_mock.Mocker() as mock:
        mock.get("http://host.example/a", status_code=301, headers={"Location": "/b"})
        mock.get("http://host.example/b", text="mocked")
        client = outside(clients, "http://host.example/", "refuse")
        assert body(client, "http://host.example/a") == b"mocked"


@pytest.mark.parametrize("headers", [{}, {"Connection": "close"}, {"Content-Length": "6"}])
def test_a_session_of_the_callers_is_checked_when_the_response_is_there(
    server: LoopbackServer, inside: LoopbackServer, clients: ExitStack, headers: dict[str, str]
) -> None:
    server.site |= {"/a": b"open", "/r": redirect(inside.at("/b"))}
    inside.site["/b"] = Answer(status=302, body=b"secret", headers={**headers, "Location": "/c"})
    inside.site["/d"] = Answer(body=b"secret", headers=headers)
    session = clients.enter_context(requests.Session())
    client = outside(clients, server.url, session=session)
    assert "127.0.0.2" in message(client, server.at("/r"))
    assert inside.requested == ["/b"], "it was asked, its answer is not used, and it leads nowhere"
    assert "127.0.0.2" in message(client, inside.at("/d"))
    assert body(client, server.at("/a")) == b"open"


def test_a_session_of_the_callers_through_a_proxy_passes(
    inside: LoopbackServer, clients: ExitStack
) -> None:
    inside.site["http://far.example/a"] = b"through the proxy"
    session = clients.enter_context(requests.Session())
    session.proxies = {"http": inside.url}
    client = outside(clients, "http://far.example/", "refuse", session)
    assert body(client, "http://far.example/a") == b"through the proxy"


def test_a_cache_has_no_address_but_what_fills_it_has(
    server: LoopbackServer, inside: LoopbackServer, clients: ExitStack
) -> None:
    server.site |= {"/a": redirect("/b"), "/b": b"open"}
    session = clients.enter_context(requests_cache.CachedSession(backend="memory"))
    client = outside(clients, server.url, session=session)
    assert body(client, server.at("/a")) == body(client, server.at("/a")) == b"open"
    assert server.requested == ["/a", "/b"]
    assert "refused" in message(client, inside.at("/b"))


def test_many_threads_find_out_once(
    server: LoopbackServer, inside: LoopbackServer, clients: ExitStack
) -> None:
    server.otherwise = b"open"
    client = outside(clients, server.url)
    answers: list[AbstractWebClientResponse] = []
    threads = [
        threading.Thread(target=lambda url=url: answers.append(client.get(url)))
        for url in [server.at("/a"), inside.at("/b")] * 8
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert inside.requested == []
    came = [each for each in answers if isinstance(each, AbstractWebClientSuccessResponse)]
    assert [each.raw_data() for each in came] == [b"open"] * 8
    assert len(answers) == 16
