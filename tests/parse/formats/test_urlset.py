"""Entries of XML sitemaps: URLs, priorities, frequencies, news, images, alternates.

In a table, a row has a description, the text of the document and the expected value.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest

import usp
from tests.parse.reading import (
    ALL,
    SM,
    children,
    index,
    page,
    problems,
    read_at,
    u,
    urls,
    urlset,
)
from usp.objects.page import SitemapImage, SitemapPageChangeFrequency
from usp.objects.problem import Problem

A, B, C = "http://h.example/a", "http://h.example/b", "http://h.example/c"


# URLs

LOCS = [
    ("a bare ampersand", "http://h/?a=1&b=2", "http://h/?a=1&b=2"),
    ("an escaped ampersand", "http://h/?a=1&amp;b=2", "http://h/?a=1&b=2"),
    ("an ampersand escaped twice", "http://h/?a=1&amp;amp;b=2", "http://h/?a=1&b=2"),
    ("an escaped name without ;", "http://h/?a=1&amp;copy=2", "http://h/?a=1&copy=2"),
    ("a bare name without ;", "http://h/?a=1&copy=2", "http://h/?a=1&copy=2"),
    ("an HTML name, escaped", "http://h/caf&amp;eacute;", "http://h/café"),
    ("an HTML name, bare", "http://h/caf&eacute;", "http://h/café"),
    ("an undefined entity", "http://h/x&nosuch;y", "http://h/x&nosuch;y"),
    ("a numeric reference", "http://h/&#xe9;&#233;", "http://h/éé"),
    ("a reference to a control character", "http://h/x&#11;y", "http://h/xy"),
    ("a raw control character", "http://h/x\x0by", "http://h/xy"),
    ("a null byte", "http://h/x\x00y", "http://h/xy"),
    ("CDATA", "<![CDATA[http://h/?a=1&b=2]]>", "http://h/?a=1&b=2"),
    ("CDATA in part", "http://h/<![CDATA[x]]>y", "http://h/xy"),
    ("a comment inside", "http://h/<!-- no -->x", "http://h/x"),
    ("whitespace around", "\n\t http://h/x \r\n", "http://h/x"),
    ("no-break spaces around", "\xa0http://h/x\xa0", "http://h/x"),
    ("zero-width spaces around", "\u200bhttp://h/x\u200b", "http://h/x"),
    ("a byte order mark before", "\ufeffhttp://h/x", "http://h/x"),
    ("no-break spaces as references", "&#160;http://h/x&#xA0;", "http://h/x"),
    ("letters beyond ASCII", "http://h/ÅÄÖ/日本", "http://h/ÅÄÖ/日本"),
    ("an emoji", "http://h/🐝", "http://h/🐝"),
    ("percent signs", "http://h/%C3%A9%20x", "http://h/%C3%A9%20x"),
    ("a fragment", "http://h/x#y", "http://h/x#y"),
    ("upper case", "HTTP://H/X", "HTTP://H/X"),
]


@pytest.mark.parametrize(("what", "written", "read"), LOCS, ids=[row[0] for row in LOCS])
def test_the_url_of_an_entry(what: str, written: str, read: str) -> None:
    document = urlset(u(A), u(written), u(C))
    assert urls(document) == [A, read, C], what


@pytest.mark.parametrize(("what", "written", "read"), LOCS, ids=[row[0] for row in LOCS])
def test_the_url_of_a_child_sitemap_is_read_like_that_of_a_page(
    what: str, written: str, read: str
) -> None:
    assert children(index(A, written, C)) == [A, read, C], what


SKIPPED = [
    ("an empty loc", "<url><loc/></url>"),
    ("a loc with whitespace only", "<url><loc> \n </loc></url>"),
    ("no loc", "<url><lastmod>2020-01-01</lastmod></url>"),
    ("an empty entry", "<url/>"),
]


@pytest.mark.parametrize(("what", "entry"), SKIPPED, ids=[row[0] for row in SKIPPED])
def test_an_entry_without_url_is_skipped(what: str, entry: str) -> None:
    document = urlset(u(A), entry, u(B))
    assert urls(document) == [A, B], what
    assert [problem.code for problem in problems(document)] == ["SM301"]


def test_two_locs_in_one_entry_are_two_pages() -> None:
    assert urls(urlset(f"<url><loc>{A}</loc><loc>{B}</loc></url>", u(C))) == [A, B, C]


def test_two_locs_share_the_fields_of_the_entry() -> None:
    document = urlset(f"<url><loc>{A}</loc><loc>{B}</loc><priority>0.9</priority></url>")
    assert urls(document) == [A, B]


@pytest.mark.parametrize("url", ["ftp://h.example/x", "mailto:x@h.example", "tel:12345"])
def test_a_url_that_is_not_http_is_kept_with_a_problem(url: str) -> None:
    document = urlset(u(A), u(url), u(B))
    assert urls(document) == [A, url, B]
    assert [problem.code for problem in problems(document)] == ["SM303"]


def test_urls_are_deduplicated_after_trimming() -> None:
    assert urls(urlset(u(A), u(f"  {A}\n"), u(B), u(f"<![CDATA[{A}]]>"))) == [A, B]


def test_the_first_of_two_entries_with_one_url_is_used() -> None:
    document = urlset(u(A, "<priority>0.1</priority>"), u(A, "<priority>0.9</priority>"))
    assert page(document).priority == Decimal("0.1")


RELATIVE = [
    ("/x", "http://h.example/x"),
    ("x", "http://h.example/maps/x"),
    ("../x", "http://h.example/x"),
    ("?q=1", "http://h.example/maps/s.xml?q=1"),
    ("//other.example/x", "http://other.example/x"),
]


@pytest.mark.parametrize(("written", "read"), RELATIVE)
def test_a_relative_url_is_resolved_against_the_sitemap(written: str, read: str) -> None:
    sitemap = read_at("http://h.example/maps/s.xml", urlset(u(written)))
    assert [found.url for found in sitemap.pages] == [read]


def test_a_relative_child_is_resolved_against_the_index() -> None:
    sitemap = read_at("http://h.example/maps/i.xml", index("../a.xml", "b.xml"))
    assert [child.url for child in sitemap.sub_sitemaps] == [
        "http://h.example/a.xml",
        "http://h.example/maps/b.xml",
    ]


def test_a_relative_url_and_its_absolute_form_are_one_page() -> None:
    sitemap = read_at("http://h.example/s.xml", urlset(u("/a"), u(A)))
    assert [found.url for found in sitemap.pages] == [A]


def test_a_relative_url_without_a_base_is_kept_with_a_problem() -> None:
    document = urlset(u("/x"), u(A))
    assert urls(document) == ["/x", A]
    assert [problem.code for problem in problems(document)] == ["SM302"]


# Priority and frequency

HALF = Decimal("0.5")
PRIORITIES = [
    ("0.8", Decimal("0.8")),
    ("1", Decimal(1)),
    ("1.0", Decimal("1.0")),
    ("0", Decimal(0)),
    ("0.00", Decimal(0)),
    (" 0.3\n", Decimal("0.3")),
    (".7", Decimal("0.7")),
    ("", HALF),
    ("0,8", HALF),
    ("1.5", HALF),
    ("-1", HALF),
    ("NaN", HALF),
    ("sNaN", HALF),
    ("Infinity", HALF),
    ("-inf", HALF),
    ("high", HALF),
    ("1e400", HALF),
    ("0.8.1", HALF),
]


@pytest.mark.parametrize(("text", "priority"), PRIORITIES)
def test_priority(text: str, priority: Decimal) -> None:
    found = page(urlset(u(A, f"<priority>{text}</priority>"))).priority
    assert isinstance(found, Decimal)
    assert found == priority


def test_priority_without_the_element() -> None:
    assert page(urlset(u(A))).priority == HALF


FREQUENCIES = [
    *((frequency.value, frequency) for frequency in SitemapPageChangeFrequency),
    ("Daily", SitemapPageChangeFrequency.DAILY),
    (" weekly ", SitemapPageChangeFrequency.WEEKLY),
    ("NEVER", SitemapPageChangeFrequency.NEVER),
    ("sometimes", SitemapPageChangeFrequency.ALWAYS),
    ("fortnightly", SitemapPageChangeFrequency.ALWAYS),
]


@pytest.mark.parametrize(("text", "frequency"), FREQUENCIES)
def test_change_frequency(text: str, frequency: SitemapPageChangeFrequency) -> None:
    assert page(urlset(u(A, f"<changefreq>{text}</changefreq>"))).change_frequency is frequency


@pytest.mark.parametrize("element", ["", "<changefreq/>", "<changefreq> </changefreq>"])
def test_an_empty_change_frequency_is_none(element: str) -> None:
    assert page(urlset(u(A, element))).change_frequency is None


# Extensions


def news(inside: str) -> str:
    return (
        f"<news:news>{inside}<news:publication_date>2020-05-06</news:publication_date></news:news>"
    )


LISTS = [
    ("one", ["one"]),
    ("one, two", ["one", "two"]),
    ("one,two ,  three", ["one", "two", "three"]),
    ("one,,two,", ["one", "two"]),
    ("a &amp; b, c", ["a & b", "c"]),
    ("", []),
]


@pytest.mark.parametrize("field", ["genres", "keywords", "stock_tickers"])
@pytest.mark.parametrize(("text", "items"), LISTS)
def test_lists_of_a_story(field: str, text: str, items: list[str]) -> None:
    entry = u(A, news(f"<news:title>T</news:title><news:{field}>{text}</news:{field}>"))
    story = page(urlset(entry)).news_story
    assert story is not None
    assert getattr(story, field) == items


@pytest.mark.parametrize("title", ["", "<news:title/>", "<news:title> </news:title>"])
def test_a_story_without_title_is_skipped_and_the_page_kept(title: str) -> None:
    document = urlset(u(A, news(title) + "<priority>0.9</priority>"), u(B))
    assert urls(document) == [A, B]
    alone = page(urlset(u(A, news(title) + "<priority>0.9</priority>")))
    assert alone.news_story is None
    assert alone.priority == Decimal("0.9")


def test_an_image_without_url_is_skipped_and_the_page_kept() -> None:
    entry = u(
        A,
        "<image:image><image:loc/></image:image>"
        f"<image:image><image:loc>{B}</image:loc></image:image>"
        "<image:image><image:caption>No image</image:caption></image:image>",
    )
    assert page(urlset(entry)).images == [SitemapImage(B)]


def test_a_page_whose_only_image_has_no_url_has_no_images() -> None:
    entry = u(A, "<image:image><image:loc> </image:loc></image:image>")
    assert page(urlset(entry)).images is None


def test_texts_of_extensions_are_cleaned_like_urls() -> None:
    entry = u(
        A,
        "<image:image><image:loc> http://h/i.jpg?a=1&amp;amp;b=2 </image:loc>"
        "<image:caption><![CDATA[ Caf&eacute; & more ]]></image:caption>"
        "<image:title>&amp;copy 2020 &amp;amp; on</image:title></image:image>"
        + news("<news:title>\n Fish &amp;amp; chips </news:title>"),
    )
    found = page(urlset(entry))
    assert found.images == [
        SitemapImage("http://h/i.jpg?a=1&b=2", caption="Café & more", title="&copy 2020 & on")
    ]
    assert found.news_story is not None
    assert found.news_story.title == "Fish & chips"


def test_alternates_keep_their_order_and_are_unescaped() -> None:
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{code}" href="http://h/{code}?a=1&amp;b=2"/>'
        for code in ("sv", "de", "x-default")
    )
    assert page(urlset(u(A, links))).alternates == [
        (code, f"http://h/{code}?a=1&b=2") for code in ("sv", "de", "x-default")
    ]


@pytest.mark.parametrize(
    "link",
    [
        '<xhtml:link rel="alternate" hreflang="de"/>',
        '<xhtml:link rel="alternate" href="http://h/m"/>',
        '<xhtml:link rel="canonical" hreflang="de" href="http://h/c"/>',
        "<xhtml:link/>",
    ],
)
def test_an_incomplete_link_is_no_alternate(link: str) -> None:
    assert page(urlset(u(A, link), namespaces=f'{SM} xmlns:xhtml="http://www.w3.org/1999/xhtml"'))
    assert page(urlset(u(A, link))).alternates is None


# Problems


def test_a_valid_document_has_no_problems() -> None:
    assert problems(urlset(u(A, "<lastmod>2020-01-01</lastmod>"), u(B))) == ()


def test_a_problem_has_line_and_offset() -> None:
    document = f'<?xml version="1.0"?>\n<urlset {SM}>\n{u(A)}\n<url><loc/></url>\n{u(B)}\n</urlset>'
    (problem,) = problems(document)
    assert isinstance(problem, Problem)
    assert problem.name == "no-loc"
    assert problem.line == 4
    assert problem.offset == document.encode().index(b"<url><loc/>")


INVALID_VALUES = [
    ("lastmod", "soon", "bad-date"),
    ("priority", "high", "bad-priority"),
    ("changefreq", "sometimes", "bad-changefreq"),
]


@pytest.mark.parametrize(("element", "text", "name"), INVALID_VALUES)
def test_an_invalid_value_is_a_problem(element: str, text: str, name: str) -> None:
    found = problems(urlset(u(A), u(B, f"<{element}>{text}</{element}>")))
    assert [problem.name for problem in found] == [name]


@pytest.mark.parametrize(("locs", "images"), [(10, 500), (2000, 1)])
def test_pages_of_one_entry_share_its_fields(locs: int, images: int) -> None:
    entry = "".join(f"<loc>http://h/{n}</loc>" for n in range(locs))
    entry += "<lastmod>2024-05-01</lastmod>"
    entry += "<image:image><image:loc>http://h/i</image:loc></image:image>" * 500
    pages = usp.parse(f"<urlset {ALL}><url>{entry}</url></urlset>").pages
    assert [one.url for one in pages] == [f"http://h/{n}" for n in range(locs)]
    for one in (pages[0], pages[-1]):
        assert one.last_modified == datetime(2024, 5, 1)  # noqa: DTZ001 -- as written
        assert images <= len(one.images or ()) <= 500
        assert one.declared["loc"].startswith("http://h/")
    assert (len(pages[0].images or ()) < 500) == (locs == 2000)


def test_a_page_with_the_url_of_a_child_is_listed_in_every_walk() -> None:
    listed = f"<sitemap><loc>{A}</loc></sitemap>{u(A)}{u(B)}"
    sitemap = usp.parse(f"<urlset {SM}>{listed}</urlset>", url="http://h.example/s.xml")
    assert [[one.url for one in sitemap.all_pages()] for _ in range(2)] == [[A, B], [A, B]]
    assert "SM305" not in {problem.code for problem in sitemap.problems}


def test_a_password_with_a_blank_in_it_is_not_shown() -> None:
    found = problems(urlset(u("http://u:pa ss@h.example/a")))
    assert [problem.code for problem in found] == ["SM308"]
    assert "pa ss" not in found[0].message


@pytest.mark.parametrize("start", ["//http://", "////", "/", "\\\\", "", "//x@http:"])
def test_a_malformed_url_has_no_password(start: str) -> None:
    written = f"http:{start}user:secret@h.example/a"
    date = (
        "<news:news><news:publication_date>http://u:secret @h/</news:publication_date></news:news>"
    )
    sitemap = usp.parse(urlset(u(written, date)), url="http://h.example/s.xml")
    assert "secret" not in str([one.to_dict(extended=True) for one in sitemap.all_pages()])
    assert "secret" not in str([(one.message, one.page_url) for one in sitemap.problems])
    robots = usp.parse(f"Sitemap: {written}\n", url="http://h.example/robots.txt")
    assert "secret" not in str([child.url for child in robots.sub_sitemaps])
    assert "secret" not in str([one.message for one in robots.problems])


def test_markup_in_a_url_is_a_problem() -> None:
    found = problems(
        urlset(f"<url><loc><![CDATA[{A}]]?</loc></url><url><loc><![CDATA[{B}]]></loc></url>")
    )
    assert [problem.code for problem in found] == ["SM211", "SM209"]  # the second is in the first
    assert not problems(urlset(u("http://h.example/1&lt;2")))
