"""The user and password of a URL: sent to their host, and shown nowhere.

A table: where the credentials are written by every way in which something gets out of a crawl.
"""

import io
import logging
import pickle
import sys
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
import requests

import usp
from tests.loops import run
from tests.server import Answer, Handler, LoopbackServer, index, redirect, urlset
from tests.servers import ServerAt
from usp import aio
from usp.exceptions import UsageError, UspError
from usp.helpers import strip_url_to_homepage
from usp.objects.sitemap import AbstractSitemap, PagesXMLSitemap
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    LocalWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

pytestmark = pytest.mark.usefixtures("no_settings")

HIDDEN = "s3cr3t"
USERINFO = f"user:{HIDDEN}@"
BASIC = f"Basic {b64encode(f'user:{HIDDEN}'.encode()).decode()}"


def with_login(url: str) -> str:
    return url.replace("://", f"://{USERINFO}", 1)


@pytest.fixture
def other() -> Iterator[LoopbackServer]:
    """A server on another host."""
    with ServerAt("127.0.0.2") as running:
        running.otherwise = 404
        yield running


def homepage(server: LoopbackServer, other: LoopbackServer) -> str:
    server.site["/robots.txt"] = f"Sitemap: /i.xml\nSitemap: {other.at('/x.xml')}\n"
    server.site["/i.xml"] = index("/a.xml", server.at("/lost.xml"))
    server.site["/a.xml"] = urlset("/relative", server.at("/absolute"))
    return with_login(server.url)


def robots(server: LoopbackServer, other: LoopbackServer) -> str:
    declared = [with_login(server.at(path)) for path in ("/a.xml", "/lost.xml", "/a.xml")]
    declared += [with_login("ftp://127.0.0.1/a.xml"), "x y " + with_login(other.at("/x.xml"))]
    server.site["/robots.txt"] = "".join(f"Sitemap: {url}\n" for url in declared)
    server.site["/a.xml"] = urlset(server.at("/page"))
    return server.url


def child(server: LoopbackServer, other: LoopbackServer) -> str:
    server.robots("/i.xml")
    urls = [server.at("/a.xml"), server.at("/lost.xml"), other.at("/x.xml"), server.at("/i.xml")]
    server.site["/i.xml"] = index(*map(with_login, urls))
    server.site["/a.xml"] = urlset(server.at("/page"))
    return server.url


def redirect_target(server: LoopbackServer, other: LoopbackServer) -> str:
    server.robots("/r.xml", "/away.xml", "/ftp.xml")
    server.site["/r.xml"] = redirect(with_login(server.at("/a.xml")))
    server.site["/away.xml"] = redirect(with_login(other.at("/x.xml")))
    server.site["/ftp.xml"] = redirect(with_login("ftp://127.0.0.1/a.xml"))
    server.site["/a.xml"] = urlset(server.at("/page"))
    return server.url


def pages(server: LoopbackServer, other: LoopbackServer) -> str:
    server.robots("/a.xml", "/b.txt", "/c.xml")
    urls = [server.at("/page"), server.at("/page"), "http://h.example/a b", "ftp://h.example/"]
    server.site["/a.xml"] = urlset(*map(with_login, urls))
    server.site["/b.txt"] = "\n".join(map(with_login, urls))
    item = f"<title>t</title><description>d</description><link>{with_login(other.url)}</link>"
    image = f"<image:image><image:loc>{with_login(other.at('/i.png'))}</image:loc></image:image>"
    server.site["/c.xml"] = f"<rss><channel><item>{item}{image}</item></channel></rss>"
    return server.url


def reason_phrase(server: LoopbackServer, other: LoopbackServer) -> str:
    del other

    def respond(handler: Handler) -> None:
        named = with_login(server.url)
        bare = named.removeprefix("http://")
        line = f"HTTP/1.1 404 No {named} as {bare}\r\nContent-Length: 0\r\n\r\n"
        handler.wfile.write(line.encode())

    server.robots("/a.xml")
    server.site["/a.xml"] = respond
    return server.url


