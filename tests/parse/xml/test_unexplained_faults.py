"""Faults of tags without a harmless cause: something may be missing, unless a template is so.

Damage hits one entry; what is the same in three entries was written by the site's generator.
"""

from __future__ import annotations

from typing import Final

import pytest

from tests.parse.pattern.readers import assert_readers_agree
from tests.parse.reading import Reading, atom, read, rss, u, urlset
from usp._parse.diagnostics import Diagnostics
from usp._parse.document import Pages, Source, inspect
from usp._parse.unexplained import REPAIRED, UnexplainedFaults
from usp._parse.xml.signs import resembles

A, B, C = "http://h.example/a", "http://h.example/b", "http://h.example/c"


def item(inside: str) -> str:
    return f"<item><title>T</title>{inside}</item>"


def entry(inside: str) -> str:
    return f"<entry><title>T</title>{inside}</entry>"


def page(inside: str) -> str:
    return f"<url><loc>{B}</loc>{inside}</url>"


IN_PAGES: Final = [
    "<lastmod>2020</lastmod>stmod>2021</lastmod>",
    "<lastmod>2020</lastmod></urlmod>",
    "<lastmod>2024lastmod><priority>0.5</priority>",
    "<lastmod>2024-01-01</ <priority>0.5</priority>",
    "<priority>0.ity>",
    "words <priority>0.&5</priority>",
    "<news:news><news:title>T</news:title><news:keyworws:title>U</news:title></news:news>",
    "<news:news><news:title>T</newsws:title></news:news>",
    "<video:video><video:title>T<video:conte</video:title></video:video>",
    "<image:image><image:title>T</image:caption></image:image>",
    "<image:image><image:loc>/i<lastmod>2020</lastmod>",
    "<image:image><image:loc>/i",
    "<image:foo><image:image/>",
    "<expires>2020",
    "<image:im <lastmod>2020</lastmod>",
    '<xhtml:link rel="alternate" hreflang="de href="/fr"/>',
    '<xhtml:link rel="alternate" hre <lastmod>2020</lastmod>',
    '<xhtml:link rel="alternate" hreflang="de" nate" href="/fr"/>',
]
"""Each leaves the URL whole, so a template may be written so."""


def document(*inside: str) -> bytes:
    return urlset(u(A), *map(page, inside), u(C)).encode()


@pytest.mark.parametrize("inside", IN_PAGES)
def test_in_one_entry_or_in_two_it_is_an_error(inside: str) -> None:
    for count in (1, 2):
        found = read(document(*[inside] * count))
        assert {A, B, C}.issuperset(found.urls)
        assert not found.complete
        codes = [problem.code for problem in found.problems]
        assert codes.count("SM209") == count
    assert_readers_agree([document(inside)])


@pytest.mark.parametrize(
    "inside",
    [
        "<image:image><image:title>T</image:caption></image:image>",
        '<xhtml:link rel="alternate" hreflang="de href="/fr"/>',
        "<lastmod>2020</modification>",
        "<expires>2020",
        "<image:image><image:loc>/i",
        "<news:news new><news:title>T</news:title></news:news>",
        "words <priority>0.&5</priority>",
        "<lastmod>2020-01-01</changefreq>",
        "<lastmod>2020</lastmod></priority>",
        "<lastmodified>2020-01-01</lastmod>",
        "<change>daily</changefreq>",
    ],
)
@pytest.mark.parametrize("count", [3, 5])
def test_what_recurs_is_a_templates(inside: str, count: int) -> None:
    entries = [f"<url><loc>{B}{number}</loc>{inside}</url>" for number in range(count)]
    data = urlset(u(A), *entries, u(C)).encode()
    for chunks in ([data], [data[at : at + 7] for at in range(0, len(data), 7)]):
        found = read(*chunks)
        assert found.urls == [A, *(f"{B}{number}" for number in range(count)), C]
        assert found.complete
        offsets = [one.offset for one in found.problems if one.code == "SM208"]
        assert len(offsets) == count
        assert offsets == sorted(set(filter(None, offsets)))
    assert_readers_agree([data])


