"""Prefixes that are bound to a wrong namespace keep their usual meaning, in every reader."""

from __future__ import annotations

import re

import pytest

from tests.parse.pattern.readers import WORTH_LEARNING, assert_readers_agree, forget_all
from tests.parse.reading import ALL, SM, u, urlset
from usp._parse.diagnostics import Diagnostics
from usp._parse.input.sniff import Kind
from usp._parse.pattern.layout import iter_entries
from usp._parse.xml.grammar import GRAMMARS
from usp._parse.xml_reader import XmlReader
from usp.tree import sitemap_from_str

GOOGLE = "http://www.google.com/schemas"
SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"
EXTENSIONS = {
    "image": "<image:image><image:loc>http://h.example/i</image:loc></image:image>",
    "news": "<news:news><news:title>T</news:title></news:news>",
    "video": "<video:video><video:title>T</video:title></video:video>",
    "xhtml": '<xhtml:link rel="alternate" hreflang="de" href="http://h.example/de"/>',
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("prefix", EXTENSIONS)
@pytest.mark.parametrize(
    "namespace",
    [
        *(f"{GOOGLE}/sitemap-imge/1.1", f"{GOOGLE}/sitemap_image/1.1", f"{GOOGLE}/sitemap/0.9"),
        *(f"{GOOGLE}/sitemap-newr/0.9", f"{GOOGLE}/sitemap-mobile/1.0", SITEMAPS),
    ],
)
@pytest.mark.parametrize("count", [1, 70])
def test_an_extension_under_a_wrong_namespace_is_read(
    prefix: str, namespace: str, count: int
) -> None:
    entries = [u(f"http://h.example/{number}", EXTENSIONS[prefix]) for number in range(count)]
    right = sitemap_from_str(urlset(*entries, namespaces=ALL))
    document = urlset(*entries, namespaces=f'{SM} xmlns:{prefix}="{namespace}"')
    for _ in range(2):  # the second one with what the first has taught
        found = sitemap_from_str(document)
        assert [page.to_dict(extended=True) for page in found.pages] == [
            page.to_dict(extended=True) for page in right.pages
        ]
        codes = [problem.code for problem in found.problems]
        assert sorted(codes) == sorted(["SM219", *(problem.code for problem in right.problems)])
    assert_readers_agree([document.encode()])


QUOTED = {
    """ "'{}" """: ["SM219"],
    """ "{}'" """: [],  # a namespace is known by how it begins
    """ "'{}'" """: ["SM219"],
    """ '"{}' """: ["SM219"],
    """ '{}"' """: [],
    """ '"{}"' """: ["SM219"],
    """ "&quot;{}" """: ["SM219"],
    """ "&#39;{}" """: ["SM219"],
    """ "x='{}" """: ["SM219"],
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("prefix", EXTENSIONS)
@pytest.mark.parametrize("value", QUOTED)
@pytest.mark.parametrize("count", [1, 70])
def test_a_quote_in_a_namespace_is_a_part_of_it(prefix: str, value: str, count: int) -> None:
    entries = [u(f"http://h.example/{number}", EXTENSIONS[prefix]) for number in range(count)]
    right = sitemap_from_str(urlset(*entries, namespaces=ALL))
    (namespace,) = re.findall(rf'xmlns:{prefix}="([^"]+)"', ALL)
    declared = f"xmlns:{prefix} = {value.strip().format(namespace)}"
    document = urlset(*entries, namespaces=f"{SM} {declared}")
    found = sitemap_from_str(document)
    assert [page.to_dict(extended=True) for page in found.pages] == [
        page.to_dict(extended=True) for page in right.pages
    ]
    codes = [problem.code for problem in found.problems]
    assert sorted(codes) == sorted([*QUOTED[value], *(problem.code for problem in right.problems)])
    assert_readers_agree([document.encode()])


def test_a_module_of_rss_may_have_the_prefix_of_a_sitemap_extension() -> None:
    item = "<item><title>T</title><link>http://h.example/a</link><image:x>y</image:x></item>"
    module = 'xmlns:image="http://purl.org/rss/1.0/modules/image/"'
    assert not sitemap_from_str(f"<rss {module}><channel>{item}</channel></rss>").problems


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def _rdf(namespace: str, about: str, count: int, more: str = "") -> str:
    prefix = about.partition(":")[0]
    item = f'<item {about}="http://h.example/@"><title>T</title></item>'
    items = "".join(item.replace("@", str(number)) for number in range(count))
    declared = f'xmlns:{prefix}="{namespace}" xmlns="http://purl.org/rss/1.0/"'
    return f"<{prefix}:RDF {declared}>{items}{more}</{prefix}:RDF>"


@pytest.mark.parametrize(
    ("namespace", "about"),
    [
        *((RDF, about) for about in ("rdf:about", "rdf:abOut", "RDF:ABOUT", "r:about", "dc:About")),
        (RDF.replace("http:", "https:"), "rdf:about"),
        (RDF.replace("http:", "https:"), "r:about"),
        (RDF.rstrip("#"), "rdf:about"),
        ("http://unknown.example/", "rdf:about"),
        ("http://purl.org/dc/elements/1.1/", "rdf:about"),
    ],
)
@pytest.mark.parametrize(("count", "more"), [(2, ""), (60, WORTH_LEARNING)])
def test_the_namespace_of_rdf_or_its_prefix_makes_an_attribute_the_url_of_an_item(
    namespace: str, about: str, count: int, more: str
) -> None:
    document = _rdf(namespace, about, count, more)
    assert len(list(sitemap_from_str(document).pages)) == count
    assert_readers_agree([document.encode()])


def test_an_attribute_of_another_namespace_is_no_url() -> None:
    item = '<item x:about="http://h.example/a"><title>T</title></item>'
    declared = f'xmlns:rdf="{RDF}" xmlns:x="http://unknown.example/"'
    document = f"<rdf:RDF {declared}>{item}</rdf:RDF>"
    assert not list(sitemap_from_str(document).pages)
    assert_readers_agree([document.encode()])


def test_a_prefix_of_rdf_may_be_declared_on_the_item() -> None:
    item = f'<item xmlns:q="{RDF}" q:about="http://h.example/a"><title>T</title></item>'
    document = f'<rdf:RDF xmlns:rdf="{RDF}">{item}</rdf:RDF>'
    assert [page.url for page in sitemap_from_str(document).pages] == ["http://h.example/a"]
    assert_readers_agree([document.encode()])


def test_what_a_prefix_means_is_never_that_of_another_document() -> None:
    forget_all()
    for namespace, count in (("http://unknown.example/", 0), (RDF, 60)) * 2:
        document = _rdf(namespace, "r:about", 60, WORTH_LEARNING).encode()
        reader = XmlReader(GRAMMARS[Kind.RSS], Diagnostics())  # the tree reader learns nothing
        entries = list(iter_entries(reader.read([document])))
        assert len(entries) == 60
        assert sum("item@rdf:about" in dict(record) for _, record, _ in entries) == count
