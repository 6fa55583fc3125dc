"""The classes of 1.8.1 that fetch and parse sitemaps, for programs that use them directly.

They build a start URL or a document and hand it to the crawl. Nothing is parsed or fetched here,
and the rest of the package uses none of it.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from usp._crawl import Crawl
from usp._crawl.assembly import sitemap_for_document, subtree
from usp._crawl.discovery import StartUrl
from usp._crawl.nodes import rejection
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._drive.run import run as drive
from usp._parse import Document, Kind, PushParser, Source, inspect
from usp.exceptions import SitemapException, SitemapXMLParsingException
from usp.helpers import (
    RecurseCallbackType,
    RecurseListCallbackType,
    get_url_retry_on_client_errors,
    html_unescape_strip,
    is_http_url,
    parse_iso8601_date,
    parse_rfc2822_date,
    ungzipped_response_content,
)
from usp.objects.outcome import FoundBy
from usp.objects.page import (
    SITEMAP_PAGE_DEFAULT_PRIORITY,
    SitemapImage,
    SitemapNewsStory,
    SitemapPage,
    SitemapPageChangeFrequency,
)
from usp.objects.sitemap import (
    AbstractSitemap,
    IndexRobotsTxtSitemap,
    IndexXMLSitemap,
    InvalidSitemap,
    PagesAtomSitemap,
    PagesRSSSitemap,
    PagesTextSitemap,
    PagesXMLSitemap,
)
from usp.tree import _STRING_URL, sitemap_from_str
from usp.web_client import as_web_client, default_client
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    LocalWebClient,
    LocalWebClientSuccessResponse,
    NoWebClientException,
    WebClientErrorResponse,
)

if TYPE_CHECKING:
    from usp.web_client.requests_client import RequestsWebClient

__all__ = [
    "MAX_VALID_PRIORITY",
    "MIN_VALID_PRIORITY",
    "SITEMAP_PAGE_DEFAULT_PRIORITY",
    "AbstractSitemap",
    "AbstractSitemapParser",
    "AbstractWebClient",
    "AbstractWebClientResponse",
    "AbstractWebClientSuccessResponse",
    "AbstractXMLSitemapParser",
    "IndexRobotsTxtSitemap",
    "IndexRobotsTxtSitemapParser",
    "IndexXMLSitemap",
    "IndexXMLSitemapParser",
    "InvalidSitemap",
    "LocalWebClient",
    "LocalWebClientSuccessResponse",
    "NoWebClientException",
    "PagesAtomSitemap",
    "PagesAtomSitemapParser",
    "PagesRSSSitemap",
    "PagesRSSSitemapParser",
    "PagesTextSitemap",
    "PagesXMLSitemap",
    "PagesXMLSitemapParser",
    "PlainTextSitemapParser",
    "RecurseCallbackType",
    "RecurseListCallbackType",
    "RequestsWebClient",
    "SitemapException",
    "SitemapFetcher",
    "SitemapImage",
    "SitemapNewsStory",
    "SitemapPage",
    "SitemapPageChangeFrequency",
    "SitemapStrParser",
    "SitemapXMLParsingException",
    "WebClientErrorResponse",
    "XMLSitemapParser",
    "get_url_retry_on_client_errors",
    "html_unescape_strip",
    "is_http_url",
    "log",
    "parse_iso8601_date",
    "parse_rfc2822_date",
    "ungzipped_response_content",
]

MIN_VALID_PRIORITY: Final = Decimal("0.0")
MAX_VALID_PRIORITY: Final = Decimal("1.0")
log: Final = logging.getLogger(__name__)

_POLICY: Final = Policy()


def __getattr__(name: str) -> object:
    """Return ``RequestsWebClient``, imported when it is first used: requests is slow to import."""
    if name != "RequestsWebClient":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from usp.web_client.requests_client import RequestsWebClient

    return RequestsWebClient


class _Crawling:
    """Base of the classes that fetch: a crawl with the arguments of their constructors."""

    _url: str
    _recursion_level: int
    _web_client: AbstractWebClient | None
    _parent_urls: frozenset[str]
    _recurse_callback: RecurseCallbackType | None
    _recurse_list_callback: RecurseListCallbackType | None

    def _crawl(self, document: Document | None = None, *, quiet: bool = False) -> AbstractSitemap:
        """Return the sitemap with everything below it fetched, and itself if there is no document.

        A default client is made if the caller gave none.
        """
        level, parents = self._recursion_level, self._parent_urls
        start_url = StartUrl(self._url, FoundBy.GIVEN, level, parents, document, quiet=quiet)
        options = CrawlOptions(self._recurse_callback, self._recurse_list_callback)
        client = default_client() if self._web_client is None else self._web_client
        options = replace(options, skip_delays=bool(as_web_client(client).replays))
        crawl = Crawl._started(self._url, [start_url], _POLICY, options)
        try:
            drive(crawl, client, self._url)
        finally:
            if self._web_client is None:
                client.close()
        found = subtree(crawl._cursor.roots[0], crawl._cursor.selection)
        return found if found is not None else InvalidSitemap(self._url, "Nothing was found")

    def _sitemap_of(self, document: Document) -> AbstractSitemap:
        """Return the sitemap of a document; a client is needed only if it has children."""
        if document.children:
            return self._crawl(document)
        return sitemap_for_document(self._url, document, [])


class SitemapFetcher(_Crawling):
    """Fetches a sitemap and everything below it."""

    def __init__(
        self,
        url: str,
        recursion_level: int,
        web_client: AbstractWebClient | None = None,
        parent_urls: set[str] | None = None,
        quiet_404: bool = False,
        recurse_callback: RecurseCallbackType | None = None,
        recurse_list_callback: RecurseListCallbackType | None = None,
    ) -> None:
        """Prepare to fetch a sitemap.

        :raises SitemapException: if the URL is not an HTTP(S) one, if its level is too deep, or if
            it is among the URLs of its parents.
        """
        self._url = url
        self._recursion_level = recursion_level
        self._web_client = web_client
        self._parent_urls = frozenset(parent_urls or ())
        self._quiet_404 = quiet_404
        self._recurse_callback = recurse_callback
        self._recurse_list_callback = recurse_list_callback
        if not is_http_url(url):
            raise SitemapException(f"URL {url} is not an HTTP(S) URL.")
        if rejected := rejection(url, recursion_level, self._parent_urls, _POLICY):
            raise SitemapException(rejected[1])

    def sitemap(self) -> AbstractSitemap:
        """Fetch and parse it; a failure is an ``InvalidSitemap``."""
        return self._crawl(quiet=self._quiet_404)


class SitemapStrParser(SitemapFetcher):
    """Parses a sitemap in a string; nothing is fetched."""

    def __init__(self, static_content: str) -> None:
        super().__init__(_STRING_URL, recursion_level=0, web_client=LocalWebClient())
        self._static_content = static_content

    def sitemap(self) -> AbstractSitemap:
        """Parse it."""
        return sitemap_from_str(self._static_content)


class AbstractSitemapParser(_Crawling, ABC):
    """Parses a document that was fetched."""

    def __init__(
        self,
        url: str,
        content: str | bytes,
        recursion_level: int,
        web_client: AbstractWebClient | None,
        parent_urls: Iterable[str] | None = None,
        recurse_callback: RecurseCallbackType | None = None,
        recurse_list_callback: RecurseListCallbackType | None = None,
    ) -> None:
        self._url = url
        self._content = content
        self._recursion_level = recursion_level
        self._web_client = web_client
        self._parent_urls = frozenset(parent_urls or ())
        self._recurse_callback = recurse_callback
        self._recurse_list_callback = recurse_list_callback
        self._check_url()

    def _check_url(self) -> None:
        """Raise a ``SitemapException`` if such a document can't have this URL."""

    @abstractmethod
    def sitemap(self) -> AbstractSitemap:
        """Parse the document, and fetch the sitemaps that it declares."""


