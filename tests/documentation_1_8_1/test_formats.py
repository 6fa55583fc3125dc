"""What the documentation of 1.8.1 says about formats: a test for each example and each rule.

Documents are parsed from strings. Nothing is fetched.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from tests.documentation_1_8_1.example_documents import SITE, example
from usp.fetch_parse import IndexRobotsTxtSitemapParser
from usp.objects.page import SitemapImage, SitemapNewsStory, SitemapPage
from usp.objects.sitemap import (
    IndexRobotsTxtSitemap,
    IndexXMLSitemap,
    PagesAtomSitemap,
    PagesRSSSitemap,
    PagesTextSitemap,
    PagesXMLSitemap,
)
from usp.tree import sitemap_from_str
from usp.web_client.abstract_client import LocalWebClient

APRIL_1 = datetime(2023, 4, 1)  # noqa: DTZ001  # a bare date has no time zone
APRIL_2 = datetime(2023, 4, 2)  # noqa: DTZ001  # a bare date
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
IMAGE = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
XHTML = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
VIDEO = 'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'


def pages(document: str) -> list[SitemapPage]:
    return sitemap_from_str(document).pages


def urls(document: str) -> list[str]:
    return [page.url for page in pages(document)]


def urlset(entries: str, namespaces: str = "") -> str:
    return f"<urlset {SM} {namespaces}>{entries}</urlset>"


def rss(items: str) -> str:
    return f'<rss version="2.0"><channel><title>C</title>{items}</channel></rss>'


# robots.txt


def declared_in(robots: str) -> list[str]:
    parser = IndexRobotsTxtSitemapParser(f"{SITE}robots.txt", robots, 0, LocalWebClient(), set())
    sitemap = parser.sitemap()
    assert isinstance(sitemap, IndexRobotsTxtSitemap)
    return [child.url for child in sitemap.sub_sitemaps]


def test_the_robots_txt_example_declares_four_sitemaps() -> None:
    names = ("index.xml", "beds.xml", "list.txt", "feed.rss")
    assert declared_in(example("robots.txt")) == [SITE + name for name in names]


@pytest.mark.parametrize("key", ["Sitemap", "sitemap", "SITEMAP", "Site-map", "sItE-mAp"])
def test_the_sitemap_key_of_robots_txt_may_have_any_case_and_a_hyphen(key: str) -> None:
    assert declared_in(f"{key}: {SITE}s.xml\n") == [f"{SITE}s.xml"]


def test_other_keys_of_robots_txt_declare_no_sitemap() -> None:
    assert declared_in(f"Host: {SITE}\nAllow: /sitemap.xml\nSite map: {SITE}x\n") == []


# Plain text


def test_the_plain_text_example_has_two_pages() -> None:
    sitemap = sitemap_from_str(example("list.txt"))
    assert isinstance(sitemap, PagesTextSitemap)
    assert [page.url for page in sitemap.pages] == [f"{SITE}paths/north", f"{SITE}paths/south"]


@pytest.mark.parametrize(
    "line",
    ["words", "www.garden.example/x", "ftp://garden.example/x", "http://", "https:///x", "/x"],
)
def test_a_line_of_plain_text_that_is_not_an_http_url_is_ignored(line: str) -> None:
    assert urls(f"{SITE}before\n{line}\n{SITE}after\n") == [f"{SITE}before", f"{SITE}after"]


def test_plain_text_may_contain_http_and_https_urls() -> None:
    assert urls("http://a.example/\nhttps://a.example/\n") == [
        "http://a.example/",
        "https://a.example/",
    ]


# XML sitemaps


def test_the_sitemap_index_example_lists_two_sitemaps() -> None:
    sitemap = sitemap_from_str(example("index.xml"))
    assert isinstance(sitemap, IndexXMLSitemap)
    assert [child.url for child in sitemap.sub_sitemaps] == [f"{SITE}beds.xml", f"{SITE}news.xml"]


def test_the_xml_sitemap_example_has_two_pages_with_dates() -> None:
    sitemap = sitemap_from_str(example("beds.xml"))
    assert isinstance(sitemap, PagesXMLSitemap)
    assert sitemap.pages == [
        SitemapPage(f"{SITE}beds/roses", last_modified=APRIL_1),
        SitemapPage(f"{SITE}beds/herbs", last_modified=APRIL_2),
    ]


def test_a_truncated_sitemap_keeps_its_complete_pages() -> None:
    whole = example("beds.xml")
    assert urls(whole[: whole.index("<loc>https://garden.example/beds/herbs") + 20]) == [
        f"{SITE}beds/roses"
    ]


def test_a_truncated_index_keeps_its_children() -> None:
    whole = example("index.xml")
    truncated = sitemap_from_str(whole[: whole.index("2023-04-02")])
    children = [child.url for child in truncated.sub_sitemaps]
    assert children == [f"{SITE}beds.xml", f"{SITE}news.xml"]


def test_unexpected_elements_are_ignored() -> None:
    document = urlset(
        f"<note>hello</note><url><loc>{SITE}a</loc><colour>red<loc>no</loc></colour></url>"
        f"<deep><er/></deep><url><loc>{SITE}b</loc></url>"
    )
    assert urls(document) == [f"{SITE}a", f"{SITE}b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023-04-01", APRIL_1),
        ("2023-04-01T00:00:00Z", APRIL_1.replace(tzinfo=UTC)),
        ("2023-04-01T00:00:00+00:00", APRIL_1.replace(tzinfo=UTC)),
        ("2023-04-01T00:00:00.000+0000", APRIL_1.replace(tzinfo=UTC)),
        ("20230401", APRIL_1),
        ("2023-04-01 00:00:00", APRIL_1),
        ("1 April 2023", APRIL_1),
        ("Sat, 01 Apr 2023 00:00:00 GMT", APRIL_1.replace(tzinfo=UTC)),
        ("April 1, 2023", APRIL_1),
    ],
)
def test_lastmod_is_parsed_in_many_date_formats(text: str, expected: datetime) -> None:
    document = urlset(f"<url><loc>{SITE}a</loc><lastmod>{text}</lastmod></url>")
    assert pages(document)[0].last_modified == expected


def test_elements_of_unknown_namespaces_are_ignored() -> None:
    document = urlset(
        f"<url><loc>{SITE}a</loc><x:loc>{SITE}x</x:loc><x:priority>0.9</x:priority></url>",
        'xmlns:x="https://other.example/schema"',
    )
    assert pages(document) == [SitemapPage(f"{SITE}a")]


def test_a_page_with_a_video_keeps_its_standard_fields() -> None:
    document = urlset(
        f"<url><loc>{SITE}a</loc><video:video><video:title>T</video:title>"
        f"<video:content_loc>{SITE}v.mp4</video:content_loc></video:video>"
        "<priority>0.7</priority></url>",
        VIDEO,
    )
    (page,) = pages(document)
    assert (page.url, page.priority) == (f"{SITE}a", Decimal("0.7"))


# Extensions


def test_the_google_news_example_has_two_stories_with_all_fields() -> None:
    first, second = pages(example("news.xml"))
    assert first.news_story == SitemapNewsStory(
        title="The first tulip is out",
        publish_date=APRIL_1,
        publication_name="Garden Gazette",
    )
    assert second.news_story == SitemapNewsStory(
        title="Frost comes late",
        publish_date=datetime(2023, 4, 2, 6, 30, tzinfo=timezone(timedelta(hours=2))),
        publication_name="Garden Gazette",
        publication_language="en",
        access="Registration",
        genres=["Opinion", "UserGenerated"],
        keywords=["frost", "tulips", "April"],
        stock_tickers=["AMS:TULIP", "LON:ROSE"],
    )
    assert (first.last_modified, second.last_modified) == (APRIL_1, APRIL_2)


def test_the_google_image_example_has_images_with_all_fields() -> None:
    roses, herbs = pages(example("images.xml"))
    assert roses.images == [
        SitemapImage("https://pictures.example/rose-red.jpg"),
        SitemapImage(
            "https://pictures.example/rose-white.jpg",
            caption="White, after rain",
            geo_location="Kazanlak, Bulgaria",
            title="Rosa alba",
            license_="https://pictures.example/licence",
        ),
    ]
    assert herbs.images == [SitemapImage("https://pictures.example/thyme.jpg")]


def test_a_page_without_extensions_has_none_in_their_fields() -> None:
    page = pages(example("beds.xml"))[0]
    assert (page.news_story, page.images, page.alternates) == (None, None, None)


def test_the_example_of_localised_pages_has_alternates() -> None:
    english, bulgarian = pages(example("alternates.xml"))
    assert english.alternates == [("bg-BG", f"{SITE}bg/roses")]
    assert bulgarian.alternates == [("en-GB", f"{SITE}en/roses")]


@pytest.mark.parametrize("code", ["x-default", "klingon", "en_US", "!"])
def test_language_codes_are_not_validated(code: str) -> None:
    link = f'<xhtml:link rel="alternate" hreflang="{code}" href="{SITE}b"/>'
    document = urlset(f"<url><loc>{SITE}a</loc>{link}</url>", XHTML)
    assert pages(document)[0].alternates == [(code, f"{SITE}b")]


def test_a_link_that_is_not_an_alternate_is_ignored() -> None:
    link = f'<xhtml:link rel="canonical" hreflang="en" href="{SITE}b"/>'
    document = urlset(f"<url><loc>{SITE}a</loc>{link}</url>", XHTML)
    assert pages(document)[0].alternates is None


# RSS 2.0


def test_the_rss_example_has_two_pages_with_stories() -> None:
    sitemap = sitemap_from_str(example("feed.rss"))
    assert isinstance(sitemap, PagesRSSSitemap)
    assert sitemap.pages == [
        SitemapPage(
            f"{SITE}diary/sowing",
            news_story=SitemapNewsStory("Sowing", datetime(2023, 4, 1, 9, tzinfo=UTC)),
        ),
        SitemapPage(
            f"{SITE}diary/weeding",
            news_story=SitemapNewsStory("Weeding", datetime(2023, 4, 2, 17, tzinfo=UTC)),
        ),
    ]


def test_an_item_without_title_and_description_is_ignored() -> None:
    document = rss(
        f"<item><link>{SITE}a</link></item><item><title>B</title><link>{SITE}b</link></item>"
        f"<item><description>C</description><link>{SITE}c</link></item>"
    )
    assert urls(document) == [f"{SITE}b", f"{SITE}c"]


def test_an_item_without_a_link_is_ignored() -> None:
    document = rss(
        f"<item><title>A</title></item><item><title>B</title><link>{SITE}b</link></item>"
    )
    assert urls(document) == [f"{SITE}b"]


def test_the_link_of_the_channel_is_not_a_page() -> None:
    assert f"{SITE}" not in urls(example("feed.rss"))


@pytest.mark.parametrize(
    "text",
    [
        "Sat, 01 Apr 2023 09:00:00 UTC",
        "Sat, 01 Apr 2023 09:00:00 GMT",
        "Sat, 1 Apr 2023 11:00:00 +0200",
        "01 Apr 2023 09:00 +0000",
        "2023-04-01T09:00:00Z",
        "April 1, 2023 9:00 am UTC",
    ],
)
def test_rss_dates_are_parsed_in_many_formats(text: str) -> None:
    item = f"<item><title>A</title><link>{SITE}a</link><pubDate>{text}</pubDate></item>"
    story = pages(rss(item))[0].news_story
    assert story is not None
    assert story.publish_date == datetime(2023, 4, 1, 9, tzinfo=UTC)


def test_media_rss_does_not_change_the_story() -> None:
    document = (
        '<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>'
        f"<item><title>A</title><link>{SITE}a</link><media:title>M</media:title>"
        f'<media:content url="{SITE}m.jpg"/></item></channel></rss>'
    )
    (page,) = pages(document)
    assert page.url == f"{SITE}a"
    assert page.news_story is not None
    assert page.news_story.title == "A"


# Atom


@pytest.mark.parametrize("name", ["feed-0.3.atom", "feed-1.0.atom"])
def test_the_atom_examples_have_two_pages_with_stories(name: str) -> None:
    sitemap = sitemap_from_str(example(name))
    assert isinstance(sitemap, PagesAtomSitemap)
    assert sitemap.pages == [
        SitemapPage(f"{SITE}diary/sowing", news_story=SitemapNewsStory("Sowing", APRIL_1)),
        SitemapPage(f"{SITE}diary/weeding", news_story=SitemapNewsStory("Weeding", APRIL_2)),
    ]


def test_a_mixture_of_both_atom_versions_is_accepted() -> None:
    document = (
        '<feed version="0.3" xmlns="http://www.w3.org/2005/Atom">'
        f'<entry><title>A</title><link href="{SITE}a"/><issued>2023-04-01</issued></entry>'
        f'<entry><title>B</title><link rel="alternate" href="{SITE}b"/>'
        "<updated>2023-04-02</updated></entry></feed>"
    )
    stories = [page.news_story for page in pages(document)]
    assert stories == [SitemapNewsStory("A", APRIL_1), SitemapNewsStory("B", APRIL_2)]


@pytest.mark.parametrize("text", ["2023-04-01T09:00:00Z", "Sat, 01 Apr 2023 11:00:00 +0200"])
def test_atom_dates_are_parsed_in_many_formats(text: str) -> None:
    document = (
        '<feed xmlns="http://www.w3.org/2005/Atom">'
        f'<entry><title>A</title><link href="{SITE}a"/><updated>{text}</updated></entry></feed>'
    )
    story = pages(document)[0].news_story
    assert story is not None
    assert story.publish_date == datetime(2023, 4, 1, 9, tzinfo=UTC)
