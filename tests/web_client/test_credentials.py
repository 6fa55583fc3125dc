"""Which hosts get credentials from the client on requests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from requests.adapters import BaseAdapter

from tests.server import Answer, LoopbackServer, redirect
from tests.servers import ServerAt
from usp.web_client._http.credentials import Homepage, is_credential
from usp.web_client.requests_client import RequestsWebClient


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


def names(server: LoopbackServer) -> list[str]:
    """The credentials that a server got."""
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


def test_credentials_of_a_session_stay_in_the_domain_of_the_homepage(
    server: LoopbackServer, other: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server.site["/r"] = redirect(other.at("/b"))
    with requests.Session() as session:
        session.auth = ("user", "secret")
        session.headers["Cookie"] = "a=b"
        client = RequestsWebClient(session=session)
        client.get(other.at("/b"))
        assert names(other) == ["authorization", "cookie"], "there is no homepage yet"
        client.for_crawl(server.url)
        client.get(server.at("/a"))
        assert names(server) == ["authorization", "cookie"]
        for url in (other.at("/b"), server.at("/r")):
            client.get(url)
            assert names(other) == []
        (tmp_path / "netrc").write_text("machine 127.0.0.2 login me password it\n")
        client.get(other.at("/b"))
        assert other.requests[-1].headers["authorization"] == "Basic bWU6aXQ=", (
            "it belongs to that host"
        )
        assert (session.auth, session.headers["Cookie"]) == (("user", "secret"), "a=b")


def test_logins_of_netrc_can_be_switched_off_and_others_stay_with_their_host(
    server: LoopbackServer, other: LoopbackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    (tmp_path / "netrc").write_text(
        "machine 127.0.0.1 login me password it\nmachine 127.0.0.2 login me password it\n"
    )
    server.site |= {"/a": redirect(other.at("/b")), "/c": redirect(server.at("/d")), "/d": b"here"}
    for netrc in (True, False):
        client = RequestsWebClient(netrc=netrc)
        client.for_crawl(server.url)
        client.get(server.at("/a"))
        assert names(server) == names(other) == ["authorization"] * netrc
        client.close()
    client = RequestsWebClient(netrc=False)
    client.get(server.at("/c").replace("//", "//user:secret@"))
    assert names(server) == ["authorization"], "it is that of the URL, on the same host"
    client.get(server.at("/a").replace("//", "//user:secret@"))
    assert names(other) == []
    client.close()


def test_an_authorization_header_of_a_session_is_a_credential(
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


@pytest.mark.parametrize("place", ["headers", "session"])
def test_a_header_whose_name_looks_like_a_credential_stays_on_the_site(
    server: LoopbackServer, other: LoopbackServer, place: str
) -> None:
    names_of_secrets = ("Proxy-Authorization", "X-Api-Key", "PRIVATE-TOKEN", "X-Shop-Session")
    given = {**dict.fromkeys(names_of_secrets, "mine"), "X-Tag": "all"}
    server.site |= {"/a": redirect("/b"), "/b": b"x", "/r": redirect(other.at("/b"))}
    with requests.Session() as session:
        if place == "session":
            session.headers.update(given)
            client = RequestsWebClient(session=session)
        else:
            client = RequestsWebClient(headers=given)
        client.for_crawl(server.url)
        for url in (server.at("/a"), server.at("/r"), other.at("/b")):
            client.get(url)
        client.close()
    sent = [
        [name for name in given if name.lower() in request.headers]
        for request in (*server.requests, *other.requests)
    ]
    assert sent == [list(given)] * 3 + [["X-Tag"]] * 2


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("authorization", True),
        ("Cookie", True),
        ("X-Auth", True),
        ("x-api-key", True),
        ("Ocp-Apim-Subscription-Key", True),
        ("X-Amz-Security-Token", True),
        ("CF-Access-Client-Secret", True),
        ("X-Password", True),
        ("Session-Id", True),
        ("Accept-Language", False),
        ("User-Agent", False),
        ("Referer", False),
        ("Keep-Alive", False),
    ],
)
def test_the_name_of_a_header_says_whether_it_is_a_credential(name: str, is_secret: bool) -> None:
    assert is_credential(name) is is_secret


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
        # The public suffix list decides what a site is.
        ("https://www.com/", "www.com", True),
        ("https://www.com/", "cdn.www.com", True),
        ("https://www.com/", "evil.com", False),
        ("https://www.com/", "com", False),
        ("https://www.co.uk/", "evil.co.uk", False),
        ("https://www.example.co.uk/", "cdn.example.co.uk", True),
        ("https://co.uk/", "evil.co.uk", False),
        ("https://mine.github.io/", "yours.github.io", False),
        ("https://mine.github.io/", "docs.mine.github.io", True),
        ("https://www.github.io/", "evil.github.io", False),
        ("https://github.io/", "evil.github.io", False),
        ("https://localhost/", "evil.localhost", False),
        ("https://www.localhost/", "localhost", False),
        ("https://192.0.2.7/", "192.0.2.7", True),
        ("https://192.0.2.7/", "evil.192.0.2.7", False),
    ],
)
def test_the_domain_of_the_homepage_includes_its_subdomains(
    homepage: str, host: str, trusted: bool
) -> None:
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


@pytest.mark.parametrize(
    ("url", "homepage", "expected"),
    [
        ("https://h.example/a", "https://h.example/", True),
        ("https://cdn.h.example/a", "https://www.h.example/", True),
        ("https://other.example/a", "https://h.example/", False),
        ("https://other-h.example/a", "https://h.example/", False),
        ("http://h.example/a", "http://h.example/", True),
        ("https://h.example/a", "http://h.example/", True),
        ("http://h.example/a", "https://h.example/", False),
        ("https://h.example/a", "", False),  # the crawl of a file
        ("http://h.example/a", "", False),
        # Another port is another server; from http to https, the usual one is the same.
        ("http://h.example:80/a", "http://h.example/", True),
        ("https://h.example:443/a", "http://h.example:80/", True),
        ("http://h.example:8080/a", "http://h.example:8080/", True),
        ("https://h.example:8443/a", "https://cdn.h.example:8443/", False),
        ("https://cdn.h.example:8443/a", "https://h.example:8443/", True),
        ("http://h.example:8080/a", "http://h.example/", False),
        ("http://h.example/a", "http://h.example:8080/", False),
        ("http://h.example:443/a", "http://h.example/", False),
        ("https://h.example:8443/a", "http://h.example:8080/", False),
        ("http://h.example:99999/a", "http://h.example/", False),
    ],
)
def test_credentials_go_to_the_domain_of_the_homepage_and_not_from_https_to_http(
    url: str, homepage: str, expected: bool
) -> None:
    assert Homepage.of(homepage).is_trusted(url) is expected
