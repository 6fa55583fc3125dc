"""Damage by which entries may be missing makes a document incomplete; what is there is given.

Where a piece of a document is missing, what is left of two entries may look like one with a small
fault. Each case here was such a document that was called complete.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final

import pytest

from tests.parse.json_feeds import VERSION, feed
from tests.parse.pattern.readers import assert_readers_agree
from tests.parse.reading import Reading, atom, read, rss, u, urlset
from usp.tree import sitemap_from_str

A, B, C = "http://h/a", "http://h/b", "http://h/c"


def item(inside: str) -> str:
    return f"<item>{inside}</item>"


def items(inside: str, count: int = 1) -> str:
    """A feed with a damaged item, once or more, between whole ones."""
    whole = (item(f"<title>T</title><link>{url}</link>") for url in (A, C))
    first, last = whole
    return rss(first, *[item(inside) for _ in range(count)], last)


def entries(inside: str) -> str:
    whole = [f'<entry><title>T</title><link href="{url}"/></entry>' for url in (A, C)]
    return atom(whole[0], f"<entry>{inside}</entry>", whole[1])


def between(damage: str) -> str:
    return urlset(u(A), damage, u(C))


def assert_incomplete(found: Reading, urls: list[str]) -> None:
    assert found.urls == urls
    assert not found.complete
    assert "SM209" in [problem.code for problem in found.problems]


CUT_FIELDS: Final = [
    items(f"<title>\n<link>{B}</link><description>D</description>"),
    items(f"<title>T</title><link>{B}</link><description>\n"),
    items(f"<title>T</title><link>{B}</link><pubDate>\n<description>D</description>"),
    items(f'<title>T</title><guid isPermaLink="false"><link>{B}</link>'),
    entries(f'<title type="html">\n<link href="{B}"/><summary>S</summary>'),
    entries(f'<title>T</title><updated>\n<link href="{B}"/>'),
    between(f"<url><loc>{B}</loc><lastmod>\n<priority>1</priority></url>"),
    between(f"<url><loc>{B}</loc><changefreq>daily<priority>\n</url>"),
    between(f"<url><loc>{B}</loc><image:image><image:loc>https://</image:image></url>"),
]


@pytest.mark.parametrize("document", CUT_FIELDS)
def test_a_field_that_is_cut_to_nothing(document: str) -> None:
    assert_incomplete(read(document.encode()), [A, B, C])
    assert_readers_agree([document.encode()])


def test_three_of_them_are_a_templates() -> None:
    inside = "<title>T</title><link>http://h/b</link><pubDate>\n"
    assert not read(items(inside, 2).encode()).complete
    assert read(items(inside, 3).encode()).complete


@pytest.mark.parametrize(
    "document",
    [
        # The slash of the end tag is missing, a start tag is written twice, HTML closes no link.
        between(f"<url><loc>{B}</loc><lastmod>2020<lastmod></url>"),
        between(f"<url><loc>{B}</loc><lastmod><lastmod>2020</lastmod></url>"),
        items(f"<title>T</title><link>{B}</link><pubDate>2020<pubDate>"),
        entries(f'<title>T</title><link href="{B}"><updated>2020</updated>'),
        between(f"<url><loc>{B}</loc>lastmod>2020</lastmod></url>"),
    ],
)
def test_other_missing_ends_cost_nothing(document: str) -> None:
    found = read(document.encode())
    assert (found.urls, found.complete) == ([A, B, C], True)


def test_a_tag_that_has_lost_two_letters_is_no_typing_error() -> None:
    damaged = f"<url><loc>{B}</loc>hangefreq>daily</changefreq></url>"
    assert_incomplete(read(between(damaged).encode()), [A, B, C])


HEADER: Final = '<rss version="2.0"><channel><title>Site</title><link>http://h/</link>'
REST: Final = f"{item(f'<title>T</title><link>{C}</link>')}</channel></rss>"


@pytest.mark.parametrize(
    "cut",
    [
        f"<descripption><link>{B}</link></item>",
        f"<link>{B}</link></item>",
        "</item>",
        "<description>Al",
        "<description>All</descri",
        "<descr",
        "<languem>\n",
        "<language>item>",
    ],
)
def test_the_header_of_a_feed_that_is_joined_to_a_later_item(cut: str) -> None:
    assert_incomplete(read(f"{HEADER}{cut}\n{REST}".encode()), [C])


@pytest.mark.parametrize(
    "header",
    [
        '<atom:link rel="self" href="http://h/feed">',
        "<link>http://h/",
        "<div>",
    ],
)
def test_what_a_template_leaves_open_in_the_header_costs_nothing(header: str) -> None:
    found = read(f"{HEADER}{header}\n{REST}".encode())
    assert (found.urls, found.complete) == ([C], True)


@pytest.mark.parametrize(
    ("document", "urls"),
    [
        (urlset("</url>", u(C)), [C]),
        (urlset("<lastmod>2020</lastmod></url>", u(C)), [C]),
        (between("<urlrl>"), [A, C]),
        (between("</loc></url>"), [A, C]),
        (between("</url>\n</loc></url>"), [A, C]),
        (atom(f'<title>S</title><link href="{B}"/></entry>'), []),
    ],
)
def test_the_end_of_an_entry_without_its_start(document: str, urls: list[str]) -> None:
    assert_incomplete(read(document.encode()), urls)
    assert_readers_agree([document.encode()])


@pytest.mark.parametrize("cut", ["<", "< ", "<\n"])
@pytest.mark.parametrize("end", ["</loc>", "</loc>\n"])
def test_nothing_but_a_bracket_in_place_of_the_end_of_an_entry(end: str, cut: str) -> None:
    document = between(f"<url><loc>{B}{end}{cut}{u('http://h/d')}")
    assert_incomplete(read(document.encode()), [A, B, "http://h/d", C])


def test_a_template_with_such_brackets() -> None:
    document = urlset(*[f"<url><loc>http://h/{number}</loc><" for number in range(4)])
    assert read(document.encode()).complete


PAGE: Final = "<html><head><title>502</title></head><body><h1>502</h1></body></html>"
ERROR: Final = "<Error><Code>NoSuchKey</Code><Message>gone</Message></Error>"
PARTS: Final = (
    PAGE,
    ERROR,
    f'<?xml version="1.0" encoding="UTF-8"?>{ERROR}',
    "<h1>502 Bad Gateway</h1>",
    "<body>gone</body>",
    "<title>504</title>",
    '<div class="error">Error</div>',
    "<p>Error</p>",
)


def text_of(value: str) -> bytes:
    return f"{A}\n{value}\n{C}\n".encode()


def robots_of(value: str) -> bytes:
    return f"Sitemap: {A}\nSitemap: {value}\nSitemap: {C}\n".encode()


def json_of(value: str) -> bytes:
    return feed(*({"id": key, "url": key, "title": "T"} for key in (A, value, C))).encode()


def loc_of(value: str) -> bytes:
    return urlset(u(A), u(value), u(C)).encode()


def escaped_of(value: str) -> bytes:
    return loc_of(escape(value))


def cdata_of(value: str) -> bytes:
    return loc_of(f"<![CDATA[{value}]]>")


def link_of(value: str) -> bytes:
    return items(f"<title>T</title><link>{escape(value)}</link>").encode()


def href_of(value: str) -> bytes:
    return entries(f'<title>T</title><link href="{escape(value)}"/>').encode()


FORMATS: Final = (text_of, robots_of, json_of, loc_of, escaped_of, cdata_of, link_of)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("document_of", FORMATS)
@pytest.mark.parametrize("url", ["http://h/b@x", "http://h/b@", "http://h/b@http://h/d"])
def test_a_part_of_an_error_page_in_a_url(
    url: str, document_of: Callable[[str], bytes], part: str
) -> None:
    where = "http://h/robots.txt" if document_of is robots_of else "http://h/s"
    document = document_of(url.replace("@", part))
    assert_incomplete(read(document, url=where), [A, C])
    if document.startswith(b"<"):
        assert_readers_agree([document])


@pytest.mark.parametrize("part", PARTS[:6])
@pytest.mark.parametrize("document_of", FORMATS)
def test_before_a_url(document_of: Callable[[str], bytes], part: str) -> None:
    where = "http://h/robots.txt" if document_of is robots_of else "http://h/s"
    assert_incomplete(read(document_of(f"{part}{B}"), url=where), [A, C])


def test_a_message_in_a_block_before_a_url_is_no_part_of_it() -> None:
    for message in ("<div><p>Error</p></div>", "<div>Note: gone</div>", "<p>Error: gone</p>"):
        assert_incomplete(read(loc_of(f"{message}{B}")), [A, C])
    assert read(loc_of(f"<div><p>{B}</p></div>")).urls == [A, B, C]


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("http://h/b<p></p>", B),
        ("http://h/b<div><br></div>\n", B),
        ("http://h/?q=<script>x</script>y", "http://h/?q=<script>x</script>y"),
        ("http://h/<title>", "http://h/<title>"),
        ("<li>http://h/b</li>", B),
        ("http://h/Map<Code><p></p>", "http://h/Map<Code>"),
    ],
)
def test_other_markup_in_a_url_costs_nothing(value: str, url: str) -> None:
    found = read(escaped_of(value))
    assert (found.urls, found.complete) == ([A, url, C], True)


@pytest.mark.parametrize(
    "url",
    [
        "http://h/List<Error>",
        "http://h/Map<Code>.html",
        "http://h/Map<Code>",
        "http://h/?q=<h1>",
        "http://h/?q=<p>x",
        "http://h/</h1>?q=<h1>",
        "http://h/Map<Title,Body><Head>",
    ],
)
@pytest.mark.parametrize("document_of", [json_of, escaped_of, cdata_of, link_of, href_of])
def test_a_start_tag_that_is_text_is_a_part_of_a_url(
    document_of: Callable[[str], bytes], url: str
) -> None:
    document = document_of(url)
    found = read(document)
    assert (found.urls, found.complete) == ([A, url, C], True)
    if document.startswith(b"<"):
        assert_readers_agree([document])


def test_a_data_uri_may_be_a_document() -> None:
    uri = "data:image/svg+xml;utf8,<?xml version='1.0'?><svg><title>T</title></svg>"
    image = f"<image:image><image:loc>{escape(uri)}</image:loc></image:image>"
    found = read(urlset(u(A, image)).encode())
    assert [image["loc"] for image in found.pages[0]["images"]] == [uri]
    assert found.complete


@pytest.mark.parametrize("line", ["h<div>Error</div>ttp://h/b", "http<h1>502</h1>://h/b"])
def test_in_the_scheme_of_a_url(line: str) -> None:
    assert_incomplete(read(text_of(line)), [A, C])
    assert_incomplete(read(f"{line}\n{C}\n".encode()), [C])


@pytest.mark.parametrize("line", ["<h1>Pages</h1>", "<p>Our pages:</p>"])
def test_a_heading_between_the_lines_costs_nothing(line: str) -> None:
    found = read(text_of(line))
    assert (found.urls, found.complete) == ([A, C], True)


@pytest.mark.parametrize("line", ["Disallow: /x<h1>502</h1>", f"Site<h1>502</h1>map: {B}"])
def test_in_another_line_of_robots_txt(line: str) -> None:
    document = f"User-agent: *\nSitemap: {A}\n{line}\nSitemap: {C}\n"
    assert_incomplete(read(document.encode(), url="http://h/robots.txt"), [A, C])


@pytest.mark.parametrize("path", ["/shop/<section>/x", "/<error>/", "/x/<code>y", "/<title>/<p>"])
def test_a_start_tag_in_a_rule_of_robots_txt_costs_nothing(path: str) -> None:
    document = f"User-agent: *\nDisallow: {path}\nSitemap: {A}\n"
    found = read(document.encode(), url="http://h/robots.txt")
    assert (found.urls, found.complete) == ([A], True)


@pytest.mark.parametrize("url", ["http://h/b@", "http://h/b@x", "'http://h/b@'", "<http://h/b@>"])
@pytest.mark.parametrize("part", [*PARTS[:2], *PARTS[3:6], "<html>502</html>"])
def test_an_escaped_part_of_an_error_page_in_robots_txt(part: str, url: str) -> None:
    document = robots_of(url.replace("@", escape(part)))
    assert_incomplete(read(document, url="http://h/robots.txt"), [A, C])


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("http://h/b<h1>502", B),
        ("http://h/b<span>&nbsp;</span>", B),
        ("http://h/b<h1></h1>", B),
        ("http://h/b <p>list</p>", B),
        ("http://h/b</p><p>Allow: /</p>", B),
        ("<http://h/b> # <h1>list</h1>", B),
        ("<http://h/b> # in <html>", B),
        ("http://h/b<span>", B),
        ("http://h/b <a>list</a>", B),
        ("http://h/b</pre>list", B),
        ("http://h/b # <h1>list</h1>", B),
    ],
)
def test_markup_in_or_after_a_url_of_robots_txt(value: str, url: str) -> None:
    found = read(robots_of(value), url="http://h/robots.txt")
    assert (found.urls, found.complete) == ([A, url, C], True)


@pytest.mark.parametrize("url", ["<http://h/b<p>502</p>>", "http://h/b<h1>Error #502</h1>"])
def test_a_page_with_special_characters_in_robots_txt(url: str) -> None:
    document = robots_of(url)
    assert_incomplete(read(document, url="http://h/robots.txt"), [A, C])


@pytest.mark.parametrize("line", ["<head>", "<Error>", "x <Error><Code>1</Code></Error>"])
def test_a_line_of_a_page_between_the_lines(line: str) -> None:
    assert_incomplete(read(text_of(line)), [A, C])


@pytest.mark.parametrize("field", ["image:loc", "image:license"])
def test_the_escaped_page_in_the_url_of_an_image(field: str) -> None:
    inside = f"<image:loc>http://h/i</image:loc><{field}>http://h/j{escape(PAGE)}</{field}>"
    found = read(urlset(u(A), u(B, f"<image:image>{inside}</image:image>")).encode())
    assert (found.urls, found.complete) == ([A, B], True)  # no entry is missing
    assert found.problems


def test_a_page_in_the_url_of_an_image_is_known_to_every_reading() -> None:
    image = f"<image:image><image:loc>http://h/i{PAGE}</image:loc></image:image>"
    sitemap = sitemap_from_str(urlset(u(A), u(B, image)))
    assert len(list(sitemap.pages)) == 2
    assert not sitemap.complete  # before anybody asks for its problems


def test_an_unclosed_link_may_have_any_order_of_attributes() -> None:
    for attributes in (f"href='{B}' type='text/html'", f"type='text/html' href='{B}'"):
        found = read(entries(f"<title>T</title><link {attributes}>").encode())
        assert (found.urls, found.complete) == ([A, B, C], True)


def test_a_data_uri_has_no_mark_of_a_page_in_it() -> None:
    assert_incomplete(read(loc_of("data:text/html,<h1>x</h1>")), [A, C])


@pytest.mark.parametrize("part", [PAGE, ERROR])
def test_a_page_in_a_malformed_entry(part: str) -> None:
    document = between(f"<url><loc>{B}</loc><lastmod>2020{part}<br></lastmod></url>")
    assert_incomplete(read(document.encode()), [A, B, C])


def test_null_bytes_in_a_comment_between_entries() -> None:
    document = urlset(u(A), f"<!-- {chr(0) * 64} -->", u(C))
    assert_incomplete(read(document.encode()), [A, C])


@pytest.mark.parametrize("rest", ["<loc>http://h/x</loc></url>\n", "rl>\n</url> "])
def test_a_comment_that_is_joined_to_a_later_entry(rest: str) -> None:
    document = urlset(u(A), f"<!-- Services{rest}<!-- About -->", u(C))
    assert_incomplete(read(document.encode()), [A, C])


@pytest.mark.parametrize("comment", [f"<!-- -- {u('http://h/x')} -->", "<!-- <!-- a </b> -->"])
def test_an_entry_in_a_comment_costs_nothing(comment: str) -> None:
    found = read(urlset(u(A), comment, u(C)).encode())
    assert (found.urls, found.complete) == ([A, C], True)


def test_the_rest_of_a_tag_in_a_text_with_markup() -> None:
    inside = f"<title>T</title><link>{B}</link><description><![CDATA[<p>an excerpt wiption>"
    assert_incomplete(read(items(inside).encode()), [A, B, C])


def joined(count: int) -> str:
    """A JSON feed with items of which each is the beginning of one and the end of another."""
    whole = '{"id": "1", "url": "http://h/a", "title": "T"}'
    damaged = [
        f'{{"id": "b{number}", "url": "http://h/b{number}", "title": "Tx", "title": "U"}}'
        for number in range(count)
    ]
    return f'{{"version": "{VERSION}", "items": [{", ".join([whole, *damaged])}]}}'


@pytest.mark.parametrize("count", [1, 2])
def test_an_item_of_a_json_feed_with_the_keys_of_two(count: int) -> None:
    assert_incomplete(read(joined(count).encode()), [A, *[f"{B}{at}" for at in range(count)]])


def test_a_template_that_writes_a_key_twice() -> None:
    assert read(joined(3).encode()).complete


def test_keys_of_objects_in_an_item_are_not_its_own() -> None:
    author = {"name": "N", "url": "http://h/n", "avatar": "http://h/v"}
    found = read(feed({"id": "1", "url": A, "title": '"title": x', "author": author}).encode())
    assert (found.urls, found.complete) == ([A], True)
