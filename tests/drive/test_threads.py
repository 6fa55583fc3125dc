"""Concurrent requests in threads, against a real server: limits, and the same tree."""

import threading
import time

import pytest

from tests.open_files import open_files
from tests.server import Answer, Handler, LoopbackServer, Plain, index, stall, urlset
from tests.waiting import fetchers
from usp import Outcome, Policy
from usp.objects.sitemap import AbstractSitemap, InvalidSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import AbstractWebClientResponse
from usp.web_client.requests_client import RequestsWebClient


class Gauge:
    """Counts the requests that are in flight at once."""

    def __init__(self, server: LoopbackServer, seconds: float = 0.05) -> None:
        self._server = server
        self._seconds = seconds
        self._lock = threading.Lock()
        self.now = 0
        self.most = 0
        self.history: list[int] = []

    def slowly(self, body: Plain) -> "object":
        def respond(_handler: Handler) -> Plain:
            with self._lock:
                self.now += 1
                self.most = max(self.most, self.now)
                self.history.append(self.now)
            time.sleep(self._seconds)
            with self._lock:
                self.now -= 1
            return body

        return respond


def shape(sitemap: AbstractSitemap) -> object:
    reason = sitemap.reason if isinstance(sitemap, InvalidSitemap) else None
    pages = [page.url for page in sitemap.pages]
    return type(sitemap).__name__, sitemap.url, reason, pages, [*map(shape, sitemap.sub_sitemaps)]


@pytest.fixture
def children(server: LoopbackServer) -> Gauge:
    """A site whose index has forty slow children."""
    gauge = Gauge(server)
    names = [f"/{number}.xml" for number in range(40)]
    server.robots("/index.xml")
    server.site["/index.xml"] = index(*map(server.at, names))
    for name in names:
        server.site[name] = gauge.slowly(urlset(server.at(f"{name}/page")))  # type: ignore[assignment]
    return gauge


def test_eight_requests_to_one_host_are_concurrent(server: LoopbackServer, children: Gauge) -> None:
    tree = sitemap_tree_for_homepage(server.url)
    assert len(list(tree.all_pages())) == 40
    assert 2 <= children.most <= 8


@pytest.mark.slow
def test_concurrency_is_an_option(server: LoopbackServer, children: Gauge) -> None:
    sitemap_tree_for_homepage(server.url, policy=Policy(per_host=3))
    assert 2 <= children.most <= 3
    children.most = 0
    sitemap_tree_for_homepage(server.url, policy=Policy(concurrency=2))
    assert children.most <= 2


@pytest.mark.slow
def test_the_tree_does_not_depend_on_concurrency(server: LoopbackServer, children: Gauge) -> None:
    server.site["/3.xml"] = 404
    server.site["/sitemap.xml"] = index(server.at("/5.xml"), server.at("/sitemap.xml"))
    concurrent = sitemap_tree_for_homepage(server.url)
    sequential = sitemap_tree_for_homepage(server.url, policy=Policy(concurrency=1))
    assert shape(concurrent) == shape(sequential)
    assert concurrent.tried == sequential.tried


def test_a_host_that_rate_limits_gets_fewer_concurrent_requests(server: LoopbackServer) -> None:
    gauge = Gauge(server, 0.02)
    names = [f"/{number}.xml" for number in range(40)]
    server.robots(*names)
    rate_limited = Answer(status=429, headers={"Retry-After": "0"})
    for name in names:
        server.site[name] = gauge.slowly(rate_limited)  # type: ignore[assignment]
    policy = Policy(max_attempts=2, backoff_initial=0.01)
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy)
    assert tree.outcome is Outcome.BLOCKED
    assert gauge.most > 1
    assert set(gauge.history[-3:]) == {1}
    assert len(gauge.history) < 40, "the host counts as dead"


def test_callbacks_run_on_the_callers_thread(server: LoopbackServer, children: Gauge) -> None:
    threads = set()

    def note(_url: str, _level: int, _parents: set[str]) -> bool:
        threads.add(threading.current_thread())
        return True

    sitemap_tree_for_homepage(server.url, recurse_callback=note)
    assert threads == {threading.current_thread()}
    assert children.most > 1, "the children of an index are still fetched concurrently"


@pytest.mark.slow
def test_a_client_that_is_not_thread_safe_is_used_from_one_thread(
    server: LoopbackServer, children: Gauge
) -> None:
    threads = set()

    class Own(RequestsWebClient):
        def get(self, url: str) -> AbstractWebClientResponse:
            threads.add(threading.current_thread())
            return super().get(url)

    client = Own()
    sitemap_tree_for_homepage(server.url, web_client=client)
    client.close()
    assert threads == {threading.current_thread()}
    assert children.most == 1

    client.thread_safe = True
    sitemap_tree_for_homepage(server.url, web_client=client)
    client.close()
    assert len(threads) > 1


def test_a_crawl_leaves_no_thread_and_no_open_file(server: LoopbackServer, children: Gauge) -> None:
    sitemap_tree_for_homepage(server.url)
    before = len(open_files())
    tree = sitemap_tree_for_homepage(server.url)
    assert fetchers() == []
    patience = time.monotonic() + 5  # for the server's side of the connections, in this process
    while len(open_files()) > before and time.monotonic() < patience:
        time.sleep(0.01)
    assert len(open_files()) <= before
    assert tree.outcome is Outcome.FOUND


def test_a_bug_in_a_callback_reaches_the_caller_and_ends_the_workers(
    server: LoopbackServer, children: Gauge
) -> None:
    def broken(_url: str, _level: int, _parents: set[str]) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sitemap_tree_for_homepage(server.url, recurse_callback=broken)
    assert fetchers() == []


def test_max_seconds_holds_for_a_silent_server(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/stall.xml")
    server.site |= {"/a.xml": urlset(server.at("/page")), "/stall.xml": stall}
    begun = time.monotonic()
    tree = sitemap_tree_for_homepage(server.url, policy=Policy(max_seconds=0.5))
    assert time.monotonic() - begun < 5
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]
    assert tree.outcome is Outcome.PARTIAL
    assert [problem.name for problem in tree.problems] == ["time-limit"]
    assert not any(isinstance(sub, InvalidSitemap) for sub in tree.all_sitemaps())
    assert fetchers() == []


@pytest.mark.parametrize(
    ("policy", "name"),
    [(Policy(max_sitemaps=5), "sitemaps-limit"), (Policy(limit=5), "pages-limit")],
)
def test_a_limit_ends_a_crawl_in_document_order(
    server: LoopbackServer, children: Gauge, policy: Policy, name: str
) -> None:
    tree = sitemap_tree_for_homepage(server.url, policy=policy)
    assert tree.outcome is Outcome.PARTIAL
    assert [problem.name for problem in tree.problems] == [name]
    pages = [page.url for page in tree.all_pages()]
    assert pages == [server.at(f"/{number}.xml/page") for number in range(len(pages))]
    assert 3 <= len(pages) <= 5
    assert not any(isinstance(sub, InvalidSitemap) for sub in tree.all_sitemaps())
