"""Settings of the web client as keywords of every function that makes its own client."""

import time
from collections.abc import AsyncIterator, Callable
from inspect import signature
from itertools import count
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import urllib3

import usp
from tests.client_fixtures import certificate, no_settings, secure
from tests.loops import run
from tests.open_files import open_files
from tests.server import LoopbackServer, index, stall, urlset
from tests.servers import ServerAt, TLSServer
from usp import aio
from usp.exceptions import UsageError
from usp.web_client import ClientSettings
from usp.web_client.aio_client import AioWebClient
from usp.web_client.replay import Recording
from usp.web_client.requests_client import RequestsWebClient

__all__ = ["certificate", "no_settings", "secure"]

pytestmark = pytest.mark.usefixtures("no_settings", "folder")

PAGE = "https://example.org/1"
NUMBERS = count()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What functions write goes to a folder of the test."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(PAGE)
    return server


def new(suffix: str) -> str:
    """Return the name of a new file."""
    return f"{next(NUMBERS)}{suffix}"


async def listed(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]


def export(source: str, **keywords: Any) -> object:
    return usp.export(source, new(".csv"), **keywords).rows


def sync(source: str, **keywords: Any) -> object:
    changes = usp.sync(source, state=new(".db"), emit_initial=True, **keywords)
    return [change.url for change in changes]


def aio_sync(source: str, **keywords: Any) -> object:
    changes = aio.sync(source, state=new(".db"), emit_initial=True, **keywords)
    return [change.url for change in run(listed(changes))]


def diff(source: str, **keywords: Any) -> object:
    Path("old.txt").write_text("https://example.org/0\n", encoding="utf-8")
    return [(found.change, found.url) for found in usp.diff("old.txt", source, **keywords)]


def check(source: str, **keywords: Any) -> object:
    return [finding.code for finding in usp.check(source, **keywords)]


def report(source: str, **keywords: Any) -> object:
    return usp.report(source, new(".md"), **keywords).urls


WAYS: dict[str, Callable[..., object]] = {
    "iter_pages": lambda source, **keywords: [p.url for p in usp.iter_pages(source, **keywords)],
    "sitemap_tree": lambda source, **keywords: usp.sitemap_tree(source, **keywords).to_dict(),
    "sitemap_tree_for_homepage": lambda source, **keywords: usp.sitemap_tree_for_homepage(
        source, **keywords
    ).to_dict(),
    "find": lambda source, **keywords: [one.url for one in usp.find(source, **keywords).tried],
    "export": export,
    "to_arrow": lambda source, **keywords: usp.to_arrow(source, **keywords).to_pylist(),
    "record_batches": lambda source, **keywords: [
        batch.to_pylist() for batch in usp.record_batches(source, **keywords)
    ],
    "check": check,
    "sync": sync,
    "diff": diff,
    "report": report,
    "report without check": lambda source, **keywords: report(source, check=False, **keywords),
    "aio.iter_pages": lambda source, **keywords: [
        page.url for page in run(listed(aio.iter_pages(source, **keywords)))
    ],
    "aio.sitemap_tree": lambda source, **keywords: run(
        aio.sitemap_tree(source, **keywords)
    ).to_dict(),
    "aio.sitemap_tree_for_homepage": lambda source, **keywords: run(
        aio.sitemap_tree_for_homepage(source, **keywords)
    ).to_dict(),
    "aio.sitemap_trees": lambda source, **keywords: [
        tree.to_dict() for _, tree in run(listed(aio.sitemap_trees([source], **keywords)))
    ],
    "aio.record_batches": lambda source, **keywords: [
        batch.to_pylist() for batch in run(listed(aio.record_batches(source, **keywords)))
    ],
    "aio.sync": aio_sync,
}
"""Every function that makes its own client; each returns what it found."""
FEW = ["iter_pages", "to_arrow", "check", "sync", "aio.sitemap_tree", "aio.sync"]


def ways(*names: str) -> pytest.MarkDecorator:
    chosen = names or tuple(WAYS)
    return pytest.mark.parametrize("crawl", [WAYS[name] for name in chosen], ids=chosen)


