"""The objects a user holds: equality, hashing, dictionaries, printing, walking.

Rules of this room: an object read from a document and one built by hand are the same thing.
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
WHEN = datetime(2020, 5, 6, tzinfo=UTC)
PAGES_KINDS = (PagesXMLSitemap, PagesTextSitemap, PagesRSSSitemap, PagesAtomSitemap)
INDEX_KINDS = (IndexWebsiteSitemap, IndexXMLSitemap, IndexRobotsTxtSitemap)

SITEMAPS: list[AbstractSitemap] = [
    *(kind(A, [SitemapPage(A)]) for kind in PAGES_KINDS),
    *(kind(A, [InvalidSitemap(A, "no")]) for kind in INDEX_KINDS),
    InvalidSitemap(A, "no"),
    sitemap_from_str(urlset(u(A))),
]
SMALL = [
    SitemapPage(A),
    SitemapImage(A),
    SitemapNewsStory("T", WHEN),
    page(urlset(u(A))),
]
THINGS: list[object] = [*SITEMAPS, *SMALL, None, 0, "", A, object(), [], SitemapPage]

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
BY_HAND = SitemapPage(
    A,
    Decimal("0.9"),
    WHEN,
    SitemapPageChangeFrequency.DAILY,
    SitemapNewsStory("T", WHEN, "N", "en", "Subscription", ["Blog"], ["a", "b"], ["X:Y"]),
    [SitemapImage("http://h/i", title="I")],
    [("de", "http://h/de")],
)


@pytest.mark.parametrize("thing", [*SITEMAPS, *SMALL], ids=lambda thing: type(thing).__name__)
def test_comparing_with_anything_is_true_or_false(thing: object) -> None:
    for other in THINGS:
        assert isinstance(thing == other, bool)
        assert (thing == other) is not (thing != other)
        assert (thing == other) == (other == thing)


def test_nothing_equals_none() -> None:
    assert not [thing for thing in (*SITEMAPS, *SMALL) if thing == None]  # noqa: E711  # on purpose


def test_sitemaps_of_two_kinds_are_never_equal() -> None:
    made = SITEMAPS[:-1]
    assert [one == other for one, other in product(made, made)].count(True) == len(made)


def test_what_was_read_equals_what_was_built() -> None:
    read = page(urlset(FULL))
    assert read == BY_HAND
    assert hash(read) == hash(BY_HAND)
    assert read.to_dict() == BY_HAND.to_dict()
    assert repr(read) == repr(BY_HAND)


DIFFERENCES = [
    {"url": "http://h.example/b"},
    {"priority": Decimal("0.4")},
    {"last_modified": WHEN},
    {"change_frequency": SitemapPageChangeFrequency.NEVER},
    {"news_story": SitemapNewsStory("T", WHEN)},
    {"images": [SitemapImage("http://h/i")]},
    {"alternates": [("de", "http://h/de")]},
]


@pytest.mark.parametrize("change", DIFFERENCES, ids=lambda change: next(iter(change)))
def test_pages_compare_every_field(change: dict[str, object]) -> None:
    changed = SitemapPage(**({"url": A} | change))  # type: ignore[arg-type]  # a table of fields
    assert changed != SitemapPage(A)


def test_pages_hash_by_url_alone() -> None:
    assert hash(SitemapPage(A)) == hash(SitemapPage(A, Decimal(1)))
    assert len({SitemapPage(A), SitemapPage(A), BY_HAND}) == 2


def test_stories_and_images_can_be_hashed() -> None:
    story, image = BY_HAND.news_story, BY_HAND.images
    assert story is not None
    assert image is not None
    assert len({story, SitemapNewsStory("T", WHEN), *image}) == 3
    again = SitemapNewsStory("T", WHEN, "N", "en", "Subscription", ["Blog"], ["a", "b"], ["X:Y"])
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
    told = page(urlset(FULL)).to_dict()
    assert told.keys() == PAGE_KEYS | {"alternates"}
    assert told["change_frequency"] == "daily"
    assert told["alternates"] == [("de", "http://h/de")]
    assert told["news_story"] == {
        "title": "T",
        "publish_date": WHEN,
        "publication_name": "N",
        "publication_language": "en",
        "access": "Subscription",
        "genres": ["Blog"],
        "keywords": ["a", "b"],
        "stock_tickers": ["X:Y"],
    }
    assert told["images"] == [
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


def test_problems_are_no_part_of_equality_or_dictionary() -> None:
    sound, odd = sitemap_from_str(urlset(u(A))), sitemap_from_str(urlset("<url/>", u(A)))
    assert odd.problems
    assert not sound.problems
    assert sound == odd
    assert hash(sound) == hash(odd)
    assert sound.to_dict() == odd.to_dict()


def test_pages_is_a_fresh_list_each_time() -> None:
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


def test_a_root_built_by_hand_has_no_outcome() -> None:
    root = IndexWebsiteSitemap(A, [])
    assert root.outcome is None
    assert root.tried == ()