class IndexRobotsTxtSitemapParser(AbstractSitemapParser):
    """Parses a robots.txt."""

    def _check_url(self) -> None:
        if not urlsplit(self._url).path.endswith("/robots.txt"):
            raise SitemapException(f"URL {self._url} is not that of a robots.txt.")

    def sitemap(self) -> AbstractSitemap:
        """Parse it, and fetch the sitemaps that it declares."""
        return self._sitemap_of(inspect(Source.of(self._content, self._url), Kind.ROBOTS))


class PlainTextSitemapParser(AbstractSitemapParser):
    """Parses a plain text sitemap."""

    def sitemap(self) -> AbstractSitemap:
        """Parse it."""
        return self._sitemap_of(inspect(Source.of(self._content, self._url), Kind.TEXT))


class XMLSitemapParser(AbstractSitemapParser):
    """Parses an XML document; its root element decides the kind."""

    def sitemap(self) -> AbstractSitemap:
        """Parse it, and fetch its children; a document of no known kind is invalid."""
        document = inspect(Source.of(self._content, self._url))
        if document.kind in {Kind.TEXT, Kind.ROBOTS, Kind.JSON_FEED}:
            document = Document(self._url, Kind.INVALID, (), code="SM201", reason="It is not XML")
        return self._sitemap_of(document)


