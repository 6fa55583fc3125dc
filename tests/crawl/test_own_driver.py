"""``Crawl`` with a driver of the caller's own: taken, answered, saved and resumed; ``parse``."""

import pickle
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
from tests.crawl.test_core import HOME, MISSING, SMALL, Site, crawl_of, play, shape, sites
from usp._crawl.discovery import StartUrl
from usp._crawl.options import CrawlOptions
from usp.exceptions import SitemapException, UsageError
from usp.objects.fetch_info import FetchInfo, StoredDocument, Validators
from usp.objects.outcome import FoundBy
from usp.objects.sitemap import (
    IndexRobotsTxtSitemap,
    IndexXMLSitemap,
    InvalidSitemap,
    SitemapLink,
)

INDEX = b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>/a.xml</loc><lastmod>2024-05-01</lastmod></sitemap>
<sitemap><loc>http://h.example/b.xml</loc></sitemap></sitemapindex>"""


@given(sites(), st.integers(0, 12))
def test_a_crawl_can_be_saved_and_resumed_anywhere(site: Site, steps: int) -> None:
    whole = crawl_of(policy=SMALL)
    play(whole, site)
    crawl = crawl_of(policy=SMALL)
    now = 0.0
    for _ in range(steps):
        now = max(now, crawl.wakeup() or now)
        for request in crawl.take(now, limit=1):
            crawl._receive(request, site.get(request.url, MISSING), now)
    resumed = pickle.loads(pickle.dumps(crawl))
    play(resumed, site)
    assert shape(resumed.tree()) == shape(whole.tree())
    assert resumed.outcome == whole.outcome


@given(sites(), st.integers(0, 12), st.integers(1, 5))
def test_requests_that_were_lost_can_be_given_back(site: Site, steps: int, most: int) -> None:
    whole = crawl_of(policy=SMALL)
    play(whole, site)
    crawl = crawl_of(policy=SMALL)
    now = 0.0
    for _ in range(steps):
        now = max(now, crawl.wakeup() or now)
        for request in crawl.take(now, limit=most)[:1]:
            crawl._receive(request, site.get(request.url, MISSING), now)
    crawl = pickle.loads(pickle.dumps(crawl))
    lost = crawl.outstanding
    for request in lost:
        crawl.give_back(request)
    assert crawl.outstanding == ()
    again = crawl.take(now, limit=len(lost))
    assert crawl.done or tuple(again) == lost == crawl.outstanding
    for request in again:
        crawl._receive(request, site.get(request.url, MISSING), now)
    play(crawl, site)
    assert shape(crawl.tree()) == shape(whole.tree())
    assert crawl.outcome == whole.outcome


WRONG_FIELDS: dict[str, list[object]] = {
    "message": [None, 404, b"404"],
    "retryable": [None, "yes", 1],
    "status": ["404", 4.04, -1, True],
    "no_response": [None, 0],
    "untrusted": [None, 0],
    "client_error": [None, 0],
    "retry_after": ["5", -1, float("nan"), True],
    "code": [None, "SM999", []],
}


@pytest.mark.parametrize("name", WRONG_FIELDS)
def test_a_wrong_failure_is_rejected_in_one_line(name: str) -> None:
    assert set(WRONG_FIELDS) == {field.name for field in fields(usp.FetchFailed)}
    for wrong in WRONG_FIELDS[name]:
        with pytest.raises(SitemapException, match=f"^{name} must be ") as caught:
            usp.FetchFailed(**{"message": "404 Not Found", name: wrong})  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)


def test_a_result_without_its_request_is_rejected_in_one_line() -> None:
    crawl = crawl_of()
    (request,) = crawl.take(0.0, limit=1)
    wrong: list[Any] = [None, request.url, usp.FetchRequest([]), usp.FetchRequest(5)]  # type: ignore[arg-type]
    for each in wrong:
        for answer in (crawl.give_back, lambda it: crawl.receive(it, MISSING, 0.0)):
            with pytest.raises(SitemapException, match="request must be an instance of"):
                answer(each)
    for each in (None, "404", b"", 404, Exception("404")):
        with pytest.raises(SitemapException, match=r"^result must be a FetchFailed or NotModified"):
            crawl.receive(request, each, 0.0)  # type: ignore[arg-type]
    assert crawl.outstanding == (request,), "and nothing is lost by it"


def test_a_request_that_is_given_back_goes_first_and_is_the_same_attempt() -> None:
    crawl = crawl_of(policy=usp.Policy(per_host=2, concurrency=2))
    (first,) = crawl.take(0.0, limit=1)
    assert crawl.outstanding == (first,)
    crawl.give_back(first)
    assert crawl.take(0.0, limit=0) == []
    assert crawl.take(0.0, limit=1) == [first]
    assert first.attempt == 1


