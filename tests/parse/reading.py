"""Helpers that write documents and read them, without fetching.

``u(x)`` is one plain entry and ``urlset(...)`` a valid sitemap around entries. The other functions
read a document, text or bytes, and return the part that a test compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from usp._parse.children import Child
from usp._parse.document import Source, inspect
from usp._parse.input.sniff import Kind
from usp.fetch_parse import IndexRobotsTxtSitemapParser, XMLSitemapParser
from usp.objects.abstract_sitemap import HasProblems
from usp.objects.page import SitemapPage
from usp.objects.problem import Problem
from usp.objects.sitemap import AbstractSitemap
from usp.tree import sitemap_from_str
from usp.web_client.abstract_client import LocalWebClient

SM: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
NEWS: Final = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
IMAGE: Final = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
VIDEO: Final = 'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
XHTML: Final = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
ALL: Final = f"{SM} {NEWS} {IMAGE} {VIDEO} {XHTML}"


def u(url: str, more: str = "") -> str:
    return f"<url><loc>{url}</loc>{more}</url>"


def urlset(*entries: str, namespaces: str = ALL) -> str:
    return f"<urlset {namespaces}>{''.join(entries)}</urlset>"


def index(*urls: str) -> str:
    children = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex {SM}>{children}</sitemapindex>"


def rss(*items: str, namespaces: str = "") -> str:
    return f'<rss version="2.0" {namespaces}><channel>{"".join(items)}</channel></rss>'


def atom(*entries: str) -> str:
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{"".join(entries)}</feed>'


def urls(document: str | bytes) -> list[str]:
    return [page.url for page in sitemap_from_str(document).pages]


def page(document: str | bytes) -> SitemapPage:
    """The only page of a document."""
    (only,) = sitemap_from_str(document).pages
    return only


def children(document: str | bytes) -> list[str]:
    return [child.url for child in sitemap_from_str(document).sub_sitemaps]


def problems(document: str | bytes) -> tuple[Problem, ...]:
    return sitemap_from_str(document).problems


def read_at(url: str, document: str) -> AbstractSitemap:
    """An XML document, read as if it had been fetched from this URL."""
    return XMLSitemapParser(url, document, 0, LocalWebClient(), set()).sitemap()


def declared(robots: str, url: str = "http://h.example/robots.txt") -> list[str]:
    """The sitemaps that a robots.txt declares."""
    parser = IndexRobotsTxtSitemapParser(url, robots, 0, LocalWebClient(), set())
    return [child.url for child in parser.sitemap().sub_sitemaps]


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that is read from a document."""

    kind: Kind
    reason: str
    children: tuple[Child, ...]
    pages: tuple[dict[str, Any], ...]
    problems: tuple[Problem, ...]
    complete: bool

    @property
    def found(self) -> list[dict[str, Any] | Child]:
        """What the document lists: the children of an index, else its pages."""
        return list(self.children if self.kind is Kind.INDEX else self.pages)

    @property
    def urls(self) -> list[str]:
        return [child.url for child in self.children] or [page["url"] for page in self.pages]


def read(*chunks: bytes, url: str | None = None, charset: str | None = None) -> Reading:
    document = inspect(Source(list(chunks), url, charset=charset))
    pages = tuple(page.to_dict(extended=True) for page in document.pages)
    assert isinstance(document.pages, HasProblems)
    return Reading(
        document.kind,
        document.reason,
        document.children,
        pages,
        document.pages.problems,
        complete=document.kind is not Kind.INVALID and document.pages.complete,
    )
