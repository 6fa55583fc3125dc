"""Jobs for either implementation of ``usp``: ours and 1.8.1 do the same under the same names."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import Final

from bench.jobs.answer import Answer, digest_of
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


LOOKS: Final[dict[str, Callable[[SitemapPage], object]]] = {
    "plain": PLAIN,
    "news": _news,
    "images": _images,
    "hreflang": _hreflang,
}
"""How every field that a kind of page has is looked at."""


def below(sitemap: AbstractSitemap) -> Answer:
    """Tell which sitemaps stand below this one."""
    found = list(sitemap.all_sitemaps())
    reasons = (one.reason for one in found if isinstance(one, InvalidSitemap))
    kinds = Counter(type(one).__name__ for one in found)
    return {"sitemaps": kinds, "reason": next(reasons, "")[:200]}


def read(path: str) -> Answer:
    """Read a document from its text, every field; the seconds are the processor's."""
    text = Path(path).read_text("utf-8")
    start = time.process_time()
    sitemap = sitemap_from_str(text)
    urls = [ALL(page)[0] for page in sitemap.all_pages()]
    kinds = below(sitemap)
    seconds = time.process_time() - start
    pages = len(urls)
    urls += [one.url for one in sitemap.all_sitemaps()]
    return {"seconds": seconds, "pages": pages, "urls": digest_of(urls), **kinds}


def read_all(
    folder: str, kind: str, pages_of: Callable[[str], Iterable[SitemapPage]] | None = None
) -> Answer:
    """Read all documents of a folder from their texts, every field that the kind has."""
    texts = [path.read_text("utf-8") for path in sorted(Path(folder).iterdir())]
    look, pages_of = LOOKS[kind], pages_of or _pages_of
    urls: list[str] = []
    start = time.process_time()
    for text in texts:
        for page in pages_of(text):
            look(page)
            urls.append(page.url)
    seconds = time.process_time() - start
    return {"seconds": seconds, "pages": len(urls), "urls": digest_of(urls)}


def _pages_of(text: str) -> Iterable[SitemapPage]:
    return sitemap_from_str(text).all_pages()


def crawl(homepage: str, fields: str = "url") -> Answer:
    """Fetch what the robots.txt below this URL declares, and look at every page.

    ``first`` is when the first page was there, ``seconds`` when the last one was.
    """
    look = {"url": URL, "plain": PLAIN}[fields]
    start, cpu = time.perf_counter(), time.process_time()
    first = start
    tree = sitemap_tree_for_homepage(homepage, use_known_paths=False, normalize_homepage_url=False)
    pages = 0
    for page in tree.all_pages():
        look(page)
        first = first if pages else time.perf_counter()
        pages += 1
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    times = {"first": first - start, "seconds": seconds, "cpu": cpu}
    return {**times, "pages": pages, **below(tree)}


def fetch(homepage: str) -> Answer:
    """Crawl a site as most users do, and count its pages."""
    start = time.perf_counter()
    pages = sum(1 for _ in sitemap_tree_for_homepage(homepage).all_pages())
    return {"seconds": time.perf_counter() - start, "pages": pages}


def connect(url: str, times: int) -> Answer:
    """Ask for a URL again and again over new connections: CPU of one, after a first one."""
    client = RequestsWebClient()
    client.get(url)
    start = time.process_time()
    answers = [client.get(url) for _ in range(times)]
    seconds = time.process_time() - start
    good = all(isinstance(answer, AbstractWebClientSuccessResponse) for answer in answers)
    return {"seconds": seconds / times, "good": good}


JOBS: Final[dict[str, Callable[..., Answer]]] = {
    "read": read,
    "read_all": read_all,
    "crawl": crawl,
    "fetch": fetch,
    "connect": connect,
}
