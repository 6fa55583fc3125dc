"""A block of null bytes stands for a piece of a document that a disk or a cache has lost.

What is before it and after it doesn't belong together: no URL is made of the two, and the document
is not complete. A stray null character is only removed.
"""

import json
import random
from collections.abc import Callable

import pytest

from tests.parse.reading import ALL
from usp.tree import parse

URL = "https://www.example.com/section/article-{:04}.html"
COUNT = 400


def repeated(begin: str, entry: str, end: str) -> Callable[[], str]:
    """A document of entries with a URL and a number."""
    return lambda: begin + "".join(entry.format(URL.format(at), at) for at in range(COUNT)) + end


DOCUMENTS: dict[str, Callable[[], str]] = {
    "urlset": repeated(f"<urlset {ALL}>", "<url><loc>{}</loc></url>", "</urlset>"),
    "indented": repeated(
        f"<urlset {ALL}>\n",
        "  <url>\n    <loc>{}</loc>\n    <lastmod>2024-01-01</lastmod>\n  </url>\n",
        "</urlset>\n",
    ),
    "hreflang": repeated(
        f"<urlset {ALL}>",
        '<url><loc>{}</loc><xhtml:link rel="alternate" hreflang="de" href="http://h/{}"/></url>',
        "</urlset>",
    ),
    "RSS": repeated(
        "<rss><channel>",
        "<item><title>T</title><link>{}</link><description>D {}</description></item>",
        "</channel></rss>",
    ),
    "Atom": repeated(
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        '<entry><title>T</title><link href="{}"/></entry>',
        "</feed>",
    ),
    "text": repeated("", "{}\n", ""),
    "JSON Feed": lambda: json.dumps(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "items": [{"id": f"{at}", "url": URL.format(at), "title": "T"} for at in range(COUNT)],
        },
        separators=(",", ":"),
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", [16, 64, 4096])
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_what_a_block_of_null_bytes_replaces_is_missing(kind: str, size: int) -> None:
    whole, rng = DOCUMENTS[kind]().encode(), random.Random(size)  # noqa: S311 -- a place
    expected = {URL.format(at) for at in range(COUNT)}
    for _ in range(20):
        at = rng.randrange(300, len(whole) - size - 20)
        sitemap = parse(whole[:at] + bytes(size) + whole[at + size :])
        urls = {page.url for page in sitemap.all_pages()}
        assert urls <= expected
        assert urls == expected or not sitemap.complete


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("size", [16, 64, 512, 4096])
def test_so_is_what_it_replaces_at_the_beginning(kind: str, size: int) -> None:
    whole = DOCUMENTS[kind]().encode()
    expected = {URL.format(at) for at in range(COUNT)}
    for at in (0, 1, 7, 30, 100):
        sitemap = parse(whole[:at] + bytes(size) + whole[at + size :])
        urls = {page.url for page in sitemap.all_pages()}
        assert urls <= expected
        is_complete = getattr(sitemap, "complete", False)  # else it is no sitemap
        assert urls == expected or not is_complete


@pytest.mark.parametrize("before", ["</div>", "<url><loc>http://h/?x=1&y=2</loc></url>"])
def test_a_block_after_a_fault_is_told(before: str) -> None:
    entry = "<url><loc>http://h/b</loc></url>"
    sitemap = parse(f"<urlset {ALL}>{before}{chr(0) * 16}{entry}</urlset>")
    assert "http://h/b" in [page.url for page in sitemap.all_pages()]
    assert not sitemap.complete


@pytest.mark.parametrize("kind", ["urlset", "RSS", "text"])
def test_the_end_of_a_file_that_was_never_written(kind: str) -> None:
    whole = DOCUMENTS[kind]().encode()
    sitemap = parse(whole[:8192] + bytes(len(whole) - 8192))
    assert {page.url for page in sitemap.all_pages()} <= {URL.format(at) for at in range(COUNT)}
    assert not sitemap.complete


def test_a_robots_txt_has_no_half_urls() -> None:
    lines = b"Sitemap: https://h.example/a.xml\nSitemap: https://h.exam" + bytes(100)
    robots = parse(lines, url="https://h.example/robots.txt")
    assert [child.url for child in robots.sub_sitemaps] == ["https://h.example/a.xml"]
    assert [problem.code for problem in robots.problems] == ["SM209"]


def test_stray_null_characters_are_removed() -> None:
    sitemap = parse(f"<urlset {ALL}><url><loc>http://h/\0a\0\0</loc></url>\0</urlset>")
    assert [page.url for page in sitemap.all_pages()] == ["http://h/a"]
    assert sitemap.complete


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_padding_after_the_end_is_harmless(kind: str) -> None:
    """A file may be longer than what was written into it."""
    sitemap = parse(DOCUMENTS[kind]().encode() + bytes(4096))
    assert len(list(sitemap.all_pages())) == COUNT
    assert sitemap.complete


def test_padding_of_a_robots_txt_is_harmless() -> None:
    lines = b"Sitemap: https://h.example/a.xml\n" + bytes(4096)
    robots = parse(lines, url="https://h.example/robots.txt")
    assert [child.url for child in robots.sub_sitemaps] == ["https://h.example/a.xml"]
    assert not robots.problems