def test_only_what_is_outstanding_can_be_answered() -> None:
    crawl = crawl_of()
    (request,) = crawl.take(0.0, limit=1)
    stranger = usp.FetchRequest(f"{HOME}never.xml")
    crawl.deliver(request, b"", 0.0)
    for gone in (request, stranger):
        with pytest.raises(SitemapException, match="is not outstanding"):
            crawl.deliver(gone, b"", 0.0)
        with pytest.raises(SitemapException, match="is not outstanding"):
            crawl.receive(gone, MISSING, 0.0)
        with pytest.raises(SitemapException, match="is not outstanding"):
            crawl.give_back(gone)
    assert crawl.outstanding == ()
    play(crawl, {})
    assert crawl.done


def test_the_result_of_an_earlier_attempt_is_rejected() -> None:
    crawl = usp.Crawl(f"{HOME}index.xml")
    (first,) = crawl.take(0.0)
    delay = crawl.receive(first, usp.FetchFailed("busy", retryable=True), 0.0)
    assert delay is not None
    (second,) = crawl.take(delay)
    with pytest.raises(SitemapException, match="is not outstanding"):
        crawl.deliver(first, b"", delay)
    crawl.deliver(second, INDEX, delay)
    assert len(crawl.take(delay)) == 2


NO_NUMBERS: list[Any] = ["x", None, True, float("nan"), float("inf"), b"1"]
NO_CODES: list[Any] = [None, "enough", 5, []]
NO_REQUESTS: list[Any] = [None, 5, f"{HOME}a.xml"]


@pytest.mark.parametrize(
    ("method", "name", "wrong"),
    [
        *(("take", "now", wrong) for wrong in NO_NUMBERS),
        *(("take", "limit", wrong) for wrong in (-1, 2.5, "3", True)),
        *(("receive", "request", wrong) for wrong in NO_REQUESTS),
        *(("receive", "result", wrong) for wrong in (None, "text", b"<urlset/>", 404)),
        *(("receive", "now", wrong) for wrong in NO_NUMBERS),
        *(("receive", "jitter", wrong) for wrong in (*NO_NUMBERS, -0.1, 1.1)),
        *(("deliver", "request", wrong) for wrong in NO_REQUESTS),
        *(("deliver", "data", wrong) for wrong in (None, "text", 5, bytearray(b"x"))),
        *(("deliver", "now", wrong) for wrong in NO_NUMBERS),
        *(("deliver", "url", wrong) for wrong in (5, b"x", "x", "http://[x", "ftp://h/")),
        *(("deliver", "content_type", wrong) for wrong in (5, b"text/xml")),
        *(("give_back", "request", wrong) for wrong in NO_REQUESTS),
        *(("stop", "code", wrong) for wrong in NO_CODES),
        *(("stop", "reason", wrong) for wrong in (None, 5)),
    ],
)
def test_wrong_arguments_are_rejected_in_one_line(method: str, name: str, wrong: object) -> None:
    crawl = usp.Crawl(f"{HOME}index.xml")
    (request,) = crawl.take(0.0)
    good: dict[str, dict[str, object]] = {
        "take": {"now": 0.0},
        "receive": {"request": request, "result": MISSING, "now": 0.0},
        "deliver": {"request": request, "data": b"", "now": 0.0},
        "give_back": {"request": request},
        "stop": {"code": "SM706", "reason": "enough"},
    }
    with pytest.raises(SitemapException, match=name) as caught:
        getattr(crawl, method)(**good[method] | {name: wrong})
    assert "\n" not in str(caught.value)
    assert crawl.outstanding == (request,)
    crawl.deliver(request, INDEX, 0.0)
    assert len(crawl.take(0.0)) == 2


def test_a_crawl_of_another_version_is_rejected_in_one_line() -> None:
    saved = pickle.dumps(usp.Crawl.for_site(HOME)).replace(usp.__version__.encode(), b"1.9.9")
    with pytest.raises(SitemapException, match=r"saved by usp 1\.9\.9"):
        pickle.loads(saved)


