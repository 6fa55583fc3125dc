"""A program that calls the parsers directly, with no client where nothing is to be fetched."""

import json
from collections.abc import Callable
from typing import Any

from usp.exceptions import SitemapException
from usp.fetch_parse import (
    IndexRobotsTxtSitemapParser,
    IndexXMLSitemapParser,
    PagesAtomSitemapParser,
    PagesRSSSitemapParser,
    PagesXMLSitemapParser,
    PlainTextSitemapParser,
    XMLSitemapParser,
)
from usp.objects.sitemap import AbstractSitemap

SITE = "https://direct.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
URLSET = f"<urlset {SM}><url><loc>{SITE}/page</loc></url></urlset>"
EMPTY_INDEX = f"<sitemapindex {SM}></sitemapindex>"
INDEX = f"<sitemapindex {SM}><sitemap><loc>http://localhost:1/s.xml</loc></sitemap></sitemapindex>"
RSS = (
    f"<rss version='2.0'><channel><item><title>Item</title><link>{SITE}/item</link>"
    "</item></channel></rss>"
)
NO_CLIENT: Any = None


def shape(sitemap: AbstractSitemap) -> list[object]:
    return [
        type(sitemap).__name__,
        sitemap.url,
        [page.url for page in sitemap.pages],
        [shape(below) for below in sitemap.sub_sitemaps],
    ]


def outcome(parser: Callable[[], Any]) -> object:
    try:
        return shape(parser().sitemap())
    except SitemapException:
        return "raised SitemapException"


def xml(content: str | bytes, parents: Any, url: Any = f"{SITE}/s.xml") -> object:
    return outcome(lambda: XMLSitemapParser(url, content, 0, NO_CLIENT, parents))


def text(content: str, parents: Any, url: Any = f"{SITE}/s.txt") -> object:
    return outcome(lambda: PlainTextSitemapParser(url, content, 0, NO_CLIENT, parents))


def robots(content: str, parents: Any, url: str = f"{SITE}/robots.txt") -> object:
    return outcome(lambda: IndexRobotsTxtSitemapParser(url, content, 0, NO_CLIENT, parents))


def pushed(parser: Any, *names: str) -> object:
    """What comes of the start, the text and the end of elements without attributes."""
    for name in names:
        parser.xml_element_start(name, None)
    parser.xml_char_data(f"{SITE}/pushed")
    for name in reversed(names):
        parser.xml_element_end(name)
    return shape(parser.sitemap())


facts = {
    "XML": [xml(URLSET, set()), xml(URLSET, None), xml(URLSET.encode(), set())],
    "no XML": [xml("", set()), xml("text", None), xml("<html></html>", set())],
    "XML feed": xml(RSS, None),
    "empty index": xml(EMPTY_INDEX, set()),
    "index with a child that no one answers": xml(INDEX, set()),
    "text": [text(f"{SITE}/a\n", set()), text("", None), text("none\n", set())],
    "robots.txt": [robots("User-agent: *", set()), robots("", set())],
    "robots.txt elsewhere": robots("", set(), f"{SITE}/robots"),
    "without a URL": [xml(URLSET, set(), None), text(f"{SITE}/a", set(), None)],
    "pushed urlset": pushed(PagesXMLSitemapParser(f"{SITE}/s"), "sitemap:url", "sitemap:loc"),
    "pushed RSS": shape(PagesRSSSitemapParser(f"{SITE}/s").sitemap()),
    "pushed Atom": shape(PagesAtomSitemapParser(f"{SITE}/s").sitemap()),
    "pushed index without children": shape(
        IndexXMLSitemapParser(f"{SITE}/s", NO_CLIENT, 0, set()).sitemap()
    ),
}
print(json.dumps(facts))
