"""The pattern reader never changes a result: it gives what the expat reader gives, or nothing."""

from __future__ import annotations

import sys
import tracemalloc
import zlib
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.pattern.readers import (
    WORTH_LEARNING,
    assert_readers_agree,
    documents,
    entries,
    forget_all,
    read,
)
from tests.parse.reading import ALL, SM, atom, u
from tests.parse.strategies import Damaged, anything, damaged, examples, xml_formats
from usp._parse import Pages
from usp._parse.checking import Audit
from usp._parse.document import Source, inspect
from usp._parse.input.chunks import CHUNK_SIZE
from usp._parse.input.sniff import Kind
from usp.objects.abstract_sitemap import HasProblems

FIELDS = {
    "plain": "<lastmod>2020-05-06</lastmod><changefreq>daily</changefreq><priority>0.8</priority>",
    "news": "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language>"
    "</news:publication><news:publication_date>2020-05-06T07:08:09Z</news:publication_date>"
    "<news:title>A &amp; B</news:title><news:keywords>a, b</news:keywords></news:news>",
    "images": "<image:image><image:loc>http://h.example/1.png</image:loc></image:image>\n"
    "<image:image><image:loc>http://h.example/2.png</image:loc><image:title/></image:image>",
    "one text each": "<image:image><image:loc>http://h.example/1.png</image:loc></image:image>" * 2,
    "no text at all": "<mobile:mobile/><mobile:mobile/><image:image></image:image>" * 2,
    "videos": "<video:video><video:title>T</video:title><video:tag>a</video:tag>"
    "<video:tag>b</video:tag><video:price currency='EUR'>1</video:price></video:video>",
    "hreflang": '<xhtml:link rel="alternate" hreflang="de" href="http://h.example/de"/>\n'
    "<xhtml:link rel='alternate' hreflang='fr' href='http://h.example/fr?a&amp;b'/>",
    "own namespace": '<n:news xmlns:n="http://www.google.com/schemas/sitemap-news/0.9">'
    "<n:title>T</n:title></n:news>",
    "unknown": "<x:y a='b'><x:z>1</x:z><x:z>2</x:z></x:y>",
}


def document(*listed: str) -> bytes:
    return f"<urlset {ALL}>{''.join(listed)}{WORTH_LEARNING}</urlset>".encode()


# The readers agree


@pytest.mark.slow
@examples(400)
@given(documents())
def test_readers_agree_on_every_text(data: bytes) -> None:
    for kind in (Kind.URLSET, Kind.INDEX, Kind.ATOM):
        with_pattern, expat_only = entries(data, kind), entries(data, kind, expat_only=True)
        assert with_pattern.records == expat_only.records
        assert with_pattern.problems == expat_only.problems
        assert expat_only.matched == 0


@pytest.mark.slow
@examples(200)
@given(documents(), st.lists(st.integers(0, 12_000), max_size=6))
def test_readers_agree_on_every_field_and_problem(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(data)]
    assert_readers_agree(data[start:end] for start, end in pairwise(places))


@examples(100)
@given(anything)
def test_readers_agree_on_anything(data: bytes) -> None:
    assert_readers_agree([data])


@examples(100)
@given(damaged(xml_formats))
def test_readers_agree_on_damage(document: Damaged) -> None:
    whole = document.document
    tail = document.kind.tail.encode()
    assert_readers_agree([whole.replace(tail, WORTH_LEARNING.encode() + tail)])


@pytest.mark.parametrize("shift", range(0, 260, 13))
def test_readers_agree_at_block_boundaries(shift: int) -> None:
    listed = [u(f"http://h.example/é/{number}", FIELDS["plain"]) for number in range(2500)]
    data = document("<!--", " " * shift, "-->", *listed)
    assert len(data) > 256 * 1024
    with_pattern, expat_only = entries(data), entries(data, expat_only=True)
    assert with_pattern.records == expat_only.records
    assert with_pattern.matched == len(listed)


