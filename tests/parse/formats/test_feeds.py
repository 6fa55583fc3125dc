"""RSS and Atom: which items are pages, their titles and dates, their links.

In a table, a row has a description, the text of the document and the expected value.
"""

from __future__ import annotations

import pytest

import usp
from tests.parse.pattern.readers import WORTH_LEARNING, assert_readers_agree, entries
from tests.parse.reading import atom, page, rss, urls
from usp._parse.input.sniff import Kind
from usp.objects.page import PageLink
from usp.objects.sitemap import PagesAtomSitemap, PagesRSSSitemap
from usp.tree import sitemap_from_str

A, B, X = "http://h.example/a", "http://h.example/b", "http://h.example/x"
MEDIA = 'xmlns:media="http://search.yahoo.com/mrss/" xmlns:atom="http://www.w3.org/2005/Atom"'


def item(url: str, more: str = "<title>T</title>") -> str:
    return f"<item>{more}<link>{url}</link></item>"


def entry(url: str, more: str = "<title>T</title>") -> str:
    return f'<entry>{more}<link href="{url}"/></entry>'


ITEMS = [
    ("title and link", item(X), [X]),
    ("description and link", item(X, "<description>D</description>"), [X]),
    ("neither title nor description", item(X, ""), []),
    ("an empty title and a description", item(X, "<title/><description>D</description>"), [X]),
    ("an empty title and nothing else", item(X, "<title/>"), []),
    ("no link", "<item><title>T</title></item>", []),
    ("an empty link", item("", "<title>T</title>"), []),
    ("a URL after an empty link", f"<item><title>T</title><link/>{X}</item>", [X]),
    (
        "a URL after an empty pair of tags",
        f"<item><link></link>\n{X}\n<title>T</title></item>",
        [X],
    ),
    ("a bare & after an empty link", f"<item><title>T</title><link/>{X}?a&b</item>", [f"{X}?a&b"]),
    ("words after an empty link", "<item><title>T</title><link/>words</item>", []),
    (
        "a URL after a link that has one",
        f"<item><title>T</title><link>{X}</link>{X}/no</item>",
        [X],
    ),
    ("a URL without a link", f"<item><title>T</title>{X}</item>", []),
    ("a guid instead of a link", f"<item><title>T</title><guid>{X}</guid></item>", [X]),
    (
        "a guid that is a permalink",
        f'<item><title>T</title><guid isPermaLink="true">{X}</guid></item>',
        [X],
    ),
    (
        "a guid that is no permalink",
        f'<item><title>T</title><guid isPermaLink="false">{X}</guid></item>',
        [],
    ),
    ("a guid that isn't http", "<item><title>T</title><guid>urn:x:1</guid></item>", []),
    (
        "a link and a guid",
        f"<item><title>T</title><guid>{B}</guid><link>{X}</link></item>",
        [X],
    ),
    ("atom:link inside", item(X, '<title>T</title><atom:link rel="self" href="/no"/>'), [X]),
    ("media:title inside", item(X, "<title>T</title><media:title>M</media:title>"), [X]),
    ("an HTML entity", item(X, "<title>Caf&eacute;&nbsp;au lait</title>"), [X]),
    ("a bare ampersand", item(X, "<title>Fish & chips</title>"), [X]),
    ("CDATA", item(f"<![CDATA[{X}]]>", "<title><![CDATA[<b>T</b>]]></title>"), [X]),
    ("whitespace around the link", item(f"\n {X} "), [X]),
    ("an unknown element", item(X, "<title>T</title><mood>good</mood>"), [X]),
]


@pytest.mark.parametrize(("what", "written", "expected"), ITEMS, ids=[row[0] for row in ITEMS])
def test_an_item(what: str, written: str, expected: list[str]) -> None:
    document = rss(item(A), written, item(f"{B}?last"), namespaces=MEDIA)
    assert urls(document) == [A, *expected, f"{B}?last"], what


TITLES = [
    ("the title", "<title>T</title><description>D</description>", "T"),
    ("the description if there is no title", "<description>D</description>", "D"),
    (
        "the title of the item, not of its media",
        "<media:title>M</media:title><title>T</title>",
        "T",
    ),
    ("unescaped", "<title>Fish &amp;amp; chips</title>", "Fish & chips"),
    ("trimmed", "<title>\n T\t</title>", "T"),
]