SITES: dict[str, Callable[[LoopbackServer, LoopbackServer], str]] = {
    "homepage": homepage,
    "robots.txt": robots,
    "child of an index": child,
    "redirect": redirect_target,
    "pages": pages,
    "reason phrase": reason_phrase,
}


def texts_of(tree: AbstractSitemap) -> Iterator[str]:
    """Everything that a tree says, in text."""
    yield repr(tree)
    yield repr(tree.to_dict())
    yield pickle.dumps(tree).decode("latin-1")
    yield repr(getattr(tree, "tried", ()))
    for sitemap in (tree, *tree.all_sitemaps()):
        yield f"{sitemap!r} {sitemap.url} {sitemap.declared_url} {sitemap.fetch_info}"
        yield f"{sitemap.problems} {sitemap.redirects} {getattr(sitemap, 'reason', '')}"
    for page in tree.all_pages():
        yield f"{page!r} {page} {page.url} {page.sitemap_url} {page.to_dict(extended=True)}"


def by_tree(url: str, texts: list[str]) -> None:
    with closing(RequestsWebClient()) as client:
        tree = usp.sitemap_tree_for_homepage(
            url, client, observer=lambda event: texts.append(repr(event))
        )
        texts += [repr(client), repr(client._session)]
    texts += texts_of(tree)


def by_plain_session(url: str, texts: list[str]) -> None:
    with requests.Session() as session, closing(RequestsWebClient(session=session)) as client:
        texts += texts_of(usp.sitemap_tree(url, web_client=client))


def by_stream(url: str, texts: list[str]) -> None:
    with usp.iter_pages(url, observer=lambda event: texts.append(repr(event))) as stream:
        texts += [f"{page!r} {page.url}" for page in stream]
        texts += [repr(stream), repr(stream.problems), repr(stream._state.crawl)]


def by_asyncio(url: str, texts: list[str]) -> None:
    async def main() -> None:
        async with AioWebClient() as client:
            texts.extend(texts_of(await aio.sitemap_tree(url, web_client=client)))
            texts.append(repr(client))
            async for given, tree in aio.sitemap_trees([url], web_client=client):
                assert given == url, "what the caller gave comes back as it was"
                texts.extend(texts_of(tree))

    run(main())


def by_own_loop(url: str, texts: list[str]) -> None:
    crawl = usp.Crawl.for_site(url)
    while not crawl.done:
        for request in crawl.take(0.0):
            texts.append(repr(request))
            try:
                response = requests.get(request.url, timeout=5)
                response.raise_for_status()
            except requests.RequestException as error:
                failed = usp.FetchFailed(str(error))
                texts.append(repr(failed))
                crawl.receive(request, failed, 0.0)
            else:
                crawl.deliver(request, response.content, 0.0, url=response.url)
    texts += [repr(crawl), *texts_of(crawl.tree())]


class Urllike(AbstractWebClient):
    """A client of the caller's, which quotes the URL in its errors."""

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        response = requests.get(url, timeout=5)
        if "lost" in url:
            raise OSError(f"nothing at {url}")
        if response.ok:
            return LocalWebClientSuccessResponse(response.url, response.text)
        return WebClientErrorResponse(f"{response.status_code} at {url}", retryable=False)


def by_own_client(url: str, texts: list[str]) -> None:
    texts += texts_of(usp.sitemap_tree_for_homepage(url, Urllike()))


