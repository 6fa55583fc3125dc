"""Proxies without a scheme, and values that can't be a proxy: as setting and in the environment."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import requests

import usp
from tests.cli.command import usp as command
from tests.loops import run
from tests.server import Answer, Handler, LoopbackServer, redirect, urlset
from tests.web_client.test_socks import COMMANDS, no_proxies
from usp import aio
from usp.exceptions import UsageError
from usp.objects.sitemap import AbstractSitemap
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

__all__ = ["no_proxies"]  # a fixture

SITE = "http://site.example/"
SITEMAP = f"{SITE}sitemap.xml"
WITHOUT_SCHEME = ["localhost:{}", "127.0.0.1:{}", "bob:pw@localhost:{}", "//bob:pw@127.0.0.1:{}"]
NO_PROXIES = [
    "htp://bob:secret@127.0.0.1:1",
    "ftp://127.0.0.1:1",
    "http:127.0.0.1:1",
    "bob:sec/ret@127.0.0.1:1",
]
WAYS: dict[str, Callable[..., AbstractSitemap]] = {
    "threads": usp.sitemap_tree,
    "asyncio": lambda *args, **options: run(aio.sitemap_tree(*args, **options)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("where", ["keyword", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("proxy", WITHOUT_SCHEME)
@pytest.mark.parametrize("way", WAYS)
def test_a_proxy_without_a_scheme_is_one_for_http(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, way: str, proxy: str, where: str
) -> None:
    server.site[SITEMAP] = urlset(f"{SITE}page")
    url = proxy.format(server.port)
    options = {"proxy": url} if where == "keyword" else {}
    if not options:
        monkeypatch.setenv(where, url)
    tree = WAYS[way](SITEMAP, **options)
    assert [page.url for page in tree.all_pages()] == [f"{SITE}page"]
    sent = server.requests[0].headers.get("proxy-authorization")
    assert sent == ("Basic Ym9iOnB3" if "bob" in proxy else None)


def test_so_is_that_of_a_session_and_that_of_a_redirect(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = f"localhost:{server.port}"
    server.site[SITEMAP] = urlset(f"{SITE}page")
    server.site["/sitemap.xml"] = redirect(SITEMAP)
    with requests.Session() as session:
        session.proxies = {"http": proxy}
        client = RequestsWebClient(session=session)
        assert len([*usp.sitemap_tree(SITEMAP, web_client=client).all_pages()]) == 1
        client.close()
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for crawl in WAYS.values():
        tree = crawl(server.at("/sitemap.xml"), allow_private=True)
        assert len([*tree.all_pages()]) == 1


def with_a_session(*args: str, **options: bool) -> AbstractSitemap:
    with requests.Session() as session:
        client = RequestsWebClient(session=session, private_addresses="allow")
        with closing(client):
            return usp.sitemap_tree(*args, web_client=client, policy=usp.Policy(max_attempts=1))


@pytest.mark.parametrize("way", [*WAYS, "session"])
def test_no_proxy_holds_after_a_redirect(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """From the proxy to a host without one, there and back again."""
    crawl = {**WAYS, "session": with_a_session}[way]
    with LoopbackServer() as proxy:
        proxy.otherwise = server.otherwise = 404
        proxy.site[SITEMAP] = redirect(server.at("/a.xml"))
        server.site["/a.xml"] = redirect(f"{SITE}b.xml")
        proxy.site[f"{SITE}b.xml"] = redirect(server.at("/c.xml"))
        server.site["/c.xml"] = urlset(f"{SITE}page")
        monkeypatch.setenv("http_proxy", f"http://bob:pw@localhost:{proxy.port}")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        tree = crawl(SITEMAP, allow_private=True)
        assert [page.url for page in tree.all_pages()] == [f"{SITE}page"]
        assert proxy.requested == [SITEMAP, f"{SITE}b.xml"]
        assert server.requested == ["/a.xml", "/c.xml"]
        logins = [one.headers.get("proxy-authorization") for one in proxy.requests]
        assert logins == ["Basic Ym9iOnB3"] * 2
        assert all("proxy-authorization" not in one.headers for one in server.requests)


@pytest.mark.parametrize("command_name", ["ls", "crawl"])
def test_a_command_takes_a_proxy_without_a_scheme(
    server: LoopbackServer, tmp_path: Path, command_name: str
) -> None:
    def answer(handler: Handler) -> Answer:
        found = handler.path.endswith("/sitemap.xml")
        return Answer(body=urlset(f"{SITE}page")) if found else Answer(404)

    server.otherwise = answer
    (tmp_path / "list.txt").write_text(f"{SITE}\n")
    for option, env in (
        (["--proxy", f"localhost:{server.port}"], {}),
        ([], {"HTTP_PROXY": f"localhost:{server.port}"}),
    ):
        server.requests.clear()
        folder = ["-o", f"out-{len(option)}"] if command_name == "crawl" else []
        words = [word for word in COMMANDS[command_name] if word not in {"-o", "out"}]
        ended = command(*words, *folder, *option, env=env, cwd=tmp_path)
        assert ended.code == 0, ended.err
        assert SITEMAP in server.requested


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["option", "environment"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_rejects_what_can_not_be_a_proxy(tmp_path: Path, name: str, how: str) -> None:
    (tmp_path / "list.txt").write_text(f"{SITE}\n")
    for proxy in NO_PROXIES if name in {"ls", "crawl"} else NO_PROXIES[:1]:
        option = ["--proxy", proxy] if how == "option" else []
        env = {} if how == "option" else {"HTTP_PROXY": proxy}
        ended = command(*COMMANDS[name], *option, env=env, cwd=tmp_path)
        assert ended.code == 2
        assert ended.err.count("\n") == 1
        assert "must be URLs" in ended.err
        assert "ret@" not in ended.err + ended.out


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("proxy", NO_PROXIES)
def test_so_does_the_library_unless_no_site_is_behind_it(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, way: str, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(UsageError, match=r"http sites .* must be URLs") as raised:
        WAYS[way](SITE)
    assert "ret@" not in str(raised.value)
    server.site["/sitemap.xml"] = urlset(server.at("page"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert len([*WAYS[way](server.at("/sitemap.xml")).all_pages()]) == 1
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("HTTPS_PROXY", server.url)
    AioWebClient().check_settings()
    AioWebClient(trust_env=False).check_settings()
