"""How the inputs of the rows of ``what-counts.md`` are parsed, and what of them is compared.

In a section that ``TEMPLATES`` names, each quoted text of the "input" column is inserted into the
template of the section and parsed. Any other row has its document in ``input_documents.py``, under
the same words as on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

from tests.parse.reading import atom, read_at, rss, u, urlset
from tests.server import Answer, LoopbackServer
from usp import Policy
from usp.fetch_parse import IndexRobotsTxtSitemapParser, SitemapFetcher
from usp.objects.page import SitemapNewsStory, SitemapPage
from usp.objects.sitemap import AbstractSitemap
from usp.tree import sitemap_from_str, sitemap_tree_for_homepage
from usp.web_client.abstract_client import LocalWebClient


@dataclass(frozen=True, slots=True)
class AtUrl:
    """A text, parsed as if it had been fetched from this URL."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Served:
    """A response of a real server at this path."""

    path: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Limited:
    """A document of a site that is crawled with this limit of bytes per document."""

    limit: int
    text: str


View: TypeAlias = Callable[[AbstractSitemap], list[str]]
Document: TypeAlias = str | bytes | AtUrl | Served | Limited
Input: TypeAlias = Document | tuple[Document, View]


def parse(document: Document) -> AbstractSitemap:
    match document:
        case Served(path, body, headers):
            with LoopbackServer() as server:
                server.site[path] = Answer(body=body, headers=headers)
                return SitemapFetcher(server.at(path), 0).sitemap()
        case Limited(limit, text):
            with LoopbackServer() as server:
                server.site["/sitemap.xml"] = text
                policy = Policy(max_document_bytes=limit)
                (sitemap,) = sitemap_tree_for_homepage(server.url, policy=policy).sub_sitemaps
                return sitemap
        case AtUrl(url, text) if url.endswith("/robots.txt"):
            return IndexRobotsTxtSitemapParser(url, text, 0, LocalWebClient(), set()).sitemap()
        case AtUrl(url, text):
            return read_at(url, text)
        case _:
            return sitemap_from_str(document)


def text_of(document: Document) -> str:
    """The document as text, in which the quotes of a row must occur."""
    match document:
        case AtUrl() | Limited():
            return document.text
        case Served():
            headers = (f"{name}: {value}" for name, value in document.headers.items())
            return "\n".join([document.path, *headers, document.body.decode("latin-1")])
        case bytes():
            return document.decode("utf-16" if document[:2] == b"\xff\xfe" else "latin-1")
        case _:
            return document


A, B, C = "http://h/a", "http://h/b", "http://h/c"


# What a row compares of a sitemap


def listed(sitemap: AbstractSitemap) -> list[str]:
    """The pages, then the sub-sitemaps, by their short names."""
    pages = [short(page.url) for page in sitemap.pages]
    return pages + [f">{short(child.url)}" for child in sitemap.sub_sitemaps]


def short(url: str) -> str:
    return url.removeprefix("http://h/") if url in {A, B, C} else url


def kind(sitemap: AbstractSitemap) -> list[str]:
    return [type(sitemap).__name__, *listed(sitemap)]


def first(show: Callable[[SitemapPage], list[str]]) -> View:
    """Fields of the page ``a``, which must be the first."""

    def view(sitemap: AbstractSitemap) -> list[str]:
        page = sitemap.pages[0]
        assert page.url == A
        return show(page)

    return view


def iso(moment: datetime | None) -> str:
    return moment.isoformat() if moment else "None"


def story(page: SitemapPage) -> SitemapNewsStory:
    assert page.news_story is not None
    return page.news_story


def urls(sitemap: AbstractSitemap) -> list[str]:
    return [page.url for page in sitemap.pages]


images: Final = first(lambda page: [image.loc for image in page.images or []])
title: Final = first(lambda page: [page.title or "None"])
dated: Final = first(lambda page: [iso(story(page).publish_date)])


alternates: Final = first(lambda page: [part for pair in page.alternates or [] for part in pair])


def with_image(sitemap: AbstractSitemap) -> list[str]:
    return [*listed(sitemap), *images(sitemap)]


def between(sitemap: AbstractSitemap) -> list[str]:
    """The pages between those of the valid entries ``a`` and ``c``."""
    before, *pages, after = urls(sitemap)
    assert (before, after) == (A, C)
    return pages


# The templates of sections

DECLARATION: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


def item(inside: str) -> str:
    return f"<item>{inside}</item>"


def entry(inside: str) -> str:
    return f"<entry>{inside}</entry>"


def robots(text: str) -> AtUrl:
    return AtUrl("http://h/robots.txt", text)


def feed(*items: str) -> str:
    names = 'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    return rss(*items, namespaces=f'{names} xmlns:media="http://search.yahoo.com/mrss/"')


def priority_or_frequency(page: SitemapPage) -> list[str]:
    frequency = page.change_frequency
    return [frequency.value if frequency else str(page.priority)]


TEMPLATES: Final[dict[str, tuple[Callable[[str], Document], View]]] = {
    "Malformed XML": (lambda text: urlset(u(A), text, u(C)), between),
    "URLs": (lambda text: AtUrl("http://h/maps/s.xml", urlset(u(text))), urls),
    "Dates": (
        lambda text: urlset(u(A, f"<lastmod>{text}</lastmod>")),
        first(lambda page: [iso(page.last_modified)]),
    ),
    "Priorities and frequencies": (lambda text: urlset(u(A, text)), first(priority_or_frequency)),
    "robots.txt": (robots, listed),
    "RSS": (lambda text: feed(item(text)), listed),
    "Atom": (lambda text: atom(entry(text)), listed),
}
