"""Truncation: a document that ends at any byte gives its first entries, and is not complete.

Every length is tried. The start tags contain attributes and whitespace, so that some documents end
inside a tag.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.parse.reading import ALL, SM
from usp.tree import sitemap_from_str

SITE: Final = "http://h.example"
DOCUMENTS: Final = {
    "urlset": f'<?xml version="1.0" encoding="utf-8"?>\n<urlset {ALL}>\n'
    f'<url id="1" >\n<loc>{SITE}/a</loc><lastmod>2020-01-01</lastmod></url>\n'
    f"<url\n><loc>{SITE}/b?x=1&amp;y=2</loc>"
    f"<image:image><image:loc>{SITE}/i</image:loc></image:image>"
    f'<xhtml:link rel="alternate" hreflang="de" href="{SITE}/de"/></url>\n'
    f"<!-- c --><url><loc><![CDATA[{SITE}/c]]></loc><priority>0.5</priority></url>\n</urlset>\n",
    "index": f'<sitemapindex {SM}><sitemap id="1" ><loc>{SITE}/1.xml</loc></sitemap>\n'
    f"<sitemap><loc>{SITE}/2.xml</loc><lastmod>2020</lastmod></sitemap></sitemapindex>",
    "rss": '<rss version="2.0"><channel><title>C</title>'
    f'<item id="1" ><title>A</title><link>{SITE}/a</link></item>'
    f"<item><title>B</title><link>{SITE}/b</link><pubDate>1 Jan 2020</pubDate></item>"
    "</channel></rss>",
    "atom": '<feed xmlns="http://www.w3.org/2005/Atom"><title>C</title>'
    f'<entry xml:lang="en" ><title>A</title><link href="{SITE}/a" /></entry>'
    f'<entry><title>B</title><link href="{SITE}/b"/><updated>2020-01-01</updated></entry></feed>',
    "text": f"{SITE}/a\nwords\n{SITE}/b\n",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_truncated_document_gives_its_first_entries(kind: str) -> None:
    data = DOCUMENTS[kind].encode()
    whole = sitemap_from_str(data)
    pages = [page.url for page in whole.pages]
    children = [child.url for child in whole.sub_sitemaps]
    for length in range(len(data)):
        truncated = sitemap_from_str(data[:length])
        found = [page.url for page in truncated.pages]
        # The end of a text can't be detected, so its last line may be a shorter URL.
        certain = found[:-1] if kind == "text" else found
        assert certain == pages[: len(certain)], data[:length][-40:]
        found = [child.url for child in truncated.sub_sitemaps]
        assert found == children[: len(found)]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["urlset", "index", "rss", "atom"])
def test_a_truncated_document_is_never_complete(kind: str) -> None:
    data = DOCUMENTS[kind].rstrip().encode()
    assert sitemap_from_str(data).complete
    complete = [length for length in range(len(data)) if sitemap_from_str(data[:length]).complete]
    assert complete == []
