"""Hostile and unusual XML that once was read wrongly, took too long, or never ended."""

import pytest

import usp
from tests.parse.pattern.readers import read
from tests.parse.reading import SM, u

HEAD = f"<urlset {SM}><url><loc>http://h/a</loc></url>\n"
TAIL = "\n<url><loc>http://h/c</loc></url></urlset>"
ENTRY = "<url><loc>http://h/a</loc></url>"

DOCUMENTS = {
    "a missing start over several lines": (
        f"rity>0.8</priority>\n</url>\n{ENTRY}\n</urlset>",
        ["http://h/a"],
    ),
    "a declaration without its question mark": (
        f'<xml version="1.0"?><urlset {SM}>{ENTRY}</urlset>',
        ["http://h/a"],
    ),
    "a misspelt root element": (f"<urlse {SM}>{ENTRY}</urlse>", ["http://h/a"]),
    "the DOCTYPE of an HTML page": (
        f"<!DOCTYPE html>\n<urlset {SM}>{ENTRY}</urlset>",
        ["http://h/a"],
    ),
    "comments that are not closed": (
        f"<urlset {SM}>"
        + "".join(f"<!-- {n} ->\n<url><loc>http://h/{n}</loc></url>\n" for n in range(4))
        + "</urlset>",
        [f"http://h/{n}" for n in range(4)],
    ),
    "CDATA that is not closed, in each entry": (
        f"<urlset {SM}>"
        + "".join(f"<url><loc><![CDATA[http://h/{n}</loc></url>" for n in range(4))
        + "</urlset>",
        [f"http://h/{n}" for n in range(4)],
    ),
    "a channel without a root element": (
        "<channel><item><title>T</title><link>http://h/a</link></item></channel>",
        ["http://h/a"],
    ),
    "an element of another format around entries": (
        f'<urlset {SM}><feed xmlns="http://www.w3.org/2005/Atom">{ENTRY}</urlset>',
        ["http://h/a"],
    ),
    "an empty XML declaration": (
        f"<?xml version=?><urlset {SM}>{ENTRY}</urlset>",
        ["http://h/a"],
    ),
    "an instruction without a name": (f"<?x=?><urlset {SM}>{ENTRY}</urlset>", ["http://h/a"]),
    "whitespace that XML doesn't allow, before an end tag": (
        f"<urlset {SM}>{ENTRY}\x0b</urlset>",
        ["http://h/a"],
    ),
    "whitespace that XML doesn't allow, inside an end tag": (
        f"<urlset {SM}><b>x\x0c</b\x0b>{ENTRY}</urlset\x0b>",
        ["http://h/a"],
    ),
    "an undeclared prefix": (
        (
            "<rss><channel><item><foo:link>http://h/no</foo:link><title>T</title>"
            "<link>http://h/a</link></item></channel></rss>"
        ),
        ["http://h/a"],
    ),
}

