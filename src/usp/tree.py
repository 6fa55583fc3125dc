"""The functions that most users call: the sitemaps of a website, or of a document, as a tree."""

import logging
from contextlib import closing
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Final, Unpack
from urllib.parse import urljoin

from usp._crawl import Crawl
from usp._crawl.assembly import sitemap_for_document
from usp._crawl.discovery import KNOWN_PATHS
from usp._crawl.options import CrawlOptions, RecurseCallback, RecurseListCallback, StopCallback
from usp._crawl.policy import Policy
from usp._crawl.robots import RobotsFile
from usp._crawl.urls import LONE_SURROGATE
from usp._drive.run import CrawlClient, options_for
from usp._drive.run import run as drive
from usp._keywords import CrawlFields, crawl_keywords, explains_crawl
from usp._parse import Kind, Source, http_charset, inspect, parse_date
from usp._source import CrawlStart, SourceName, known_and_extra_paths
from usp._store import Store
from usp._validate import argument_error, check_flags, check_instance, check_optional_instance
from usp.exceptions import SitemapException, UsageError
from usp.objects.events import Observer
from usp.objects.page import as_utc
from usp.objects.robots import RobotsVerdict
from usp.objects.sitemap import (
    AbstractSitemap,
    IndexWebsiteSitemap,
    InvalidSitemap,
    SitemapLink,
)
from usp.web_client.abstract_client import AbstractWebClient

if TYPE_CHECKING:
    from usp.fetch_parse import SitemapFetcher, SitemapStrParser
    from usp.helpers import (
        RecurseCallbackType,
        RecurseListCallbackType,
        is_http_url,
        strip_url_to_homepage,
    )
    from usp.objects.sitemap import IndexRobotsTxtSitemap

__all__ = [
    "AbstractSitemap",
    "AbstractWebClient",
    "IndexRobotsTxtSitemap",
    "IndexWebsiteSitemap",
    "InvalidSitemap",
    "RecurseCallbackType",
    "RecurseListCallbackType",
    "SitemapException",
    "SitemapFetcher",
    "SitemapStrParser",
    "is_http_url",
    "log",
    "parse",
    "robots_verdict",
    "sitemap_from_str",
    "sitemap_tree",
    "sitemap_tree_for_homepage",
    "strip_url_to_homepage",
]

log: Final = logging.getLogger(__name__)
_STRING_URL: Final = "http://usp-local-dummy.local/"
"""The URL of a sitemap that was given as a string; 1.8.1's, since programs compare it."""
_ELSEWHERE: Final = {
    "IndexRobotsTxtSitemap": "usp.objects.sitemap",
    "InvalidSitemap": "usp.objects.sitemap",
    "RecurseCallbackType": "usp.helpers",
    "RecurseListCallbackType": "usp.helpers",
    "SitemapFetcher": "usp.fetch_parse",
    "SitemapStrParser": "usp.fetch_parse",
    "is_http_url": "usp.helpers",
    "strip_url_to_homepage": "usp.helpers",
}
"""Names that programs for 1.8.1 import from here, by the module that defines them."""
_UNPUBLISHED_SITEMAP_PATHS: set[str] = set(KNOWN_PATHS)
"""Paths at which sitemaps are common, though nothing declares them."""


@explains_crawl
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
    **crawl_fields: Unpack[CrawlFields],
) -> IndexWebsiteSitemap:
    """Find, fetch and parse all sitemaps of a website.

    robots.txt comes first, then each sitemap that it declares with all that those lead to, then the
    known paths not already found. Where that leads to nothing, the homepage is searched for the
    sitemaps and feeds that it names, and newer known paths are tried. Requests run concurrently,
    with per-host limits, retries and backoff.

    :param homepage_url: any URL of the site, or a bare domain, which means https; the path is
        dropped unless ``normalize_homepage_url`` is false.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common.
    :param extra_known_paths: further paths to try, relative to the homepage.
    :param recurse_callback: called for each child of an index (URL, level of the index, URLs of the
        sitemaps above the child); returns whether to fetch it.
    :param recurse_list_callback: called before that with all children of an index; returns those
        to fetch.
    :param normalize_homepage_url: whether to shorten the URL to the homepage; if not, robots.txt
        and known paths are looked for below the URL as it is.
    :param stop_callback: called with each page in document order; True ends the crawl before it.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl.
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``since="48h"`` or ``timeout=5``.
    :return: the root of the tree; its ``outcome`` says how the crawl ended.
    :raises UsageError: if the URL isn't an HTTP(S) one, or another argument is wrong.
    """
    policy, client = crawl_keywords(policy, web_client, crawl_fields, homepage_url)
    options = CrawlOptions(recurse_callback, recurse_list_callback, stop_callback, observer)
    start = CrawlStart.for_homepage(
        homepage_url,
        policy,
        use_robots=use_robots,
        use_known_paths=use_known_paths,
        known_paths=known_and_extra_paths(_UNPUBLISHED_SITEMAP_PATHS, extra_known_paths),
        normalize=normalize_homepage_url,
    )
    return _tree(start, policy, options, client)


