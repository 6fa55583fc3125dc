"""What an attack on the reader has shown, each as a row that fails without its cure."""

import pytest

import usp
from tests.parse.reading import SM

HEAD = f"<urlset {SM}><url><loc>http://h/a</loc></url>\n"
TAIL = "\n<url><loc>http://h/c</loc></url></urlset>"
ENTRY = "<url><loc>http://h/a</loc></url>"

WHOLE = {
    "a cut head over several lines": (
        f"rity>0.8</priority>\n</url>\n{ENTRY}\n</urlset>",
        ["http://h/a"],
    ),
    "a declaration without its question mark": (
        f'<xml version="1.0"?><urlset {SM}>{ENTRY}</urlset>',
        ["http://h/a"],
    ),
    "a root that is misspelt": (f"<urlse {SM}>{ENTRY}</urlse>", ["http://h/a"]),
    "the DOCTYPE of a web page": (
        f"<!DOCTYPE html>\n<urlset {SM}>{ENTRY}</urlset>",
        ["http://h/a"],
    ),
    "comments that are never closed": (
        f"<urlset {SM}>"
        + "".join(f"<!-- {n} ->\n<url><loc>http://h/{n}</loc></url>\n" for n in range(4))
        + "</urlset>",
        [f"http://h/{n}" for n in range(4)],
    ),
    "CDATA that is never closed, in each entry": (
        f"<urlset {SM}>"
        + "".join(f"<url><loc><![CDATA[http://h/{n}</loc></url>" for n in range(4))
        + "</urlset>",
        [f"http://h/{n}" for n in range(4)],
    ),
    "a channel without its root": (
        "<channel><item><title>T</title><link>http://h/a</link></item></channel>",
        ["http://h/a"],
    ),
    "an element of another format around entries": (
        f'<urlset {SM}><feed xmlns="http://www.w3.org/2005/Atom">{ENTRY}</urlset>',
        ["http://h/a"],
    ),
    "a declaration that says nothing": (
        f"<?xml version=?><urlset {SM}>{ENTRY}</urlset>",
        ["http://h/a"],
    ),
    "an instruction without a name": (f"<?x=?><urlset {SM}>{ENTRY}</urlset>", ["http://h/a"]),
    "a blank that XML doesn't know before an end tag": (
        f"<urlset {SM}>{ENTRY}\x0b</urlset>",
        ["http://h/a"],
    ),
    "a blank that XML doesn't know in an end tag": (
        f"<urlset {SM}><b>x\x0c</b\x0b>{ENTRY}</urlset\x0b>",
        ["http://h/a"],
    ),
    "a prefix that nobody declares": (
        (
            "<rss><channel><item><foo:link>http://h/no</foo:link><title>T</title>"
            "<link>http://h/a</link></item></channel></rss>"
        ),
        ["http://h/a"],
    ),
}

