"""Scheme fallback, without I/O: https for an http URL without a response, or the reverse."""

from tests.crawl.simulation import (
    REFUSED,
    ROBOTS,
    first_in,
    last_in,
    pages,
    robots,
    run,
    shape,
    site_crawl,
    url,
)
from usp._crawl.core import Crawl
from usp._crawl.messages import FetchFailed, FetchResult
from usp._crawl.policy import Policy
from usp._parse import Child, Document, Kind
from usp.objects.sitemap import InvalidSitemap


def test_a_url_without_a_response_is_requested_once_by_the_other_scheme() -> None:
    names = [f"n{number}" for number in range(40)]
    https = {name: url(name).replace("http:", "https:") for name in names}
    site: dict[str, FetchResult] = {ROBOTS: robots(*names)}
    site |= {url(name): REFUSED for name in names}
    site |= {https[name]: pages(name, at=https[name]) for name in names[:-1]}
    site[https["n39"]] = REFUSED
    trees = []
    for order in (first_in, last_in):
        crawl = site_crawl()
        requested = run(crawl, site, order, concurrency=4)
        assert len(requested) == len(set(requested))
        assert set(https.values()) <= set(requested)
        by_http = [one for one in requested if one in {url(name) for name in names}]
        in_flight, policy = 4, Policy()
        limit = 2 * in_flight + policy.host_failure_threshold + policy.max_attempts
        assert len(by_http) <= limit
        trees.append(crawl.tree())
    (declared,) = trees[0].sub_sitemaps
    assert [sub.url for sub in declared.sub_sitemaps] == [*list(https.values())[:-1], url("n39")]
    first, *_, last = declared.sub_sitemaps
    assert [problem.name for problem in first.problems] == ["dead-scheme"]
    assert first.declared_url == url("n0")
    assert isinstance(last, InvalidSitemap)
    assert shape(trees[0]) == shape(trees[1])


def test_without_scheme_fallback_only_the_declared_url_is_requested() -> None:
    crawl = Crawl(url("a"), Policy(scheme_fallback=False))
    assert run(crawl, {url("a"): REFUSED}) == [url("a")]


def test_both_schemes_declared_and_both_dead_end_the_crawl() -> None:
    https = url("a").replace("http:", "https:")
    document = Document(ROBOTS, Kind.ROBOTS, [], (Child(url("a")), Child(https)))
    crawl = site_crawl()
    requested = run(crawl, {ROBOTS: document, url("a"): REFUSED, https: REFUSED})
    assert requested.count(url("a")) == requested.count(https) == 1
    (declared,) = crawl.tree().sub_sitemaps
    assert all(isinstance(sub, InvalidSitemap) for sub in declared.sub_sitemaps)


def test_an_untrusted_certificate_is_no_reason_to_use_http() -> None:
    untrusted = FetchFailed("bad certificate", no_response=True, untrusted=True)
    crawl = Crawl("https://h.example/a.xml")
    assert run(crawl, {"https://h.example/a.xml": untrusted}) == ["https://h.example/a.xml"]
