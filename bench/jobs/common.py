"""Jobs that both implementations of ``usp`` can run, ours and 1.8.1: only names that both have."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import Final

from bench.jobs.result import JobResult, digest_of, timed_thrice
from usp.objects.page import SitemapPage
from usp.objects.sitemap import AbstractSitemap, InvalidSitemap
from usp.tree import sitemap_from_str, sitemap_tree_for_homepage
from usp.web_client.abstract_client import AbstractWebClientSuccessResponse
from usp.web_client.requests_client import RequestsWebClient

URL: Final = attrgetter("url")
PLAIN: Final = attrgetter("url", "priority", "last_modified", "change_frequency")
ALL: Final = attrgetter(
    "url",
    "priority",
    "last_modified",
    "change_frequency",
    "news_story",
    "images",
    "alternates",
)
STORY: Final = attrgetter(
    "title",
    "publish_date",
    "publication_name",
    "publication_language",
    "access",
    "genres",
    "keywords",
    "stock_tickers",
)
IMAGE: Final = attrgetter("loc", "caption", "geo_location", "title", "license")


def _news(page: SitemapPage) -> None:
    PLAIN(page)
    if story := page.news_story:
        STORY(story)


def _images(page: SitemapPage) -> None:
    PLAIN(page)
    for image in page.images or ():
        IMAGE(image)


def _hreflang(page: SitemapPage) -> object:
    PLAIN(page)
    return page.alternates


def _feed(page: SitemapPage) -> None:
    _news(page)
    for image in page.images or ():
        IMAGE(image)


ACCESS: Final[dict[str, Callable[[SitemapPage], object]]] = {
    "plain": PLAIN,
    "news": _news,
    "images": _images,
    "hreflang": _hreflang,
    "feed": _feed,
}
"""Accesses every field that a kind of page has."""
WARM_UP: Final = (
    "<urlset><url><loc>https://h.example/</loc><lastmod>2026-01-01</lastmod></url></urlset>",
    "<rss><channel><item><title>T</title><link>https://h.example/</link></item></channel></rss>",
)
"""Documents that load what an implementation imports on first use."""


def count_sitemaps(sitemap: AbstractSitemap) -> JobResult:
    """Return the number of sitemaps below this one by class, and the first reason of a failure."""
    found = list(sitemap.all_sitemaps())
    reasons = (one.reason for one in found if isinstance(one, InvalidSitemap))
    kinds = Counter(type(one).__name__ for one in found)
    return {"sitemaps": kinds, "reason": next(reasons, "")[:200]}


def read(path: str) -> JobResult:
    """Parse a document from its text, every field; return the CPU seconds."""
    text = Path(path).read_text("utf-8")
    start = time.process_time()
    sitemap = sitemap_from_str(text)
    urls = [ALL(page)[0] for page in sitemap.all_pages()]
    kinds = count_sitemaps(sitemap)
    seconds = time.process_time() - start
    pages = len(urls)
    urls += [one.url for one in sitemap.all_sitemaps()]
    return {"seconds": seconds, "pages": pages, "urls": digest_of(urls), **kinds}


def read_all(
    folder: str, kind: str, pages_of: Callable[[str], Iterable[SitemapPage]] | None = None
) -> JobResult:
    """Parse all documents of a folder from their texts, every field that the kind has."""
    texts = [path.read_text("utf-8") for path in sorted(Path(folder).iterdir())]
    access, pages_of = ACCESS[kind], pages_of or _pages_of
    urls: list[str] = []
    start = time.process_time()
    for text in texts:
        for page in pages_of(text):
            access(page)
            urls.append(page.url)
    seconds = time.process_time() - start
    return {"seconds": seconds, "pages": len(urls), "urls": digest_of(urls)}


def read_each(paths: list[str]) -> JobResult:
    """Parse each of these documents, every field; return the results in the same order.

    A result has the CPU seconds of the first and of the fastest of three readings, the number of
    pages, the class, and a hash of all URLs.
    """
    for text in WARM_UP:
        _read_fields(text)
    return {"documents": [_read_thrice(Path(path).read_text("utf-8")) for path in paths]}


def _read_thrice(text: str) -> JobResult:
    try:
        (sitemap, urls), seconds = timed_thrice(_read_fields, text)
    except Exception as error:  # noqa: BLE001 -- an exception is a result, too
        return {"error": type(error).__name__}
    pages = len(urls)
    urls += [one.url for one in sitemap.all_sitemaps()]
    kind = type(sitemap).__name__
    return {**seconds, "pages": pages, "kind": kind, "urls": digest_of(urls)}


def _read_fields(text: str) -> tuple[AbstractSitemap, list[str]]:
    sitemap = sitemap_from_str(text)
    urls = []
    for page in sitemap.all_pages():
        urls.append(ALL(page)[0])
        if story := page.news_story:
            STORY(story)
        for image in page.images or ():
            IMAGE(image)
    return sitemap, urls


def _pages_of(text: str) -> Iterable[SitemapPage]:
    return sitemap_from_str(text).all_pages()


def crawl(homepage: str, fields: str = "url") -> JobResult:
    """Fetch what the robots.txt below this URL declares, and iterate over all pages.

    ``first`` is the time to the first page, ``seconds`` the time to the last.
    """
    access = {"url": URL, "plain": PLAIN}[fields]
    start, cpu = time.perf_counter(), time.process_time()
    first = start
    tree = sitemap_tree_for_homepage(homepage, use_known_paths=False, normalize_homepage_url=False)
    pages = 0
    for page in tree.all_pages():
        access(page)
        first = first if pages else time.perf_counter()
        pages += 1
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    times = {"first": first - start, "seconds": seconds, "cpu": cpu}
    return {**times, "pages": pages, **count_sitemaps(tree)}


def fetch(homepage: str) -> JobResult:
    """Crawl a site with default options, and count its pages."""
    start = time.perf_counter()
    pages = sum(1 for _ in sitemap_tree_for_homepage(homepage).all_pages())
    return {"seconds": time.perf_counter() - start, "pages": pages}


def crawl_sites(homepages: list[str]) -> JobResult:
    """Crawl sites one after the other, after a first one; return the CPU seconds of all."""
    _count_site(homepages[0])
    start = time.process_time()
    pages = sum(map(_count_site, homepages[1:]))
    return {"seconds": time.process_time() - start, "pages": pages}


def _count_site(homepage: str) -> int:
    tree = sitemap_tree_for_homepage(homepage, use_known_paths=False)
    return sum(1 for _ in tree.all_pages())


def connect(url: str, times: int) -> JobResult:
    """Fetch a URL repeatedly over new connections; return the CPU seconds of one."""
    client = RequestsWebClient()
    client.get(url)
    start = time.process_time()
    responses = [client.get(url) for _ in range(times)]
    seconds = time.process_time() - start
    good = all(isinstance(response, AbstractWebClientSuccessResponse) for response in responses)
    return {"seconds": seconds / times, "good": good}


JOBS: Final[dict[str, Callable[..., JobResult]]] = {
    "read": read,
    "read_all": read_all,
    "read_each": read_each,
    "crawl": crawl,
    "fetch": fetch,
    "crawl_sites": crawl_sites,
    "connect": connect,
}
