"""Which servers get the logins of ``.netrc``, from each client, and what a broken file does."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import requests

from tests.loops import body, in_crawl, run
from tests.server import LoopbackServer, redirect
from tests.servers import ServerAt
from usp.web_client._http.credentials import OUTSIDE, Homepage
from usp.web_client._http.environment import Environment
from usp.web_client.abstract_client import WebClientErrorResponse
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

BASIC = "Basic bWU6aXQ="
"""User ``me``, password ``it``."""
Fetch = Callable[[str | None, list[str]], None]


def by_requests(
    homepage: str | None, urls: list[str], session: requests.Session | None = None
) -> None:
    client = RequestsWebClient(session=session, private_addresses="allow")
    if homepage is not None:
        client.for_crawl(homepage)
    for url in urls:
        client.get(url)
    client.close()


def by_session(homepage: str | None, urls: list[str]) -> None:
    with requests.Session() as session:
        by_requests(homepage, urls, session)


def by_bound_request(homepage: str | None, urls: list[str]) -> None:
    """A session whose redirects are followed by requests itself."""
    with requests.Session() as session:
        session.request = partial(session.request, timeout=5)  # type: ignore[method-assign]
        by_requests(homepage, urls, session)


def by_asyncio(homepage: str | None, urls: list[str]) -> None:
    async def main() -> None:
        made = AioWebClient(private_addresses="allow")
        if homepage is None:
            async with made:
                for url in urls:
                    await body(made, url)
            return
        async with in_crawl(made, homepage) as client:
            for url in urls:
                await body(client, url)

    run(main())


@pytest.fixture(params=[by_requests, by_session, by_bound_request, by_asyncio])
def fetch(request: pytest.FixtureRequest) -> Fetch:
    chosen: Fetch = request.param
    return chosen


@pytest.fixture(autouse=True)
def netrc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    file = tmp_path / "netrc"
    file.write_text("default login me password it\n")
    monkeypatch.setenv("NETRC", str(file))
    return file


@pytest.fixture
def other() -> Iterator[LoopbackServer]:
    """A server on another host."""
    with ServerAt("127.0.0.2") as running:
        running.otherwise = b"there"
        yield running


@pytest.fixture
def elsewhere() -> Iterator[LoopbackServer]:
    """A server at another port of the homepage's host."""
    with LoopbackServer() as running:
        running.otherwise = b"there"
        yield running


def sent(server: LoopbackServer) -> set[str | None]:
    return {request.headers.get("authorization") for request in server.requests}


def test_the_default_login_goes_to_the_server_of_the_homepage_only(
    server: LoopbackServer, other: LoopbackServer, elsewhere: LoopbackServer, fetch: Fetch
) -> None:
    server.site |= {
        "/a": redirect("/b"),
        "/b": b"here",
        "/r": redirect(other.at("/r")),
        "/s": redirect(elsewhere.at("/s")),
    }
    urls = [*map(server.at, ("/a", "/r", "/s")), other.at("/c"), elsewhere.at("/c")]
    fetch(server.url, urls)
    assert server.requested == ["/a", "/b", "/r", "/s"]
    assert sent(server) == {BASIC}
    assert "/c" in other.requested
    assert "/c" in elsewhere.requested
    assert sent(other) == sent(elsewhere) == {None}


def test_the_default_login_goes_nowhere_in_a_crawl_without_a_homepage(
    server: LoopbackServer, fetch: Fetch
) -> None:
    server.otherwise = b"there"
    url = server.at("/a")
    fetch("", [url])
    assert sent(server) == {None}
    assert Environment().login_for("https://h.example/", Homepage.of("")) is None


def test_outside_of_a_crawl_the_default_login_goes_to_the_url_that_is_named(
    server: LoopbackServer, other: LoopbackServer, fetch: Fetch
) -> None:
    server.site["/r"] = redirect(other.at("/b"))
    fetch(None, [server.at("/r")])
    assert sent(server) == {BASIC}
    assert sent(other) <= {None}


def test_a_host_that_netrc_names_gets_its_own_login_wherever_it_is_named(netrc: Path) -> None:
    netrc.write_text(
        "machine far.example login you password that\nmachine none.example\n"
        "machine account.example account you\ndefault login me password it\n"
    )
    login_for = Environment().login_for
    home = Homepage.of("https://h.example/")
    assert login_for("https://h.example/a", home) == ("me", "it")
    assert login_for("https://far.example/a", home) == ("you", "that")
    assert login_for("https://far.example/a", home, is_redirect=True) == ("you", "that")
    assert login_for("https://account.example/a", home) == ("you", "")
    for host in ("sub.h.example", "h.example:8443", "near.example", "default"):
        assert login_for(f"https://{host}/a", home) is None, host
    assert login_for("http://h.example/a", home) is None
    assert login_for("https://none.example/", OUTSIDE) is None, "it is named, without a login"
    assert login_for("https://near.example/", OUTSIDE) == ("me", "it")


def test_a_session_that_ignores_the_environment_follows_its_redirects(
    server: LoopbackServer, other: LoopbackServer
) -> None:
    server.site["/r"] = redirect(other.at("/b"))
    with requests.Session() as session:
        session.trust_env = False
        session.request = partial(session.request, timeout=5)  # type: ignore[method-assign]
        by_requests(server.url, [server.at("/r")], session)
    assert sent(server) == sent(other) == {None}


BROKEN = {
    "not UTF-8": b"machine far.example login me password caf\xe9\n",
    "syntax": b"machine far.example login me password it nonsense\n",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_netrc_that_can_not_be_read_is_ignored(
    server: LoopbackServer, netrc: Path, fetch: Fetch, content: bytes
) -> None:
    netrc.write_bytes(b"machine 127.0.0.1 login me password it\n" + content)
    server.site |= {"/a": b"here", "/r": redirect("/b"), "/b": b"here"}
    fetch(server.url, [server.at("/a"), server.at("/r")])
    is_followed = fetch is not by_bound_request or content is BROKEN["syntax"]
    assert server.requested == ["/a", "/r", *["/b"] * is_followed]
    assert sent(server) == {None}


def test_a_session_that_can_not_read_netrc_says_so(server: LoopbackServer, netrc: Path) -> None:
    """requests reads it to follow a redirect."""
    netrc.write_bytes(BROKEN["not UTF-8"])
    server.site["/r"] = redirect("/b")
    with requests.Session() as session:
        session.request = partial(session.request, timeout=5)  # type: ignore[method-assign]
        response = RequestsWebClient(session=session).get(server.at("/r"))
    assert isinstance(response, WebClientErrorResponse)
    assert response.message().endswith("since the session can't read .netrc: it is not UTF-8")
