"""Links, mobile pages, PageMaps, and unknown elements in XML sitemaps."""

from __future__ import annotations

import pickle
from dataclasses import asdict

import pytest

from tests.parse.reading import SM, XHTML, page, problems, u, urlset
from usp.objects.page import PageElement, PageLink, PageMapObject
from usp.tree import parse

A = "http://h.example/a"

LINKS = [
    (
        "a mobile version",
        '<xhtml:link rel="alternate" media="only screen and (max-width: 640px)" href="http://m/a"/>',
        [PageLink("alternate", "http://m/a", media="only screen and (max-width: 640px)")],
        None,
    ),
    (
        "an app",
        '<xhtml:link rel="alternate" href="android-app://example.app/http/h.example/a"/>',
        [PageLink("alternate", "android-app://example.app/http/h.example/a")],
        None,
    ),
    (
        "AMP and canonical",
        '<xhtml:link rel="amphtml" href="http://h/amp"/><xhtml:link rel="canonical" href="http://h/c"/>',
        [PageLink("amphtml", "http://h/amp"), PageLink("canonical", "http://h/c")],
        None,
    ),
    (
        "a plain alternate is not a link as well",
        '<xhtml:link rel="alternate" hreflang="de" href="http://h/de"/>',
        None,
        [("de", "http://h/de")],
    ),
    (
        "an alternate with more attributes is both",
        '<xhtml:link rel="Alternate" hreflang="de" href="http://h/de" type="text/html" title="T"/>',
        [PageLink("Alternate", "http://h/de", "de", None, "text/html", "T")],
        [("de", "http://h/de")],
    ),
    (
        "several rel values",
        '<xhtml:link rel="alternate nofollow" hreflang="de" href="http://h/de"/>',
        [PageLink("alternate nofollow", "http://h/de", "de")],
        [("de", "http://h/de")],
    ),
    (
        "upper case",
        '<XHTML:LINK REL="canonical" HREF="http://h/c"/>',
        [PageLink("canonical", "http://h/c")],
        None,
    ),
    (
        "without its namespace",
        '<link rel="canonical" href="http://h/c"/>',
        [PageLink("canonical", "http://h/c")],
        None,
    ),
    ("no href", '<xhtml:link rel="canonical"/>', None, None),
    ("no rel", '<xhtml:link href="http://h/c"/>', None, None),
    ("empty", "<xhtml:link/>", None, None),
    (
        "the same twice",
        '<xhtml:link rel="canonical" href="http://h/c"/>' * 2,
        [PageLink("canonical", "http://h/c")] * 2,
        None,
    ),
]


@pytest.mark.parametrize(
    ("what", "written", "links", "alternates"), LINKS, ids=[row[0] for row in LINKS]
)
def test_links(
    what: str,
    written: str,
    links: list[PageLink] | None,
    alternates: list[tuple[str, str]] | None,
) -> None:
    read = page(urlset(u(A, written)))
    assert (read.links, read.alternates) == (links, alternates), what
    dictionary = read.to_dict(extended=True)
    assert dictionary.get("links") == (
        None if links is None else [link.to_dict() for link in links]
    )


def test_links_to_apps_are_no_problem() -> None:
    app = '<xhtml:link rel="alternate" href="android-app://example.app/x"/>'
    assert problems(urlset(u(A, app))) == ()
    (problem,) = problems(urlset(u(A, app.replace("android-app", "gopher"))))
    assert problem.code == "SM303"


@pytest.mark.parametrize(
    "namespace",
    [
        'xmlns:mobile="http://www.google.com/schemas/sitemap-mobile/1.0"',
        'xmlns:mobile="https://www.google.com/schemas/sitemap-mobile/1.0/"',
        'xmlns:mobile="http://www.baidu.com/schemas/sitemap-mobile/1/"',
        "",
    ],
)
def test_a_page_for_mobile_phones(namespace: str) -> None:
    document = urlset(u(A, "<mobile:mobile/>"), namespaces=f"{SM} {namespace}")
    assert page(document).mobile is True
    assert page(document).to_dict(extended=True)["mobile"] is True
    plain = page(urlset(u(A)))
    assert plain.mobile is False
    assert plain.to_dict(extended=True)["mobile"] is False
    assert plain != page(document)


PAGE_MAP = """<PageMap xmlns="http://www.google.com/schemas/sitemap-pagemap/1.0">
  <DataObject type="document" id="kites">
    <Attribute name="name">The kite maker</Attribute>
    <Attribute name="review">4 &amp; more</Attribute>
    <Attribute name="name">Again</Attribute>
  </DataObject>
  <DataObject type="stats">
    <Attribute name="downloads" value="17"/><Attribute>x</Attribute>
  </DataObject>
  <DataObject/>
</PageMap>"""
OBJECTS = [
    PageMapObject(
        "document",
        "kites",
        (("name", "The kite maker"), ("review", "4 & more"), ("name", "Again")),
    ),
    PageMapObject("stats", None, (("downloads", "17"),)),
]
PREFIXED = PAGE_MAP.replace("xmlns=", "xmlns:pm=").replace("<", "<pm:").replace("<pm:/", "</pm:")