@pytest.mark.parametrize(("what", "inside", "title"), TITLES, ids=[row[0] for row in TITLES])
def test_the_title_of_an_item(what: str, inside: str, title: str) -> None:
    story = page(rss(item(X, inside), namespaces=MEDIA)).news_story
    assert story is not None
    assert story.title == title, what


def test_an_item_without_date_has_a_story_without_date() -> None:
    story = page(rss(item(X))).news_story
    assert story is not None
    assert story.publish_date is None


@pytest.mark.parametrize("text", ["nonsense", "Mon, 32 Foo 2020", "12345678901234567890", ""])
def test_an_invalid_date_is_skipped_and_the_item_kept(text: str) -> None:
    document = rss(item(A), item(X, f"<title>T</title><pubDate>{text}</pubDate>"), item(B))
    assert urls(document) == [A, X, B]
    story = page(rss(item(X, f"<title>T</title><pubDate>{text}</pubDate>"))).news_story
    assert story is not None
    assert story.publish_date is None


def test_links_are_deduplicated() -> None:
    assert urls(rss(item(A), item(B), item(A, "<title>Again</title>"))) == [A, B]


def test_links_of_channel_and_image_are_no_pages() -> None:
    head = f"<title>C</title><link>{X}</link><image><title>I</title><link>{X}</link></image>"
    assert urls(rss(head, item(A))) == [A]


RDF = f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="{X}"><title>C</title><link>{X}</link></channel>
<item rdf:about="{A}"><title>One</title><link>{A}</link><dc:date>2020-05-06</dc:date></item>
<item rdf:about="{B}"><title>Two</title><link>{B}</link></item></rdf:RDF>"""


def test_rss_1_0_is_read_like_2_0() -> None:
    sitemap = sitemap_from_str(RDF)
    assert isinstance(sitemap, PagesRSSSitemap)
    assert [found.url for found in sitemap.pages] == [A, B]


ABOUT = [
    ("an item without a link", f'rdf:about="{A}"', "", [A]),
    ("a link is preferred", f'rdf:about="{A}"', f"<link>{B}</link>", [B]),
    ("and so is a guid", f'rdf:about="{A}"', f"<guid>{B}</guid>", [B]),
    ("an empty link is not", f"RDF:about='{A}?a&amp;b'", "<link/>", [f"{A}?a&b"]),
    ("a URN is no URL", 'rdf:about="urn:isbn:1"', "", []),
    ("nor is a path", 'rdf:about="/a"', "", []),
    ("nor is an empty text", 'rdf:about=""', "", []),
]


@pytest.mark.parametrize(("what", "about", "inside", "found"), ABOUT, ids=[r[0] for r in ABOUT])
def test_rdf_about_as_the_url_of_an_item(
    what: str, about: str, inside: str, found: list[str]
) -> None:
    head, tail = RDF.split("<item", 1)[0], "</rdf:RDF>"
    document = f"{head}<item {about}><title>T</title>{inside}</item>{tail}"
    assert urls(document) == found, what


def test_the_pattern_reader_reads_items_of_rdf() -> None:
    item = f'<item rdf:about="{A}/@"><title>T @</title></item>'
    listed = "".join(item.replace("@", str(number)) for number in range(50))
    document = f"{RDF.split('<item', 1)[0]}{listed}{WORTH_LEARNING}</rdf:RDF>".encode()
    assert entries(document, Kind.RSS).matched > 40
    assert_readers_agree([document])


RSS_0_90 = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
         xmlns="http://my.netscape.com/rdf/simple/0.9/">
  <channel><title>C</title><link>{X}</link><description>D</description></channel>
  <image><title>I</title><url>{X}.gif</url><link>{X}</link></image>
  <item><title>One</title><link>{A}</link></item>
  <item><title>Two</title><link>{B}</link></item>
  <textinput><title>Search</title><name>q</name><link>{X}</link></textinput>
</rdf:RDF>"""
RSS_0_91 = f"""<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN"
 "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="0.91"><channel><title>C</title><link>{X}</link>
  <description>D</description><language>en</language>
  <image><title>I</title><url>{X}.gif</url><link>{X}</link></image>
  <item><title>One</title><link>{A}</link><description>caf&eacute;</description></item>
  <item><title>Two</title><link>{B}</link></item>
  <textinput><title>Search</title><name>q</name><link>{X}</link></textinput>
</channel></rss>"""
RSS_0_92 = f"""<?xml version="1.0"?>
<rss version="0.92"><channel><title>C</title><link>{X}</link><description>D</description>
  <cloud domain="h.example" port="80" path="/RPC2" registerProcedure="r" protocol="xml-rpc"/>
  <item><title>One</title><link>{A}</link><category domain="d">x</category>
    <source url="{X}.xml">S</source><enclosure url="{X}.mp4" length="1" type="video/mp4"/></item>
  <item><description>Two</description><link>{B}</link></item>
</channel></rss>"""


