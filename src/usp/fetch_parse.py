"""The names of the start_urls' flowchart, thin over the rooms below.

Each class is here because programs written for 1.8.1 may use it directly; none of them knows how to
parse or to fetch. ``sitemap()`` gives what the signature promises: a parser of pages reads the text
it was given, one of an index also fetches its children, with the client it was given.
"""

from abc import ABC, abstractmethod
from typing import Final
from urllib.parse import urlsplit

from usp._crawl import Crawl
from usp._crawl.assembly import sitemap_for_document, subtree
from usp._crawl.discovery import StartUrl
from usp._crawl.nodes import rejection
from usp._crawl.options import CrawlOptions, RecurseCallback, RecurseListCallback
from usp._crawl.policy import Policy
from usp._drive.run import run as drive
from usp._parse import Document, Kind, PushParser, Source, inspect
from usp.exceptions import SitemapException
from usp.objects.outcome import FoundBy
from usp.objects.sitemap import AbstractSitemap, InvalidSitemap
from usp.web_client import default_client
from usp.web_client.abstract_client import AbstractWebClient, LocalWebClient

_POLICY: Final = Policy()
_STRING_URL: Final = "http://usp-local-dummy.local/"
"""The URL of a sitemap that was given as a string; 1.8.1's, since programs compare it."""


def _run(
    start_url: StartUrl,
    client: AbstractWebClient,
    recurse_callback: RecurseCallback | None,
    recurse_list_callback: RecurseListCallback | None,
) -> AbstractSitemap:
    """Crawl what one start_url leads to."""
    options = CrawlOptions(recurse_callback, recurse_list_callback)
    crawl = Crawl._started(start_url.url, [start_url], _POLICY, options)
    drive(crawl, client, start_url.url)
    found = subtree(crawl._cursor.roots[0], crawl._cursor.selection)
    return found if found is not None else InvalidSitemap(start_url.url, "Nothing was found")


def parse_string(content: str | bytes) -> AbstractSitemap:
    """Read a sitemap that is at hand; its children stand in it unfetched."""
    if not isinstance(content, str | bytes):
        raise SitemapException(f"A sitemap is str or bytes, not {type(content).__name__}.")
    document = inspect(Source.of(content))
    children: list[AbstractSitemap] = [
        InvalidSitemap(child.url, "The child sitemap was not fetched", code="SM605")
        for child in document.children
    ]
    return sitemap_for_document(_STRING_URL, document, children)


class SitemapFetcher:
    """Fetches a sitemap with all that it leads to."""

    def __init__(
        self,
        url: str,
        recursion_level: int,
        web_client: AbstractWebClient | None = None,
        parent_urls: set[str] | None = None,
        quiet_404: bool = False,
        recurse_callback: RecurseCallback | None = None,
        recurse_list_callback: RecurseListCallback | None = None,
    ) -> None:
        """Prepare to fetch a sitemap.

        :raises SitemapException: if the URL is not an HTTP(S) one, lies too deep, or is among those
            of its parents.
        """
        parents = frozenset(parent_urls or ())
        if refused := rejection(url, recursion_level, parents, _POLICY):
            raise SitemapException(refused[1])
        self._seed = StartUrl(url, FoundBy.GIVEN, recursion_level, parents, quiet=quiet_404)
        self._web_client = web_client or default_client()
        self._callbacks = (recurse_callback, recurse_list_callback)

    def sitemap(self) -> AbstractSitemap:
        """Fetch and read it; a failure is an ``InvalidSitemap``."""
        return _run(self._seed, self._web_client, *self._callbacks)


class SitemapStrParser(SitemapFetcher):
    """Reads a sitemap that is at hand; nothing is fetched."""

    def __init__(self, static_content: str) -> None:
        super().__init__(_STRING_URL, recursion_level=0, web_client=LocalWebClient())
        self._content = static_content

    def sitemap(self) -> AbstractSitemap:
        """Read it."""
        return parse_string(self._content)


class AbstractSitemapParser(ABC):
    """Reads a document that was fetched."""

    def __init__(
        self,
        url: str,
        content: str | bytes,
        recursion_level: int,
        web_client: AbstractWebClient,
        parent_urls: set[str],
        recurse_callback: RecurseCallback | None = None,
        recurse_list_callback: RecurseListCallback | None = None,
    ) -> None:
        self._url = url
        self._content = content
        self._recursion_level = recursion_level
        self._web_client = web_client
        self._parent_urls = frozenset(parent_urls)
        self._callbacks = (recurse_callback, recurse_list_callback)
        self._check_url()

    def _check_url(self) -> None:  # noqa: B027 -- most documents may have any URL
        """Raise a ``SitemapException`` if the URL isn't that of such a document."""

    @abstractmethod
    def sitemap(self) -> AbstractSitemap:
        """Read the document, and fetch what it leads to."""

    def _sitemap_as(self, kind: Kind) -> AbstractSitemap:
        return self._crawl(inspect(Source.of(self._content, self._url), kind))

    def _crawl(self, document: Document) -> AbstractSitemap:
        start_url = StartUrl(
            self._url, FoundBy.GIVEN, self._recursion_level, self._parent_urls, document
        )
        return _run(start_url, self._web_client, *self._callbacks)