def test_documents_are_delivered_as_received() -> None:
    crawl = usp.Crawl(f"{HOME}old.xml")
    (request,) = crawl.take(0.0)
    assert request == usp.FetchRequest(f"{HOME}old.xml")
    crawl.deliver(request, INDEX, 0.0, url=f"{HOME}new/index.xml")
    wanted = {request.url: request for request in crawl.take(0.0)}
    assert set(wanted) == {f"{HOME}a.xml", f"{HOME}b.xml"}
    page = f"<urlset><url><loc>{HOME}é</loc></url></urlset>".encode("windows-1252")
    crawl.deliver(wanted[f"{HOME}a.xml"], page, 0.0, content_type="text/xml; charset=windows-1252")
    crawl.receive(wanted[f"{HOME}b.xml"], usp.FetchFailed("404", status=404), 0.0)
    assert crawl.done
    assert crawl.outcome is usp.Outcome.PARTIAL
    tree = crawl.tree()
    assert [page.url for page in tree.all_pages()] == [f"{HOME}é"]
    assert tree.sub_sitemaps[0].url == f"{HOME}new/index.xml"


def test_a_crawl_of_a_site_starts_at_its_homepage() -> None:
    crawl = usp.Crawl.for_site("http://h.example/some/page?x=1", known_paths=["map.xml"])
    (request,) = crawl.take(0.0, limit=1)
    assert request.url == f"{HOME}robots.txt"


def test_parse_reads_one_document_without_fetching() -> None:
    sitemap = usp.parse(INDEX, url=f"{HOME}sub/index.xml")
    assert isinstance(sitemap, IndexXMLSitemap)
    assert sitemap.url == f"{HOME}sub/index.xml"
    first, second = sitemap.sub_sitemaps
    assert isinstance(first, SitemapLink)
    assert (first.url, first.index_lastmod) == (f"{HOME}a.xml", datetime(2024, 5, 1, tzinfo=UTC))
    assert isinstance(second, SitemapLink)
    assert second.index_lastmod is None
    assert sitemap.tree_complete
    assert pickle.loads(pickle.dumps(sitemap)) == sitemap
    robots = usp.parse("Sitemap: /a.xml", url=f"{HOME}robots.txt")
    assert isinstance(robots, IndexRobotsTxtSitemap)
    assert [sub.url for sub in robots.sub_sitemaps] == [f"{HOME}a.xml"]


def test_wrong_sources_raise() -> None:
    for wrong in ("", "h example", "ftp://h.example/"):
        with pytest.raises(SitemapException):
            usp.Crawl.for_site(wrong)
        with pytest.raises(SitemapException):
            usp.Crawl(wrong)
    with pytest.raises(SitemapException):
        usp.parse(None)  # type: ignore[arg-type]


URLSET = b"<urlset><url><loc>http://h.example/1</loc></url></urlset>"


def stored(url: str) -> StoredDocument | None:
    info = FetchInfo(status=200, etag='"1"', content_type="text/xml", sha256="ab")
    return StoredDocument(f"{HOME}moved.xml", [URLSET], info) if url.endswith("/a.xml") else None


def test_a_stored_document_makes_a_request_conditional_and_is_used_where_unchanged() -> None:
    start_urls = [StartUrl(f"{HOME}{name}.xml", FoundBy.GIVEN) for name in "ab"]
    crawl = usp.Crawl._started(HOME, start_urls, options=CrawlOptions(find_stored=stored))
    (first,) = crawl.take(0.0, limit=1)
    assert first.validators == Validators(etag='"1"')
    crawl.receive(first, usp.NotModified(FetchInfo(status=304, attempts=1)), 0.0)
    (second,) = crawl.take(0.0, limit=1)
    assert not second.validators
    crawl.receive(second, usp.NotModified(), 0.0)
    unchanged, failed = crawl.tree().sub_sitemaps
    assert [page.url for page in unchanged.pages] == ["http://h.example/1"]
    assert unchanged.url == f"{HOME}moved.xml"
    assert unchanged.fetch_info.not_modified
    assert (unchanged.fetch_info.etag, unchanged.fetch_info.sha256) == ('"1"', "ab")
    assert isinstance(failed, InvalidSitemap)
    assert "unconditional" in failed.reason


def test_several_sitemaps_can_start_a_crawl_and_the_first_names_the_tree() -> None:
    crawl = usp.Crawl([f"{HOME}a.xml", f"{HOME}b.xml"])
    for request in crawl.take(0.0):
        crawl.deliver(request, URLSET, 0.0)
    tree = crawl.tree()
    assert tree.url == f"{HOME}a.xml"
    assert [sub.url for sub in tree.sub_sitemaps] == [f"{HOME}a.xml", f"{HOME}b.xml"]
    for wrong in ([], ["x"], 5, None):
        with pytest.raises(UsageError, match="urls"):
            usp.Crawl(wrong)  # type: ignore[arg-type]


def test_a_bare_domain_starts_a_crawl_of_a_site() -> None:
    (request,) = usp.Crawl.for_site("h.example").take(0.0, limit=1)
    assert request.url == "https://h.example/robots.txt"