class AbstractXMLSitemapParser(ABC):
    """Parses a sitemap from the events of an XML parser, one call per event.

    Names of elements have the usual prefix of their namespace (``sitemap:loc``, ``news:title``) or
    none.
    """

    _kind: Kind

    def __init__(
        self,
        url: str,
        recurse_callback: RecurseCallbackType | None = None,
        recurse_list_callback: RecurseListCallbackType | None = None,
    ) -> None:
        self._url = url
        self._recurse_callback = recurse_callback
        self._recurse_list_callback = recurse_list_callback
        self._parser = PushParser(self._kind, url)

    def xml_element_start(self, name: str, attrs: dict[str, str]) -> None:
        """Take the start of an element; ``attrs`` may be None."""
        self._parser.start(name, attrs or {})

    def xml_element_end(self, name: str) -> None:
        """Take the end of an element."""
        self._parser.end(name)

    def xml_char_data(self, data: str) -> None:
        """Take character data."""
        self._parser.text(data)

    @abstractmethod
    def sitemap(self) -> AbstractSitemap:
        """Return the sitemap of the events so far."""


class IndexXMLSitemapParser(_Crawling, AbstractXMLSitemapParser):
    """Parses an XML sitemap index from events."""

    _kind = Kind.INDEX

    def __init__(
        self,
        url: str,
        web_client: AbstractWebClient | None,
        recursion_level: int,
        parent_urls: Iterable[str] | None = None,
        recurse_callback: RecurseCallbackType | None = None,
        recurse_list_callback: RecurseListCallbackType | None = None,
    ) -> None:
        super().__init__(url, recurse_callback, recurse_list_callback)
        self._web_client = web_client
        self._recursion_level = recursion_level
        self._parent_urls = frozenset(parent_urls or ())

    def sitemap(self) -> AbstractSitemap:
        """Return the index, with its children fetched."""
        parser = self._parser
        return self._sitemap_of(Document(self._url, self._kind, parser.pages(), parser.children()))


class _PagesParser(AbstractXMLSitemapParser):
    """Parses a sitemap of pages from events."""

    def __init__(self, url: str) -> None:
        super().__init__(url)

    def sitemap(self) -> AbstractSitemap:
        """Return the sitemap of the events so far."""
        document = Document(self._url, self._kind, self._parser.pages())
        return sitemap_for_document(self._url, document, [])


class PagesXMLSitemapParser(_PagesParser):
    """Parses an XML sitemap from events."""

    _kind = Kind.URLSET

    class Image:
        """The fields of an image as text; only the name is used, by programs for 1.8.1."""

        __slots__ = ("caption", "geo_location", "license", "loc", "title")

    class Page:
        """The fields of an entry as text; only the name is used, by programs for 1.8.1."""

        __slots__ = (
            "alternates",
            "change_frequency",
            "images",
            "last_modified",
            "news_access",
            "news_genres",
            "news_keywords",
            "news_publication_language",
            "news_publication_name",
            "news_publish_date",
            "news_stock_tickers",
            "news_title",
            "priority",
            "url",
        )


class PagesRSSSitemapParser(_PagesParser):
    """Parses an RSS feed from events."""

    _kind = Kind.RSS

    class Page:
        """The fields of an item as text; only the name is used, by programs for 1.8.1."""

        __slots__ = ("description", "link", "publication_date", "title")


class PagesAtomSitemapParser(_PagesParser):
    """Parses an Atom feed from events."""

    _kind = Kind.ATOM

    class Page:
        """The fields of an entry as text; only the name is used, by programs for 1.8.1."""

        __slots__ = ("description", "link", "publication_date", "title")
