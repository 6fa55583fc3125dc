"""Elements inside of an entry that have the name of an entry: those of extensions are none."""

from __future__ import annotations

from typing import Final

import pytest

from tests.parse.pattern.readers import assert_readers_agree, forget_all
from tests.parse.reading import ALL, read, rss, u, urlset
from usp import parse
from usp.fetch_parse import PagesXMLSitemapParser

A, B, C, D = (f"http://h.example/{name}" for name in "abcd")
NO: Final = "http://h.example/no"
EXTENSIONS: Final = {
    "a text": f"<data><display><name>N</name><url>{NO}</url></display></data>",
    "an entry": f"<data>{u(NO)}{u(NO)}</data>",
    "an empty element": "<data><url/></data>",
    "of the other kind": f"<data><sitemap>{NO}</sitemap></data>",
    "with attributes": f'<data a="b"><url a="b">{NO}</url></data>',
    "in a group": f"<image:image><image:loc>{A}</image:loc><url>{NO}</url></image:image>",
}


@pytest.mark.parametrize("before", ["", "<url><loc>http://h.example/?x&y</loc></url>"])
@pytest.mark.parametrize("what", EXTENSIONS)
def test_an_element_of_an_extension_is_no_entry(what: str, before: str) -> None:
    entries = [u(f"{B}{n}", f"{EXTENSIONS[what]}<lastmod>2020-05-06</lastmod>") for n in range(9)]
    document = urlset(u(A), before, *entries, u(C), namespaces=ALL).encode()
    found = read(document)
    listed = [page["url"] for page in found.pages if "&" not in page["url"]]
    assert listed == [A, *(f"{B}{n}" for n in range(9)), C]
    assert {str(page["last_modified"])[:10] for page in found.pages} == {"2020-05-06", "None"}
    assert [problem.code for problem in found.problems] == ["SM208"] * bool(before)
    for _ in range(2):
        assert_readers_agree([document])
        forget_all()


def test_an_item_in_an_element_of_an_item_is_no_page() -> None:
    inner = f"<items><item><title>T</title><link>{NO}</link></item></items>"
    item = f"<item><title>T</title><link>{A}</link>{inner}<pubDate>1 May 2020</pubDate></item>"
    found = parse(rss(item))
    assert [(page.url, page.published_at is None) for page in found.pages] == [(A, False)]
    assert not found.problems


UNCLOSED: Final = {
    "entries in entries": f"<url><loc>{A}</loc><url><loc>{B}</loc>{u(C)}",
    "with an element each": "".join(f"<url><loc>{url}</loc><x>" for url in (A, B, C)),
    "the first one, with an element": f"<url><loc>{A}</loc><x>{u(B)}{u(C)}",
    "with a field in another": f"<url><loc>{A}<lastmod>2020</lastmod>{u(B)}{u(C)}",
}


@pytest.mark.parametrize("what", UNCLOSED)
def test_an_entry_after_one_that_is_not_closed_is_read(what: str) -> None:
    document = urlset(UNCLOSED[what], u(D)).encode()
    found = read(document)
    assert found.urls == [A, B, C, D]
    codes = {problem.code for problem in found.problems}
    # An entry and an element in it that both lack their end tags may be cut off.
    assert codes <= {"SM208", "SM210", "SM211"} or what == "the first one, with an element"
    assert found.problems
    assert read(*(document[at : at + 5] for at in range(0, len(document), 5))) == found
    assert_readers_agree([document])


def test_a_push_parser_reads_entries_after_some_that_are_not_closed() -> None:
    parser = PagesXMLSitemapParser("http://h.example/s.xml")
    for url in (A, B, C):
        parser.xml_element_start("url", {})
        parser.xml_element_start("loc", {})
        parser.xml_char_data(url)
        parser.xml_element_end("loc")
        parser.xml_element_start("x", {})
    parser.xml_element_start("url", {})
    assert A in [page.url for page in parser.sitemap().pages]
