"""What most users call: the sitemaps of a website, or of a text, as a tree."""

from dataclasses import replace
from typing import Unpack

from usp._crawl.assembly import sitemap_for_document, website_tree
from usp._crawl.core import Crawl, RecurseCallback, RecurseListCallback, StopCallback
from usp._crawl.discovery import KNOWN_PATHS
from usp._crawl.options import Callbacks
from usp._crawl.policy import Policy, PolicyFields, policy_of
from usp._drive.run import run as drive
from usp._parse import Source, http_charset, inspect, parse_date
from usp._source import CrawlStart, SourceName, known_and_extra
from usp._store import Store
from usp._validate import check_flags, check_instance, check_optional_instance
from usp.exceptions import SitemapException
from usp.objects.events import Observer
from usp.objects.sitemap import AbstractSitemap, IndexWebsiteSitemap, SitemapLink
from usp.web_client import as_web_client, default_client
from usp.web_client.abstract_client import AbstractWebClient

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
        ``usp.objects.events``.
    :param policy: limits, manners and choices of the crawl.
    :param changes: single fields of the policy, such as ``per_host=4`` or ``since="2026-01"``.
    :return: the root of the tree; its ``outcome`` says what came of it.
    :raises SitemapException: if the URL isn't an HTTP(S) one, or another argument makes no sense.
    """
    settled = policy_of(policy, changes)
    web_client = web_client if web_client is None else as_web_client(web_client)
    callbacks = Callbacks(recurse_callback, recurse_list_callback, stop_callback, observer)
    start = CrawlStart.of_homepage(
        homepage_url,
        settled,
        use_robots=use_robots,
        use_known_paths=use_known_paths,
        known_paths=known_and_extra(_UNPUBLISHED_SITEMAP_PATHS, extra_known_paths),
        normalize=normalize_homepage_url,
    )
    return _tree(start, settled, web_client, callbacks)


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
    **changes: Unpack[PolicyFields],
) -> IndexWebsiteSitemap:
    """Read a site, or one sitemap with all that it leads to, as a tree.

    The root stands for the source; below it are the sitemaps that were found, or the one that was
    named. Parameters that aren't named here are those of ``sitemap_tree_for_homepage``.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), or ``-`` for standard input.
    :param use_known_paths: whether to try paths at which sitemaps are often found; by default, only
        where what robots.txt declares leads to nothing.
    :raises SitemapException: if the source is none of these.
    """
    settled = policy_of(policy, changes)
    web_client = web_client if web_client is None else as_web_client(web_client)
    callbacks = Callbacks(recurse_callback, recurse_list_callback, stop_callback, observer)
    start = CrawlStart.of_source(
        source, settled, use_robots=use_robots, use_known_paths=use_known_paths, store=Store()
    )
    return _tree(start, settled, web_client, callbacks)


def _tree(
    start: CrawlStart,
    policy: Policy,
    web_client: AbstractWebClient | None,
    callbacks: Callbacks,
) -> IndexWebsiteSitemap:
    client = default_client() if web_client is None else web_client
    crawl = Crawl(
        start.start_urls,
        policy,
        recurse_callback=callbacks.recurse_callback,
        recurse_list_callback=callbacks.recurse_list_callback,
        stop_callback=callbacks.stop_callback,
        counting=callbacks.observer is not None,
        probe_at_once=bool(client.thread_safe),
    )
    try:
        drive(crawl, client, start.homepage, callbacks.observer)
    finally:
        if web_client is None:
            client.close()
    return website_tree(start.name, crawl)


def tree_of(crawl: Crawl, homepage_url: str) -> IndexWebsiteSitemap:
    """Return the tree of a crawl that the caller has driven, as far as it has come."""
    return website_tree(
        check_instance("homepage_url", homepage_url, str), check_instance("crawl", crawl, Crawl)
    )


def parse(
    data: str | bytes,
    *,
    url: str | None = None,
    content_type: str | None = None,
    extensions: bool = False,
) -> AbstractSitemap:
    """Read one document without the web: its children stand in it as ``SitemapLink``.

    :param data: the document, as text or as bytes as they came.
    :param url: where it is from: what relative URLs are relative to, and robots.txt is known by.
    :param content_type: the HTTP header, for the charset that it may name.
    :param extensions: whether pages also hold the elements of their entries that mean nothing
        here, as they were written (``page.extensions``); that takes more time.
    """
    if not isinstance(data, str | bytes):
        raise SitemapException(f"A sitemap is str or bytes, not {type(data).__name__}.")
    check_optional_instance("url", url, str)
    check_optional_instance("content_type", content_type, str)
    check_flags(extensions=extensions)
    source = replace(Source.of(data, url), extensions=extensions)
    if isinstance(data, bytes):
        source = replace(source, charset=http_charset(content_type))
    document = inspect(source)
    links: list[AbstractSitemap] = [
        SitemapLink(child.url, index_lastmod=parse_date(child.lastmod or ""))
        for child in document.children
    ]
    return sitemap_for_document(url or "", document, links)


def sitemap_from_str(content: str | bytes) -> AbstractSitemap:
    """Read a sitemap that is at hand, as text or as bytes; nothing is fetched.

    The children of an index stand in it as ``InvalidSitemap``, since nobody fetched them.
    """
    from usp.fetch_parse import sitemap_of_string  # here, since few need any of that room

    return sitemap_of_string(content)
