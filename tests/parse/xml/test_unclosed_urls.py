"""A URL that is never closed ends at any start tag: what is in that element is no part of it."""

from __future__ import annotations

import pytest

from tests.parse.pattern.readers import assert_readers_agree
from tests.parse.reading import IMAGE, SM, atom, read, rss, u, urlset
from usp.tree import sitemap_from_str

A, B, C = "http://h.example/a", "http://h.example/b", "http://h.example/c"
BASE = "http://h.example/s/sitemap.xml"


def _urlset(fields: str) -> str:
    return urlset(u(A), f"<url>{fields}</url>", u(C), namespaces=f"{SM} {IMAGE}")


def _index(fields: str) -> str:
    entries = "".join(f"<sitemap>{one}</sitemap>" for one in (f"<loc>{A}</loc>", fields))
    return f"<sitemapindex {SM}>{entries}<sitemap><loc>{C}</loc></sitemap></sitemapindex>"


def _rss(fields: str) -> str:
    items = (f"<link>{A}</link>", fields, f"<link>{C}</link>")
    return rss(*(f"<item><title>T</title>{one}</item>" for one in items))


def _atom(fields: str) -> str:
    links = (f'<link href="{A}"/>', fields, f'<link href="{C}"/>')
    return atom(*(f"<entry><title>T</title>{one}</entry>" for one in links))


REPAIRED = [
    _rss(f"<link>{B}<category>c</category><dc:creator>Bob</dc:creator>"),
    _rss(f"<link>{B}<comments>{B}#c</comments>"),
    _rss(f"<link>{B}<content:encoded><![CDATA[<p>x</p>]]></content:encoded>"),
    _rss(f"<link>{B}<itunes:title>x</itunes:title>"),
    _rss(f"<link>{B}<category/><author>Bob</author>"),
    _rss(f"<link>{B}<lnik><category>c</category>"),
    _rss(f"<guid>{B}<category>c</category>"),
    _rss(f'<guid isPermaLink="true">{B}<category domain="x">c</category>'),
    _atom(f'<link href="{B}"><author><name>Bob</name></author>'),
    _atom(f"<link>{B}<author><name>Bob</name></author>"),
    _urlset(f"<loc>{B}<expires>2020-01-01</expires>"),
    _urlset(f"<loc>{B}<expires>2020-01-01</expires><lastmod>2020</lastmod>"),
    _urlset(f"<loc>{B}<x:y z='1'>2020-01-01</x:y>"),
    _urlset(f"<loc>{B}<lco><lastmod>2020</lastmod>"),
    _index(f"<loc>{B}<changefreq>daily</changefreq>"),
]


@pytest.mark.parametrize("document", REPAIRED)
def test_an_unknown_element_ends_it(document: str) -> None:
    found = read(document.encode(), url=BASE)
    assert found.urls == [A, B, C]
    assert found.complete
    assert "SM208" in {problem.code for problem in found.problems}
    assert_readers_agree([document.encode()])


LOST = [
    (_rss(f"<link>{B}<x/link><category>c</category>"), [A, B, C]),
    (_rss(f"<link>{B}<x/link><pubDate>1 Jan 2024</pubDate><category>c</category>"), [A, B, C]),
    (_rss(f"<link>{B}<category>c<comments>{B}#c</comments>"), [A, B, C]),
    (_urlset(f"<loc>{B}<expires>2020-01-01<lastmod>2020</lastmod>"), [A, B, C]),
    (_urlset("<loc>http: <priority>0.5</priority>"), [A, C]),
    (_urlset("<loc>https://<expires>2020</expires>"), [A, C]),
    (_index("<loc>http:<lastmod>2020</lastmod>"), [A, C]),
    (_rss("<link>http:<category>c</category>"), [A, C]),
    (_atom('<link rel="alternate" href=\n<id>tag:h.example,2024:2</id>'), [A, C]),
    (_atom('<link rel="alternate"><author><name>Bob</name></author>'), [A, C]),
    (_atom("<link><id>http://h.example/2</id>"), [A, C]),
]


@pytest.mark.parametrize(("document", "urls"), LOST)
def test_where_a_part_is_missing_the_document_is_not_complete(
    document: str, urls: list[str]
) -> None:
    found = read(document.encode(), url=BASE)
    assert found.urls == urls
    assert not found.complete
    assert "SM209" in {problem.code for problem in found.problems}
    assert_readers_agree([document.encode()])


def test_what_follows_the_rest_of_an_end_tag_is_read() -> None:
    fields = f"<link>{B}<x/link><category>c</category><title>T</title>"
    found = read(rss(f"<item>{fields}</item>").encode())
    assert found.urls == [B]


def test_fields_after_an_unknown_element_are_read() -> None:
    fields = f"<loc>{B}<expires>2021<x/></expires><lastmod>2020-05-06</lastmod>"
    (page,) = read(urlset(f"<url>{fields}</url>").encode()).pages
    assert page["url"] == B
    assert str(page["last_modified"]).startswith("2020-05-06")


def test_the_url_of_an_image_ends_in_the_same_way() -> None:
    image = "<image:image><image:loc>http://h.example/i<x>y</x></image:image>"
    _, page, _ = sitemap_from_str(_urlset(f"<loc>{B}</loc>{image}")).pages
    assert [one.loc for one in page.images or []] == ["http://h.example/i"]


@pytest.mark.parametrize("before", ["", u("http://h.example/?a&b")])
def test_in_an_entry_that_is_not_closed_either(before: str) -> None:
    unclosed = f"<url><loc>{B}<expires>2020</expires>"
    found = read(urlset(before, unclosed, u(C)).encode())
    assert found.urls[-2:] == [B, C]
    assert not found.complete


@pytest.mark.parametrize("rest", ["<lastmod>2020</lastmod>", "<lastmod>2020</lastmo>"])
def test_markup_in_a_url_that_is_closed_keeps_its_meaning(rest: str) -> None:
    document = urlset(f"<url><loc>http://h.example/<b>x</b>y</loc>{rest}</url>")
    found = read(document.encode())
    assert found.urls == ["http://h.example/xy"]
    assert "SM211" in {problem.code for problem in found.problems}


@pytest.mark.parametrize("page", ["<h1>Error</h1>", "<html><body>Error</body></html>"])
def test_an_html_page_in_it_leaves_no_url(page: str) -> None:
    found = read(_urlset(f"<loc>{B}{page}").encode())
    assert found.urls == [A, C]
    assert not found.complete