WAYS: dict[str, Callable[[str, list[str]], None]] = {
    "tree": by_tree,
    "plain session": by_plain_session,
    "stream": by_stream,
    "asyncio": by_asyncio,
    "own loop": by_own_loop,
    "own client": by_own_client,
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("site", SITES)
def test_credentials_in_a_url_are_shown_nowhere(
    server: LoopbackServer, other: LoopbackServer, site: str, way: str
) -> None:
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    root = logging.getLogger()
    root.addHandler(handler)
    level = root.level
    root.setLevel(logging.DEBUG)
    texts: list[str] = []
    try:
        WAYS[way](SITES[site](server, other), texts)
    finally:
        root.setLevel(level)
        root.removeHandler(handler)
    assert [text for text in (*texts, log.getvalue()) if HIDDEN in text] == []
    assert texts
    assert log.getvalue()


def sent_to(server: LoopbackServer) -> dict[str, str | None]:
    return {request.path: request.headers.get("authorization") for request in server.requests}


@pytest.mark.parametrize("way", ["tree", "plain session", "stream", "asyncio", "own client"])
def test_credentials_of_the_homepage_go_to_all_urls_of_its_host_and_no_other(
    server: LoopbackServer, other: LoopbackServer, way: str
) -> None:
    WAYS[way](homepage(server, other), [])
    sent = sent_to(server)
    assert {sent[path] for path in ("/robots.txt", "/i.xml", "/a.xml", "/lost.xml")} == {BASIC}
    assert set(sent_to(other).values()) == {None}


@pytest.mark.parametrize("way", ["tree", "plain session", "stream", "asyncio"])
@pytest.mark.parametrize("site", ["robots.txt", "child of an index", "redirect"])
def test_credentials_of_a_sitemap_go_with_its_request_only(
    server: LoopbackServer, other: LoopbackServer, site: str, way: str
) -> None:
    WAYS[way](SITES[site](server, other), [])
    sent = sent_to(server)
    assert (sent["/robots.txt"], sent["/a.xml"]) == (None, BASIC)


def test_a_url_is_one_resource_with_and_without_credentials(server: LoopbackServer) -> None:
    server.robots("/i.xml")
    server.site["/i.xml"] = index(with_login(server.at("/i.xml")), with_login(server.at("/a.xml")))
    server.site["/a.xml"] = urlset("/page")
    tree = usp.sitemap_tree_for_homepage(with_login(server.url), use_known_paths=False)
    assert tree.url == server.url
    (found,) = tree.sub_sitemaps[0].sub_sitemaps
    loop, sitemap = found.sub_sitemaps
    assert "Recursion detected" in getattr(loop, "reason", "")
    assert [page.url for page in sitemap.pages] == [server.at("/page")]
    assert server.requested.count("/i.xml") == server.requested.count("/a.xml") == 1


def test_filters_of_sitemaps_see_urls_without_credentials(server: LoopbackServer) -> None:
    server.robots("/i.xml")
    server.site["/i.xml"] = index(with_login(server.at("/a.xml")), with_login(server.at("/b.xml")))
    server.site["/a.xml"] = urlset("/page")
    tree = usp.sitemap_tree_for_homepage(
        server.url, exclude_sitemaps=[rf"^{server.at('/b')}"], use_known_paths=False
    )
    assert "/b.xml" not in server.requested
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]


def test_credentials_do_not_follow_the_fallback_to_http(server: LoopbackServer) -> None:
    server.otherwise = 404
    url = with_login(server.url.replace("http:", "https:"))
    tree = usp.sitemap_tree_for_homepage(url, scheme_fallback=True)
    assert not any(text for text in texts_of(tree) if HIDDEN in text)
    assert set(sent_to(server).values()) <= {None}


def test_a_sitemap_that_the_caller_builds_or_parses_has_none() -> None:
    built = PagesXMLSitemap(with_login("http://h.example/a.xml"), [])
    parsed = usp.parse(index("/a.xml"), url=with_login("http://h.example/i.xml"))
    assert (built.url, parsed.url) == ("http://h.example/a.xml", "http://h.example/i.xml")
    assert [sub.url for sub in parsed.sub_sitemaps] == ["http://h.example/a.xml"]


# Errors


