"""What most users call: the sitemaps of a website, or of a text, as a tree."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Unpack

from usp._crawl.assemble import node, website
from usp._crawl.machine import Crawl, RecurseCallback, RecurseListCallback, StopCallback
from usp._crawl.policy import Policy, PolicyFields, policy_of
from usp._crawl.seeds import KNOWN_PATHS, Seed, in_fixed_order, ladder
from usp._drive import report
from usp._drive.choose import run as drive
from usp._parse.dates import date
from usp._parse.decode import http_charset
from usp._parse.document import Source, inspect
from usp.exceptions import SitemapException
from usp.fetch_parse import sitemap_of_string
from usp.helpers import is_http_url, strip_url_to_homepage
from usp.objects.progress import Observer
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, SitemapLink
from usp.web_client.abstract_client import AbstractWebClient
from usp.web_client.requests_client import RequestsWebClient

_UNPUBLISHED_SITEMAP_PATHS: set[str] = set(KNOWN_PATHS)
"""Paths at which sitemaps are often found though nothing names them."""


def sitemap_tree_for_homepage(
    homepage_url: str,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool = True,
    extra_known_paths: set[str] | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    normalize_homepage_url: bool = True,
    *,
    stop_callback: StopCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **changes: Unpack[PolicyFields],
) -> IndexWebsiteSitemap:
    """Find, fetch and read all sitemaps of a website.

    robots.txt comes first, then each sitemap that it declares with all that those lead to, then the
    known paths that were not found so already. Where that leads to nothing, the homepage is asked
    for the sitemaps and feeds that it names, and newer known paths are tried.

    :param homepage_url: any URL of the site; the path is dropped, unless told otherwise.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to look for sitemaps in robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are often found.
    :param extra_known_paths: further paths to try, relative to the homepage.
    :param recurse_callback: asked of each child of an index (URL, level of the index, URLs of the
        sitemaps above the child): whether to fetch it.
    :param recurse_list_callback: asked before that of all children of an index at once: returns
        those to fetch.
    :param normalize_homepage_url: whether to cut the URL down to that of the homepage; if not,
        robots.txt and known paths are looked for below the URL as it is.
    :param stop_callback: asked of each page in the tree's order: whether to end before it.
    :param observer: told of each request, answer, retry and count as it happens; see
        ``usp.objects.progress``.
    :param policy: limits, manners and choices of the crawl.
    :param changes: single fields of the policy, such as ``per_host=4`` or ``since="2026-01"``.
    :return: the root of the tree; its ``outcome`` says what came of it.
    :raises SitemapException: if the URL isn't an HTTP(S) one.
    """
    homepage = _homepage(homepage_url, normalize=normalize_homepage_url)
    settled = policy_of(policy, changes)
    client = web_client or RequestsWebClient()
    crawl = Crawl(
        seeds_of_homepage(homepage, settled, use_robots, use_known_paths, extra_known_paths),
        settled,
        recurse_callback=recurse_callback,
        recurse_list_callback=recurse_list_callback,
        stop_callback=stop_callback,
        counting=observer is not None,
        probe_at_once=client.thread_safe,
    )
    try:
        drive(crawl, client, homepage, observer)
    finally:
        if web_client is None:
            client.close()
    return website(homepage, crawl)


def _homepage(url: str, *, normalize: bool) -> str:
    if not is_http_url(url):
        raise SitemapException(f"URL {url} is not a HTTP(S) URL.")
    if not normalize:
        return url if url.endswith("/") else f"{url}/"
    homepage = strip_url_to_homepage(url)
    if homepage != url:
        report.assumed_homepage(url, homepage)
    return homepage


def seeds_of_homepage(
    homepage: str,
    policy: Policy,
    use_robots: bool,
    use_known_paths: bool,
    extra_known_paths: Iterable[str] | None,
) -> Iterable[Seed]:
    """Return where to look for the sitemaps of a website."""
    known = in_fixed_order(_UNPUBLISHED_SITEMAP_PATHS)
    paths = dict.fromkeys([*known, *_in_given_order(extra_known_paths or ())])
    rungs = ladder(
        policy, paths, use_robots=use_robots, use_known_paths=use_known_paths, classic=True
    )
    return rungs.seeds(homepage)


def _in_given_order(paths: Iterable[str]) -> list[str]:
    """Keep the order of a list; give a set one that doesn't change from run to run."""
    return in_fixed_order(paths) if isinstance(paths, set | frozenset) else list(paths)


def tree_of(crawl: Crawl, homepage_url: str) -> IndexWebsiteSitemap:
    """Return the tree of a crawl that the caller has driven, as far as it has come."""
    return website(homepage_url, crawl)


def parse(
    data: str | bytes, *, url: str | None = None, content_type: str | None = None
) -> AbstractSitemap:
    """Read one document without the web: its children stand in it as ``SitemapLink``.

    :param data: the document, as text or as bytes as they came.
    :param url: where it is from: what relative URLs are relative to, and robots.txt is known by.
    :param content_type: the HTTP header, for the charset that it may name.
    """
    if not isinstance(data, str | bytes):
        raise SitemapException(f"A sitemap is str or bytes, not {type(data).__name__}.")
    source = Source.of(data, url)
    if isinstance(data, bytes):
        source = replace(source, charset=http_charset(content_type))
    document = inspect(source)
    links: list[AbstractSitemap] = [
        SitemapLink(child.url, index_lastmod=date(child.lastmod or ""))
        for child in document.children
    ]
    return node(url or "", document, links)


def sitemap_from_str(content: str | bytes) -> AbstractSitemap:
    """Read a sitemap that is at hand, as text or as bytes; nothing is fetched.

    The children of an index stand in it as ``InvalidSitemap``, since nobody fetched them.
    """
    return sitemap_of_string(content)
