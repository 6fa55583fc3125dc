"""A program that pushes XML events into the concrete parsers, as an expat handler would.

The root element is the handler's own; what is inside goes to the parser, with the prefixes
``sitemap:``, ``news:`` and ``image:`` for those vocabularies and no prefix for all others.
"""

import json
from typing import TypeAlias

from usp.fetch_parse import (
    AbstractXMLSitemapParser,
    IndexXMLSitemapParser,
    PagesAtomSitemapParser,
    PagesRSSSitemapParser,
    PagesXMLSitemapParser,
)
from usp.web_client.abstract_client import LocalWebClient

Node: TypeAlias = "tuple[str, dict[str, str], list[Node] | str]"
SITE = "https://pushed.example"


def push(parser: AbstractXMLSitemapParser, node: Node) -> None:
    name, attributes, inside = node
    parser.xml_element_start(name=name, attrs=attributes)
    if isinstance(inside, str):
        half = len(inside) // 2
        for part in (inside[:half], inside[half:]):
            parser.xml_char_data(data=part)
    else:
        for child in inside:
            push(parser, child)
    parser.xml_element_end(name=name)


def text(name: str, value: str) -> Node:
    return (name, {}, value)


URLSET: list[Node] = [
    (
        "sitemap:url",
        {},
        [
            text("sitemap:loc", f" {SITE}/a?x=1&y=2 "),
            text("sitemap:lastmod", "2022-05-06T07:08:09Z"),
            text("sitemap:changefreq", "hourly"),
            text("sitemap:priority", "0.25"),
            text("other:tag", "ignored"),
            (
                "news:news",
                {},
                [
                    (
                        "news:publication",
                        {},
                        [text("news:name", "Push"), text("news:language", "sv")],
                    ),
                    text("news:publication_date", "2022-05-06"),
                    text("news:title", "Pushed"),
                    text("news:access", "Registration"),
                    text("news:genres", "Blog, Opinion"),
                    text("news:keywords", "push, pull"),
                    text("news:stock_tickers", "STO:A, STO:B"),
                ],
            ),
            (
                "image:image",
                {},
                [
                    text("image:loc", f"{SITE}/a.jpg"),
                    text("image:caption", "A"),
                    text("image:geo_location", "Lund"),
                    text("image:title", "The A"),
                    text("image:license", f"{SITE}/licence"),
                ],
            ),
            (
                "link",
                {"rel": "alternate", "hreflang": "sv", "href": f"{SITE}/sv/a"},
                "",
            ),
        ],
    ),
    ("sitemap:url", {}, [text("sitemap:loc", f"{SITE}/b")]),
    ("sitemap:url", {}, [text("sitemap:loc", f"{SITE}/b")]),
]

INDEX: list[Node] = [
    ("sitemap:sitemap", {}, [text("sitemap:loc", f"{SITE}/1.xml")]),
    ("sitemap:sitemap", {}, [text("sitemap:loc", f"{SITE}/2.xml")]),
    ("sitemap:sitemap", {}, [text("sitemap:loc", f"{SITE}/1.xml")]),
]

RSS: list[Node] = [
    (
        "channel",
        {},
        [
            text("title", "The channel"),
            text("link", f"{SITE}/"),
            (
                "item",
                {},
                [
                    text("title", "First"),
                    text("link", f"{SITE}/first"),
                    text("pubDate", "Fri, 06 May 2022 07:08:09 GMT"),
                ],
            ),
            ("item", {}, [text("description", "No title"), text("link", f"{SITE}/second")]),
            ("item", {}, [text("title", "No link")]),
            ("item", {}, [text("link", f"{SITE}/neither-title-nor-description")]),
        ],
    )
]

ATOM: list[Node] = [
    text("title", "The feed"),
    ("link", {"href": f"{SITE}/"}, ""),
    (
        "entry",
        {},
        [
            text("title", "First"),
            ("link", {"href": f"{SITE}/first"}, ""),
            text("updated", "2022-05-06T07:08:09Z"),
        ],
    ),
    (
        "entry",
        {},
        [
            text("title", "Old"),
            ("link", {"rel": "alternate", "href": f"{SITE}/old"}, ""),
            text("issued", "2021-05-06T07:08:09Z"),
        ],
    ),
]


def result(parser: AbstractXMLSitemapParser, nodes: list[Node]) -> list[object]:
    for node in nodes:
        push(parser, node)
    sitemap = parser.sitemap()
    alternates = [page.alternates for page in sitemap.pages]
    return [type(sitemap).__name__, sitemap.to_dict(), alternates]


def index_parser() -> IndexXMLSitemapParser:
    return IndexXMLSitemapParser(f"{SITE}/i.xml", LocalWebClient(), 0, set())


print(
    json.dumps(
        {
            "urlset": result(PagesXMLSitemapParser(url=f"{SITE}/s.xml"), URLSET),
            "index": result(index_parser(), INDEX),
            "rss": result(PagesRSSSitemapParser(url=f"{SITE}/rss"), RSS),
            "atom": result(PagesAtomSitemapParser(url=f"{SITE}/atom"), ATOM),
            "nothing pushed": PagesXMLSitemapParser(url=f"{SITE}/s.xml").sitemap().to_dict(),
        },
        default=str,
    )
)
