"""Links of a homepage to sitemaps and feeds, in its HTML and in its ``Link`` header."""

import pytest

from usp._parse.formats import html

A_AND_B = [("http://h/d/a", "sitemap"), ("http://h/d/b", "sitemap")]
LINKS: list[tuple[str, str | None, list[tuple[str, str]]]] = [
    ("", None, []),
    ("<link rel=sitemap href=a>", None, [("http://h/d/a", "sitemap")]),
    ("<link rel=sitemap>", None, []),
    ("<link rel=sitemap href=''>", None, []),
    ("<link rel=sitemap href='http://['>", None, []),
    ("<link rel=sitemap href='mailto:a@b'>", None, []),
    ("<base href=/e/><link href=a rel=sitemap>", None, [("http://h/e/a", "sitemap")]),
    ("<link rel='Sitemap' href=a><link rel=sitemap href=a>", None, [("http://h/d/a", "sitemap")]),
    ("<link rel=alternate hreflang=de href=a>", None, []),
    (
        '<link rel="alternate" type="application/atom+xml; charset=utf-8" href="a?b=1&amp;c">',
        None,
        [("http://h/d/a?b=1&c", "feed")],
    ),
    (
        "<link rel=alternate type=application/feed+json href=a>",
        None,
        [("http://h/d/a", "feed")],
    ),
    ("<link rel=sitemap href=a", None, []),
    ("<link title='a > b' rel=sitemap href=a />", None, [("http://h/d/a", "sitemap")]),
    ("<link title=it's rel=sitemap href='a'>\n<b id='b'>", None, [("http://h/d/a", "sitemap")]),
    ('<link title=" rel=sitemap href=a><link rel=sitemap href=b>', None, A_AND_B),
    ("<!-- <link rel=sitemap href=a>", None, []),
    ("<link rel=sitemap href=a>" * 3 + "<script>", None, [("http://h/d/a", "sitemap")]),
    ("", "<a>; rel=sitemap", [("http://h/d/a", "sitemap")]),
    (
        "",
        '<a>; title="x, <y>; rel=sitemap"; rel="next sitemap" , <b>;rel=sitemap',
        A_AND_B,
    ),
    ("", "rel=sitemap", []),
    ("", "<a>; rel=sitemap; type=application/xml", [("http://h/d/a", "sitemap")]),
    ("", "<a>;type=x;REL = Sitemap,<b>;rel=next", [("http://h/d/a", "sitemap")]),
    ("", "<a>; rel=alternate; type=application/atom+xml", [("http://h/d/a", "feed")]),
    (
        (
            "<link rel=alternate type=application/json href='/feed.json?a'>"
            "<link rel=alternate type=application/json href='/wp-json/wp/v2/pages/1'>"
        ),
        None,
        [("http://h/feed.json?a", "feed")],
    ),
]


@pytest.mark.parametrize(("text", "header", "expected"), LINKS)
def test_links(text: str, header: str | None, expected: list[tuple[str, str]]) -> None:
    assert list(html.links(text, header, "http://h/d/")) == expected


@pytest.mark.parametrize(
    ("reference", "character"),
    [("&#65;", "A"), ("&#x41", "A"), (f"&#{'0' * 5000}65;", "A"), (f"&#{'1' * 5000};", "\ufffd")],
)
def test_references_in_a_link(reference: str, character: str) -> None:
    """Python refuses to parse a number of more than 4,300 digits."""
    page = f"<link rel=sitemap href='{reference}'>"
    assert list(html.links(page, None, "http://h/d/")) == [(f"http://h/d/{character}", "sitemap")]


def test_links_are_relative_to_the_first_base() -> None:
    page = "<base target=x><base href='/e/'><base href='/f/'><link rel=sitemap href=a>"
    expected = [("http://h/d/b", "sitemap"), ("http://h/e/a", "sitemap")]
    assert list(html.links(page, "<b>; rel=sitemap; base=x", "http://h/d/")) == expected
