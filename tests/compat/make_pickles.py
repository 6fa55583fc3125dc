"""Writes a pickle of each class of 1.8.1 into a folder, and ``pickled.json`` with their values.

``record.py`` runs it with 1.8.1, so that the bytes are not ours. The tests build the same objects
with ours and compare.
"""

from __future__ import annotations

import json
import pickle
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from usp.objects.page import (
    SitemapImage,
    SitemapNewsStory,
    SitemapPage,
    SitemapPageChangeFrequency,
)
from usp.objects.sitemap import (
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

SITE = "https://pickled.example"
DATE = datetime(2018, 4, 3, 2, 1, tzinfo=UTC)


def objects() -> dict[str, object]:
    story = SitemapNewsStory("T", DATE, "Jar", "da", "Subscription", ["Blog"], ["a", "b"], ["X:Y"])
    image = SitemapImage(f"{SITE}/i.jpg", "Caption", "Aarhus", "Title", f"{SITE}/licence")
    full = SitemapPage(
        url=f"{SITE}/full",
        priority=Decimal("0.9"),
        last_modified=DATE,
        change_frequency=SitemapPageChangeFrequency.DAILY,
        news_story=story,
        images=[image],
        alternates=[("da", f"{SITE}/da")],
    )
    bare = SitemapPage(f"{SITE}/bare")
    pages = PagesXMLSitemap(f"{SITE}/s.xml", [full, bare])
    invalid = InvalidSitemap(f"{SITE}/gone.xml", "It is gone")
    index = IndexXMLSitemap(f"{SITE}/i.xml", [pages, invalid])
    text = PagesTextSitemap(f"{SITE}/s.txt", [bare])
    rss = PagesRSSSitemap(f"{SITE}/rss", [bare])
    atom = PagesAtomSitemap(f"{SITE}/atom", [])
    robots = IndexRobotsTxtSitemap(f"{SITE}/robots.txt", [index, text, rss, atom])
    read = sitemap_from_str(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<url><loc>{SITE}/read</loc><lastmod>2018-04-03T02:01:00Z</lastmod></url></urlset>"
    )
    feed = sitemap_from_str(
        '<rss version="2.0"><channel>'
        f"<item><title>East</title><link>{SITE}/east</link>"
        "<pubDate>Tue, 03 Apr 2018 02:01:00 +0500</pubDate></item>"
        f"<item><title>Greenwich</title><link>{SITE}/greenwich</link>"
        "<pubDate>Tue, 03 Apr 2018 02:01:00 GMT</pubDate></item></channel></rss>"
    )
    return {
        "SitemapNewsStory": story,
        "SitemapImage": image,
        "SitemapPageChangeFrequency": SitemapPageChangeFrequency.DAILY,
        "SitemapPage": full,
        "SitemapPage-bare": bare,
        "InvalidSitemap": invalid,
        "PagesXMLSitemap": pages,
        "PagesTextSitemap": text,
        "PagesRSSSitemap": rss,
        "PagesAtomSitemap": atom,
        "IndexXMLSitemap": index,
        "IndexRobotsTxtSitemap": robots,
        "IndexWebsiteSitemap": IndexWebsiteSitemap(f"{SITE}/", [robots]),
        "read": read,
        "read-feed": feed,
    }


def value_of(thing: object) -> object:
    """Return the dictionary of an object, or its text if it has none."""
    to_dict = getattr(thing, "to_dict", None)
    return to_dict() if to_dict else str(thing)


def main(folder: str) -> None:
    made = objects()
    values = {name: value_of(thing) for name, thing in made.items()}
    text = json.dumps(values, indent=1, default=str)
    (Path(folder) / "pickled.json").write_text(text + "\n", encoding="utf-8")
    for name, thing in made.items():
        (Path(folder) / f"{name}.pickle").write_bytes(pickle.dumps(thing, protocol=4))


if __name__ == "__main__":
    main(*sys.argv[1:])
