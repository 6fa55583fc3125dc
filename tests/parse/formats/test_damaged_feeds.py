"""Feeds in which tags are misspelt or damaged: an item that is lost is an error."""

from __future__ import annotations

import pytest

from tests.parse.formats.test_feeds import A, B, X, entry, item
from tests.parse.reading import atom, rss
from usp._parse.input.chunks import CHUNK_SIZE
from usp.tree import sitemap_from_str


def rdf(first: str, damaged: str, last: str) -> str:
    about = '<item rdf:about="{0}"><title>x</title><link>{0}</link></item>'.format
    return (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        f'xmlns="http://purl.org/rss/1.0/"><channel rdf:about="http://h/"/>'
        f"{about(first)}{damaged}{about(last)}</rdf:RDF>"
    )


MISSPELT = {
    "the start of an item": rss(item(A), item(X).replace("<item>", "<itm>"), item(B)),
    "the start of an entry": atom(entry(A), entry(X).replace("<entry>", "<entrx>"), entry(B)),
    "the < of a title": rss(item(A), item(X).replace("<title>", "title>"), item(B)),
    "the > of a title": rss(item(A), item(X).replace("<title>", "<title"), item(B)),
    "the start of a link": rss(item(A), item(X).replace("<link>", "<lnk>"), item(B)),
    **{
        f"the start of an item, damaged: {tag!r}": rss(
            item(A), item(X).replace("<item>", tag), item(B)
        )
        for tag in ("\0item>", "\1item>", "<1tem>", "<\ufffdtem>", "<i\ufffdem>")
    },
    "the start of the last entry, damaged": atom(
        entry(A), entry(B), entry(X).replace("<entry>", "\0entry>")
    ),
    "the < of a link beside a guid": rss(
        item(A),
        f'<item><title>x</title>link>{X}</link><guid isPermaLink="false">1</guid></item>',
        item(B),
    ),
    **{
        f"a tag of an entry: {inside}": atom(entry(A), f"<entry>{inside}</entry>", entry(B))
        for inside in (
            f'<title>x</title><link href"{X}"/>',
            f'<title>x</title><link h ref="{X}"/><link rel="self" href="{X}"/>',
            f'<title>x</title><link href=""{X}"/>',
            f'<title>x</ti<le><link href="{X}"/>',
            f'<title type="html"x</title><link href="{X}"/>',
            # A piece is missing in or after a URL
            f'<title>x</title><link href="htt l" href="{X}"/>',
            f'<title>x</title><link href="http://h/12="{X}"/>',
            f'<title>x</title><link href="http://h/12"{X}"/>',
            f'<title>x</title><link href="http://h/12" href="{X}"/>',
            f'<title>x</title><link href="http://h/12rel="alternate" href="{X}"/>',
            '<title>x</title><link href="http://h/12title="a=b" rel="alternate"/>',
            f"<title>x</title><link href='http://h/12='{X}'/>",
            '<title>x</title><link href="http://h/12\' rel="alternate"/>',
            f'<title>x</title><link href="{X}/>',
            f'<title>x</title><link href="{X}>',
            f'<title>x</title><link href="{X}</link>',
        )
    },
    **{
        f"the tag of an item of RSS 1.0: {damaged}": rdf(A, damaged, B)
        for damaged in (
            f'<item rdf:about="{X}</item>',
            f'<item rdf:about="{X}"</item>',
            f'<item rdf:about="{X}><title>x</title></item>',
            f'<item rdf:about="http://h/12="{X}"><title>x</title></item>',
        )
    },
    "the start of an item without a link, damaged": rss(
        item(A),
        f"\0item><title>x</title><guid>{X}</guid></item>",
        item(B),
    ),
}


@pytest.mark.parametrize("what", MISSPELT)
def test_an_item_that_is_lost_for_a_misspelt_tag_is_an_error(what: str) -> None:
    found = sitemap_from_str(MISSPELT[what])
    assert [page.url for page in found.pages] == [A, B]
    assert not found.complete
    assert "SM209" in {problem.code for problem in found.problems}


@pytest.mark.parametrize(
    "link",
    [
        f'<link href="{X}"rel="alternate"/>',
        f'<link rel="alternate"href="{X}"/>',
        f'<link href="{X}" href="{X}"/>',
        f"<link href={X} />",
        f"<link href=\u201d{X}\u201d/>",
        f'<link title="a" title="b" href="{X}"/>',
    ],
)
def test_a_link_whose_url_is_certainly_whole_is_repaired(link: str) -> None:
    found = sitemap_from_str(atom(entry(A), f"<entry><title>x</title>{link}</entry>", entry(B)))
    assert [page.url for page in found.pages] == [A, X, B]
    assert [problem.code for problem in found.problems] == ["SM208"]


def test_an_item_whose_tag_is_damaged_is_read_and_the_loss_is_told() -> None:
    damaged = f'<item rdf:about="{X}><title>x</title><link>{X}</link></item>'
    found = sitemap_from_str(rdf(A, damaged, B))
    assert [page.url for page in found.pages] == [A, X, B]
    assert not found.complete


def test_a_damaged_item_is_an_error_wherever_the_parts_of_a_document_end() -> None:
    damaged = f"<itm><title>x</title><link>{X}</link><author>x</author></b> </item>"
    for size in range(CHUNK_SIZE - 2 * len(damaged), CHUNK_SIZE, 9):
        comment = f"<!--{'x' * size}-->"
        found = sitemap_from_str(
            f"<rss><channel>{item(A)}{comment}{damaged}{item(B)}</channel></rss>"
        )
        assert [page.url for page in found.pages] == [A, B]
        assert not found.complete


@pytest.mark.parametrize(
    "between",
    [
        *("</item>", "</item></item>", "<item><title>a & b</title></item>"),
        "<item><title></title><link>http://h/?a&b</link></item>",
        "<item><title>a & b</title><link></link></item>",
        '<item><title>a</title><enclosure url="http://h/f.mp3"length="1"/></item>',
    ],
)
def test_a_feed_in_which_no_link_is_lost_is_complete(between: str) -> None:
    found = sitemap_from_str(rss(item(A), between, item(B)))
    assert [page.url for page in found.pages] == [A, B]
    assert found.complete


@pytest.mark.parametrize("tag", ["<it\0em>", "<\1item>", "<item\x1f>"])
def test_control_characters_in_the_tags_of_an_item_are_dropped(tag: str) -> None:
    found = sitemap_from_str(rss(item(A), item(X).replace("<item>", tag), item(B)))
    assert [page.url for page in found.pages] == [A, X, B]
    assert found.complete
