"""Resources of a crawl, without I/O: URLs that redirect to one URL share its document."""

import pickle

from hypothesis import given
from hypothesis import strategies as st

from tests.crawl.simulation import (
    HOME,
    ROBOTS,
    first_in,
    index,
    last_in,
    pages,
    robots,
    run,
    site_crawl,
    url,
)
from usp._crawl.core import Crawl
from usp._crawl.discovery import DiscoveryPlan
from usp._crawl.messages import FetchFailed, FetchResult
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._crawl.resource_table import _normalize, normalized
from usp._parse import Child, Document, Kind
from usp.objects.sitemap import PagesXMLSitemap


def test_redirects_to_the_same_url_share_one_document() -> None:
    site: dict[str, FetchResult] = {ROBOTS: robots("old", "a", "older", "index")}
    site |= {url("old"): pages("a"), url("older"): pages("a"), url("a"): pages("a")}
    site |= {url("index"): index("index", ["b", "a"]), url("b"): pages("b")}
    requested: dict[str, list[str]] = {}
    for name, order in {"declared": first_in, "reverse": last_in}.items():
        crawl = site_crawl(Policy(prefetch=99))
        requested[name] = run(crawl, site, order)
        root = crawl.tree()
        (declared,) = root.sub_sitemaps
        assert [sub.url for sub in declared.sub_sitemaps] == [
            url("a"), url("a"), url("a"), url("index"),
        ]  # fmt: skip
        assert [page.url for page in root.all_pages()] == [
            f"{HOME}{name}/page" for name in ("a", "a", "a", "b", "a")
        ]
        documents = {
            id(node.document) for node in crawl._cursor.nodes() if node.final_url == url("a")
        }
        assert len(documents) == 1
    assert url("a") not in requested["declared"], "a redirect has brought it already"


def test_a_document_that_redirects_lead_to_is_streamed_once() -> None:
    site: dict[str, FetchResult] = {ROBOTS: robots("old", "a", "older")}
    site |= {url("old"): pages("a"), url("older"): pages("a"), url("a"): pages("a")}
    start_urls = DiscoveryPlan(known_paths=()).start_urls(HOME)
    crawl = Crawl._started(HOME, start_urls, options=CrawlOptions(streaming=True))
    run(crawl, site, concurrency=3)
    assert [node.url for node in crawl._cursor.ready] == [url("old")]
    assert b"a/page" in pickle.dumps(crawl)
    crawl._cursor.release(crawl._cursor.ready.popleft())
    assert b"a/page" not in pickle.dumps(crawl), "nothing of a released document is kept"


def test_a_document_that_a_redirect_brought_is_kept_though_its_host_is_dead() -> None:
    no_response = FetchFailed("timeout", no_response=True, retryable=True)
    names = ["a", "b", "c", "d"]
    elsewhere = "http://other.example/x.xml"
    children = (*(Child(url(name)) for name in names), Child(elsewhere))
    crawl = site_crawl(Policy(backoff_initial=100, scheme_fallback=False, host_failure_threshold=3))
    (request,) = (one for one in crawl.take(0.0) if one.url == ROBOTS)
    crawl._receive(request, Document(ROBOTS, Kind.ROBOTS, [], children), 0.0)
    taken = {request.url: request for request in crawl.take(0.0)}
    assert crawl._receive(taken[url("a")], no_response, 0.0), "it is to be retried"
    crawl._receive(taken[elsewhere], pages("a"), 0.0)  # it redirects to a
    for name in names[1:]:
        crawl._receive(taken[url(name)], no_response, 0.0)
    run(crawl, {})
    (declared,) = crawl.tree().sub_sitemaps
    assert [isinstance(sub, PagesXMLSitemap) for sub in declared.sub_sitemaps] == [
        True, False, False, False, True,
    ]  # fmt: skip


_PATHS = ("/", "/", "a", "b.xml", ".", "..", "?", "#", ";", "&x=1", "%2E", "//", "é", " ")
_PORTS = (":80", ":443", ":8080", ":65536", "@", "A", "\t")
_URL_PARTS = st.lists(st.sampled_from(_PATHS + _PORTS), max_size=8)


@given(st.sampled_from(["http://", "https://", "HTTP://", ""]), _URL_PARTS)
def test_urls_that_look_normalized_are(scheme: str, parts: list[str]) -> None:
    given_url = f"{scheme}h.example{''.join(parts)}"
    assert normalized(given_url) == _normalize(given_url)
