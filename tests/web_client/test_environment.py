"""Proxies, ``.netrc`` and the CA bundle of the environment: each crawl reads them, once."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from requests import PreparedRequest, Request, Session

import usp
from tests.loops import run
from tests.server import LoopbackServer, redirect, urlset
from usp import aio
from usp.objects.sitemap import IndexWebsiteSitemap
from usp.web_client._http.credentials import Homepage
from usp.web_client._http.environment import Environment
from usp.web_client._http.urls import prepare_url
from usp.web_client._requests.session import OwnSession
from usp.web_client.requests_client import RequestsWebClient

Crawl = Callable[[str], IndexWebsiteSitemap]


def in_threads(url: str) -> IndexWebsiteSitemap:
    return usp.sitemap_tree(url)


def in_asyncio(url: str) -> IndexWebsiteSitemap:
    return run(aio.sitemap_tree(url))


@pytest.fixture(params=[in_threads, in_asyncio])
def crawl(request: pytest.FixtureRequest) -> Crawl:
    chosen: Crawl = request.param
    return chosen


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


def test_each_crawl_reads_the_proxies_anew(
    server: LoopbackServer, no_proxies: pytest.MonkeyPatch, crawl: Crawl
) -> None:
    server.site["/a.xml"] = urlset("http://far.example/straight")
    server.site["http://far.example/a.xml"] = urlset("http://far.example/by-proxy")
    assert [page.url for page in crawl(server.at("/a.xml")).all_pages()]
    no_proxies.setenv("http_proxy", server.url)
    no_proxies.setenv("no_proxy", "127.0.0.1")
    (page,) = crawl("http://far.example/a.xml").all_pages()
    assert page.url == "http://far.example/by-proxy"
    (page,) = crawl(server.at("/a.xml")).all_pages()
    assert page.url == "http://far.example/straight"


def test_a_redirect_goes_through_the_proxy_of_its_own_host(
    server: LoopbackServer, no_proxies: pytest.MonkeyPatch, crawl: Crawl
) -> None:
    server.site["/a.xml"] = redirect("http://far.example/a.xml")
    server.site["http://far.example/a.xml"] = urlset("http://far.example/by-proxy")
    no_proxies.setenv("http_proxy", server.url)
    no_proxies.setenv("no_proxy", "127.0.0.1")
    no_proxies.setenv("NETRC", "/nowhere")
    (page,) = crawl(server.at("/a.xml")).all_pages()
    assert page.url == "http://far.example/by-proxy"


def test_a_request_outside_of_a_crawl_reads_the_environment_anew(
    server: LoopbackServer, no_proxies: pytest.MonkeyPatch
) -> None:
    server.site["http://far.example/a.xml"] = b"by proxy"
    server.site["/a.xml"] = b"straight"
    with closing(RequestsWebClient()) as client:
        client.get(server.at("/a.xml"))
        no_proxies.setenv("http_proxy", server.url)
        response = client.get("http://far.example/a.xml")
    assert server.requests[-1].path == "http://far.example/a.xml", response


def test_proxies_are_those_of_requests_for_each_host(no_proxies: pytest.MonkeyPatch) -> None:
    assert not Environment().has_proxies
    no_proxies.setenv("no_proxy", "near.example, 10.0.0.0/8, ported.example:81")
    assert not Environment().has_proxies, "no_proxy alone is none"
    no_proxies.setenv("http_proxy", "http://proxy.example/")
    environment = Environment()
    through, straight = "http://proxy.example/", None
    for url, expected in {
        "http://far.example/": through,
        "http://near.example/": straight,
        "http://a.near.example/": straight,
        "http://10.1.2.3/": straight,
        "http://11.1.2.3/": through,
        "http://ported.example:81/": straight,
        "http://ported.example/": through,
    }.items():
        for _ in range(2):
            assert environment.proxies_for(url).get("http") == expected, url


def test_the_environment_of_a_crawl_does_not_change(
    no_proxies: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc, bundle = tmp_path / "netrc", str(tmp_path / "ca.pem")
    netrc.write_text("machine far.example login user password secret\n")
    no_proxies.setenv("NETRC", str(netrc))
    no_proxies.delenv("REQUESTS_CA_BUNDLE", raising=False)
    no_proxies.setenv("CURL_CA_BUNDLE", bundle)
    environment = Environment()

    def seen(environment: Environment) -> tuple[object, ...]:
        url = "https://far.example/a"
        login = environment.login_for(url, Homepage.of(url))
        return login, environment.ca_bundle, environment.proxies_for(url)

    before = seen(environment)
    assert before == (("user", "secret"), bundle, {})
    netrc.write_text("machine far.example login user password other\n")
    no_proxies.setenv("REQUESTS_CA_BUNDLE", "first.pem")
    no_proxies.setenv("https_proxy", "http://proxy.example/")
    assert seen(environment) == before
    proxies = {"https": "http://proxy.example/"}
    assert seen(Environment()) == (("user", "other"), "first.pem", proxies)


HOSTS = st.from_regex(r"[a-z0-9.-]{1,12}(:[0-9]{1,5})?", fullmatch=True)
PATHS = st.text("/aZ09._~-!$&'()*+,;=:@?%#é \"", max_size=12)


@given(st.sampled_from(["http://", "https://"]), HOSTS, PATHS)
def test_a_url_is_prepared_as_requests_does_it(scheme: str, host: str, path: str) -> None:
    url = f"{scheme}{host}/{path}"
    theirs = PreparedRequest()
    try:
        theirs.prepare_url(url, None)
    except ValueError as error:
        with pytest.raises(type(error)):
            prepare_url(url)
    else:
        assert prepare_url(url) == theirs.url


@pytest.mark.parametrize("cookies", [{}, {"a": "1", "b": "2"}])
@pytest.mark.parametrize("headers", [{}, {"user-agent": "x", "Accept": None, "X-One": "1"}])
def test_a_request_is_prepared_as_requests_does_it(
    cookies: dict[str, str], headers: dict[str, str | None]
) -> None:
    with closing(OwnSession()) as session:
        session.cookies.update(cookies)
        request = Request(
            "GET",
            "http://h.example/ä?b",
            headers=headers,
            auth=("user", "secret"),
            hooks={"response": [print]},
        )
        ours, theirs = session.prepare_request(request), Session.prepare_request(session, request)
    assert list(ours.headers.items()) == list(theirs.headers.items())
    for name in ("method", "url", "body", "hooks"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert dict(ours._cookies) == dict(theirs._cookies)  # type: ignore[attr-defined]