INSIDE = {
    "a field inside a URL": (
        "<url><loc>http://h/b<lastmod>2020-01-01</lastmod></loc></url>",
        ["http://h/b"],
    ),
    "an image inside a URL": (
        "<url><loc>http://h/b<image:image><image:loc>http://h/i</image:loc></image:image></loc></url>",
        ["http://h/b"],
    ),
    "an image's own <url>": (
        "<url><loc>http://h/b</loc><image:image><url>http://h/i</url></image:image></url>",
        ["http://h/b"],
    ),
    "an image's own prefixed url in a damaged entry": (
        "<url><loc>http://h/b?x&y</loc><image:image><image:url>i</image:url></image:image></url>",
        ["http://h/b?x&y"],
    ),
    "two URLs in one": (
        "<url><loc>http://h/b\nhttp://h/d</loc></url>",
        ["http://h/b", "http://h/d"],
    ),
    "a tag that has lost its end": ("<url><loc http://h/b</loc></url>", ["http://h/b"]),
    "a tag that has lost its end and its blank": (
        "<url><lochttp://h/b</loc></url>",
        ["http://h/b"],
    ),
    "a date's tag that has lost its end": (
        "<url><loc>http://h/b</loc><lastmod 2020-01-01</lastmod></url>",
        ["http://h/b"],
    ),
    "attributes of a tag that has lost its end": (
        '<url><loc x="y" <lastmod>2020-01-01</lastmod></url>',
        [],
    ),
    "blanks in tags": ("< url >< loc >http://h/b< / loc >< / url >", ["http://h/b"]),
    "backslashes in end tags": ("<url><loc>http://h/b<\\/loc><\\/url>", ["http://h/b"]),
    "CDATA that ends with one bracket": (
        "<url><loc><![CDATA[http://h/b]></loc></url>",
        ["http://h/b"],
    ),
    "CDATA that ends without a bracket": (
        "<url><loc><![CDATA[http://h/b]]</loc></url>",
        ["http://h/b"],
    ),
    "CDATA in CDATA": ("<url><loc><![CDATA[<![CDATA[http://h/b]]>]]></loc></url>", ["http://h/b"]),
    "CDATA in small letters": ("<url><loc><![cdata[http://h/b]]></loc></url>", ["http://h/b"]),
    "CDATA around the field": ("<url><![CDATA[<loc>http://h/b</loc>]]></url>", ["http://h/b"]),
    "an empty field before the URL": ("<url><loc/>http://h/b</url>", ["http://h/b"]),
    "an escaped field with another behind it": (
        "<url>&lt;loc&gt;http://h/b&lt;/loc&gt;&lt;lastmod&gt;2020&lt;/lastmod&gt;</url>",
        ["http://h/b"],
    ),
    "a commented entry with hyphens": (
        "<!-- -- <url><loc>http://h/no</loc></url> --><url><loc>http://h/b</loc></url>",
        ["http://h/b"],
    ),
    "a comment without an end before another": (
        "<!-- x <url><loc>http://h/b</loc></url><!-- y -->",
        ["http://h/b"],
    ),
    "a comment with hyphens and without an end": (
        "<!-- x -- <url><loc>http://h/b</loc></url><!-- y -->",
        ["http://h/b"],
    ),
    "a hundred thousand comments without an end": (
        f"<url><loc>http://h/b{'<!--' * 100_000}</loc></url>",
        ["http://h/b"],
    ),
    "fifty thousand CDATA without an end": (
        f"<url><loc>http://h/b{'<![CDATA[' * 50_000}</loc></url>",
        ["http://h/b"],
    ),
    "an attribute's name of half a megabyte": (
        f"<url><loc>http://h/b</loc><x {'y' * 500_000}></url>",
        ["http://h/b"],
    ),
    "a tag that has lost its bracket": ("<url>loc>http://h/b</loc></url>", []),
    "words instead of a URL": ("<url><note>hi</note></url>", []),
}


LINKS = [
    '<link href="http://h/1<2"/>',
    '<link title="<b>x</b>" href="http://h/1<2"/>',
    "<link title='a<b' href='http://h/1<2'/>",
    "<link href=\u201dhttp://h/1&lt;2\u201d/>",
    "<link rel=\u201calternate\u201d href=\u201chttp://h/1&lt;2\u201d />",
    '<link href=\\"http://h/1&lt;2\\"/>',
    "<link href=&quot;http://h/1&lt;2&quot;/>",
    '<link rel="alternate"href="http://h/1&lt;2"/>',
]


@pytest.mark.parametrize("link", LINKS)
def test_attributes_that_are_not_xml(link: str) -> None:
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>T</title>{link}</entry></feed>'
    sitemap = usp.parse(feed)
    assert [page.url for page in sitemap.pages] == ["http://h/1<2"]
    assert [problem.code for problem in sitemap.problems] == ["SM208"]


def test_blanks_without_end_in_a_url_cost_no_more_than_their_length() -> None:
    url = f"http://h/b{' ' * 500_000}x"
    assert [page.url for page in usp.parse(f"{HEAD}<url><loc>{url}</loc></url>{TAIL}").pages][
        1
    ] == url


@pytest.mark.parametrize("what", WHOLE)
def test_a_document(what: str) -> None:
    document, expected = WHOLE[what]
    sitemap = usp.parse(document)
    assert [page.url for page in sitemap.pages] == expected
    assert sitemap.problems or "DOCTYPE" in what


@pytest.mark.parametrize("what", INSIDE)
def test_an_entry_between_two_sound_ones(what: str) -> None:
    entry, expected = INSIDE[what]
    sitemap = usp.parse(HEAD + entry + TAIL)
    assert [page.url for page in sitemap.pages] == ["http://h/a", *expected, "http://h/c"]
    assert sitemap.problems


