"""A program with a web client of its own, which serves a site from a dictionary, without a socket.

It prints the tree, what was asked for, and the limit that the crawl set on the client.
"""

import gzip
import json

from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    WebClientErrorResponse,
)

SITE = "https://paper.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
NEWS = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
IMAGE = 'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'

DOCUMENTS = {
    "/robots.txt": f"""User-agent: *
Disallow: /private/
Sitemap: {SITE}/index.xml
site-map: {SITE}/list.txt
SITE-MAP: {SITE}/missing.xml
Sitemap: {SITE}/index.xml
""",
    "/index.xml": f"""<?xml version="1.0"?><sitemapindex {SM}>
<sitemap><loc>{SITE}/news.xml</loc><lastmod>2023-03-01</lastmod></sitemap>
<sitemap><loc>{SITE}/pages.xml.gz</loc></sitemap>
<sitemap><loc>{SITE}/rss</loc></sitemap>
<sitemap><loc>{SITE}/atom</loc></sitemap>
<sitemap><loc>{SITE}/index.xml</loc></sitemap>
</sitemapindex>""",
    "/news.xml": f"""<urlset {SM} {NEWS} {IMAGE}><url>
<loc>{SITE}/story</loc><lastmod>2023-03-01T10:00:00+02:00</lastmod>
<news:news><news:publication><news:name>The Paper</news:name><news:language>en</news:language>
</news:publication><news:publication_date>2023-03-01</news:publication_date>
<news:title>Ink &amp; pulp</news:title><news:keywords>ink, pulp</news:keywords></news:news>
<image:image><image:loc>{SITE}/ink.jpg</image:loc><image:caption>Ink</image:caption></image:image>
</url></urlset>""",
    "/pages.xml.gz": f"""<urlset {SM}>
<url><loc>{SITE}/a</loc><priority>0.9</priority><changefreq>weekly</changefreq></url>
<url><loc>{SITE}/b</loc><priority>7</priority><changefreq>sometimes</changefreq></url>
<url><loc>{SITE}/a</loc></url></urlset>""",
    "/rss": f"""<rss version="2.0"><channel><title>Paper</title><link>{SITE}/</link>
<item><title>One</title><link>{SITE}/one</link>
<pubDate>Wed, 01 Mar 2023 10:00:00 +0100</pubDate></item></channel></rss>""",
    "/atom": f"""<feed xmlns="http://www.w3.org/2005/Atom"><title>Paper</title>
<entry><title>Two</title><link href="{SITE}/two"/><updated>2023-03-02T10:00:00Z</updated></entry>
</feed>""",
    "/list.txt": f"{SITE}/c\nnot an address\n{SITE}/d\n",
    "/sitemap.xml": f"<urlset {SM}><url><loc>{SITE}/known</loc></url></urlset>",
}


class PaperResponse(AbstractWebClientSuccessResponse):
    """A 200 answer."""

    def __init__(self, url: str, data: bytes) -> None:
        self._url = url
        self._data = data

    def status_code(self) -> int:
        return 200

    def status_message(self) -> str:
        return "OK"

    def header(self, case_insensitive_name: str) -> str | None:
        return None

    def raw_data(self) -> bytes:
        return self._data

    def url(self) -> str:
        return self._url


class PaperClient(AbstractWebClient):
    """Answers from DOCUMENTS; whatever isn't there is a 404."""

    def __init__(self) -> None:
        self.requested: list[str] = []
        self.limits: list[int | None] = []

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        self.limits.append(max_response_data_length)

    def get(self, url: str) -> AbstractWebClientResponse:
        self.requested.append(url)
        path = url.removeprefix(SITE)
        if path not in DOCUMENTS:
            return WebClientErrorResponse(message="404 Not Found", retryable=False)
        data = DOCUMENTS[path].encode()
        return PaperResponse(url, gzip.compress(data) if path.endswith(".gz") else data)


client = PaperClient()
tree = sitemap_tree_for_homepage(f"{SITE}/some/page.html?q=1", web_client=client)
print(
    json.dumps(
        {
            "tree": tree.to_dict(),
            "kinds": [[type(s).__name__, s.url] for s in tree.all_sitemaps()],
            "pages": [page.url for page in tree.all_pages()],
            "asked": sorted(set(client.requested)),
            "asked twice": len(client.requested) - len(set(client.requested)),
            "limits": sorted({limit for limit in client.limits if limit is not None}),
        },
        default=str,
    )
)
