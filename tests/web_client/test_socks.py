"""SOCKS proxies: a library that is missing, or has none, is wrong use, and no fault of the site."""

from pathlib import Path

import pytest

import usp
from tests.cli.command import usp as command
from tests.loops import run
from tests.server import LoopbackServer, urlset
from usp import aio
from usp.exceptions import MissingExtraError, UsageError
from usp.web_client.aio_client import AioWebClient
from usp.web_client.requests_client import RequestsWebClient

PROXY = "socks5://user:secret@127.0.0.1:1"
SITE = "http://site.example/"
NEEDED = "A SOCKS proxy needs PySocks, which is not installed: pip install PySocks"
NOT_IN_ASYNCIO = "a SOCKS proxy can't be used in asyncio"
COMMANDS = {
    "ls": ["ls", SITE],
    "find": ["find", SITE],
    "export": ["export", SITE, "-o", "out.csv"],
    "check": ["check", SITE],
    "live": ["check", SITE, "--live"],
    "sync": ["sync", SITE, "--state", "state.db"],
    "diff": ["diff", SITE, "http://other.example/"],
    "report": ["report", SITE, "-o", "report.html"],
    "crawl": ["crawl", "list.txt", "-o", "out", "--user-agent", "b/1 (+https://example.org/bot)"],
}


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", ["option", "environment"])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_so_in_one_line(tmp_path: Path, name: str, how: str) -> None:
    (tmp_path / "list.txt").write_text(f"{SITE}\n")
    option = ["--proxy", PROXY] if how == "option" else []
    env = {} if how == "option" else {"ALL_PROXY": PROXY}
    ended = command(*COMMANDS[name], *option, env=env, cwd=tmp_path)
    in_asyncio = name == "crawl" or (name == "live" and how == "option")
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert (NOT_IN_ASYNCIO if in_asyncio else NEEDED) in ended.err
    assert "secret" not in ended.err + ended.out


@pytest.mark.parametrize("scheme", ["socks4", "socks4a", "socks5", "socks5h", "SOCKS5"])
def test_a_crawl_in_threads_needs_the_library(scheme: str) -> None:
    proxy = f"{scheme}://127.0.0.1:1"
    with pytest.raises(MissingExtraError, match="PySocks"):
        usp.sitemap_tree(SITE, proxy=proxy)
    with pytest.raises(MissingExtraError, match="PySocks"):
        usp.sitemap_tree(SITE, web_client=RequestsWebClient(proxies={"all": proxy}))
    with pytest.raises(MissingExtraError, match="PySocks"):
        RequestsWebClient(proxies={"all": proxy}).check_settings()


def test_a_crawl_in_asyncio_has_no_socks(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=NOT_IN_ASYNCIO):
        AioWebClient(proxies={"all": PROXY})
    with pytest.raises(UsageError, match=NOT_IN_ASYNCIO):
        run(aio.sitemap_tree(SITE, proxy=PROXY))
    monkeypatch.setenv("ALL_PROXY", PROXY)
    with pytest.raises(UsageError, match=NOT_IN_ASYNCIO):
        run(aio.sitemap_tree(SITE))


@pytest.mark.parametrize(
    "environment",
    [
        {"ALL_PROXY": PROXY, "NO_PROXY": "127.0.0.1"},
        {"HTTPS_PROXY": PROXY},  # the site is read by http
    ],
    ids=["no proxy for the site", "for another scheme"],
)
def test_a_proxy_of_the_environment_that_is_not_used_is_nobodys_business(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    server.site["/sitemap.xml"] = urlset(server.at("page"))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    url = server.at("sitemap.xml")
    assert len([*usp.sitemap_tree(url).all_pages()]) == 1
    assert len([*run(aio.sitemap_tree(url)).all_pages()]) == 1


@pytest.mark.parametrize(
    "proxies",
    [
        {"http": "http://127.0.0.1:1", "https": "http://127.0.0.1:1", "all": PROXY},  # as of GNOME
        {"ftp": PROXY},
        {"https": "socks.corp.example:3128", "http": "socks"},  # HTTP proxies: hosts alone
    ],
    ids=["all beside both", "ftp", "hosts"],
)
def test_a_socks_proxy_that_no_site_is_fetched_through_is_accepted(
    monkeypatch: pytest.MonkeyPatch, proxies: dict[str, str]
) -> None:
    RequestsWebClient(proxies=proxies).check_settings()
    RequestsWebClient(proxies=proxies).for_crawl(SITE).close()
    AioWebClient(proxies=proxies).check_settings()
    for scheme, proxy in proxies.items():
        monkeypatch.setenv(f"{scheme}_proxy", proxy)
    RequestsWebClient().check_settings()
    AioWebClient().check_settings()


@pytest.mark.parametrize("scheme", ["http", "https", "all"])
def test_a_socks_proxy_that_some_sites_are_fetched_through_is_not(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    with pytest.raises(MissingExtraError):
        RequestsWebClient(proxies={scheme: PROXY}).check_settings()
    with pytest.raises(UsageError, match=NOT_IN_ASYNCIO):
        AioWebClient(proxies={scheme: PROXY})
    monkeypatch.setenv(f"{scheme}_proxy", PROXY)
    with pytest.raises(UsageError, match=NOT_IN_ASYNCIO):
        AioWebClient().check_settings()


def test_no_proxy_at_all_goes_before_the_environment(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.site["/sitemap.xml"] = urlset(server.at("page"))
    monkeypatch.setenv("ALL_PROXY", PROXY)
    url = server.at("sitemap.xml")
    assert len([*usp.sitemap_tree(url, proxy="").all_pages()]) == 1
    assert len([*run(aio.sitemap_tree(url, proxy="")).all_pages()]) == 1


def test_with_the_library_the_proxy_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "socks.py").write_text("")  # what is found is enough to begin
    monkeypatch.syspath_prepend(tmp_path)
    RequestsWebClient(proxies={"all": PROXY}).check_settings()
    RequestsWebClient(proxies={"all": PROXY}).for_crawl(SITE).close()