@pytest.mark.parametrize(
    "document", [RSS_0_90, RSS_0_91, RSS_0_92, RDF], ids=["0.90", "0.91", "0.92", "1.0"]
)
def test_whole_feeds_of_older_versions(document: str) -> None:
    sitemap = sitemap_from_str(document)
    assert isinstance(sitemap, PagesRSSSitemap)
    assert [found.url for found in sitemap.pages] == [A, B]
    stories = [found.news_story for found in sitemap.pages]
    assert [story and story.title for story in stories] == ["One", "Two"]
    assert sitemap.complete


def test_an_enclosure_of_0_92_is_a_video() -> None:
    first, second = sitemap_from_str(RSS_0_92).pages
    assert [video.content_loc for video in first.videos or []] == [f"{X}.mp4"]
    assert second.videos is None


@pytest.mark.parametrize("version", ["0.91", "0.92", "2.0"])
def test_older_rss_is_read_like_2_0(version: str) -> None:
    document = f'<rss version="{version}"><channel>{item(A)}{item(B)}</channel></rss>'
    assert urls(document) == [A, B]


def link(rel: str, url: str) -> str:
    return f'<link rel="{rel}" href="{url}"/>'


ENTRIES = [
    ("alternate by default", entry(X), [X]),
    ("alternate by its rel", f"<entry><title>T</title>{link('alternate', X)}</entry>", [X]),
    ("self before it", entry(X, f"<title>T</title>{link('self', B)}"), [X]),
    ("an enclosure before it", entry(X, f"<title>T</title>{link('enclosure', B)}"), [X]),
    ("edit and replies", entry(X, f"<title>T</title>{link('edit', B)}{link('replies', B)}"), [X]),
    ("only self", f"<entry><title>T</title>{link('self', X)}</entry>", []),
    ("only an enclosure", f"<entry><title>T</title>{link('enclosure', X)}</entry>", []),
    ("a summary and no title", entry(X, "<summary>S</summary>"), [X]),
    ("neither", entry(X, ""), []),
    ("no link", "<entry><title>T</title></entry>", []),
    ("an HTML title", entry(X, '<title type="html">&lt;b&gt;T&lt;/b&gt;</title>'), [X]),
    (
        "an XHTML title",
        entry(X, '<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">T</div></title>'),
        [X],
    ),
    ("an author with a name", entry(X, "<title>T</title><author><name>N</name></author>"), [X]),
    (
        "a source with a link",
        entry(X, f"<title>T</title><source><title>S</title>{link('alternate', B)}</source>"),
        [X],
    ),
]


def test_the_other_links_of_an_entry_are_kept() -> None:
    more = (
        '<link rel="self" type="application/atom+xml" href="/self"/>'
        f'<link rel="alternate" hreflang="de" title="T" href="{B}"/>'
        '<link rel="replies" xml:base="http://r.example/" href="1"/><link rel="via"/>'
    )
    assert page(atom(entry(X, f"<title>T</title>{more}"))).links == [
        PageLink("self", "/self", type="application/atom+xml"),
        PageLink("replies", "http://r.example/1"),
        PageLink("alternate", X),
    ]
    first = entry(X, "<title>T</title>").replace("</entry>", f"{more}</entry>")
    assert page(atom(first)).links == [
        PageLink("self", "/self", type="application/atom+xml"),
        PageLink("alternate", B, "de", title="T"),
        PageLink("replies", "http://r.example/1"),
    ]


def test_the_links_of_an_item_without_that_of_its_page() -> None:
    more = f'<title>T</title><atom:link rel="self" href="{B}"/>'
    assert page(rss(item(X, more), namespaces=MEDIA)).links == [PageLink("self", B)]
    assert page(rss(item(X))).links is None