CUT = {
    "a comment": f"<!-- {u('http://h.example/no')} -->",
    "a fault": "<url><loc>http://h.example/a?b&c</loc><lastmod>2020</url>",
    "an entry that is not closed": "<url><loc>http://h.example/a</loc>",
    "a stray end": "</url></lastmod>",
    "CDATA": "<url><loc><![CDATA[http://h.example/</url>]]></loc></url>",
    "an end with a blank": "<url><loc>http://h.example/a</loc></url \n>",
    "the end of the root": "</urlset>",
    "a long entry": u("http://h.example/a", f"<x>{'y' * 20_000}</x>"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", CUT)
def test_readers_agree_where_a_block_cuts_something(what: str) -> None:
    plain = "".join(u(f"http://h.example/{number}", FIELDS["plain"]) for number in range(1650))
    for cut in range(1, 80, 13):
        head = f"<urlset {ALL}>{plain}<!--".ljust(CHUNK_SIZE - cut - 3, "x") + "-->"
        assert len(head) == CHUNK_SIZE - cut
        data = f"{head}{CUT[what]}{plain}{u('http://h.example/last')}</urlset>".encode()
        with_pattern, expat_only = entries(data), entries(data, expat_only=True)
        assert with_pattern.records == expat_only.records
        assert with_pattern.problems == expat_only.problems


# What it reads


@pytest.mark.parametrize("what", FIELDS)
def test_entries_of_one_shape_are_matched(what: str) -> None:
    gaps = ["", "\n", "\r\n  "]
    listed = [
        gaps[number % 3] + u(f"http://h.example/{number}", FIELDS[what] if number % 4 else "")
        for number in range(100)
    ]
    data = document(*listed)
    found = entries(data)
    assert found.records == entries(data, expat_only=True).records
    assert found.matched > 80, what
    assert_readers_agree([data])


def test_entries_of_indexes_and_feeds_are_matched() -> None:
    child = "<sitemap><loc>http://h.example/@</loc><lastmod>2020-05-06</lastmod></sitemap>"
    item = "<item><title>T @</title><link>http://h.example/@</link></item>"
    entry = '<entry><title type="html">T</title><link href="http://h.example/@"/></entry>'
    for kind, head, one, tail in (
        (Kind.INDEX, f"<sitemapindex {SM}>", child, "</sitemapindex>"),
        (Kind.RSS, "<rss><channel>", item, "</channel></rss>"),
        (Kind.ATOM, '<feed xmlns="http://www.w3.org/2005/Atom">', entry, "</feed>"),
    ):
        listed = "".join(one.replace("@", str(number)) for number in range(50))
        data = f"{head}{listed}{WORTH_LEARNING}{tail}".encode()
        assert entries(data, kind).matched > 40, kind
        assert_readers_agree([data])


UNSAFE = [
    ("a control character", "\x01"),
    ("a bare &", "a&b"),
    ("an undefined entity", "&nope;"),
    ("a reference to a control character", "&#8;"),
    ("a reference to half a character", "&#xD800;"),
    ("the end of CDATA", "]]>"),
    ("no character", "\ufffe"),
    ("a comment", "<!-- a -->"),
    ("CDATA", "<![CDATA[&]]>"),
    ("markup", "<b>a</b>"),
    ("an entry", "</loc></url><url><loc>http://h.example/b"),
]


@pytest.mark.parametrize(("what", "text"), UNSAFE, ids=[row[0] for row in UNSAFE])
def test_what_is_not_plain_goes_to_expat_and_nothing_else_does(what: str, text: str) -> None:
    listed = [u(f"http://h.example/{number}") for number in range(60)]
    data = document(*listed[:30], u(f"http://h.example/{text}"), *listed[30:])
    assert read([data], expat_only=False) == read([data], expat_only=True), what
    assert 50 < entries(data).matched <= 62, what


def test_readers_choose_the_same_of_very_many_problems() -> None:
    faults = ["<lastmod>x</lastmod>", "<priority>x</priority>", "<changefreq>x</changefreq>"]
    listed = [u(f"http://h.example/{n // 2}", faults[n % 3]) for n in range(400)]
    listed[300:] = [one.replace("</loc>", "&</loc>") for one in listed[300:]]
    data = document(*listed)
    *told, rest = read([data], expat_only=False).problems
    assert (len(told), rest.message) == (300, "400 more problems are not listed")
    assert_readers_agree([data])


def test_a_link_without_rel_is_no_alternate() -> None:
    links = ("", ' rel="alternate"')
    for written in (links[:1], links[1:], links):
        data = document(
            *(
                u(f"http://h.example/{n}", f'<xhtml:link{rel} hreflang="de" href="http://h/{n}"/>')
                for n in range(60)
                for rel in [written[n % len(written)]]
            )
        )
        assert entries(data).matched > 40
        assert_readers_agree([data])


def test_names_are_matched_by_their_namespaces() -> None:
    image = "<i:image><i:loc>http://h.example/i.png</i:loc></i:image>"
    listed = [u(f"http://h.example/{number}", image) for number in range(20)]
    inner = 'xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"'
    data = document(*listed, f"<x {inner}>", *(one.replace("e/", "e/x") for one in listed), "</x>")
    pages = read([data], expat_only=False).pages
    assert [bool(page["images"]) for page in pages] == [False] * 20 + [True] * 20
    assert_readers_agree([data])


# What it costs


def calls(data: bytes, *, expat_only: bool) -> int:
    return count_calls(inspect(Source([data], expat_only=expat_only)).pages)


def count_calls(read: Iterable[object]) -> int:
    """Count the calls that reading takes: the same on every machine, unlike seconds."""
    count = 0

    def note(_frame: object, _event: str, _argument: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(note)
    try:
        assert list(read)
    finally:
        sys.setprofile(None)
    return count


def test_the_pattern_reader_saves_most_of_the_work() -> None:
    data = document(*(u(f"http://h.example/{n}", FIELDS["plain"]) for n in range(3000)))
    assert calls(data, expat_only=False) < calls(data, expat_only=True) / 5


@pytest.mark.parametrize("fields", ["plain", "hreflang"])
def test_it_saves_an_audit_most_of_the_work_of_reading(fields: str) -> None:
    data = document(*(u(f"http://h.example/{n}", FIELDS[fields]) for n in range(3000)))
    with_pattern, expat_only = (
        count_calls(Audit(Pages(Source([data], expat_only=only)))) for only in (False, True)
    )
    assert with_pattern < expat_only / 2


def test_a_document_without_repeated_shapes_costs_little_more() -> None:
    data = document(*(u(f"http://h.example/{n}", f"<odd{n}>1</odd{n}>") for n in range(3000)))
    assert calls(data, expat_only=False) < calls(data, expat_only=True) * 1.1


def test_a_large_document_is_never_held_whole() -> None:
    entry = u("http://h.example/@", f"<image:caption>{'word ' * 4000}</image:caption>")
    whole = document(*(entry.replace("@", str(number)) for number in range(800)))
    assert len(whole) > 15_000_000
    source = Source([zlib.compress(whole)])
    del whole
    tracemalloc.start()
    try:
        assert sum(1 for _ in inspect(source).pages) == 800
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def _of_each(*kinds: str) -> bytes:
    """A long document whose entries take turns."""
    entries = (
        f"<url><loc>http://h.example/{at}</loc>{kinds[at % len(kinds)]}</url>" for at in range(200)
    )
    spaces = (
        'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
        ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    )
    return f"<urlset {spaces}>{''.join(entries)}</urlset>".encode()


ALONE = [
    ("<image:loc>http://h/i.jpg</image:loc>", "<image:image/>"),
    (
        "<news:title>T</news:title><news:publication_date>2020-01-02</news:publication_date>",
        "<news:news/>",
    ),
]


@pytest.mark.parametrize(("member", "group"), ALONE)
@pytest.mark.parametrize("order", ["{0}", "{0}{1}", "{1}{0}"])
def test_members_of_a_group_may_be_outside_of_it(member: str, group: str, order: str) -> None:
    document = _of_each(member, order.format(member, group), group)
    for expat_only in (False, True):
        pages = list(inspect(Source([document], expat_only=expat_only)).pages)
        present = [bool(page.images or page.news_story) for page in pages]
        assert present == [index % 3 != 2 for index in range(200)]


FEED_HEAD = '<rss version="2.0" xmlns:m="http://search.yahoo.com/mrss/"><channel>'
FEED_ITEM = "<item><title>t</title><link>http://h.example/1</link></item>"
OWN_PREFIX = atom(
    '<a:entry xmlns:a="http://www.w3.org/2005/Atom"><a:title>x</a:title><""/>'
    '<a:link href="http://h.example/5"/></a:entry>'
)
BASED_ENTRIES = (
    '<entry xml:base="http://h.example/q/"><title>t</title><link href="r"/></entry>'
    '<entry><title>t</title><link href="s"/></entry>'
)
ODD_DOCUMENTS = {
    "an entry in a CDATA section before the others": document(
        f"<a><![CDATA[{u('http://h.example/inside')}]]></a>",
        *(u(f"http://h.example/{n}") for n in range(100)),
    ),
    "an entry in the URL of the last one, which is not closed": document(
        *(u(f"http://h.example/{n}") for n in range(100)),
        f"<url><loc>http://h.example/a{u('http://h.example/b')}</url>",
    ),
    "an item in a CDATA section of the channel": (
        f"{FEED_HEAD}<description><![CDATA[{FEED_ITEM.replace('/1', '/inside')}]]></description>"
        f"{FEED_ITEM}<item>&</item></channel></rss>"
    ).encode(),
    "a CDATA section of the channel that is not closed": (
        f"{FEED_HEAD}<description><![CDATA[</description>"
        f"{FEED_ITEM.replace('t<', '<![CDATA[t]]><')}</channel></rss>"
    ).encode(),
    "a comment in an attribute": (
        f'{FEED_HEAD}<item><title>a</title><guid isPermaLink="<!-- x -->false">http://h.example/9'
        "</guid></item></channel></rss>"
    ).encode(),
    "a CDATA section in an attribute": (
        b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>t</title>'
        b'<link href="http://h.example/a<![CDATA[x]]>b"/></entry></feed>'
    ),
    "a tag in an attribute of the head": (
        f"{FEED_HEAD.replace('2.0', '<x>')}{FEED_ITEM}</channel></rss>"
    ).encode(),
    "an entry with a prefix of its own, and a fault in it": OWN_PREFIX.encode(),
    "entries with and without a base URL after the root": (
        f'<feed xmlns="http://www.w3.org/2005/Atom"></feed>{BASED_ENTRIES}'
    ).encode(),
    "entries with and without a base URL, and no root": BASED_ENTRIES.encode(),
    "an entry inside of the URL of another": document(
        f"<url><loc>http://h.exa{u('http://h.example/1')}</loc></url>", u("http://h.example/2")
    ),
    "an end tag in another case": document(
        u("http://h.example/1"), u("http://h.example/3").replace("<url", "<Url")
    ),
}


@pytest.mark.parametrize("name", ODD_DOCUMENTS)
def test_readers_agree_on_what_is_not_as_it_looks(name: str) -> None:
    head_is_known = f"{FEED_HEAD}{FEED_ITEM}<item>&</item></channel></rss>".encode()
    assert_readers_agree([ODD_DOCUMENTS[name]])
    assert_readers_agree([head_is_known])
    assert_readers_agree([ODD_DOCUMENTS[name]])


def test_a_prefix_that_an_entry_declares_itself_is_declared_whatever_was_read_before() -> None:
    source = Source([OWN_PREFIX.encode()], "http://h.example/a/f.xml")
    forget_all()
    for _ in range(2):
        pages = inspect(source).pages
        assert isinstance(pages, HasProblems)
        assert [problem.code for problem in pages.problems] == ["SM209"]


ENTRIES_AROUND = {
    "a field after an entry in an entry": "<url><url/><loc>http://h.example/0</loc></url>",
    "a group after an entry in an entry": (
        "<url><url/><image:image><image:loc>http://h.example/i</image:loc></image:image></url>"
    ),
    "an entry that declares its own namespace": (
        f"<x xmlns='urn:x'>{u('http://h.example/0')}<url {SM}><loc>http://h.example/9</loc></url></x>"
    ),
}


@pytest.mark.parametrize("written", ENTRIES_AROUND.values(), ids=ENTRIES_AROUND)
def test_what_was_read_before_changes_nothing(written: str) -> None:
    usual = "".join(
        u(f"http://h.example/{n}", "<image:image><image:loc>/i</image:loc></image:image>")
        for n in range(1, 9)
    )
    data = f"<urlset {ALL}>{usual}{written}{usual.replace('/h.', '/j.')}</urlset>".encode()
    forget_all()
    assert_readers_agree([data])
    assert_readers_agree([data])


LIKE_ENTRIES = {
    "an element": "<image:image><sitemap><loc>/s</loc></sitemap></image:image>",
    "an end tag with a blank": "<image:image><sitemap><loc>/s</loc></sitemap ></image:image>",
    "in a comment": "<!-- <sitemap><loc>/s</loc></sitemap> -->",
    "in CDATA": "<changefreq><![CDATA[<sitemap><loc>/s</loc></sitemap>]]></changefreq>",
}


@pytest.mark.parametrize("inside", LIKE_ENTRIES.values(), ids=LIKE_ENTRIES)
def test_what_looks_like_an_entry_in_another_is_read_alike_after_a_fault(inside: str) -> None:
    shapes = [u(f"http://h.example/{n}", f"<lastmod a{n}='x'/>") for n in range(12)]
    data = document(
        u("http://h.example/a"), "<url>&</url>", *shapes, u("http://h.example/b", inside)
    )
    forget_all()
    assert_readers_agree([data])
    assert_readers_agree([data])


ODD_URLS = {
    "blanks": ["http://h.example/a b", " http://h.example/a%20b "],
    "relative": ["/r", "r?x#y", "//other.example/r"],
    "several": ["http://h.example/s1 http://h.example/s2", "http://h.example/s3\nnone"],
    "none": ["", " ", "\u200b", "<!---->"],
    "repeated": ["http://h.example/4", "http://h.example/\u00e4", "http://h.example/\u00e4"],
    "with a password": ["http://u:p@h.example/5", "http://u:p@h.example/6"],
}


@pytest.mark.parametrize("odd", ODD_URLS.values(), ids=ODD_URLS)
def test_odd_urls_among_entries_that_are_written_alike_are_read_alike(odd: list[str]) -> None:
    usual = [f"http://h.example/{n}" for n in range(200)]
    urls = [url for at in range(0, 200, 40) for url in (*usual[at : at + 40], *odd)]
    data = document(*(u(url, "<lastmod>2026-01-01</lastmod>") for url in urls))
    forget_all()
    assert_readers_agree([data])
    assert_readers_agree([data])
