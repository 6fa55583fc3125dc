"""Entries are read by their tags: one with almost the tags of the others gives what expat gives."""

from __future__ import annotations

from itertools import compress, product

import pytest

from tests.parse.pattern.readers import assert_readers_agree, entries
from tests.parse.reading import ALL, u
from usp._parse.document import Source, inspect
from usp._parse.input.sniff import Kind
from usp._parse.pattern.forget import forget_patterns
from usp.objects.abstract_sitemap import HasProblems

LINK = '<xhtml:link rel="alternate" hreflang="de" href="http://h.example/de"/>'
USUAL = f"<lastmod>2020-05-06</lastmod>{LINK}"
ALMOST = {
    "delimiters in the wrong order": "<lastmod>2020-05-06>/lastmod<",
    "no start of an end tag": "<lastmod>2020-05-06>/lastmod>",
    "two starts of a tag": "<<lastmod>2020-05-06</lastmod>",
    "a > in a text": "<lastmod>2020 > 05</lastmod>",
    "another end tag": "<lastmod>2020-05-06</priority>",
    "a quote too few": LINK.replace('"de"', '"de'),
    "a quote too many": LINK.replace('"de"', '"de""'),
    "other quotes": LINK.replace('"', "'"),
    "quotes in quotes": LINK.replace('"de"', "'d\"e'"),
    "an attribute in a value": LINK.replace('"de"', "'d' lang='e'"),
    "the same attribute twice": LINK.replace("hreflang", 'rel="a" hreflang'),
    "a line break in a value": LINK.replace("alternate", "alter\nnate"),
    "a reference in a value": LINK.replace("/de", "/?a&amp;b"),
    "half a reference in a value": LINK.replace("/de", "/?a&b"),
    "a comment": f"<!-- a -->{USUAL}",
    "a comment in a text": "<lastmod>2020-<!-- a -->05-06</lastmod>",
    "a comment in a reference": "<lastmod>&am<!-- a -->p;</lastmod>",
    "a comment with hyphens": f"<!-- a -- b -->{USUAL}",
    "a comment that isn't closed": f"<!-- {USUAL}",
    "CDATA": "<lastmod><![CDATA[2020-05-06]]></lastmod>",
    "CDATA with markup": "<lastmod><![CDATA[<a>&nbsp;&</a>]]></lastmod>",
    "CDATA beside text": "<lastmod>2020<![CDATA[-05-]]>06&amp;</lastmod>",
    "CDATA between elements": f"<![CDATA[a]]>{USUAL}",
    "CDATA in a tag": "<lastmod <![CDATA[a]]>>2020-05-06</lastmod>",
    "an instruction": f"<?a b?>{USUAL}",
    "a DOCTYPE": f"<!DOCTYPE a>{USUAL}",
    "text between elements": f"http://h.example/x{USUAL}",
    "a namespace": f'<y xmlns="urn:y"><loc>http://h.example/y</loc></y>{USUAL}',
    "another namespace": f'<loc xmlns="urn:y">http://h.example/y</loc>{USUAL}',
    "a base": LINK.replace("rel=", 'xml:base="/b/" rel='),
    "a control character": "<lastmod>\x02</lastmod>",
    "the end of the entry in CDATA": "<lastmod><![CDATA[</url>]]></lastmod>",
    "the end of the entry in a comment": "<lastmod>2020<!-- </url> --></lastmod>",
    "the end of the entry with a blank": f"{USUAL}</url ><url>{USUAL}",
    "almost the end of the entry": f"{USUAL}</urls><url>{USUAL}",
    "the end of the entry twice": f"{USUAL}</url></url><url>{USUAL}",
    "an entry in the entry": f"<url>{USUAL}</url>",
    "references in texts": "<lastmod>&lt;&#50;&#x32;&amp;amp;&gt;</lastmod>",
    "half a reference in a text": "<lastmod>a &amp b</lastmod>",
    "an undeclared prefix": f"<odd:word>1</odd:word>{USUAL}",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("usual", [USUAL, "<lastmod>2020-05-06</lastmod>", ""])
@pytest.mark.parametrize("what", ALMOST)
def test_an_entry_with_almost_the_same_tags_is_read_as_expat_reads_it(
    what: str, usual: str
) -> None:
    listed = [u(f"http://h.example/{number}", usual) for number in range(40)]
    listed[30] = u("http://h.example/30", ALMOST[what])
    data = f"<urlset {ALL}>{''.join(listed)}</urlset>".encode()
    assert_readers_agree([data])
    assert entries(data).matched >= 30


IMAGE = "<image:image><image:loc>http://h.example/i.png</image:loc></image:image>"


def test_entries_that_lack_different_elements_are_one_run() -> None:
    parts = [LINK, "<lastmod>2020-05-06</lastmod>", "<priority>0.5</priority>", IMAGE]
    listed = [
        u(f"http://h.example/{number}?a&amp;b", "".join(compress(parts, chosen)))
        for number, chosen in enumerate([*product((False, True), repeat=len(parts))] * 8)
    ]
    data = f"<urlset {ALL}>{''.join(listed)}</urlset>".encode()
    assert_readers_agree([data])
    assert entries(data).matched == len(listed)


def test_of_a_long_stretch_only_the_odd_entry_is_left_to_expat() -> None:
    listed = [u(f"http://h.example/{number}", USUAL) for number in range(400)]
    listed[300] = u("http://h.example/300", f"text{USUAL}")
    data = f"<urlset {ALL}>{''.join(listed)}</urlset>".encode()
    assert_readers_agree([data])
    assert entries(data).matched == len(listed) - 1


def test_a_bad_reference_in_a_value_that_nobody_reads_is_a_fault() -> None:
    listed = [
        u(f"http://h.example/{number}", f'<lastmod odd="{"&#1;" if number == 30 else "&#50;"}"/>')
        for number in range(40)
    ]
    assert_readers_agree([f"<urlset {ALL}>{''.join(listed)}</urlset>".encode()])


def test_entries_with_a_child_that_is_left_to_expat_are_read_as_it_reads_them() -> None:
    odd = '<o:odd xmlns:o="urn:o"><o:deep/></o:odd>'
    listed = [
        u(f"http://h.example/{number}", odd + "<priority>0.5</priority>" * number)
        for number in range(12)
    ]
    data = f"<urlset {ALL}>{''.join(listed)}</urlset>".encode()
    assert_readers_agree([data])


def test_the_text_between_entries_is_not_part_of_them() -> None:
    listed = [u(f"http://h.example/{number}", USUAL) for number in range(40)]
    for between in ("text", "<!-- <url> -->", "<x/>", "&amp;", "<![CDATA[a]]>", "</x>", "\xa0"):
        data = f"<urlset {ALL}>{between.join(listed)}</urlset>".encode()
        assert_readers_agree([data])


HEADS = {
    Kind.RSS: (
        '<rss version="2.0" xmlns:a="urn:a"><channel><title>T &amp; U</title><a:b c="d"/>',
        "<item><title>T @</title><link>http://h.example/@</link></item>",
        "</channel></rss>",
    ),
    Kind.ATOM: (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><link href="/"/>',
        '<entry><title>T</title><link href="http://h.example/@"/></entry>',
        "</feed>",
    ),
}
ODD_HEADS = {
    "a malformed root": (" ", " a=b "),
    "another text": ("T</title>", "V</title>"),
    "a comment": ("<title>", "<!-- a --><title>"),
    "an open comment": ("<title>", "<!-- <title>"),
    "half a reference": ("T</title>", "T &</title>"),
    "a base": ("><title>", ' xml:base="http://b.example/"><title>'),
    "an entry in a comment": ("<title>", "<!-- <item></item><entry></entry> --><title>"),
    "an element that isn't closed": ("<title>", "<b><title>"),
}


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("what", ODD_HEADS)
def test_a_head_is_read_as_expat_reads_it(kind: Kind, what: str) -> None:
    head, entry, tail = HEADS[kind]
    body = "".join(entry.replace("@", str(number)) for number in range(3))
    assert_readers_agree([f"{head}{body}{tail}".encode()])  # from now on it is known
    odd = head.replace(*ODD_HEADS[what], 1)
    for end in (tail, f"\n<!-- c -->{tail}\n", "", f"{tail}<x/>", tail.replace(">", " >")):
        assert_readers_agree([f"{odd}{body}{end}".encode()])


def test_a_name_that_was_a_problem_elsewhere_is_none_here() -> None:
    image = "<image:image><image:loc>http://h.example/i.png</image:loc></image:image>"
    listed = "".join(u(f"http://h.example/{number}", image) for number in range(3))
    odd = ALL.replace("google.com/schemas/sitemap-image", "odd.example/image")
    assert odd != ALL
    for first, second in ((odd, ALL), (ALL, odd)):
        forget_patterns()
        found = []
        for namespaces in (first, second):
            source = Source([f"<urlset {namespaces}>{listed}</urlset>".encode()])
            pages = inspect(source).pages
            assert isinstance(pages, HasProblems)
            found.append({problem.code for problem in pages.problems})
        assert found == [
            {"SM219"} if namespaces is odd else set() for namespaces in (first, second)
        ]
