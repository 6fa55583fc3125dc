"""Documents that an earlier crawl stored, without I/O: used again if the server answers 304."""

import usp
from tests.crawl.simulation import HOME
from usp._crawl.discovery import StartUrl
from usp._crawl.options import CrawlOptions
from usp.objects.fetch_info import FetchInfo, StoredDocument, Validators
from usp.objects.outcome import FoundBy
from usp.objects.sitemap import InvalidSitemap

URLSET = b"<urlset><url><loc>http://h.example/1</loc></url></urlset>"


def find_stored(url: str) -> StoredDocument | None:
    info = FetchInfo(status=200, etag='"1"', content_type="text/xml", sha256="ab")
    return StoredDocument(f"{HOME}moved.xml", [URLSET], info) if url.endswith("/a.xml") else None


def test_a_stored_document_makes_a_request_conditional_and_is_used_if_unchanged() -> None:
    start_urls = [StartUrl(f"{HOME}{name}.xml", FoundBy.GIVEN) for name in "ab"]
    crawl = usp.Crawl._started(HOME, start_urls, options=CrawlOptions(find_stored=find_stored))
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


def stored_index(url: str) -> StoredDocument | None:
    """An index of which all is known; its body can't be read."""
    info = FetchInfo(status=200, etag='"1"')
    children = ((f"{HOME}kept.xml", "2026-11-01"), (f"{HOME}skipped.xml", None))
    is_index = url.endswith("/index.xml")
    return StoredDocument(url, (), info, "sitemapindex", children) if is_index else None


def test_a_stored_document_of_which_all_is_known_is_not_inspected() -> None:
    start_urls = [StartUrl(f"{HOME}index.xml", FoundBy.GIVEN)]
    options = CrawlOptions(find_stored=stored_index)
    policy = usp.Policy(exclude_sitemaps="skipped")
    crawl = usp.Crawl._started(HOME, start_urls, policy, options)
    (index,) = crawl.take(0.0)
    crawl.receive(index, usp.NotModified(FetchInfo(status=304, attempts=1)), 0.0)
    (child,) = crawl.take(0.0)
    assert child.url == f"{HOME}kept.xml"
    crawl.deliver(child, URLSET, 0.0)
    tree = crawl.tree()
    assert tree.sub_sitemaps[0].fetch_info.unchanged
    assert [page.url for page in tree.all_pages()] == ["http://h.example/1"]