@explains_crawl
def sitemap_tree(
    source: SourceName,
    *,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    stop_callback: StopCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **crawl_fields: Unpack[CrawlFields],
) -> IndexWebsiteSitemap:
    """Fetch and parse a site, or one sitemap with all that it leads to, as a tree.

    The root stands for the source; below it are the sitemaps that were found, or the one that was
    named.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), or ``-`` for standard input.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param recurse_callback: as in ``sitemap_tree_for_homepage``.
    :param recurse_list_callback: as in ``sitemap_tree_for_homepage``.
    :param stop_callback: called with each page in document order; True ends the crawl before it.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl.
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``since="48h"`` or ``timeout=5``.
    :return: the root of the tree; its ``outcome`` says how the crawl ended.
    :raises UsageError: if the source is none of these, or another argument is wrong.
    """
    policy, client = crawl_keywords(policy, web_client, crawl_fields, source)
    options = CrawlOptions(recurse_callback, recurse_list_callback, stop_callback, observer)
    start = CrawlStart.for_source(
        source, policy, use_robots=use_robots, use_known_paths=use_known_paths, store=Store()
    )
    return _tree(start, policy, options, client)


def _tree(
    start: CrawlStart,
    policy: Policy,
    options: CrawlOptions,
    client: CrawlClient,
) -> IndexWebsiteSitemap:
    return run_crawl(start, policy, options, client)._into_tree()


def run_crawl(
    start: CrawlStart,
    policy: Policy,
    options: CrawlOptions,
    client: CrawlClient,
) -> Crawl:
    """Run a crawl to its end, and return it."""
    with closing(client):
        opened = client.opened()
        crawl = start.crawl(policy, options_for(opened, options))
        drive(crawl, opened, start.homepage, options.observer)
    return crawl


def parse(
    data: str | bytes,
    *,
    url: str | None = None,
    content_type: str | None = None,
    extensions: bool = False,
) -> AbstractSitemap:
    """Parse one document without fetching anything: its children are ``SitemapLink`` objects.

    :param data: the document, as a str or as bytes as received.
    :param url: its URL, against which relative URLs are resolved and by which robots.txt is known.
    :param content_type: the HTTP header, for the charset in it.
    :param extensions: whether pages keep elements that are unknown, as they were written
        (``page.extensions``); that takes more time.
    :return: the sitemap; an ``InvalidSitemap`` if the document is none.
    :raises UsageError: if an argument is of the wrong type, or the URL has a lone surrogate.
    """
    if not isinstance(data, str | bytes):
        raise UsageError(f"data must be str or bytes, not {type(data).__name__}.")
    check_optional_instance("url", url, str)
    if url and LONE_SURROGATE.search(url):
        raise argument_error("url", "text without lone surrogates", url)
    check_optional_instance("content_type", content_type, str)
    check_flags(extensions=extensions)
    source = replace(Source.of(data, url), extensions=extensions)
    if isinstance(data, bytes):
        source = replace(source, charset=http_charset(content_type))
    document = inspect(source)
    links: list[AbstractSitemap] = [
        SitemapLink(child.url, index_lastmod=as_utc(parse_date(child.lastmod or "")))
        for child in document.children
    ]
    return sitemap_for_document(url or "", document, links)


def robots_verdict(data: str | bytes, agent: str, *, url: str) -> RobotsVerdict:
    """Return what a robots.txt that you have says for an agent; nothing is fetched.

    :param data: the robots.txt, as a str or as bytes; 500 KiB of it are read.
    :param agent: the name of the agent, such as ``Googlebot``.
    :param url: the URL of the robots.txt.
    :raises UsageError: if an argument is of the wrong type.
    """
    if not isinstance(data, str | bytes):
        raise UsageError(f"data must be str or bytes, not {type(data).__name__}.")
    check_instance("agent", agent, str)
    check_instance("url", url, str)
    document = inspect(Source.of(data, url), Kind.ROBOTS)
    return RobotsFile.of(url, document).verdict(agent, urljoin(url, "/"))


def sitemap_from_str(content: str | bytes) -> AbstractSitemap:
    """Parse a sitemap that you have as a str or as bytes; nothing is fetched.

    The children of an index are ``InvalidSitemap`` objects, since they were not fetched.

    :param content: the document.
    :return: the sitemap; an ``InvalidSitemap`` if the document is none.
    :raises UsageError: if the content is neither str nor bytes.
    """
    if not isinstance(content, str | bytes):
        raise argument_error("content", "str or bytes", content)
    document = inspect(Source.of(content))
    children: list[AbstractSitemap] = [
        InvalidSitemap(child.url, "The child sitemap was not fetched", code="SM605")
        for child in document.children
    ]
    return sitemap_for_document(_STRING_URL, document, children)


def __getattr__(name: str) -> object:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ELSEWHERE[name]), name)
