"""A program that exports pages with to_dict(), and news stories with and without a date."""

import json

from usp.objects.page import SitemapPage
from usp.tree import sitemap_from_str

SITE = "https://dicts.example"
SPACES = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
PUBLICATION = (
    "<news:publication><news:name>Daily</news:name><news:language>en</news:language>"
    "</news:publication>"
)


def entry(name: str, extra: str) -> str:
    return f"<url><loc>{SITE}/{name}</loc>{extra}</url>"


def story(date: str) -> str:
    return f"<news:news>{PUBLICATION}<news:title>Title</news:title>{date}</news:news>"


def dated(text: str) -> str:
    return story(f"<news:publication_date>{text}</news:publication_date>")


URLSET = f"<urlset {SPACES}>" + "".join(
    (
        entry("bare", ""),
        entry(
            "full",
            "<lastmod>2020-01-02T03:04:05Z</lastmod><changefreq>daily</changefreq>"
            "<priority>0.8</priority>",
        ),
        entry("links", f'<xhtml:link rel="alternate" hreflang="de" href="{SITE}/de"/>'),
        entry("image", f"<image:image><image:loc>{SITE}/i.png</image:loc></image:image>"),
        entry(
            "video",
            f"<video:video><video:thumbnail_loc>{SITE}/v.png</video:thumbnail_loc>"
            "<video:title>Video</video:title><video:description>Text</video:description>"
            f"<video:content_loc>{SITE}/v.mp4</video:content_loc></video:video>",
        ),
        entry("dated", dated("2020-01-02")),
        entry("undated", story("")),
        entry("empty-date", dated("")),
        entry("unreadable", dated("yesterday")),
    )
)
URLSET += "</urlset>"
RSS = (
    "<rss version='2.0'><channel>"
    f"<item><title>Dated</title><link>{SITE}/dated</link><description>Text</description>"
    "<pubDate>Thu, 02 Jan 2020 03:04:05 +0000</pubDate></item>"
    f"<item><title>Undated</title><link>{SITE}/undated</link></item>"
    f"<item><title>Unreadable</title><link>{SITE}/unreadable</link>"
    "<pubDate>yesterday</pubDate></item></channel></rss>"
)
ATOM = (
    "<feed xmlns='http://www.w3.org/2005/Atom'>"
    f"<entry><title>Dated</title><link href='{SITE}/dated'/>"
    "<published>2020-01-02T03:04:05Z</published></entry>"
    f"<entry><title>Undated</title><link href='{SITE}/undated'/></entry>"
    f"<entry><title>Unreadable</title><link href='{SITE}/unreadable'/>"
    "<published>yesterday</published></entry></feed>"
)


def pages(text: str) -> list[SitemapPage]:
    return list(sitemap_from_str(text).all_pages())


def nested(value: object) -> object:
    """The keys of a dictionary, with those of dictionaries in it."""
    if isinstance(value, dict):
        return {key: nested(inside) for key, inside in value.items()}
    return [nested(inside) for inside in value] if isinstance(value, list) else None


facts = {
    "keys": {page.url: nested(page.to_dict()) for page in pages(URLSET)},
    "whole": [page.to_dict() for page in pages(URLSET)],
    "keys of a sitemap": list(sitemap_from_str(URLSET).to_dict()),
    "stories": {
        kind: [[page.url, page.news_story and page.news_story.title] for page in pages(text)]
        for kind, text in (("urlset", URLSET), ("RSS", RSS), ("Atom", ATOM))
    },
}
print(json.dumps(facts, default=str))