ENTRIES = {
    "a field inside a URL": (
        "<url><loc>http://h/b<lastmod>2020-01-01</lastmod></loc></url>",
        ["http://h/b"],
    ),
    "an image inside a URL": (
        "<url><loc>http://h/b<image:image><image:loc>http://h/i</image:loc></image:image></loc></url>",
        ["http://h/b"],
    ),
    "a <url> of an image": (
        "<url><loc>http://h/b</loc><image:image><url>http://h/i</url></image:image></url>",
        ["http://h/b"],
    ),
    "a prefixed url of an image in a malformed entry": (
        "<url><loc>http://h/b?x&y</loc><image:image><image:url>i</image:url></image:image></url>",
        ["http://h/b?x&y"],
    ),
    "two URLs in one": (
        "<url><loc>http://h/b\nhttp://h/d</loc></url>",
        ["http://h/b", "http://h/d"],
    ),
    "a tag without >": ("<url><loc http://h/b</loc></url>", ["http://h/b"]),
    "a tag without > and without a space": (
        "<url><lochttp://h/b</loc></url>",
        ["http://h/b"],
    ),
    "a tag of a date without >": (
        "<url><loc>http://h/b</loc><lastmod 2020-01-01</lastmod></url>",
        ["http://h/b"],
    ),
    "attributes of a tag without >": (
        '<url><loc x="y" <lastmod>2020-01-01</lastmod></url>',
        [],
    ),
    "spaces in tags": ("< url >< loc >http://h/b< / loc >< / url >", ["http://h/b"]),
    "backslashes in end tags": ("<url><loc>http://h/b<\\/loc><\\/url>", ["http://h/b"]),
    "CDATA that ends with one bracket": (
        "<url><loc><![CDATA[http://h/b]></loc></url>",
        ["http://h/b"],
    ),
    "CDATA that ends without a bracket": (
        "<url><loc><![CDATA[http://h/b]]</loc></url>",
        ["http://h/b"],
    ),
    "CDATA inside CDATA": (
        "<url><loc><![CDATA[<![CDATA[http://h/b]]>]]></loc></url>",
        ["http://h/b"],
    ),
    "CDATA in lower case": ("<url><loc><![cdata[http://h/b]]></loc></url>", ["http://h/b"]),
    "CDATA around an element": ("<url><![CDATA[<loc>http://h/b</loc>]]></url>", ["http://h/b"]),
    "an empty field before the URL": ("<url><loc/>http://h/b</url>", ["http://h/b"]),
    "an escaped element followed by another": (
        "<url>&lt;loc&gt;http://h/b&lt;/loc&gt;&lt;lastmod&gt;2020&lt;/lastmod&gt;</url>",
        ["http://h/b"],
    ),
    "a commented entry with hyphens": (
        "<!-- -- <url><loc>http://h/no</loc></url> --><url><loc>http://h/b</loc></url>",
        ["http://h/b"],
    ),
    "a comment that is not closed before another": (
        "<!-- x <url><loc>http://h/b</loc></url><!-- y -->",
        ["http://h/b"],
    ),
    "a comment with hyphens that is not closed": (
        "<!-- x -- <url><loc>http://h/b</loc></url><!-- y -->",
        ["http://h/b"],
    ),
    "a hundred thousand comments that are not closed": (
        f"<url><loc>http://h/b{'<!--' * 100_000}</loc></url>",
        ["http://h/b"],
    ),
    "fifty thousand CDATA that are not closed": (
        f"<url><loc>http://h/b{'<![CDATA[' * 50_000}</loc></url>",
        ["http://h/b"],
    ),
    "an attribute name of half a megabyte": (
        f"<url><loc>http://h/b</loc><x {'y' * 500_000}></url>",
        ["http://h/b"],
    ),
    "a tag without <": ("<url>loc>http://h/b</loc></url>", []),
    "no URL": ("<url><note>hi</note></url>", []),
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
def test_malformed_attributes_are_repaired(link: str) -> None:
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>T</title>{link}</entry></feed>'
    sitemap = usp.parse(feed)
    assert [page.url for page in sitemap.pages] == ["http://h/1<2"]
    assert [problem.code for problem in sitemap.problems] == ["SM208"]


def test_a_url_with_half_a_megabyte_of_spaces_takes_linear_time() -> None:
    url = f"http://h/b{' ' * 500_000}x"
    assert [page.url for page in usp.parse(f"{HEAD}<url><loc>{url}</loc></url>{TAIL}").pages][
        1
    ] == url


@pytest.mark.parametrize("what", DOCUMENTS)
def test_a_malformed_document_is_read(what: str) -> None:
    document, expected = DOCUMENTS[what]
    sitemap = usp.parse(document)
    assert [page.url for page in sitemap.pages] == expected
    assert sitemap.problems or "DOCTYPE" in what


@pytest.mark.parametrize("what", ENTRIES)
def test_a_malformed_entry_between_two_valid_ones(what: str) -> None:
    entry, expected = ENTRIES[what]
    sitemap = usp.parse(HEAD + entry + TAIL)
    assert [page.url for page in sitemap.pages] == ["http://h/a", *expected, "http://h/c"]
    assert sitemap.problems


def test_an_entry_that_can_not_be_repaired_is_reported_as_skipped() -> None:
    for entry in ("<url>loc>http://h/b</loc></url>", "<url><lc>http://h/b</loc></url>"):
        sitemap = usp.parse(HEAD + entry + TAIL)
        assert "SM209" in {problem.code for problem in sitemap.problems}
        assert not sitemap.complete


def test_a_child_with_a_complete_url_is_kept_in_a_truncated_entry() -> None:
    index = usp.parse(f"<sitemapindex {SM}><sitemap><loc>http://h/b?a=1&b=2</loc><lastm")
    assert [child.url for child in index.sub_sitemaps] == ["http://h/b?a=1&b=2"]


def test_problems_of_lines_and_bytes_have_line_and_offset() -> None:
    text = usp.parse(b"http://h/a\r\nwords\r\nhttp://h/b\r\n", url="http://h/list.txt")
    assert [(p.code, p.line, p.offset) for p in text.problems] == [("SM309", 2, 12)]
    robots = usp.parse(b"User-agent: *\nSitemap http://h/a\n", url="http://h/robots.txt")
    assert [(p.code, p.line, p.offset) for p in robots.problems] == [("SM607", 2, 14)]
    head = f"<urlset {SM}>\n".encode()
    invalid_byte = usp.parse(head + b"<url><loc>http://h/\xff</loc></url></urlset>")
    (problem,) = invalid_byte.problems
    assert (problem.code, problem.line) == ("SM212", 2)
    assert problem.offset == len(head) + len(b"<url><loc>http://h/")


def test_text_between_entries_is_reported_with_its_position() -> None:
    sitemap = usp.parse(HEAD + "words" + TAIL)
    # expat reports a text when the next tag starts.
    assert [(problem.code, problem.line) for problem in sitemap.problems] == [("SM211", 3)]


@pytest.mark.parametrize(
    "document",
    [
        b"<url\n</urlset>\n",
        b"<url\n</urlset>",
        b"<sitemap </sitemapindex>",
        b"<item\n</rss>\n<item\n</channel>",
        b"<urlset><url\n</urlset>\n<url\n</urlset>",
        b"<entry '\n</feed>\n</feed>",
        b"<urlset><loc ",
        b"<urlset><a><loc <loc <loc",
        b"<urlset></b><loc x",
    ],
)
def test_reading_ends_at_a_start_tag_that_can_not_be_repaired(document: bytes) -> None:
    sitemap = usp.parse(document)
    assert list(sitemap.pages) == []
    assert sitemap.problems


def test_an_end_tag_in_a_comment_is_no_entry_without_a_start() -> None:
    sitemap = usp.parse("<!--</loc>--><urlset><url><loc>http://h/a</loc></url></urlset>")
    assert [page.url for page in sitemap.pages] == ["http://h/a"]
    assert [problem.code for problem in sitemap.problems] == ["SM219"]


MIB = 1024 * 1024
LONG_ENTRIES = {
    "text": ("<url><loc>http://h/b</loc><x>", "</x></url>"),
    "an attribute": ('<url><loc>http://h/b</loc><x y="', '"/></url>'),
    "a comment": ("<url><loc>http://h/b</loc><!--", "--></url>"),
    "a malformed text": ("<url><loc>http://h/b</loc><x>", "&</x></url>"),
}


@pytest.mark.parametrize("what", LONG_ENTRIES)
@pytest.mark.parametrize("spaces", [0, 100_000, 262_100])
@pytest.mark.parametrize(("size", "expected"), [(MIB, ["a", "b", "c"]), (MIB + 1, ["a", "c"])])
def test_an_entry_longer_than_1_mib_is_skipped_wherever_it_starts(
    what: str, spaces: int, size: int, expected: list[str]
) -> None:
    begin, end = LONG_ENTRIES[what]
    entry = begin + "y" * (size - len(begin) - len(end)) + end
    sitemap = usp.parse(HEAD + " " * spaces + entry + TAIL)
    assert [page.url for page in sitemap.pages] == [f"http://h/{name}" for name in expected]


@pytest.mark.slow
@pytest.mark.parametrize("filler", ["<x/>", "y"])
def test_a_document_whose_only_entry_was_too_large_is_not_called_empty(filler: str) -> None:
    document = f"<urlset><url><loc>http://h.example/1</loc>{filler * 1_200_000}</url></urlset>"
    codes = [problem.code for problem in usp.parse(document).problems]
    assert "SM217" in codes
    assert "SM204" not in codes


@pytest.mark.parametrize("fault", ["<a ", "<![CDATA[x", "&#0;"])
def test_text_before_the_first_entry_and_a_fault_is_told_by_all_readers(fault: str) -> None:
    data = f"<urlset {SM}>text {fault}{u('http://h.example/1')}</urlset>".encode()
    found = [
        {problem.code for problem in read([data], expat_only=only).problems}
        for only in (False, True)
    ]
    assert found[0] == found[1]
    assert "SM211" in found[0]