def test_damage_in_an_entry_of_such_a_template_is_still_an_error() -> None:
    inside = "<image:image><image:title>T</image:caption></image:image>"
    found = read(document(*[inside] * 4, f"{inside}words</urlmod>"))
    codes = [problem.code for problem in found.problems]
    assert (codes.count("SM208"), codes.count("SM209")) == (4, 1)


def test_each_of_several_faults_in_an_entry_may_be_a_templates() -> None:
    one, other = "<image:image><image:title>T</image:caption></image:image>", "<lastmod>2020</date>"
    both = read(document(*[one] * 3, *[other] * 3, one + other))
    assert both.complete
    only_one = read(document(*[one] * 3, *[other], one + other))
    codes = [problem.code for problem in only_one.problems]
    assert (codes.count("SM208"), codes.count("SM209")) == (3, 2)


@pytest.mark.parametrize(
    "link",
    [
        '<link rel="alternate" href="{}" title="5" kite"/>',
        "<link rel='alternate' href='{}' title='O'Neil'/>",
        '<link rel="alternate" href="{}" title="a "b" c"/>',
        '<link rel="alternate", href="{}"/>',
    ],
)
def test_a_link_is_read_if_only_what_follows_its_url_is_malformed(link: str) -> None:
    urls = [f"{B}{number}" for number in range(3)]
    found = read(atom(*(entry(link.format(url)) for url in urls)).encode())
    assert (found.urls, found.complete) == (urls, True)


def test_markup_in_a_url_with_a_reference_is_found() -> None:
    found = read(urlset(u(A), f"<url><loc>{B}?a=1&amp;b=2</3</loc></url>", u(C)).encode())
    assert not found.complete


@pytest.mark.parametrize("block", ["<p></p>", "<p>", "<div> </div>", "<code></code>\n"])
def test_a_url_ends_before_a_block_with_nothing_in_or_behind_it(block: str) -> None:
    found = read(urlset(u(A), f"<url><loc>{B}{block}</loc></url>", u(C)).encode())
    assert (found.urls, found.complete) == ([A, B, C], True)


@pytest.mark.parametrize("tag", ["label", "embed", "object", "svg", "noscript", "time"])
def test_an_end_tag_of_html_in_a_text_is_harmless(tag: str) -> None:
    inside = f"<link>{B}</link><description><p>x</p></{tag}> y</description>"
    assert read(rss(item(inside)).encode()).complete


def test_a_url_that_is_lost_is_an_error_however_often() -> None:
    found = read(document(*["<lastmod>1</lastmod></loc>"] * 5))
    assert [problem.code for problem in found.problems].count("SM209") == 5


def test_kinds_of_faults_are_told_apart_up_to_a_number() -> None:
    diagnostics = Diagnostics()
    faults = UnexplainedFaults(diagnostics)
    for number in range(70):
        faults.report(REPAIRED, frozenset({f"{number}"}), "x", number)
    assert len(diagnostics.problems) == 70 - 64
    faults.finish()
    assert len(diagnostics.problems) == 70


