"""``Crawl`` with the caller's own driver: take requests, deliver results, save and resume."""

import pickle
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
from tests.crawl.simulation import HOME, MISSING, SMALL, Site, run, shape, site_crawl, sites
from usp.exceptions import SitemapException, UsageError
from usp.objects.fetch_info import FetchInfo

INDEX = b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>/a.xml</loc><lastmod>2024-05-01</lastmod></sitemap>
<sitemap><loc>http://h.example/b.xml</loc></sitemap></sitemapindex>"""


@given(sites(), st.integers(0, 12))
def test_a_crawl_can_be_saved_and_resumed_at_any_time(site: Site, steps: int) -> None:
    uninterrupted = site_crawl(SMALL)
    run(uninterrupted, site)
    crawl = site_crawl(SMALL)
    now = 0.0
    for _ in range(steps):
        now = max(now, crawl.wakeup() or now)
        for request in crawl.take(now, limit=1):
            crawl._receive(request, site.get(request.url, MISSING), now)
    resumed = pickle.loads(pickle.dumps(crawl))
    run(resumed, site)
    assert shape(resumed.tree()) == shape(uninterrupted.tree())
    assert resumed.outcome == uninterrupted.outcome


@given(sites(), st.integers(0, 12), st.integers(1, 5))
def test_requests_without_results_can_be_given_back(
    site: Site, steps: int, concurrency: int
) -> None:
    uninterrupted = site_crawl(SMALL)
    run(uninterrupted, site)
    crawl = site_crawl(SMALL)
    now = 0.0
    for _ in range(steps):
        now = max(now, crawl.wakeup() or now)
        for request in crawl.take(now, limit=concurrency)[:1]:
            crawl._receive(request, site.get(request.url, MISSING), now)
    crawl = pickle.loads(pickle.dumps(crawl))
    given_back = crawl.outstanding
    for request in given_back:
        crawl.give_back(request)
    assert crawl.outstanding == ()
    again = crawl.take(now, limit=len(given_back))
    assert crawl.done or tuple(again) == given_back == crawl.outstanding
    for request in again:
        crawl._receive(request, site.get(request.url, MISSING), now)
    run(crawl, site)
    assert shape(crawl.tree()) == shape(uninterrupted.tree())
    assert crawl.outcome == uninterrupted.outcome


WRONG_FIELDS: dict[str, list[object]] = {
    "message": [None, 404, b"404"],
    "retryable": [None, "yes", 1],
    "status": ["404", 4.04, -1, True],
    "no_response": [None, 0],
    "untrusted": [None, 0],
    "challenged": [None, 0],
    "client_error": [None, 0],
    "retry_after": ["5", -1, float("nan"), True],
    "code": [None, "SM999", []],
    "fetch_info": [None, 404, {"status": 404}],
}


@pytest.mark.parametrize("name", WRONG_FIELDS)
def test_a_wrong_field_of_a_failure_is_rejected_in_one_line(name: str) -> None:
    assert set(WRONG_FIELDS) == {field.name for field in fields(usp.FetchFailed)}
    for wrong in WRONG_FIELDS[name]:
        with pytest.raises(SitemapException, match=f"^{name} must be ") as caught:
            usp.FetchFailed(**{"message": "404 Not Found", name: wrong})  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)


def test_a_result_without_its_request_is_rejected_in_one_line() -> None:
    crawl = site_crawl()
    (request,) = crawl.take(0.0, limit=1)
    wrong: list[Any] = [None, request.url, usp.FetchRequest([]), usp.FetchRequest(5)]  # type: ignore[arg-type]
    for each in wrong:
        for method in (crawl.give_back, lambda it: crawl.receive(it, MISSING, 0.0)):
            with pytest.raises(SitemapException, match="request must be an instance of"):
                method(each)
    for each in (None, "404", b"", 404, Exception("404")):
        with pytest.raises(SitemapException, match=r"^result must be a FetchFailed or NotModified"):
            crawl.receive(request, each, 0.0)  # type: ignore[arg-type]
    assert crawl.outstanding == (request,), "the request can still get its result"


def test_a_request_that_is_given_back_goes_first_and_is_the_same_attempt() -> None:
    crawl = site_crawl(usp.Policy(per_host=2, concurrency=2))
    (first,) = crawl.take(0.0, limit=1)
    assert crawl.outstanding == (first,)
    crawl.give_back(first)
    assert crawl.take(0.0, limit=0) == []
    assert crawl.take(0.0, limit=1) == [first]
    assert first.attempt == 1


def test_only_an_outstanding_request_can_get_a_result() -> None:
    crawl = site_crawl()
    (request,) = crawl.take(0.0, limit=1)
    never_taken = usp.FetchRequest(f"{HOME}never.xml")
    crawl.deliver(request, b"", 0.0)
    for other in (request, never_taken):
        with pytest.raises(SitemapException, match="is not outstanding"):
            crawl.deliver(other, b"", 0.0)
        with pytest.raises(SitemapException, match="is not outstanding"):
            crawl.receive(other, MISSING, 0.0)
        with pytest.raises(SitemapException, match="is not outstanding"):
            crawl.give_back(other)
    assert crawl.outstanding == ()
    run(crawl, {})
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


