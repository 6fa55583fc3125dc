"""The address guard (SSRF): which addresses are public, and which ones a crawl may reach.

Nothing here leaves the machine: addresses of 127.0.0.0/8 stand for public and private hosts.
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
from usp.web_client._http.address_guard import AddressRule, Guard
from usp.web_client._http.urls import host_of
from usp.web_client.abstract_client import (
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.requests_client import RequestsWebClient

PUBLIC = "127.0.0.1"


class GuardedClient(RequestsWebClient):
    """A client for which 127.0.0.1 is a public address, and no other is."""

    @staticmethod
    def _is_public(address: str) -> bool:
        return address == PUBLIC


@pytest.fixture
def private() -> Iterator[LoopbackServer]:
    """A server with a private address."""
    with ServerAt("127.0.0.2") as running:
        running.otherwise = b"secret"
        yield running


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def guarded(
    clients: ExitStack,
    homepage: str,
    rule: AddressRule = "auto",
    session: requests.Session | None = None,
) -> GuardedClient:
    client = GuardedClient(session=session, private_addresses=rule)
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


def test_the_host_of_a_url_is_in_lower_case_without_a_dot() -> None:
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
def test_the_rule_and_the_homepage_decide_what_is_admitted(
    rule: AddressRule, home: str, address: str, admitted: bool
) -> None:
    guard = Guard(rule)
    guard.start("home.example")
    if rule == "auto":
        guard.admit("home.example", home)
    if admitted:
        guard.admit("other.example", address)
        return
    with pytest.raises(AddressRefusedError, match=address):
        guard.admit("other.example", address)


def test_the_homepage_may_not_move_to_a_private_address() -> None:
    guard = Guard("auto")
    guard.start("home.example")
    guard.admit("home.example", "8.8.8.8")
    with pytest.raises(AddressRefusedError):
        guard.admit("home.example", "127.0.0.1")


def test_auto_admits_everything_outside_of_a_crawl() -> None:
    Guard("auto").admit("host.example", "127.0.0.1")
    with pytest.raises(AddressRefusedError):
        Guard("refuse").admit("host.example", "127.0.0.1")


@pytest.mark.parametrize("home", [None, "", "a..b", "x" * 70])
def test_a_homepage_that_can_not_be_looked_up_counts_as_public(home: str | None) -> None:
    guard = Guard("auto")
    guard.start(home)
    with pytest.raises(AddressRefusedError):
        guard.admit("other.example", "127.0.0.1")
    guard.admit("other.example", "8.8.8.8")


def test_the_homepage_is_looked_up_if_another_host_comes_first() -> None:
    inner = Guard("auto")
    inner.start("localhost")
    inner.admit("other.example", "10.0.0.1")
    outer = Guard("auto", {"127.0.0.1": True, "::1": True}.get)  # type: ignore[arg-type]
    outer.start("localhost")
    with pytest.raises(AddressRefusedError):
        outer.admit("other.example", "10.0.0.1")


def test_an_unknown_rule_raises() -> None:
    with pytest.raises(SitemapException, match="never"):
        RequestsWebClient(private_addresses="never")  # type: ignore[arg-type]


def test_a_guard_can_be_pickled_and_copied() -> None:
    for guard in (pickle.loads(pickle.dumps(Guard("refuse"))), copy.deepcopy(Guard("refuse"))):
        with pytest.raises(AddressRefusedError):
            guard.admit("host.example", "10.0.0.1")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_nothing_is_sent_to_a_refused_address(scheme: str) -> None:
    client = RequestsWebClient(private_addresses="refuse")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        reported = message(client, f"{scheme}://127.0.0.1:{port}/")
        connection, _ = listening.accept()
        with connection:
            connection.settimeout(5)
            assert connection.recv(100) == b""
    client.close()
    assert reported == "127.0.0.1 is at 127.0.0.1, which is not a public address: refused"


def test_ipv6_addresses_are_checked() -> None:
    with ServerAt("::1") as server:
        server.site["/a"] = b"here"
        client = RequestsWebClient()
        assert body(client, server.at("/a")) == b"here"
        client.close()
        strict = RequestsWebClient(private_addresses="refuse")
        assert "::1" in message(strict, server.at("/a"))
        assert server.requested == ["/a"]


def test_the_crawl_of_a_private_site_may_reach_any_address(
    server: LoopbackServer, private: LoopbackServer
) -> None:
    client = RequestsWebClient()
    client.for_crawl(server.url)
    server.site["/a"] = redirect(private.at("/b"))
    assert body(client, server.at("/a")) == b"secret"
    client.close()


def test_the_crawl_of_a_public_site_does_not_reach_private_addresses(
    server: LoopbackServer, private: LoopbackServer, clients: ExitStack
) -> None:
    server.site |= {"/a": b"open", "/r": redirect("/s"), "/s": redirect(private.at("/b"))}
    client = guarded(clients, server.url)
    assert body(client, server.at("/a")) == b"open"
    assert "127.0.0.2" in message(client, private.at("/b"))
    assert "127.0.0.2" in message(client, server.at("/r")), "by a redirect"
    assert body(client, server.at("/a")) == b"open", "and the crawl continues"
    assert private.requested == []
    assert body(guarded(clients, server.url, "allow"), server.at("/r")) == b"secret"


def test_the_first_response_may_redirect_to_a_private_address(
    server: LoopbackServer, private: LoopbackServer, clients: ExitStack
) -> None:
    server.site["/robots.txt"] = redirect(private.at("/b"))
    client = guarded(clients, server.url)
    assert "refused" in message(client, server.at("/robots.txt"))
    assert private.requested == []


def test_the_first_request_may_be_for_a_private_address(
    server: LoopbackServer, private: LoopbackServer, clients: ExitStack
) -> None:
    client = guarded(clients, server.url)
    assert "refused" in message(client, private.at("/b"))
    assert private.requested == []


def test_each_crawl_has_its_own_verdict(
    server: LoopbackServer, private: LoopbackServer, clients: ExitStack
) -> None:
    client = guarded(clients, private.url)
    assert body(client, private.at("/b")) == b"secret"
    client.for_crawl(server.url)
    assert "refused" in message(client, private.at("/b")), "over the connection that was kept"
    assert private.requested == ["/b"]
    client.for_crawl(private.url)
    assert body(client, private.at("/b")) == b"secret"


def test_the_host_of_the_homepage_is_case_insensitive(
    server: LoopbackServer, clients: ExitStack
) -> None:
    client = guarded(clients, f"HTTP://LOCALHOST.:{server.port}/")
    server.site["/a"] = b"here"
    if socket.gethostbyname("localhost") != PUBLIC:
        pytest.skip("localhost is somewhere else")
    assert body(client, f"http://localhost:{server.port}/a") == b"here"


def test_addresses_are_checked_with_tls(tmp_path_factory: pytest.TempPathFactory) -> None:
    certificate = Certificate(tmp_path_factory.mktemp("tls"))
    with TLSServer(certificate.context()) as server:
        server.site["/a"] = b"here"
        client = RequestsWebClient(verify=str(certificate.file), private_addresses="refuse")
        assert "refused" in message(client, server.at("/a"))
        client.close()
        assert server.requested == []


def test_a_proxy_may_have_a_private_address(private: LoopbackServer, clients: ExitStack) -> None:
    private.site["http://far.example/a"] = b"through the proxy"
    client = guarded(clients, "http://far.example/", "refuse")
    client.set_proxies({"http": private.url})
    assert body(client, "http://far.example/a") == b"through the proxy"


def test_a_mocked_response_has_no_address(clients: ExitStack) -> None:
    with requests_mock.Mocker() as mock:
        mock.get("http://host.example/a", status_code=301, headers={"Location": "/b"})
        mock.get("http://host.example/b", text="mocked")
        client = guarded(clients, "http://host.example/", "refuse")
        assert body(client, "http://host.example/a") == b"mocked"


@pytest.mark.parametrize("headers", [{}, {"Connection": "close"}, {"Content-Length": "6"}])
def test_responses_of_the_callers_session_are_checked(
    server: LoopbackServer, private: LoopbackServer, clients: ExitStack, headers: dict[str, str]
) -> None:
    server.site |= {"/a": b"open", "/r": redirect(private.at("/b"))}
    private.site["/b"] = Answer(status=302, body=b"secret", headers={**headers, "Location": "/c"})
    private.site["/d"] = Answer(body=b"secret", headers=headers)
    session = clients.enter_context(requests.Session())
    client = guarded(clients, server.url, session=session)
    assert "127.0.0.2" in message(client, server.at("/r"))
    assert "127.0.0.2" in message(client, private.at("/d"))
    assert private.requested == [], "nothing was sent there"
    assert body(client, server.at("/a")) == b"open"


def test_the_callers_session_may_use_a_private_proxy(
    private: LoopbackServer, clients: ExitStack
) -> None:
    private.site["http://far.example/a"] = b"through the proxy"
    session = clients.enter_context(requests.Session())
    session.proxies = {"http": private.url}
    client = guarded(clients, "http://far.example/", "refuse", session)
    assert body(client, "http://far.example/a") == b"through the proxy"


def test_a_cached_response_has_no_address_and_a_fetched_one_has(
    server: LoopbackServer, private: LoopbackServer, clients: ExitStack
) -> None:
    server.site |= {"/a": redirect("/b"), "/b": b"open"}
    session = clients.enter_context(requests_cache.CachedSession(backend="memory"))
    client = guarded(clients, server.url, session=session)
    assert body(client, server.at("/a")) == body(client, server.at("/a")) == b"open"
    assert server.requested == ["/a", "/b"]
    assert "refused" in message(client, private.at("/b"))


def test_threads_share_the_verdict_of_their_crawl(
    server: LoopbackServer, private: LoopbackServer, clients: ExitStack
) -> None:
    server.otherwise = b"open"
    client = guarded(clients, server.url)
    responses: list[AbstractWebClientResponse] = []
    threads = [
        threading.Thread(target=lambda url=url: responses.append(client.get(url)))
        for url in [server.at("/a"), private.at("/b")] * 8
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert private.requested == []
    found = [each for each in responses if isinstance(each, AbstractWebClientSuccessResponse)]
    assert [each.raw_data() for each in found] == [b"open"] * 8
    assert len(responses) == 16
