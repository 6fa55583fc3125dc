"""Sitemaps and pages as objects: equality, hashes, dictionaries, reprs, iteration.

An object that was read from a document equals one that the caller builds.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from itertools import product

import pytest

from tests.parse.reading import page, u, urlset
from usp.objects.page import (
    SitemapImage,
    SitemapNewsStory,
    SitemapPage,
    SitemapPageChangeFrequency,
)
from usp.objects.sitemap import (
    AbstractSitemap,
    IndexRobotsTxtSitemap,
    IndexWebsiteSitemap,
    IndexXMLSitemap,
    InvalidSitemap,
    PagesAtomSitemap,
    PagesRSSSitemap,
    PagesTextSitemap,
    PagesXMLSitemap,
)
from usp.tree import sitemap_from_str

A = "http://h.example/a"
DATE = datetime(2020, 5, 6, tzinfo=UTC)
PAGES_KINDS = (PagesXMLSitemap, PagesTextSitemap, PagesRSSSitemap, PagesAtomSitemap)
INDEX_KINDS = (IndexWebsiteSitemap, IndexXMLSitemap, IndexRobotsTxtSitemap)

SITEMAPS: list[AbstractSitemap] = [
    *(kind(A, [SitemapPage(A)]) for kind in PAGES_KINDS),
    *(kind(A, [InvalidSitemap(A, "no")]) for kind in INDEX_KINDS),
    InvalidSitemap(A, "no"),
    sitemap_from_str(urlset(u(A))),
]
VALUES = [
    SitemapPage(A),
    SitemapImage(A),
    SitemapNewsStory("T", DATE),
    page(urlset(u(A))),
]
ANYTHING: list[object] = [*SITEMAPS, *VALUES, None, 0, "", A, object(), [], SitemapPage]

FULL = u(
    A,
    "<lastmod>2020-05-06T00:00:00Z</lastmod><changefreq>daily</changefreq>"
    "<priority>0.9</priority><news:news><news:publication><news:name>N</news:name>"
    "<news:language>en</news:language></news:publication><news:access>Subscription</news:access>"
    "<news:genres>Blog</news:genres><news:publication_date>2020-05-06T00:00:00Z"
    "</news:publication_date><news:title>T</news:title><news:keywords>a, b</news:keywords>"
    "<news:stock_tickers>X:Y</news:stock_tickers></news:news>"
    "<image:image><image:loc>http://h/i</image:loc><image:title>I</image:title></image:image>"
    '<xhtml:link rel="alternate" hreflang="de" href="http://h/de"/>',
)
BUILT = SitemapPage(
    A,
    Decimal("0.9"),
    DATE,
    SitemapPageChangeFrequency.DAILY,
    SitemapNewsStory("T", DATE, "N", "en", "Subscription", ["Blog"], ["a", "b"], ["X:Y"]),
    [SitemapImage("http://h/i", title="I")],
    [("de", "http://h/de")],
)


@pytest.mark.parametrize("value", [*SITEMAPS, *VALUES], ids=lambda value: type(value).__name__)
def test_comparing_with_anything_is_true_or_false(value: object) -> None:
    for other in ANYTHING:
        assert isinstance(value == other, bool)
        assert (value == other) is not (value != other)
        assert (value == other) == (other == value)


def test_nothing_equals_none() -> None:
    assert not [value for value in (*SITEMAPS, *VALUES) if value == None]  # noqa: E711  # on purpose


def test_sitemaps_of_two_kinds_are_never_equal() -> None:
    built = SITEMAPS[:-1]
    assert [one == other for one, other in product(built, built)].count(True) == len(built)


def test_a_page_that_was_read_equals_one_that_was_built() -> None:
    read = page(urlset(FULL))
    assert read == BUILT
    assert hash(read) == hash(BUILT)
    assert read.to_dict() == BUILT.to_dict()
    assert repr(read) == repr(BUILT)


DIFFERENCES = [
    {"url": "http://h.example/b"},
    {"priority": Decimal("0.4")},
    {"last_modified": DATE},
    {"change_frequency": SitemapPageChangeFrequency.NEVER},
    {"news_story": SitemapNewsStory("T", DATE)},
    {"images": [SitemapImage("http://h/i")]},
    {"alternates": [("de", "http://h/de")]},
]


@pytest.mark.parametrize("change", DIFFERENCES, ids=lambda change: next(iter(change)))
def test_pages_compare_every_field(change: dict[str, object]) -> None:
    changed = SitemapPage(**({"url": A} | change))  # type: ignore[arg-type]  # a table of fields
    assert changed != SitemapPage(A)


def test_pages_hash_by_url_alone() -> None:
    assert hash(SitemapPage(A)) == hash(SitemapPage(A, Decimal(1)))
    assert len({SitemapPage(A), SitemapPage(A), BUILT}) == 2


def test_stories_and_images_can_be_hashed() -> None:
    story, image = BUILT.news_story, BUILT.images
    assert story is not None
    assert image is not None
    assert len({story, SitemapNewsStory("T", DATE), *image}) == 3
    again = SitemapNewsStory("T", DATE, "N", "en", "Subscription", ["Blog"], ["a", "b"], ["X:Y"])
    assert hash(again) == hash(story)


PAGE_KEYS = {"url", "priority", "last_modified", "change_frequency", "news_story", "images"}


def test_keys_of_a_bare_page() -> None:
    assert page(urlset(u(A))).to_dict() == {
        "url": A,
        "priority": Decimal("0.5"),
        "last_modified": None,
        "change_frequency": None,
        "news_story": None,
        "images": None,
    }


def test_keys_of_a_full_page() -> None:
    dictionary = page(urlset(FULL)).to_dict()
    assert dictionary.keys() == PAGE_KEYS | {"alternates"}
    assert dictionary["change_frequency"] == "daily"
    assert dictionary["alternates"] == [("de", "http://h/de")]
    assert dictionary["news_story"] == {
        "title": "T",
        "publish_date": DATE,
        "publication_name": "N",
        "publication_language": "en",
        "access": "Subscription",
        "genres": ["Blog"],
        "keywords": ["a", "b"],
        "stock_tickers": ["X:Y"],
    }
    assert dictionary["images"] == [
        {
            "loc": "http://h/i",
            "caption": None,
            "geo_location": None,
            "title": "I",
            "license": None,
        }
    ]


@pytest.mark.parametrize("kind", PAGES_KINDS)
def test_keys_of_a_pages_sitemap(kind: type[PagesXMLSitemap]) -> None:
    sitemap = kind(A, [SitemapPage(A)])
    assert sitemap.to_dict().keys() == {"url", "pages"}
    assert sitemap.to_dict(with_pages=False) == {"url": A}


@pytest.mark.parametrize("kind", INDEX_KINDS)
def test_keys_of_an_index(kind: type[IndexXMLSitemap]) -> None:
    inner = PagesXMLSitemap(A, [SitemapPage(A)])
    sitemap = kind(A, [inner, InvalidSitemap(A, "no")])
    assert sitemap.to_dict() == {
        "url": A,
        "sub_sitemaps": [inner.to_dict(), {"url": A, "reason": "no"}],
    }
    assert sitemap.to_dict(with_pages=False)["sub_sitemaps"][0] == {"url": A}


def test_problems_are_not_part_of_equality_or_dictionaries() -> None:
    valid, malformed = sitemap_from_str(urlset(u(A))), sitemap_from_str(urlset("<url/>", u(A)))
    assert malformed.problems
    assert not valid.problems
    assert valid == malformed
    assert hash(valid) == hash(malformed)
    assert valid.to_dict() == malformed.to_dict()


def test_pages_is_a_new_list_each_time() -> None:
    sitemap = sitemap_from_str(urlset(u(A)))
    first = sitemap.pages
    first.clear()
    assert [found.url for found in sitemap.pages] == [A]


def test_repr_stays_short_on_a_million_pages() -> None:
    sitemap = PagesXMLSitemap(A, [SitemapPage(A)] * 1_000_000)
    assert len(repr(sitemap)) < 2000
    assert repr(sitemap).startswith(f"PagesXMLSitemap(url={A}")
    assert len(repr(IndexXMLSitemap(A, [sitemap] * 50_000))) < 2000


def test_repr_of_a_read_sitemap_is_short() -> None:
    sitemap = sitemap_from_str(urlset(*(u(f"{A}{number}") for number in range(10_000))))
    assert len(repr(sitemap)) < 2000


def test_all_pages_streams() -> None:
    sitemap = sitemap_from_str(urlset(*(u(f"{A}{number}") for number in range(10_000))))
    stream = sitemap.all_pages()
    assert next(stream).url == f"{A}0"
    assert next(stream).url == f"{A}1"
    assert sum(1 for _ in stream) == 9_998


def test_all_sitemaps_is_depth_first_without_itself() -> None:
    leaf = PagesXMLSitemap("leaf", [])
    inner = IndexXMLSitemap("inner", [leaf])
    other = PagesTextSitemap("other", [])
    root = IndexWebsiteSitemap("root", [inner, other])
    assert [sitemap.url for sitemap in root.all_sitemaps()] == ["inner", "leaf", "other"]
    assert list(leaf.all_sitemaps()) == []


def test_a_root_built_by_the_caller_has_no_outcome() -> None:
    root = IndexWebsiteSitemap(A, [])
    assert root.outcome is None
    assert root.tried == ()
