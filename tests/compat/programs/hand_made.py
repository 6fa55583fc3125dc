"""A program that builds pages and sitemaps by hand, compares, hashes and exports them."""

import datetime
import json
from decimal import Decimal

from usp.objects.page import (
    SitemapImage,
    SitemapNewsStory,
    SitemapPage,
    SitemapPageChangeFrequency,
)
from usp.objects.sitemap import (
    AbstractIndexSitemap,
    AbstractPagesSitemap,
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

SITE = "https://made.example"
DATE = datetime.datetime(2019, 8, 7, 6, 5, tzinfo=datetime.timezone.utc)

story = SitemapNewsStory("Made", DATE, "By Hand", "nl", "Subscription", ["Satire"], ["k"], ["T"])
image = SitemapImage(f"{SITE}/i.png", "Caption", "Delft", "Title", f"{SITE}/licence")
page = SitemapPage(
    f"{SITE}/full",
    Decimal("1.0"),
    DATE,
    SitemapPageChangeFrequency.YEARLY,
    story,
    [image],
    [("nl", f"{SITE}/nl")],
)
bare = SitemapPage(url=f"{SITE}/bare")
pages = PagesXMLSitemap(f"{SITE}/s.xml", [page, bare])
others: list[AbstractPagesSitemap] = [
    PagesTextSitemap(f"{SITE}/s.txt", [bare]),
    PagesRSSSitemap(f"{SITE}/rss", [bare]),
    PagesAtomSitemap(f"{SITE}/atom", []),
]
invalid = InvalidSitemap(f"{SITE}/x.xml", "made so")
index = IndexXMLSitemap(f"{SITE}/i.xml", [pages, invalid])
robots = IndexRobotsTxtSitemap(f"{SITE}/robots.txt", [index, *others])
website = IndexWebsiteSitemap(url=f"{SITE}/", sub_sitemaps=[robots])


def facts(sitemap: AbstractSitemap) -> list[object]:
    return [
        type(sitemap).__name__,
        sitemap.url,
        [found.url for found in sitemap.pages],
        [found.url for found in sitemap.all_pages()],
        [found.url for found in sitemap.sub_sitemaps],
        [found.url for found in sitemap.all_sitemaps()],
        isinstance(sitemap, AbstractPagesSitemap),
        isinstance(sitemap, AbstractIndexSitemap),
    ]


pruned = IndexXMLSitemap(f"{SITE}/i.xml", [pages, invalid])
del pruned.sub_sitemaps[1]  # from the sitemap itself, not from a copy of its list

everything: list[AbstractSitemap] = [website, *website.all_sitemaps()]
print(
    json.dumps(
        {
            "page": page.to_dict(),
            "bare page": bare.to_dict(),
            "story": story.to_dict(),
            "bare story": SitemapNewsStory("T", DATE).to_dict(),
            "image": image.to_dict(),
            "fields": [
                [page.url, page.priority, page.last_modified, page.change_frequency],
                [story.title, story.publish_date, story.publication_name, story.access],
                [story.publication_language, story.genres, story.keywords, story.stock_tickers],
                [image.loc, image.caption, image.geo_location, image.title, image.license],
                page.alternates,
            ],
            "tree": website.to_dict(),
            "tree without pages": website.to_dict(with_pages=False),
            "each": [facts(sitemap) for sitemap in everything],
            "reason": invalid.reason,
            "pruned": [child.url for child in pruned.sub_sitemaps],
            "equal": [
                bare == SitemapPage(f"{SITE}/bare"),
                bare == SitemapPage(f"{SITE}/bare", priority=Decimal("0.6")),
                image == SitemapImage(f"{SITE}/i.png"),
                story == SitemapNewsStory("Made", DATE),
                pages == PagesXMLSitemap(f"{SITE}/s.xml", [page, bare]),
                pages == PagesXMLSitemap(f"{SITE}/s.xml", [bare, page]),
                invalid == InvalidSitemap(f"{SITE}/x.xml", "made so"),
                index == IndexXMLSitemap(f"{SITE}/i.xml", [pages, invalid]),
            ],
            "hash by url alone": hash(bare) == hash(SitemapPage(f"{SITE}/bare", Decimal(1))),
            "set": len({bare, page, SitemapPage(f"{SITE}/bare")}),
            "frequencies": {
                text: SitemapPageChangeFrequency.has_value(text)
                for text in ("always", "never", "Daily", "fortnightly", "")
            },
        },
        default=str,
    )
)