@pytest.mark.parametrize(("what", "written", "expected"), ENTRIES, ids=[row[0] for row in ENTRIES])
def test_an_entry(what: str, written: str, expected: list[str]) -> None:
    document = atom(entry(A), written, entry(f"{B}?last"))
    sitemap = sitemap_from_str(document)
    assert isinstance(sitemap, PagesAtomSitemap)
    assert [found.url for found in sitemap.pages] == [A, *expected, f"{B}?last"], what


ATOM_DATES = [
    (
        "published is preferred to updated",
        "<updated>2021-01-01</updated><published>2020-01-01</published>",
    ),
    ("updated only", "<updated>2020-01-01</updated>"),
    ("issued (0.3)", "<issued>2020-01-01</issued><modified>2021-01-01</modified>"),
]


@pytest.mark.parametrize(("what", "dates"), ATOM_DATES, ids=[row[0] for row in ATOM_DATES])
def test_the_date_of_an_entry(what: str, dates: str) -> None:
    story = page(atom(entry(X, f"<title>T</title>{dates}"))).news_story
    assert story is not None
    assert str(story.publish_date) == "2020-01-01 00:00:00", what


@pytest.mark.parametrize("before", ["", atom(), '<feed xmlns="http://www.w3.org/2005/Atom"><"">'])
def test_the_base_url_of_an_entry_is_not_that_of_the_next(before: str) -> None:
    entries = (
        '<entry xml:base="http://h.example/q/"><title>t</title><link href="r"/></entry>'
        '<entry><title>t</title><link href="s"/></entry>'
    )
    feed = usp.parse(before + entries, url="http://h.example/a/feed.xml")
    found = [one.url for one in feed.all_pages()]
    assert found == ["http://h.example/q/r", "http://h.example/a/s"]


@pytest.mark.parametrize(
    "feed",
    [
        '<feed {atom} xml:base="{base}">{entry}</feed>',
        '<feed {atom}><entry xml:base="{base}">{inside}</entry></feed>',
        '<rss xml:base="{base}"><item><title>t</title><link>../r</link></item></rss>',
    ],
    ids=["feed", "entry", "channel"],
)
@pytest.mark.parametrize("size", [1_000, 1_100, 9_000])
def test_a_base_url_that_is_too_long_leaves_links_relative_and_says_so(
    feed: str, size: int
) -> None:
    inside = '<title>t</title><link href="../r"/>'
    base = "http://h.example/" + "a" * (size - 2) + "/a/"
    atom = 'xmlns="http://www.w3.org/2005/Atom"'
    text = feed.format(atom=atom, base=base, inside=inside, entry=f"<entry>{inside}</entry>")
    found = usp.parse(text, url="http://h.example/feed.xml")
    urls, codes = [one.url for one in found.all_pages()], [one.code for one in found.problems]
    expected = ([f"{base[:-2]}r"], []) if size < 1_024 else (["../r"], ["SM302"])
    assert (urls, codes) == expected
    assert_readers_agree([text.encode()])


ATOM = 'xmlns="http://www.w3.org/2005/Atom"'
IN_ENTRY = '<title>t</title><link href="c"/>'


@pytest.mark.parametrize(
    ("feed", "expected"),
    [
        (f'<feed {ATOM} xml:base="B"><entry xml:base="b/">{IN_ENTRY}</entry></feed>', "a/b/c"),
        (f'<feed {ATOM} xml:base="B"><entry xml:base="">{IN_ENTRY}</entry></feed>', "a/c"),
        (f'<feed {ATOM} xml:base="B"><entry xml:base="/x/">{IN_ENTRY}</entry></feed>', "x/c"),
        (
            (
                f'<feed {ATOM} xml:base="B"><entry xml:base="b/"><title>t</title>'
                '<link xml:base="d/" href="c"/></entry></feed>'
            ),
            "a/b/d/c",
        ),
        (
            (
                '<rss xml:base="B"><channel xml:base="k/"><item xml:base="m/"><title>t</title>'
                "<link>c</link></item></channel></rss>"
            ),
            "a/k/m/c",
        ),
        (f'<feed {ATOM} xml:base="a/"><entry xml:base="b/">{IN_ENTRY}</entry></feed>', "own/a/b/c"),
    ],
)
def test_a_base_url_is_relative_to_the_one_around_it(feed: str, expected: str) -> None:
    text = feed.replace('"B"', '"http://h.example/a/"')
    found = usp.parse(text, url="http://h.example/own/feed.xml")
    assert [one.url for one in found.all_pages()] == [f"http://h.example/{expected}"]
    assert_readers_agree([text.encode()])
