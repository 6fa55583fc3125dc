"""Another port of the same host is another server: no client sends it credentials."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from tests.loops import body, in_crawl, run
from tests.server import LoopbackServer, redirect
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

SECRETS = {
    "Authorization": "Bearer S",
    "Cookie": "a=S",
    "Proxy-Authorization": "S",
    "X-Api-Key": "S",
}
NAMES = {name.lower() for name in SECRETS}

Fetch = Callable[[str, dict[str, str], list[str]], None]


def by_threads(homepage: str, headers: dict[str, str], urls: list[str]) -> None:
    client = RequestsWebClient(headers=headers)
    client.for_crawl(homepage)
    for url in urls:
        client.get(url)
    client.close()


def by_session(homepage: str, headers: dict[str, str], urls: list[str]) -> None:
    with requests.Session() as session:
        session.headers.update({name: headers[name] for name in headers if name != "Cookie"})
        if headers:
            session.cookies.set("a", "S")  # without a domain
        client = RequestsWebClient(session=session)
        client.for_crawl(homepage)
        for url in urls:
            client.get(url)
        client.close()


def by_asyncio(homepage: str, headers: dict[str, str], urls: list[str]) -> None:
    async def main() -> None:
        async with in_crawl(AioWebClient(headers=headers), homepage) as client:
            for url in urls:
                await body(client, url)

    run(main())


WAYS: dict[str, Fetch] = {"threads": by_threads, "session": by_session, "asyncio": by_asyncio}


@pytest.fixture(params=WAYS)
def fetch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Fetch:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    return WAYS[request.param]


@pytest.fixture
def elsewhere() -> Iterator[LoopbackServer]:
    """A server at another port of the same host."""
    with LoopbackServer() as running:
        running.otherwise = b"there"
        running.site["/r"] = redirect("/s")
        yield running


def secrets(server: LoopbackServer) -> list[set[str]]:
    return [NAMES & set(request.headers) for request in server.requests]


def test_headers_and_cookies_stay_at_the_port_of_the_homepage(
    server: LoopbackServer, elsewhere: LoopbackServer, fetch: Fetch
) -> None:
    server.site |= {"/a": b"x", "/r": redirect(elsewhere.at("/b")), "/s": redirect("/a")}
    fetch(server.url, SECRETS, [*map(server.at, ("/a", "/r", "/s")), elsewhere.at("/c")])
    assert secrets(server) == [NAMES] * 4
    assert secrets(elsewhere) == [set()] * 2


def test_logins_of_netrc_stay_at_the_port_of_the_homepage(
    server: LoopbackServer, elsewhere: LoopbackServer, fetch: Fetch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password it\n")
    server.site |= {"/a": b"x", "/r": redirect(elsewhere.at("/b"))}
    fetch(server.url, {}, [server.at("/a"), server.at("/r"), elsewhere.at("/c")])
    assert secrets(server) == [{"authorization"}] * 2
    assert elsewhere.requests
    assert secrets(elsewhere) == [set()] * len(elsewhere.requests)


def test_a_login_in_a_url_of_another_port_stays_there_on_its_redirects(
    server: LoopbackServer, elsewhere: LoopbackServer, fetch: Fetch
) -> None:
    fetch(server.url, {}, [elsewhere.at("/r").replace("//", "//user:pass@")])
    assert secrets(elsewhere) == [{"authorization"}] * 2
