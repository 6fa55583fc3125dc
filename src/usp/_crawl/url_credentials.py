"""User and password of URLs, kept apart from the URLs of a crawl.

They enter with a start URL or with a sitemap that a document lists, and leave with the request for
it. Everything between them, the tree included, has URLs without credentials.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import urldefrag, urlsplit

from usp._crawl.discovery import StartUrl
from usp._crawl.messages import FetchFailed, TruncatedBody
from usp._crawl.scheme_choice import Site
from usp._display import without_credentials
from usp._parse import Document, is_http_url


class UrlCredentials:
    """The credentials in the URLs of one crawl, as they are written there."""

    def __init__(self) -> None:
        self._of_hosts: dict[str, tuple[str, str]] = {}
        """Those of start URLs, with their scheme: sent with every request to the same host."""
        self._of_urls: dict[str, str] = {}
        """Those of URLs that a document lists: sent with the request for that URL only."""

    def site(self, site: Site) -> Site:
        """Return what a crawl starts with, without credentials in its URLs."""
        return Site(self._start_url(site.name), tuple(self._start_urls(site.start_urls)))

    def _start_urls(self, start_urls: Iterable[StartUrl]) -> Iterator[StartUrl]:
        for start in start_urls:
            if start.document is not None:  # a file has a name and no credentials
                self.learn(start.document)
                yield start
                continue
            query = start.homepage
            urls = (start.url, query.url if query else "", *start.parents)
            if not any("@" in url for url in urls):  # nearly always
                yield start
                continue
            if query is not None:
                query = replace(query, url=without_credentials(query.url))
            parents = frozenset(map(without_credentials, start.parents))
            yield replace(start, url=self._start_url(start.url), homepage=query, parents=parents)

    def _start_url(self, url: str) -> str:
        """Return a start URL without its credentials, which every request to its host gets."""
        if found := _userinfo(url):
            scheme, host = _scheme_and_host(url)
            self._of_hosts.setdefault(host, (found, scheme))
        return without_credentials(url) if found else url

    def learn(self, result: Document | TruncatedBody | FetchFailed) -> None:
        """Keep the credentials of the sitemaps that a document lists."""
        document = result.document if isinstance(result, TruncatedBody) else result
        for child in document.children if isinstance(document, Document) else ():
            if child.userinfo:
                self._of_urls.setdefault(urldefrag(child.url).url, child.userinfo)

    def url_to_request(self, url: str) -> str:
        """Return a URL with its credentials, if it has any.

        Those of an https URL never go out over http. A URL that has its own, such as that of an
        image, keeps them.
        """
        if _userinfo(url) or not (self._of_hosts or self._of_urls):
            return url
        found = self._of_urls.get(url)
        if found is None:
            scheme, host = _scheme_and_host(url)
            found, given_for = self._of_hosts.get(host, ("", ""))
            if given_for == "https" != scheme:
                found = ""
        return url.replace("//", f"//{found}@", 1) if found else url


def _userinfo(url: str) -> str:
    """Return the user and password of an HTTP(S) URL, as they are written there."""
    return urlsplit(url).netloc.rpartition("@")[0] if "@" in url and is_http_url(url) else ""


def _scheme_and_host(url: str) -> tuple[str, str]:
    """Return the scheme of a URL, and its host with the port, unless that is the default."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return parts.scheme, host.removesuffix(":443" if parts.scheme == "https" else ":80")
