"""A program that uses SitemapFetcher and related classes, with valid and invalid arguments."""

import json
from collections.abc import Callable

from usp.exceptions import SitemapException
from usp.fetch_parse import (
    IndexRobotsTxtSitemapParser,
    PlainTextSitemapParser,
    SitemapFetcher,
    SitemapStrParser,
    XMLSitemapParser,
)
from usp.objects.sitemap import AbstractSitemap
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    LocalWebClient,
    LocalWebClientSuccessResponse,
    NoWebClientException,
    WebClientErrorResponse,
)

SITE = "https://fetched.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
URLSET = f"<urlset {SM}><url><loc>{SITE}/page</loc></url></urlset>"
INDEX = f"<sitemapindex {SM}><sitemap><loc>{SITE}/pages.xml</loc></sitemap></sitemapindex>"
ROBOTS = f"User-agent: *\nSITEMAP: {SITE}/pages.xml\nsite-map:{SITE}/list.txt"
TEXT = f"{SITE}/one\n\n  {SITE}/two  \nmailto:x@example.org\n"
DOCUMENTS = {
    "/robots.txt": ROBOTS,
    "/index.xml": INDEX,
    "/pages.xml": "\n \t" + URLSET,
    "/list.txt": TEXT,
    "/page.html": "<html><body>Hello</body></html>",
    "/empty.xml": "",
    "/moved.xml": URLSET,
}


class SiteClient(AbstractWebClient):
    """The documents above; moved.xml answers as if it had been redirected."""

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        path = url.removeprefix(SITE)
        if path not in DOCUMENTS:
            return WebClientErrorResponse(message="404 Not Found", retryable=False)
        final = f"{SITE}/new-home.xml" if path == "/moved.xml" else url
        return LocalWebClientSuccessResponse(url=final, data=DOCUMENTS[path])


def told(sitemap: AbstractSitemap) -> list[object]:
    return [type(sitemap).__name__, sitemap.to_dict()]


def outcome(call: Callable[[], AbstractSitemap]) -> object:
    try:
        return told(call())
    except SitemapException:
        return "raised SitemapException"
    except NoWebClientException:
        return "raised NoWebClientException"


def fetch(path: str) -> object:
    return outcome(lambda: SitemapFetcher(SITE + path, 0, web_client=SiteClient()).sitemap())


def at_level(level: int) -> object:
    return outcome(
        lambda: SitemapFetcher(f"{SITE}/pages.xml", level, web_client=SiteClient()).sitemap()
    )


def with_parents(path: str, parent: str) -> object:
    return outcome(
        lambda: SitemapFetcher(
            SITE + path, 3, web_client=SiteClient(), parent_urls={SITE + parent}
        ).sitemap()
    )


print(
    json.dumps(
        {
            "each kind": {path: fetch(path) for path in DOCUMENTS if path != "/empty.xml"},
            "missing": fetch("/missing.xml"),
            "empty body": fetch("/empty.xml"),
            "level 11": at_level(11),
            "level 12": at_level(12),
            "own ancestor": with_parents("/pages.xml", "/pages.xml"),
            "redirected to an ancestor": with_parents("/moved.xml", "/new-home.xml"),
            "not http": outcome(lambda: SitemapFetcher("ftp://fetched.example/", 0).sitemap()),
            "from a string": outcome(SitemapStrParser(static_content=URLSET).sitemap),
            "XMLSitemapParser": outcome(
                XMLSitemapParser(f"{SITE}/s.xml", URLSET, 0, SiteClient(), set()).sitemap
            ),
            "XMLSitemapParser with an index": outcome(
                XMLSitemapParser(f"{SITE}/i.xml", INDEX, 0, SiteClient(), set()).sitemap
            ),
            "IndexRobotsTxtSitemapParser": outcome(
                IndexRobotsTxtSitemapParser(
                    f"{SITE}/robots.txt", ROBOTS, 0, SiteClient(), set()
                ).sitemap
            ),
            "PlainTextSitemapParser": outcome(
                PlainTextSitemapParser(f"{SITE}/t.txt", TEXT, 0, SiteClient(), set()).sitemap
            ),
            "without a client": outcome(
                XMLSitemapParser(f"{SITE}/i.xml", INDEX, 0, LocalWebClient(), set()).sitemap
            ),
        },
        default=str,
    )
)