NOT_NUMBERS: list[Any] = ["x", None, True, float("nan"), float("inf"), b"1"]
NOT_CODES: list[Any] = [None, "enough", 5, []]
NOT_REQUESTS: list[Any] = [None, 5, f"{HOME}a.xml"]


@pytest.mark.parametrize(
    ("method", "name", "wrong"),
    [
        *(("take", "now", wrong) for wrong in NOT_NUMBERS),
        *(("take", "limit", wrong) for wrong in (-1, 2.5, "3", True)),
        *(("receive", "request", wrong) for wrong in NOT_REQUESTS),
        *(("receive", "result", wrong) for wrong in (None, "text", b"<urlset/>", 404)),
        *(("receive", "now", wrong) for wrong in NOT_NUMBERS),
        *(("receive", "jitter", wrong) for wrong in (*NOT_NUMBERS, -0.1, 1.1)),
        *(("deliver", "request", wrong) for wrong in NOT_REQUESTS),
        *(("deliver", "data", wrong) for wrong in (None, "text", 5, bytearray(b"x"))),
        *(("deliver", "now", wrong) for wrong in NOT_NUMBERS),
        *(("deliver", "url", wrong) for wrong in (5, b"x", "x", "http://[x", "ftp://h/")),
        *(("deliver", "content_type", wrong) for wrong in (5, b"text/xml")),
        *(("deliver", "fetch_info", wrong) for wrong in (404, {"status": 404})),
        *(("give_back", "request", wrong) for wrong in NOT_REQUESTS),
        *(("stop", "code", wrong) for wrong in NOT_CODES),
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


def test_what_a_response_said_is_the_fetch_info_of_the_sitemap() -> None:
    crawl = usp.Crawl(f"{HOME}index.xml")
    (request,) = crawl.take(0.0)
    of_index = FetchInfo(status=200, content_type="text/xml; charset=windows-1252", attempts=1)
    crawl.deliver(request, INDEX, 0.0, fetch_info=of_index)
    taken = {request.url: request for request in crawl.take(0.0)}
    page = f"<urlset><url><loc>{HOME}é</loc></url></urlset>".encode("windows-1252")
    crawl.deliver(taken[f"{HOME}a.xml"], page, 0.0, fetch_info=of_index)
    of_failure = FetchInfo(status=404, content_type="text/html", attempts=1)
    failed = usp.FetchFailed("404", status=404, fetch_info=of_failure)
    crawl.receive(taken[f"{HOME}b.xml"], failed, 0.0)
    (index,) = crawl.tree().sub_sitemaps
    a, b = index.sub_sitemaps
    assert [each.fetch_info for each in (index, a, b)] == [of_index, of_index, of_failure]
    assert [page.url for page in a.pages] == [f"{HOME}é"], "its content type has the charset"


def test_a_document_is_delivered_as_received_with_its_final_url_and_content_type() -> None:
    crawl = usp.Crawl(f"{HOME}old.xml")
    (request,) = crawl.take(0.0)
    assert request == usp.FetchRequest(f"{HOME}old.xml")
    crawl.deliver(request, INDEX, 0.0, url=f"{HOME}new/index.xml")
    taken = {request.url: request for request in crawl.take(0.0)}
    assert set(taken) == {f"{HOME}a.xml", f"{HOME}b.xml"}
    page = f"<urlset><url><loc>{HOME}é</loc></url></urlset>".encode("windows-1252")
    crawl.deliver(taken[f"{HOME}a.xml"], page, 0.0, content_type="text/xml; charset=windows-1252")
    crawl.receive(taken[f"{HOME}b.xml"], usp.FetchFailed("404", status=404), 0.0)
    assert crawl.done
    assert crawl.outcome is usp.Outcome.PARTIAL
    tree = crawl.tree()
    assert [page.url for page in tree.all_pages()] == [f"{HOME}é"]
    assert tree.sub_sitemaps[0].url == f"{HOME}new/index.xml"


def test_a_crawl_of_a_site_starts_at_its_homepage() -> None:
    crawl = usp.Crawl.for_site("http://h.example/some/page?x=1", known_paths=["map.xml"])
    (request,) = crawl.take(0.0, limit=1)
    assert request.url == f"{HOME}robots.txt"


@pytest.mark.parametrize("wrong", ["", "h example", "ftp://h.example/", "foo"])
def test_a_wrong_start_url_is_rejected(wrong: str) -> None:
    with pytest.raises(UsageError, match="homepage_url"):
        usp.Crawl.for_site(wrong)
    with pytest.raises(UsageError, match="urls"):
        usp.Crawl(wrong)


def test_the_url_of_a_sitemap_must_have_a_scheme() -> None:
    with pytest.raises(UsageError, match="urls must be an HTTP"):
        usp.Crawl("h.example")


URLSET = b"<urlset><url><loc>http://h.example/1</loc></url></urlset>"


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


def test_a_bare_domain_starts_a_crawl_of_a_site_by_https() -> None:
    (request,) = usp.Crawl.for_site("h.example").take(0.0, limit=1)
    assert request.url == "https://h.example/robots.txt"