@ways()
def test_headers_the_user_agent_and_logins_are_chosen_by_keywords(
    site: LoopbackServer, tmp_path: Path, crawl: Callable[..., object]
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login user password secret\n")
    crawl(site.url, headers={"X-Colour": "blue"}, user_agent="mybot/1.0")
    sent = {
        (one.headers.get("x-colour"), one.headers.get("user-agent"), "authorization" in one.headers)
        for one in site.requests
    }
    assert sent == {("blue", "mybot/1.0", True)}
    site.requests.clear()
    crawl(site.url, netrc=False)
    assert not any("authorization" in one.headers for one in site.requests)


@ways()
def test_a_crawl_is_recorded_and_replayed_by_keywords_and_nothing_stays_open(
    site: LoopbackServer, crawl: Callable[..., object]
) -> None:
    recorded = crawl(site.url, record="site.warc.gz")
    assert Recording("site.warc.gz").source == site.url
    assert site.requests
    site.requests.clear()
    assert crawl(site.url, replay=Path("site.warc.gz")) == recorded
    assert not site.requests
    assert not [name for name in open_files() if "warc" in name]
    assert not list(Path().glob("*warc*.tmp*"))
    with pytest.raises(UsageError, match=r"^record must be a new file: site.warc.gz exists"):
        crawl(site.url, record="site.warc.gz")


@ways(*FEW)
def test_sockets_are_closed_afterwards(site: LoopbackServer, crawl: Callable[..., object]) -> None:
    before = sum("socket" in name for name in open_files())
    crawl(site.url, timeout=5)
    deadline = time.monotonic() + 5  # the server closes its side when it notices
    while sum("socket" in name for name in open_files()) > before:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@ways(*FEW)
def test_the_delay_is_between_two_requests(
    site: LoopbackServer, crawl: Callable[..., object]
) -> None:
    started = time.monotonic()
    crawl(site.url, delay=0.1, use_homepage=False, use_newer_paths=False)
    assert len(site.requests) >= 2
    assert time.monotonic() - started >= 0.1 * (len(site.requests) - 1)


@ways(*FEW)
def test_the_timeout_ends_a_request(site: LoopbackServer, crawl: Callable[..., object]) -> None:
    site.site["/a.xml"] = stall
    started = time.monotonic()
    crawl(site.at("/a.xml"), timeout=(5, 0.1), max_attempts=1, use_robots=False)
    assert time.monotonic() - started < 20, "the default is 60 seconds"


@ways(*FEW)
@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
def test_insecure_accepts_any_certificate(secure: TLSServer, crawl: Callable[..., object]) -> None:
    url = secure.at("/a.xml")
    secure.site["/a.xml"] = urlset(PAGE)
    crawl(url, max_attempts=1, scheme_fallback=False)
    assert not secure.requests
    crawl(url, insecure=True)
    assert "/a.xml" in secure.requested


@ways(*FEW)
def test_requests_go_through_the_proxy(
    site: LoopbackServer, monkeypatch: pytest.MonkeyPatch, crawl: Callable[..., object]
) -> None:
    url = "http://site.example/a.xml"
    site.site[url] = urlset(PAGE)
    crawl(url, proxy=site.url, max_attempts=1)
    assert url in site.requested
    site.requests.clear()
    monkeypatch.setenv("HTTP_PROXY", site.url)
    crawl(site.at("/a.xml"), proxy="", use_robots=False)
    assert set(site.requested) <= {"/a.xml", "/robots.txt"}, "an empty one is none"


@ways(*FEW)
def test_private_addresses_are_allowed_by_a_keyword(
    site: LoopbackServer, monkeypatch: pytest.MonkeyPatch, crawl: Callable[..., object]
) -> None:
    for client in (RequestsWebClient, AioWebClient):
        is_public = staticmethod(lambda address: address == "127.0.0.1")
        monkeypatch.setattr(client, "_is_public", is_public)
    with ServerAt("127.0.0.2") as private:
        private.site["/b.xml"] = urlset(PAGE)
        site.site["/a.xml"] = index(private.at("/b.xml"))
        crawl(site.url, max_attempts=1)
        assert not private.requests
        crawl(site.url, allow_private=True)
        assert "/b.xml" in private.requested


def test_live_pages_are_requested_with_the_same_settings_and_recording(
    site: LoopbackServer,
) -> None:
    site.site["/a.xml"] = urlset(site.at("/gone"))
    keywords: dict[str, Any] = {"live": 5, "select": ["SM9"]}
    found = check(site.url, **keywords, headers={"X-Colour": "blue"}, record="site.warc.gz")
    assert found == ["SM901"]
    assert {one.headers.get("x-colour") for one in site.requests} == {"blue"}
    assert "/gone" in site.requested
    site.requests.clear()
    assert check(site.url, **keywords, replay="site.warc.gz") == found
    usp.export(site.url, "pages.csv", replay="site.warc.gz")
    assert not site.requests
    keywords |= {"allow_private": True}  # a table has no homepage that says so
    assert check("pages.csv", **keywords, user_agent="mybot", record="live.warc.gz") == found
    assert {one.headers.get("user-agent") for one in site.requests} == {"mybot"}
    assert site.at("/gone") in Recording("live.warc.gz").urls


def test_what_is_fetched_twice_is_fetched_with_the_same_settings(site: LoopbackServer) -> None:
    check(site.url, twice=True, user_agent="mybot", record="site.warc.gz")
    assert site.requested.count("/a.xml") == 2
    assert {one.headers.get("user-agent") for one in site.requests} == {"mybot"}


def test_several_sources_share_a_client_and_a_recording(site: LoopbackServer) -> None:
    site.site["/b.xml"] = urlset("https://example.org/2")
    sources = [site.at("/a.xml"), site.at("/b.xml")]
    rows = usp.export(sources, "both.csv", record="both.warc.gz").rows
    assert rows == {"pages": 2}
    assert usp.to_arrow(sources, replay="both.warc.gz").num_rows == 2
    list(usp.diff(*sources, record="diff.warc.gz"))
    assert {*sources} <= {*Recording("diff.warc.gz").urls}
    list(usp.sync(*sources, state="s.db", record="sync.warc.gz"))
    assert {*sources} <= {*Recording("sync.warc.gz").urls}


def test_a_stream_that_is_not_read_closes_its_recording(site: LoopbackServer) -> None:
    with usp.iter_pages(site.url, record="unread.warc.gz"):
        pass
    assert Path("unread.warc.gz").is_file()

    async def unread() -> None:
        async with aio.iter_pages(site.url, record="other.warc.gz"):
            pass

    run(unread())
    assert [name for name in open_files() if "warc" in name] == []
    assert not site.requests


def test_robots_txt_is_obeyed_for_the_agent_that_is_sent(site: LoopbackServer) -> None:
    site.site["/robots.txt"] = f"User-agent: mybot\nDisallow: /a\nSitemap: {site.at('/a.xml')}\n"
    for pages in (WAYS["iter_pages"], WAYS["aio.iter_pages"]):
        assert pages(site.url, robots="obey") == [PAGE]
        assert pages(site.url, robots="obey", user_agent="mybot/1.0") == []
        assert pages(site.url, robots="obey", user_agent="mybot", robots_agent="x") == [PAGE]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"timeout": "soon"}, "timeout must be a number"),
    ({"timeout": -1}, "timeout must be a number"),
    ({"headers": {"a b": "c"}}, "headers must be what HTTP allows"),
    ({"headers": "a: b"}, "headers must be a mapping"),
    ({"headers": [("Authorization", "SECRET")]}, "headers must be a mapping"),
    ({"headers": {"Authorization: SECRET": "1"}}, "headers must be what HTTP allows"),
    ({"user_agent": ""}, "user_agent must be"),
    ({"proxy": "gopher://h/"}, "proxy must be URLs of"),
    ({"proxy": {"http": "http://h/"}}, "proxy must be the URL of a proxy"),
    ({"netrc": "no"}, "netrc must be True or False"),
    ({"delay": -1}, "delay must be a number"),
    ({"insecure": "no"}, "insecure must be True or False"),
    ({"allow_private": "yes"}, "allow_private must be True or False"),
    ({"record": 5}, "record must be the name of a file"),
    ({"replay": ""}, "replay must be the name of a file"),
    ({"replay": "missing.warc.gz"}, "missing.warc.gz can't be read"),
    ({"record": "a", "replay": "b"}, "record and replay can't be used together"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("keywords", "message"), WRONG)