@pytest.mark.parametrize(
    "written",
    [
        PAGE_MAP,
        PREFIXED,
        PAGE_MAP.upper()
        .replace("HTTP://WWW.GOOGLE.COM", "http://www.google.com")
        .replace("&AMP;", "&amp;"),
        PAGE_MAP.replace(' xmlns="http://www.google.com/schemas/sitemap-pagemap/1.0"', ""),
        PAGE_MAP.replace("http:", "https:").replace("1.0", "1.0/"),
    ],
    ids=["as documented", "with a prefix", "upper case", "no namespace", "another namespace"],
)
def test_a_page_map(written: str) -> None:
    found = page(urlset(u(A, written), namespaces=SM)).page_map
    assert found is not None
    if written.startswith("<PAGEMAP"):
        assert [(data.type, data.id, len(data.attributes)) for data in found] == [
            ("DOCUMENT", "KITES", 3),
            ("STATS", None, 1),
        ]
    else:
        assert found == OBJECTS


def test_an_empty_page_map_is_none() -> None:
    read = page(urlset(u(A, "<PageMap><DataObject/></PageMap>")))
    assert read.page_map is None
    assert read.to_dict(extended=True)["page_map"] is None


UNKNOWN = (
    '<x:box x:size="3" xmlns:x="urn:box">some <x:lid>tin</x:lid> words</x:box>'
    "<note/><video:video><video:mood>good</video:mood></video:video>"
)
ELEMENTS = [
    PageElement(
        "x:box",
        "urn:box",
        (("x:size", "3"), ("xmlns:x", "urn:box")),
        "some words",
        (PageElement("x:lid", "urn:box", (), "tin"),),
    ),
    PageElement("note", "http://www.sitemaps.org/schemas/sitemap/0.9"),
    PageElement("video:mood", "http://www.google.com/schemas/sitemap-video/1.1", (), "good"),
]


def test_unknown_elements_are_extensions_where_requested() -> None:
    sitemap = parse(urlset(u(A, UNKNOWN)), extensions=True)
    (read,) = sitemap.pages
    assert read.extensions == ELEMENTS
    assert read.to_dict(extended=True)["extensions"] == [element.to_dict() for element in ELEMENTS]
    (again,) = pickle.loads(pickle.dumps(sitemap)).pages
    assert again.extensions == ELEMENTS
    assert pickle.loads(pickle.dumps(read)) == read


def test_unknown_elements_are_not_read_unless_requested() -> None:
    (read,) = parse(urlset(u(A, UNKNOWN))).pages
    assert read.extensions is None
    assert read.to_dict(extended=True)["extensions"] is None
    assert read.declared == {"loc": A}


def test_requesting_extensions_changes_nothing_else() -> None:
    full = UNKNOWN + '<lastmod>2024-05-01</lastmod><xhtml:link rel="canonical" href="http://h/c"/>'
    document = urlset(u(A, full), u("http://h.example/b"), namespaces=f"{SM} {XHTML}")
    plain, extended = parse(document).pages, parse(document, extensions=True).pages
    dictionaries = [page.to_dict(extended=True) | {"extensions": None} for page in extended]
    assert dictionaries == [page.to_dict(extended=True) for page in plain]
    assert extended[1] == plain[1]


def test_unknown_elements_of_a_feed() -> None:
    item = "<item><title>T</title><link>http://h/a</link><mood>good</mood></item>"
    document = f'<rss version="2.0"><channel>{item}</channel></rss>'
    (read,) = parse(document, extensions=True).pages
    assert read.extensions == [PageElement("mood", text="good")]


def test_unknown_elements_beyond_16_levels_are_one_text() -> None:
    deep = "<x>" * 1000 + "core" + "</x>" * 1000
    (read,) = parse(urlset(u(A, deep)), extensions=True).pages
    (element,) = read.extensions or []
    depth = 1
    while element.children:
        (element,) = element.children
        depth += 1
    assert (depth, element.text) == (16, "core")


def test_unknown_elements_of_a_malformed_entry() -> None:
    document = urlset(f"<url><loc>{A}</loc><x>fish & chips<y></x></url>", u("http://h.example/b"))
    first, second = parse(document, extensions=True).pages
    (element,) = first.extensions or []
    assert (element.name, element.text) == ("x", "fish & chips")
    assert second.extensions is None


def test_the_dictionary_of_an_element_has_all_of_its_fields() -> None:
    inner = PageElement("x:lid", "urn:box", (("a", "1"), ("b", "2")), "tin")
    element = PageElement("x:box", "urn:box", (("c", "3"),), "", (inner, PageElement("y")))
    assert element.to_dict() == asdict(element)
    assert list(element.to_dict()) == list(asdict(element))
