"""A program that reads documents out of strings."""

import json

from usp.tree import sitemap_from_str

SITE = "https://text.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
DOCUMENTS = {
    "urlset": f"<urlset {SM}><url><loc>{SITE}/a</loc></url><url><loc>{SITE}/b</loc></url></urlset>",
    "declared encoding": '<?xml version="1.0" encoding="UTF-8"?>'
    f"<urlset {SM}><url><loc>{SITE}/é</loc></url></urlset>",
    "index": f"<sitemapindex {SM}><sitemap><loc>{SITE}/a.xml</loc></sitemap></sitemapindex>",
    "rss": '<rss version="2.0"><channel><item><title>A</title>'
    f"<link>{SITE}/a</link></item></channel></rss>",
    "atom 1.0": '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>A</title>'
    f'<link href="{SITE}/a"/><updated>2020-02-02</updated></entry></feed>',
    "atom 0.3": '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><title>A</title>'
    f'<link rel="alternate" href="{SITE}/a"/><issued>2020-02-02</issued></entry></feed>',
    "text": f"{SITE}/a\nand\n{SITE}/b",
    "blanks first": f"\n\n   <urlset {SM}><url><loc>{SITE}/a</loc></url></urlset>",
    "cut off": f"<urlset {SM}><url><loc>{SITE}/a</loc></url><url><loc>{SITE}/",
    "html": "<html><head><title>No</title></head></html>",
    "other xml": "<opml><body/></opml>",
    "unknown tags": f"<urlset {SM}><note>x</note><url><loc>{SITE}/a</loc><x/></url></urlset>",
}


def read(text: str) -> list[object]:
    sitemap = sitemap_from_str(text)
    return [type(sitemap).__name__, sitemap.to_dict()]


print(json.dumps({name: read(text) for name, text in DOCUMENTS.items()}, default=str))