def test_an_entry_that_is_lost_is_never_called_mended() -> None:
    for entry in ("<url>loc>http://h/b</loc></url>", "<url><lc>http://h/b</loc></url>"):
        sitemap = usp.parse(HEAD + entry + TAIL)
        assert "SM209" in {problem.code for problem in sitemap.problems}
        assert not sitemap.complete


def test_a_child_whose_url_is_whole_is_kept_though_it_must_be_mended() -> None:
    index = usp.parse(f"<sitemapindex {SM}><sitemap><loc>http://h/b?a=1&b=2</loc><lastm")
    assert [child.url for child in index.sub_sitemaps] == ["http://h/b?a=1&b=2"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Sitemap: http://h/x[1]", ["http://h/x[1]"]),
        ("Sitemap: http://[::1]/a", ["http://[::1]/a"]),
        ("Sitemap: http://h/a<br>", ["http://h/a"]),
        ("Sitemap: http://h/a Sitemap: http://h/b", ["http://h/a", "http://h/b"]),
        ("Sitemap /a.xml", ["http://h/a.xml"]),
        ("Sitemap:: http://h/a", ["http://h/a"]),
        ("<!-- x -->\nSitemap: http://h/a", ["http://h/a"]),
    ],
)
def test_robots_lines(line: str, expected: list[str]) -> None:
    robots = usp.parse(line, url="http://h/robots.txt")
    assert [sitemap.url for sitemap in robots.sub_sitemaps] == expected


@pytest.mark.parametrize(
    "text",
    ["Wed, 06/05/2020", "Saturday, May 2020", "5 marraskuu 2020", "5 Maybe 2020", "25:00 PM"],
)
def test_no_date_is_guessed(text: str) -> None:
    sitemap = usp.parse(
        f"<urlset {SM}><url><loc>http://h/a</loc><lastmod>{text}</lastmod></url></urlset>"
    )
    assert sitemap.pages[0].last_modified is None
    assert [problem.name for problem in sitemap.problems] == ["bad-date"]


def test_problems_of_lines_and_bytes_tell_their_place() -> None:
    text = usp.parse(b"http://h/a\r\nwords\r\nhttp://h/b\r\n", url="http://h/list.txt")
    assert [(p.name, p.line, p.offset) for p in text.problems] == [("line-ignored", 2, 12)]
    robots = usp.parse(b"User-agent: *\nSitemap http://h/a\n", url="http://h/robots.txt")
    assert [(p.name, p.line, p.offset) for p in robots.problems] == [
        ("malformed-robots-line", 2, 14)
    ]
    head = f"<urlset {SM}>\n".encode()
    damaged = usp.parse(head + b"<url><loc>http://h/\xff</loc></url></urlset>")
    place = (2, len(head) + len(b"<url><loc>http://h/"))
    assert [(p.name, p.line, p.offset) for p in damaged.problems] == [("bytes-replaced", *place)]


def test_what_is_odd_between_entries_is_reported_where_it_stands() -> None:
    sitemap = usp.parse(HEAD + "words" + TAIL)
    # expat tells of a text when the next tag begins.
    assert [(problem.code, problem.line) for problem in sitemap.problems] == [("SM211", 3)]


@pytest.mark.parametrize(
    "damaged",
    [
        b"<url\n</urlset>\n",
        b"<url\n</urlset>",
        b"<sitemap </sitemapindex>",
        b"<item\n</rss>\n<item\n</channel>",
        b"<urlset><url\n</urlset>\n<url\n</urlset>",
        b"<entry '\n</feed>\n</feed>",
    ],
)
def test_a_start_tag_that_is_broken_for_good_comes_to_an_end(damaged: bytes) -> None:
    sitemap = usp.parse(damaged)
    assert list(sitemap.pages) == []
    assert sitemap.problems


def test_the_end_of_a_field_in_a_comment_is_no_entry_that_lost_its_beginning() -> None:
    sitemap = usp.parse("<!--</loc>--><urlset><url><loc>http://h/a</loc></url></urlset>")
    assert [page.url for page in sitemap.pages] == ["http://h/a"]
    assert [problem.name for problem in sitemap.problems] == ["wrong-namespace"]