DAMAGED: Final = {
    # Two URLs, and the stump of one that another element's end tag closes
    "joined": urlset(u(A), f"<url><loc>{B}</looc>{C}</loc></url>"),
    "joined in RSS": rss(item(f"<link>{B}</liink>{C}</link>")),
    "joined beside a fault": urlset(f"<url><loc>{B}{C}</loc><lastmod>&</lastmod></url>"),
    "a stump": urlset(u(A), f"<url><loc>{B}</video:content_loc></video:video></url>"),
    "a stump in RSS": rss(item(f"<link>{B}-01-01</dc:date>")),
    "a rest of a tag after CDATA": urlset(f"<url><loc><![CDATA[{B}]]>tmod></url>"),
    "a comment in a tag": atom(entry(f'<link h<!-- x -->ref="{B}"/>')),
    # Links of Atom, of which a piece is missing
    "two relations": atom(entry(f'<link rel="alternate" ink rel="replies" href="{B}"/>')),
    "a cut type": atom(entry(f'<link rel="alternate" type="te="replies" href="{B}"/>')),
    "a cut author": atom(entry(f'<link href="{B}"/>A</name></author>')),
    # Items
    "a cut section": rss(item(f'<link>{B}</link><description><![CDATg" medium="image"/>')),
    "a cut attribute": rss(f'<item rdf:about=cat6/b.html"><title>T</title><link>{B}</link></item>'),
    "a cut date": rss(item(f'<link>{B}</link><pubDate>Wed, edium="image"/>')),
    "a cut item": f"<rss><channel>{item(f'<link>{A}</link>')}<item rdf:about=em>{item('')}",
    "the end tag of another": rss(item(f"<link>{B}</link><category>c</creator>")),
    # The tag of an entry
    "an end tag without a name": urlset(f"<url><loc>{B}</loc></{u(C)}"),
    # The root element
    "a cut root": f'<urlset xmlns="http://www.sitemaps.orl>{u(C)}</urlset>',
    "a cut declaration": f'<?xml version="1.0" encp>\n{u(C)}</urlset>',
    "a block in the root": f"<urlset{chr(0) * 505}{u(C)}</urlset>",
    "a block for the root": f"{chr(0) * 512}{u(C)}</urlset>",
}


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.parametrize("expat_only", [False, True])
def test_what_may_be_left_of_two_entries_is_an_error(what: str, expat_only: bool) -> None:
    data = DAMAGED[what].encode()
    for chunks in ([data], [data[at : at + 5] for at in range(0, len(data), 5)]):
        pages = inspect(Source(chunks, expat_only=expat_only)).pages
        assert isinstance(pages, Pages)
        assert {A, B, C, f"{B}-01-01", f"{B}tmod>"}.issuperset(
            found.url for found in pages if not found.url.startswith(("href=", f"{B}{C}"))
        )
        assert not pages.complete


HARMLESS: Final = {
    "a misspelled end tag": urlset(f"<url><loc>{B}</lco><lastmod>2020</lastmodd></url>"),
    "an end tag with a prefix": urlset(f"<url><loc>{B}</sm:loc></url>"),
    "an end tag of an unknown element": rss(item(f"<link>{B}</link><category>c</categry>")),
    "the end tag of the entry": urlset(u(A), f"<url><loc>{B}</loc></ulr>", u(C)),
    "HTML in a text": rss(item(f"<link>{B}</link><description>a</p><br>b</i></o:p></description>")),
    "a condition of Word": rss(item(f"<link>{B}</link><description>&<![endif]></description>")),
    "an instruction": urlset(f"<url><?x y?><loc>{B}?a&b</loc></url>"),
    "words in a tag of a text": rss(item(f"<link>{B}</link><description><b x>&</b></description>")),
    "brackets": urlset(f"<url><loc>{B}</loc> < ; <lastmod>2020</lastmod></url>"),
    "a root in capitals, unquoted": f"<urlset xmlns=http://h/mine version=1>{u(B)}</urlset>",
    "a declaration by hand": f"\n<?xml version='1.0' encoding=utf-8>{u(B)}",
}


@pytest.mark.parametrize("what", HARMLESS)
def test_a_fault_with_a_harmless_cause_costs_nothing(what: str) -> None:
    found: Reading = read(HARMLESS[what].encode())
    assert any(url.startswith(B) for url in found.urls)
    assert found.complete


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        *[("lco", "loc", True), ("LOC", "loc", True), ("sm:loc", "loc", True), ("lo", "loc", True)],
        *[("lastmode", "lastmod", True), ("liink", "link", True), ("ulr", "url", True)],
        *[("stmod", "lastmod", False), ("uoc", "url", False), ("urlmod", "url", False)],
        *[("a", "b", False), ("newsws:title", "news:title", False), ("x" * 40, "x" * 40, False)],
        *[("news:t:title", "news:title", False), ("image:loc", "video:loc", False)],
    ],
)
def test_a_typing_error_is_one_letter_or_two_that_are_exchanged(
    name: str, other: str, expected: bool
) -> None:
    assert resembles(name, other) is expected
    assert resembles(other, name) is expected
