"""What describes a feed: a fault in it costs no item, and a piece that is missing there may."""

from collections.abc import Callable
from typing import Final

import pytest

from tests.cost import assert_linear
from tests.parse.pattern.readers import assert_readers_agree
from usp.tree import sitemap_from_str

ITEM: Final = "<item><title>A</title><link>http://h/a</link></item>"
ENTRY: Final = "<entry><title>A</title><link href='http://h/a'/></entry>"
DTD: Final = '<!DOCTYPE rss SYSTEM "http://h/rss.dtd">'
HARMLESS: Final = [
    "<title>A & B</title>",
    "<title>A & B</title><link>http://h/</link><description>C & D</description>",
    "<rights>&copy; 2020</rights>",
    "<subtitle>1 < 2</subtitle>",
    "<title>T</Title>",
    "<description>x</desciption>",
    "<managingEditor>me@h.example <me></managingEditor>",
    "<author><name>A & B</name></author>",
    "<author><name>Jane <jane></name></author>",
]
MISSING: Final = [
    "<title>T</title><description>Al",
    "<title>T</title><unknown>",
    "<title>T</title><link>http://h/</link><descripnk>http://h/b",
]


def rss(header: str) -> str:
    return f"<rss><channel>{header}{ITEM}</channel></rss>"


def atom(header: str) -> str:
    return f"<feed xmlns='http://www.w3.org/2005/Atom'>{header}{ENTRY}</feed>"


@pytest.mark.parametrize("feed", [rss, atom])
@pytest.mark.parametrize("header", HARMLESS)
def test_a_fault_in_a_header_costs_nothing(header: str, feed: Callable[[str], str]) -> None:
    found = sitemap_from_str(feed(header))
    assert [page.url for page in found.pages] == ["http://h/a"]
    assert {problem.code for problem in found.problems} == {"SM211"}
    assert found.complete
    assert_readers_agree([feed(header).encode()])


def test_an_entity_that_an_external_dtd_defines_costs_nothing() -> None:
    """RSS 0.91 has such a DTD, which is never fetched."""
    found = sitemap_from_str(f"{DTD}{rss('<copyright>&copy; 2020</copyright>')}")
    assert [page.url for page in found.pages] == ["http://h/a"]
    assert found.complete


@pytest.mark.parametrize("header", MISSING)
def test_a_header_of_which_a_piece_is_missing_may_cost_items(header: str) -> None:
    found = sitemap_from_str(rss(header))
    assert [page.url for page in found.pages] == ["http://h/a"]
    assert [problem.code for problem in found.problems] == ["SM209"]
    assert not found.complete


def read_headers(count: int) -> None:
    header = "<title>A & B</title><description>&" * count
    assert len(list(sitemap_from_str(rss(header)).pages)) == 1


def read_blocks(count: int) -> None:
    """A URL with many blocks of HTML behind it: only the last of them mattered, in a loop."""
    url = f"http://h/a{'<p/>' * count}"
    assert len(list(sitemap_from_str(f"<urlset><url><loc>{url}</loc></url></urlset>").pages)) == 1


def read_nested_blocks(count: int) -> None:
    """Blocks in one another, around a URL of many parts: each line break is one."""
    parts = "\n" * count
    url = f"{'<p>' * 200}http://h/a{parts}{'</p>' * 200}"
    sitemap = sitemap_from_str(f"<urlset><url><loc>{url}</loc></url></urlset>")
    assert len(list(sitemap.pages)) == 1


def test_headers_and_blocks_take_linear_time() -> None:
    assert assert_linear(read_headers, 4_000).seconds < 1.5
    assert assert_linear(read_blocks, 100_000).seconds < 3
    assert assert_linear(read_nested_blocks, 80_000).seconds < 1
