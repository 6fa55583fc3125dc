"""A document with entries none of which gives a URL is not complete, and says so."""

from __future__ import annotations

import json

import pytest

from tests.parse.formats.test_feeds import A, B, item
from tests.parse.pattern.readers import assert_readers_agree
from tests.parse.reading import SM, atom, index, rss, u, urlset
from usp._parse import Source, inspect
from usp._parse.audit import Audit
from usp._parse.document import Pages
from usp.objects.problem import Problem
from usp.tree import sitemap_from_str

CHILD = f"<sitemap><loc>{B}</loc></sitemap>"
DATED = "<url><lastmod>2020-01-01</lastmod></url>"


def child_index(*entries: str) -> str:
    return f"<sitemapindex {SM}>{''.join(entries)}</sitemapindex>"


def json_feed(*items: dict[str, object]) -> str:
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items})


def told(document: str) -> list[str]:
    """The messages with which a document says that it gave no URL, in every way of reading it."""
    found = sitemap_from_str(document)
    messages = [one.message for one in found.problems if one.code == "SM204"]
    assert found.complete != bool(messages)
    if not document.startswith("{"):
        assert_readers_agree([document.encode()])
    pages = inspect(Source.of(document)).pages
    assert isinstance(pages, Pages)
    list(pages)  # of a crawl, which collects no other problems
    assert [one.message for one in pages.known_errors] == messages
    audited = [one for one in Audit(Pages(Source.of(document))) if isinstance(one, Problem)]
    assert [one.message for one in audited if one.code == "SM204"] == messages
    return messages


@pytest.mark.parametrize("count", [2, 3, 300])
@pytest.mark.parametrize(
    "entry", [u(""), u(" \n"), "<url><loc/></url>", DATED, "<url/>", "<url><note>x</note></url>"]
)
def test_a_urlset_without_any_url_is_not_complete(entry: str, count: int) -> None:
    assert told(urlset(entry)) == ["its only entry gives no URL"]
    assert told(urlset(*[entry] * count)) == [f"none of {count} entries gives a URL"]


@pytest.mark.parametrize("entry", ["<sitemap><loc/></sitemap>", "<sitemap/>"])
def test_an_index_without_any_url_is_not_complete(entry: str) -> None:
    assert told(child_index(entry)) == ["its only entry gives no URL"]
    assert told(child_index(*[entry] * 90)) == ["none of 90 entries gives a URL"]
    assert told(child_index(entry, "<url/>")) == ["none of 2 entries gives a URL"]


@pytest.mark.parametrize(
    "document",
    [
        rss("<item><title>T</title><link/></item>" * 2),
        rss("<item><link>http://h/a</link></item>" * 2),
        atom('<entry><title>T</title><link href=""/></entry>' * 2),
        atom('<entry><link href="http://h/a"/></entry>' * 2),
        json_feed({"url": "", "title": "T"}, {"url": " ", "title": "T"}),
        json_feed({"id": "1", "url": "http://h/a"}, {"id": "2", "external_url": "http://h/b"}),
    ],
)
def test_a_feed_whose_links_give_no_page_is_not_complete(document: str) -> None:
    assert told(document) == ["none of 2 entries gives a URL"]


@pytest.mark.parametrize(
    "document",
    [
        rss("<item><title>T</title></item>" * 2),
        rss('<item><title>T</title><guid isPermaLink="false">1</guid></item>'),
        rss("<item><description>T</description><guid>urn:x:1</guid></item>"),
        rss('<item><title>T</title><enclosure url="http://h/1.mp3" type="audio/mpeg"/></item>'),
        atom("<entry><title>T</title><id>urn:x:1</id></entry>"),
        atom('<entry><title>T</title><link rel="self" href="http://h/x"/></entry>'),
        json_feed({"id": "1", "title": "T"}),
    ],
)
def test_a_feed_whose_items_have_no_links_is_complete(document: str) -> None:
    assert told(document) == []
    assert {one.code for one in sitemap_from_str(document).problems} == {"SM503"}


@pytest.mark.parametrize("place", [0, 5, 50, 99])
def test_one_url_among_many_entries_is_enough(place: int) -> None:
    for one, many in ((u(A), DATED), (u(A), u("")), (CHILD, DATED)):
        entries = [many] * 100
        entries[place] = one
        assert told(urlset(*entries)) == []
        assert told(child_index(*entries)) == []
    items = ["<item><title>T</title><link/></item>"] * 100
    items[place] = item(A)
    assert told(rss(*items)) == []


def test_a_page_that_is_listed_twice_was_given() -> None:
    assert told(urlset(u(A), u(A), u(""))) == []
    assert told(index(A, A)) == []


def test_the_first_entry_is_the_position_of_the_problem() -> None:
    for many in (1, 400):
        document = urlset("\n\n", *[DATED] * many)
        [problem] = [one for one in sitemap_from_str(document).problems if one.code == "SM204"]
        assert (problem.line, problem.offset) == (3, document.index("<url>"))


def test_a_document_that_is_known_to_lack_something_says_no_more() -> None:
    codes = {one.code for one in sitemap_from_str(urlset(DATED)[: -len("</urlset>")]).problems}
    assert codes == {"SM207", "SM301"}
