"""The tree reader never changes a result: it gives what the expat reader gives, or nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.pattern.readers import assert_readers_agree, documents, forget_all
from tests.parse.reading import ALL, SM, u
from tests.parse.strategies import Damaged, anything, damaged, examples, xml_formats
from usp._parse.diagnostics import Diagnostics
from usp._parse.document import Source
from usp._parse.document_entries import document_entries
from usp._parse.input.sniff import Kind
from usp._parse.opening import open_document
from usp._parse.pattern.layout import EntryRun, Row, iter_entries
from usp._parse.tree import names
from usp._parse.tree.tree_reader import SmallDocument, is_worth_a_tree, read_tree
from usp._parse.xml.grammar import GRAMMARS
from usp._parse.xml_reader import XmlReader

ATOM = 'xmlns="http://www.w3.org/2005/Atom"'
MEDIA = 'xmlns:media="http://search.yahoo.com/mrss/"'
OTHERS = (
    'xmlns:x="http://unknown.example/" xmlns:o="urn:o" xmlns:atom="http://www.w3.org/2005/Atom"'
    ' xmlns:slash="http://purl.org/rss/1.0/modules/slash/"'
)
RSS_1 = (
    'xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
)


def assert_same_entries(data: bytes, kind: Kind) -> bool:
    """Compare the entries and problems with those of the expat reader; tell if it gave any."""
    diagnostics = Diagnostics()
    found = read_tree(SmallDocument(data, 0), GRAMMARS[kind], diagnostics)
    if found is None:
        return False
    reference = Diagnostics()
    reader = XmlReader(GRAMMARS[kind], reference, expat_only=True)
    expected = list(iter_entries(reader.read([data])))
    entries = list(iter_entries(found))
    assert [entry[:2] for entry in entries] == [
        (name, list(record)) for name, record, _ in expected
    ]
    assert [entry[2] for entry in entries] == list(range(len(expected)))
    position_of = diagnostics.position_of
    assert position_of is not None
    lines = [data[:at].count(b"\n") + 1 for _, _, at in expected]
    assert [position_of(entry[2]) for entry in entries] == [
        (line, at) for line, (_, _, at) in zip(lines, expected, strict=True)
    ]
    assert diagnostics.problems == reference.problems
    return True


# What Hypothesis draws


def _mostly(usual: Sequence[str], odd: Sequence[str]) -> st.SearchStrategy[str]:
    return st.sampled_from([*[*usual] * 12, *odd])


_TEXTS = _mostly(
    [
        *("T", "http://h.example/@", "2020-05-06", " ", "", "a &amp; b", "<![CDATA[<b>c</b>]]>"),
        *("\u00e9", "<b>bold</b> and <i>more</i>", "<!-- c -->", "x<?y z?>"),
        '<div xmlns="http://www.w3.org/1999/xhtml">x</div>',
        "<media:title>M</media:title>",
        "&#xE000;0&#xE000;",
        "&#57344;&#13;\r\n",
        f"a<![CDATA[<item>{'long ' * 50}\r\n&amp;\r</item>]]>b",
        f"<![CDATA[{'ж' * 150}]]]]><![CDATA[>{'x' * 300}]]>",
        f"<!-- <![CDATA[ {'x' * 250} --><b>]]</b>",
    ],
    [
        *("<item>inner</item>", "<entry>inner</entry>", "&nbsp;", "<x:item/>"),
        *(f"<![CDATA[{'long ' * 50}{odd}]]>" for odd in ("\x0b", "\ufffe", "\ue000", "]]><x>")),
        f"<![CDATA[{'never closed ' * 20}",
    ],
)
_NAMES = _mostly(
    [
        *("title", "link", "link", "description", "pubDate", "PUBDATE", "guid", "summary"),
        *("content", "updated", "dc:date", "atom:link", "media:title", "media:group"),
        *("media:content", "slash:comments", "enclosure", "o:odd", "loc", "lastmod"),
    ],
    ["x:item", "item", "entry", "url", "image:image"],
)
_ATTRIBUTES = _mostly(
    [
        *("", "", "", ' href="http://h.example/@"', ' rel="alternate"', ' type="html"'),
        *(' type="xhtml"', ' isPermaLink="false"', ' url="http://h.example/i.png"'),
        *(' HREF="/x"', ' x:href="/y"', ' xml:lang="en"'),
    ],
    [
        *(' rdf:about="http://h.example/@"', f" {ATOM}", ' xmlns=""', ' xml:base="/b/"'),
        ' xmlns:media="http://unknown.example/"',
    ],
)
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
_RDF = 'xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
_HEADS = [
    (Kind.RSS, f"<rss {_DC} {MEDIA} {OTHERS}><channel>", "item", "</channel></rss>"),
    (Kind.RSS, f"<rdf:RDF {RSS_1} {MEDIA} {OTHERS}><channel/>", "item", "</rdf:RDF>"),
    (Kind.ATOM, f"<feed {ATOM} {_DC} {MEDIA} {OTHERS}>", "entry", "</feed>"),
    (Kind.ATOM, f"<feed {_DC} {MEDIA} {OTHERS}>", "entry", "</feed>"),
    (Kind.RSS, '<rss version="2.0"><channel>', "item", "</channel></rss>"),
    (Kind.RSS, f"<rdf:RDF {RSS_1} {_RDF}>", "item", "</rdf:RDF>"),
    (Kind.URLSET, f"<urlset {ALL}>", "url", "</urlset>"),
    (Kind.INDEX, f"<sitemapindex {SM}>", "sitemap", "</sitemapindex>"),
]


@st.composite
def _element(draw: st.DrawFn) -> str:
    name = draw(_NAMES)
    content = draw(_TEXTS | st.builds("<b>{}</b>{}".format, _TEXTS, _TEXTS))
    return f"<{name}{draw(_ATTRIBUTES)}>{content}</{name}>"


@st.composite
def feeds(draw: st.DrawFn) -> tuple[Kind, bytes]:
    """A feed whose entries may contain anything."""
    kind, head, entry, tail = draw(st.sampled_from(_HEADS))
    gaps = _mostly(["", "\n", " ", "<!-- c -->"], ["text"])
    listed = []
    for number in range(draw(st.integers(1, 4))):
        gap = draw(gaps)
        fields = gap.join(draw(st.lists(_element(), max_size=5)))
        listed.append(
            f"<{entry}{draw(_ATTRIBUTES)}>{gap}{fields}</{entry}>".replace("@", str(number))
        )
    around = draw(
        st.sampled_from(["{}", "<image><url>x</url></image>{}", "<a><b>{}</b></a>", "<x:y/>{}"])
    )
    return kind, f"{head}{around.format(draw(gaps).join(listed))}{tail}".encode()


_FIELDS = st.sampled_from(["", "<lastmod>2020-05-06</lastmod>", "<priority>1</priority>", "<x/>"])
_CONTAINERS = st.lists(
    st.tuples(st.sampled_from(["{}", "<b>{}</b>", "<b><c>{}</c></b>"]), st.lists(_FIELDS)),
    max_size=5,
)
"""Entries, some of them inside of other elements."""


@examples(100)
@given(_CONTAINERS)
def test_readers_agree_on_entries_in_other_elements(
    containers: list[tuple[str, list[str]]],
) -> None:
    numbers = count()
    listed = (
        around.format("".join(u(f"http://h.example/{next(numbers)}", more) for more in fields))
        for around, fields in containers
    )
    data = f"<urlset {ALL}>{''.join(listed)}</urlset>".encode()
    assert_same_entries(data, Kind.URLSET)
    assert_readers_agree([data])


def test_entries_after_those_in_another_element_come_after_them() -> None:
    entries = [u(f"http://h.example/{number}") for number in range(6)]
    entries[0] = u("http://h.example/0", "<lastmod>2020-05-06</lastmod>")
    first, inside, last = ("".join(entries[at : at + 2]) for at in (0, 2, 4))
    data = f"<urlset {SM}>{first}<b>{inside}</b>{last}</urlset>".encode()
    assert assert_same_entries(data, Kind.URLSET)


@examples(400)
@given(documents(padding=""))
def test_readers_agree_on_the_entries_of_sitemaps(data: bytes) -> None:
    for kind in (Kind.URLSET, Kind.INDEX):
        assert_same_entries(data, kind)


@examples(600)
@given(feeds())
def test_readers_agree_on_the_entries_of_feeds(document: tuple[Kind, bytes]) -> None:
    assert_same_entries(document[1], document[0])


@examples(200)
@given(documents(padding="") | feeds().map(lambda document: document[1]) | anything)
def test_readers_agree_on_every_field_and_problem(data: bytes) -> None:
    assert_readers_agree([data])


@examples(100)
@given(damaged(xml_formats))
def test_readers_agree_on_damage(document: Damaged) -> None:
    assert_readers_agree([document.document])


USUAL = [
    (Kind.URLSET, f"<urlset {ALL}>", u("http://h.example/@"), "</urlset>"),
    (Kind.URLSET, f"<urlset {ALL}>\n<odd/>", u("http://h.example/@", "<x>1</x>"), "</urlset>"),
    (Kind.URLSET, "<urlset>", u("http://h.example/@", "<image:loc>x</image:loc>"), "</urlset>"),
    (
        Kind.URLSET,
        f"<urlset {ALL}>",
        u(
            "http://h.example/@",
            "<image:image><image:loc>http://h.example/i</image:loc></image:image>"
            '<xhtml:link rel="alternate" hreflang="de" href="http://h.example/de"/>',
        ),
        "</urlset>",
    ),
    (
        Kind.INDEX,
        f"<sitemapindex {SM}>",
        "<sitemap><loc>http://h.example/@</loc></sitemap>",
        "</sitemapindex>",
    ),
    (
        Kind.RSS,
        f"<rss {MEDIA}><channel><title>C</title><image><url>x</url></image>",
        (
            "<item><title>T</title><link>http://h.example/@</link><media:thumbnail url='x'/>"
            "<description>&lt;b&gt;<![CDATA[x]]></description></item>"
        ),
        "</channel></rss>",
    ),
    (
        Kind.RSS,
        f"<rdf:RDF {RSS_1}><channel rdf:about='x'><items><rdf:Seq/></items></channel>",
        "<item rdf:about='http://h.example/@'><title>T</title></item>",
        "</rdf:RDF>",
    ),
    (
        Kind.ATOM,
        f"<feed {ATOM}><title>C</title>",
        (
            '<entry><title type="html">T</title><link href="http://h.example/@"/>'
            '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">a <b>b</b></div>'
            "</content></entry>"
        ),
        "</feed>",
    ),
]


@pytest.mark.parametrize(("kind", "head", "entry", "tail"), USUAL)
@pytest.mark.parametrize("is_warm", [False, True])
def test_usual_documents_are_read(
    kind: Kind, head: str, entry: str, tail: str, *, is_warm: bool
) -> None:
    if not is_warm:
        forget_all()
    listed = "\n".join(entry.replace("@", str(number)) for number in range(3))
    data = f"{head}{listed}{tail}".encode()
    is_declared = "image:" not in listed or "xmlns:image" in head
    assert assert_same_entries(data, kind) == is_declared
    assert_readers_agree([data])


def test_entries_with_few_shapes_are_one_run() -> None:
    more = ("<lastmod>2020-05-06</lastmod>", "", "<priority>1</priority>")
    listed = "".join(u(f"http://h.example/{n}", more[n % 3]) for n in range(9))
    data = f"<urlset {SM}>{listed}</urlset>".encode()
    forget_all()
    read_tree(SmallDocument(data, 0), GRAMMARS[Kind.URLSET], Diagnostics())
    (run,) = read_tree(SmallDocument(data, 0), GRAMMARS[Kind.URLSET], Diagnostics()) or []
    assert isinstance(run, EntryRun)
    assert len(run.rows) == 9
    assert assert_same_entries(data, Kind.URLSET)


def test_what_looks_like_a_tag_but_is_none_moves_no_position() -> None:
    unparsed = "<!-- <url> -->", "<?x <url> ?>", "<lastmod><![CDATA[<url>]]]></lastmod>"
    listed = "\n".join(u(f"http://h.example/{n}", text) for n, text in enumerate(unparsed))
    data = f"<urlset {SM}><!-- <url> - <url>-->{listed}{u('relative')}</urlset>".encode()
    assert assert_same_entries(data, Kind.URLSET)
    assert_readers_agree([data])


ODD = [
    ("text between entries", "</url>text", "</url>"),
    ("a <loc> outside", "</url><loc>http://h.example/x</loc>", "</url>"),
    ("upper case", "</url><URL><loc>http://h.example/x</loc></URL>", "</url>"),
    ("an entry in an entry", "<x><url><loc>http://h.example/x</loc></url></x></url>", "</url>"),
    ("markup in a text", "<lastmod>2020<b/></lastmod></url>", "</url>"),
    ("too deep", "<b>" * 600 + "</b>" * 600 + "</url>", "</url>"),
    ("an unclosed element", "<b></url>", "</url>"),
    ("a URL in no element", "</url><url>http://h.example/x</url>", "</url>"),
    (
        "a prefix with another meaning",
        "<image:loc xmlns:image='urn:x'>x</image:loc></url>",
        "</url>",
    ),
]


@pytest.mark.parametrize(("what", "written", "instead_of"), ODD, ids=[row[0] for row in ODD])
def test_odd_documents_are_left_to_expat(what: str, written: str, instead_of: str) -> None:
    usual = f"<urlset {SM}>{u('http://h.example/1')}</urlset>"
    data = usual.replace(instead_of, written, 1).encode()
    assert read_tree(SmallDocument(data, 0), GRAMMARS[Kind.URLSET], Diagnostics()) is None, what
    assert_readers_agree([data])


def test_what_is_kept_is_limited() -> None:
    forget_all()
    for number in range(600):
        other = f"<urlset xmlns='urn:{number}'>{u('http://h.example/1')}</urlset>"
        new_name = f"<urlset {SM}>{u('http://h.example/1', f'<x{number}>1</x{number}>')}</urlset>"
        for document in (other, new_name):
            read_tree(SmallDocument(document.encode(), 0), GRAMMARS[Kind.URLSET], Diagnostics())
    assert len(names._known) <= 256
    table = names.names_in(GRAMMARS[Kind.URLSET], "http://www.sitemaps.org/schemas/sitemap/0.9")
    assert len(table) <= 500
    assert len(table.shapes) <= 64
    assert all(len(shapes) <= 500 for shapes in table.shapes.values())


@pytest.mark.parametrize("count", [3, 200])  # for the tree reader, and for the pattern reader
def test_rows_are_only_as_long_as_the_entries_of_their_own_document(count: int) -> None:
    def rows_of(more: str) -> list[Row]:
        listed = "".join(u(f"http://h.example/{n}", more) for n in range(count))
        opened = open_document(Source.of(f"<urlset {ALL}>{listed}</urlset>", None), Diagnostics())
        runs = list(document_entries(opened, Diagnostics()))
        return [row for run in runs if isinstance(run, EntryRun) for row in run.rows]

    forget_all()
    alone = rows_of("<lastmod>2020-05-06</lastmod>")
    rows_of("<priority>1</priority><changefreq>daily</changefreq>")
    rows_of("<changefreq>daily</changefreq>")
    assert rows_of("<lastmod>2020-05-06</lastmod>") == alone
    assert {len(row) for row in alone} == {2}


def test_twice_the_items_take_twice_the_time() -> None:
    def seconds(items: int) -> float:
        item = "<item rdf:about='http://h.example/{0}'><title>T</title><o:odd/></item>"
        listed = "".join(item.format(number) for number in range(items))
        data = f"<rdf:RDF {RSS_1} {OTHERS}>{listed}</rdf:RDF>".encode()
        times = []
        for _ in range(5):
            start = time.process_time()
            found = read_tree(SmallDocument(data, 0), GRAMMARS[Kind.RSS], Diagnostics())
            times.append(time.process_time() - start)
            assert found is not None
            assert len(found) == items
        return min(times)

    assert seconds(2000) < 4 * seconds(1000)


def test_the_second_document_of_a_generator_is_read_by_patterns() -> None:
    def document(site: str) -> bytes:
        listed = "".join(u(f"http://{site}/{'x' * 200}{n}") for n in range(40))
        return f"<urlset {SM}>{listed}</urlset>".encode()

    forget_all()
    grammar = GRAMMARS[Kind.URLSET]
    assert is_worth_a_tree(document("first.example"), grammar)
    assert not is_worth_a_tree(document("second.example"), grammar)
    assert is_worth_a_tree(document("third.example").replace(b"</loc>", b"</loc><x/>"), grammar)
    assert_readers_agree([document("fourth.example")])