@ways("iter_pages", "to_arrow", "check", "sync", "diff", "aio.iter_pages", "aio.sync")
def test_a_wrong_value_is_one_line_that_names_the_keyword(
    site: LoopbackServer, crawl: Callable[..., object], keywords: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        crawl(site.url, **keywords)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert "SECRET" not in str(caught.value)
    assert not site.requests


@ways()
def test_a_setting_is_refused_beside_a_client(
    site: LoopbackServer, request: pytest.FixtureRequest, crawl: Callable[..., object]
) -> None:
    is_aio = "aio." in request.node.name
    client = AioWebClient() if is_aio else RequestsWebClient()
    words = r"^timeout and web_client can't be used together: [^\n]*$"
    with pytest.raises(UsageError, match=words):
        crawl(site.url, web_client=client, timeout=5)
    assert not site.requests


@ways()
def test_other_names_are_told_the_right_one(
    site: LoopbackServer, request: pytest.FixtureRequest, crawl: Callable[..., object]
) -> None:
    client = "AioWebClient" if "aio." in request.node.name else "RequestsWebClient"
    told = {
        "proxies": rf"'proxies': it is proxy here; or pass web_client={client}\(proxies=",
        "verify": rf"'verify': it is insecure here; or pass web_client={client}\(verify=",
        "document_deadline": rf"pass web_client={client}\(document_deadline=",
        "header": r"neither this function nor usp\.Policy has it \(did you mean 'headers'\?\)",
        "sinse": r"neither this function nor usp\.Policy has it \(did you mean 'since'\?\)",
    }
    for name, words in told.items():
        with pytest.raises(TypeError, match=words):
            crawl(site.url, **{name: "x"})
    assert not site.requests


def test_every_setting_is_a_typed_keyword_that_both_clients_take() -> None:
    known = {"urllib3": urllib3}
    hints = get_type_hints(ClientSettings, localns=known)
    assert get_type_hints(usp.ClientFields, localns=known) == hints
    given = ClientSettings(
        headers={"a": "b"}, user_agent="x", netrc=False, proxy="http://h:1/", timeout=1, delay=1,
        insecure=True, allow_private=True,
    ).keywords()  # fmt: skip
    for client in (RequestsWebClient, AioWebClient):
        assert given.keys() <= signature(client).parameters.keys()
    assert len(given) == len(hints) - len(("record", "replay"))
    assert ClientSettings().keywords() == {}


def test_no_setting_that_may_be_a_secret_is_in_a_repr() -> None:
    settings = ClientSettings(headers={"X-Api-Key": "SECRET"}, proxy="http://u:SECRET@h/")
    assert "SECRET" not in repr(settings)
    assert settings.keywords()["headers"] == {"X-Api-Key": "SECRET"}