WRONG_URLS = [
    with_login("http://"),
    with_login("http://h.example:99999/"),
    with_login("http://h.example:port/"),
    with_login("http://[::1/"),
    with_login("http://a..b/"),
    with_login("http:///"),
    with_login("ftp://h.example/"),
    f"user:{HIDDEN}@h.example",
    f"http://user:{HIDDEN}/x@h.example:80x/",
    f"http:/user:{HIDDEN}@h.example/",
    f"http://user:x/{HIDDEN}@h.example/",
    with_login("http://h.example/") + "x" * 200,
]
CALLS: dict[str, Callable[[str], Any]] = {
    "tree": lambda url: usp.sitemap_tree_for_homepage(url, max_seconds=0.001),
    "source": lambda url: usp.sitemap_tree(url, max_seconds=0.001),
    "stream": lambda url: next(usp.iter_pages(url, max_seconds=0.001)),
    "crawl": usp.Crawl,
    "site": usp.Crawl.for_site,
    "homepage": strip_url_to_homepage,
    "tree in asyncio": lambda url: run(aio.sitemap_tree_for_homepage(url, max_seconds=0.001)),
    "get": lambda url: sys.stdout.write(RequestsWebClient(timeout=0.01).get(url).message()),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("url", WRONG_URLS, ids=range(len(WRONG_URLS)))
def test_no_error_shows_credentials(
    url: str, call: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = ""
    try:
        with suppress(StopIteration):
            CALLS[call](url)
    except UspError as error:
        shown = "".join(traceback.format_exception(error)) + repr(error)
    captured = capsys.readouterr()
    assert HIDDEN not in shown + captured.out + captured.err


SOUND_PROXY = f"http://user:{HIDDEN}@127.0.0.1:1"
"""A client rejects others when it is made; in the environment or a session they are found later."""
PROXIES = [
    f"http://user:pa/{HIDDEN}@127.0.0.1:1",
    f"http://user:{HIDDEN}/x@127.0.0.1:1",
    f"http://user:{HIDDEN}#x@127.0.0.1:1",
    f"http://user:{HIDDEN}@127.0.0.1:port",
    f"http://user:{HIDDEN}@",
    f"user:{HIDDEN}@[::1",
    f"ftp://user:{HIDDEN}@127.0.0.1:1",
    SOUND_PROXY,
    f"socks9://user:{HIDDEN}@127.0.0.1:1",
]


@pytest.mark.parametrize("proxy", PROXIES, ids=range(len(PROXIES)))
@pytest.mark.parametrize("where", ["argument", "environment", "session"])
def test_no_error_shows_the_password_of_a_proxy(
    proxy: str, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "http://far.example/"
    given = {"http": proxy} if where == "argument" else None
    if where == "environment":
        monkeypatch.setenv("http_proxy", proxy)
    if given and proxy != SOUND_PROXY:
        for kind in (RequestsWebClient, AioWebClient):
            with pytest.raises(UsageError) as raised:
                kind(proxies=given)
            assert HIDDEN not in "".join(traceback.format_exception(raised.value))
        return

    async def fetch() -> str:
        async with AioWebClient(proxies=given) as client:
            return (await client.get(url)).message()  # type: ignore[attr-defined, no-any-return]

    with requests.Session() as session:
        if where == "session":
            session.proxies = {"http": proxy}
        with closing(RequestsWebClient(proxies=given, session=session)) as client:
            messages = [client.get(url).message()]  # type: ignore[attr-defined]
    with closing(RequestsWebClient(proxies=given)) as client:
        messages += [client.get(url).message()] if where != "session" else []  # type: ignore[attr-defined]
    messages += [run(fetch())] if where != "session" else []
    assert [message for message in messages if HIDDEN in message] == []
    assert all(messages)
    captured = capsys.readouterr()
    assert HIDDEN not in captured.out + captured.err


@pytest.mark.parametrize("kind", [RequestsWebClient, AioWebClient])
@pytest.mark.parametrize(
    "settings",
    [
        {"headers": {"Authorization": f"Bearer {HIDDEN}\n"}},
        {"headers": {"Authorization": HIDDEN.encode()}},
        {"headers": {"Authorization": 5, "X": HIDDEN}},
        {"proxies": {"http": f"http://user:{HIDDEN}@h".encode()}},
        {"proxies": f"http://user:{HIDDEN}@h"},
    ],
    ids=range(5),
)
def test_wrong_settings_are_rejected_without_their_values(
    kind: type, settings: dict[str, object]
) -> None:
    with pytest.raises(UsageError) as caught:
        kind(**settings)
    assert HIDDEN not in str(caught.value)


def set_header(name: str, value: Any) -> Callable[[requests.Session], None]:
    return lambda session: session.headers.update({name: value})


def set_token(session: requests.Session) -> None:
    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {HIDDEN}\n"
        return request

    session.auth = sign


@pytest.mark.parametrize(
    "spoil",
    [
        set_header("Authorization", f"Bearer {HIDDEN}\n"),
        set_header("Cookie", f"a={HIDDEN}\r\n"),
        set_header("X-Api-Key", f"{HIDDEN}\n"),
        set_header("Authorization", [HIDDEN]),
        lambda session: session.cookies.set("a", f"{HIDDEN}\nb"),
        set_token,
    ],
    ids=["Authorization", "Cookie", "other", "list", "cookie", "function"],
)
def test_a_header_of_the_session_that_can_not_be_sent_is_not_shown(
    server: LoopbackServer, spoil: Callable[[requests.Session], None]
) -> None:
    with requests.Session() as session, closing(RequestsWebClient(session=session)) as client:
        spoil(session)
        response = client.get(server.url)
        tree = usp.sitemap_tree_for_homepage(server.url, client, use_known_paths=False)
    assert isinstance(response, WebClientErrorResponse)
    assert "can't be sent" in response.message()
    assert [text for text in (response.message(), *texts_of(tree)) if HIDDEN in text] == []
    assert server.requests == []


@pytest.mark.parametrize("way", ["plain session", "stream", "asyncio"])
def test_credentials_of_a_url_are_sent_in_utf_8(server: LoopbackServer, way: str) -> None:
    """As a browser sends them (RFC 7617 2.1), on redirects, too."""
    start, target = (
        server.at(path).replace("://", "://us%E2%98%83er:p\u00e4ss@") for path in ("/a", "/b")
    )
    server.site["/a"] = redirect(target.encode().decode("latin-1"))
    server.site["/b"] = urlset(server.at("/page"))
    WAYS[way](start, [])
    expected = "Basic " + b64encode("us\u2603er:p\u00e4ss".encode()).decode()
    sent = sent_to(server)
    assert (sent["/a"], sent["/b"]) == (expected, expected)


@pytest.mark.parametrize("way", ["plain session", "stream", "asyncio"])
def test_credentials_in_a_url_stay_at_its_port(server: LoopbackServer, way: str) -> None:
    with LoopbackServer() as elsewhere:
        elsewhere.otherwise = urlset("http://h.example/")
        server.site["/a"] = redirect(elsewhere.at("/b"))
        WAYS[way](with_login(server.at("/a")), [])
    assert sent_to(server)["/a"] == BASIC
    assert sent_to(elsewhere) == {"/b": None}


def test_a_password_with_a_line_break_is_not_logged(
    server: LoopbackServer, caplog: pytest.LogCaptureFixture
) -> None:
    url = server.url.replace("://", f"://user:\n{HIDDEN}@")
    usp.sitemap_tree_for_homepage(url, use_known_paths=False)
    assert "as the homepage of" in caplog.text
    assert HIDDEN not in caplog.text


def test_a_redirect_to_an_error_shows_nothing(server: LoopbackServer) -> None:
    server.site["/a"] = redirect(with_login("ftp://h.example/"))
    server.site["/b"] = Answer(status=302, headers={"Location": with_login("http://[::1/")})
    server.site["/c"] = redirect(with_login(server.at("/c")))
    with closing(RequestsWebClient()) as client:
        for path in ("/a", "/b", "/c"):
            response = client.get(server.at(path))
            assert isinstance(response, WebClientErrorResponse)
            assert HIDDEN not in response.message()