class IndexRobotsTxtSitemapParser(AbstractSitemapParser):
    """Reads a robots.txt."""

    def _check_url(self) -> None:
        if not urlsplit(self._url).path.endswith("/robots.txt"):
            raise SitemapException(f"URL {self._url} is not that of a robots.txt.")

    def sitemap(self) -> AbstractSitemap:
        """Read it, and fetch the sitemaps that it declares."""
        return self._sitemap_as(Kind.ROBOTS)


class PlainTextSitemapParser(AbstractSitemapParser):
    """Reads a plain text sitemap."""

    def sitemap(self) -> AbstractSitemap:
        """Read it."""
        return self._sitemap_as(Kind.TEXT)


class XMLSitemapParser(AbstractSitemapParser):
    """Reads an XML document, by its root element."""

    def sitemap(self) -> AbstractSitemap:
        """Read it, and fetch what it leads to; a document of no known kind is invalid."""
        document = inspect(Source.of(self._content, self._url))
        if document.kind in {Kind.TEXT, Kind.ROBOTS, Kind.JSON_FEED}:
            document = Document(self._url, Kind.INVALID, (), code="SM201", reason="It is not XML")
        return self._crawl(document)


class AbstractXMLSitemapParser(ABC):
    """Reads a sitemap from the events of an XML parser, one call an event.

    NamespaceScope have the usual prefix of their namespace (``sitemap:loc``, ``news:title``) or none.
    """

    _kind: Kind

    def __init__(
        self,
        url: str,
        recurse_callback: RecurseCallback | None = None,
        recurse_list_callback: RecurseListCallback | None = None,
    ) -> None:
        self._url = url
        self._callbacks = (recurse_callback, recurse_list_callback)
        self._parser = PushParser(self._kind, url)

    def xml_element_start(self, name: str, attrs: dict[str, str]) -> None:
        """Take the start of an element."""
        self._parser.start(name, attrs)

    def xml_element_end(self, name: str) -> None:
        """Take the end of an element."""
        self._parser.end(name)

    def xml_char_data(self, data: str) -> None:
        """Take character data."""
        self._parser.text(data)

    @abstractmethod
    def sitemap(self) -> AbstractSitemap:
        """Return the sitemap, as far as it has been read."""


class IndexXMLSitemapParser(AbstractXMLSitemapParser):
    """Reads an XML sitemap index from events."""

    _kind = Kind.INDEX

    def __init__(
        self,
        url: str,
        web_client: AbstractWebClient,
        recursion_level: int,
        parent_urls: set[str],
        recurse_callback: RecurseCallback | None = None,
        recurse_list_callback: RecurseListCallback | None = None,
    ) -> None:
        super().__init__(url, recurse_callback, recurse_list_callback)
        self._web_client = web_client
        self._recursion_level = recursion_level
        self._parent_urls = frozenset(parent_urls)

    def sitemap(self) -> AbstractSitemap:
        """Return the index, with its children fetched."""
        parser = self._parser
        document = Document(self._url, self._kind, parser.pages(), parser.children())
        start_url = StartUrl(
            self._url, FoundBy.GIVEN, self._recursion_level, self._parent_urls, document
        )
        return _run(start_url, self._web_client, *self._callbacks)


class _PagesParser(AbstractXMLSitemapParser):
    """Reads a sitemap of pages from events."""

    def __init__(self, url: str) -> None:
        super().__init__(url)

    def sitemap(self) -> AbstractSitemap:
        """Return the sitemap, as far as it has been read."""
        return sitemap_for_document(
            self._url, Document(self._url, self._kind, self._parser.pages()), []
        )


class PagesXMLSitemapParser(_PagesParser):
    """Reads an XML sitemap from events."""

    _kind = Kind.URLSET

    class Image:
        """What an image says, as text; kept for its name."""

        __slots__ = ("caption", "geo_location", "license", "loc", "title")

    class Page:
        """What an entry says, as text; kept for its name."""

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
    """Reads an RSS feed from events."""

    _kind = Kind.RSS

    class Page:
        """What an item says, as text; kept for its name."""

        __slots__ = ("description", "link", "publication_date", "title")


class PagesAtomSitemapParser(_PagesParser):
    """Reads an Atom feed from events."""

    _kind = Kind.ATOM

    class Page:
        """What an entry says, as text; kept for its name."""

        __slots__ = ("description", "link", "publication_date", "title")
