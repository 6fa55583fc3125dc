"""Truncation: a document that ends at any byte gives its first entries, and is not complete.

Every length is tried. The start tags contain attributes and whitespace, so that some documents end
inside a tag.
"""

from __future__ import annotations

import gzip
from typing import Final

import pytest

from tests.parse.reading import ALL, SM
from tests.server import Callback, LoopbackServer
from tests.servers import raw
from usp import Outcome, Policy, iter_pages
from usp._parse.document import Document, Pages, Source, inspect
from usp.tree import sitemap_from_str, sitemap_tree_for_homepage

SITE: Final = "http://h.example"
DOCUMENTS: Final = {
    "urlset": f'<?xml version="1.0" encoding="utf-8"?>\n<urlset {ALL}>\n'
    f'<url id="1" >\n<loc>{SITE}/a</loc><lastmod>2020-01-01</lastmod></url>\n'
    f"<url\n><loc>{SITE}/b?x=1&amp;y=2</loc>"
    f"<image:image><image:loc>{SITE}/i</image:loc></image:image>"
    f'<xhtml:link rel="alternate" hreflang="de" href="{SITE}/de"/></url>\n'
    f"<!-- c --><url><loc><![CDATA[{SITE}/c]]></loc><priority>0.5</priority></url>\n</urlset>\n",
    "index": f'<sitemapindex {SM}><sitemap id="1" ><loc>{SITE}/1.xml</loc></sitemap>\n'
    f"<sitemap><loc>{SITE}/2.xml</loc><lastmod>2020</lastmod></sitemap></sitemapindex>",
    "rss": '<rss version="2.0"><channel><title>C</title>'
    f'<item id="1" ><title>A</title><link>{SITE}/a</link></item>'
    f"<item><title>B</title><link>{SITE}/b</link><pubDate>1 Jan 2020</pubDate></item>"
    "</channel></rss>",
    "atom": '<feed xmlns="http://www.w3.org/2005/Atom"><title>C</title>'
    f'<entry xml:lang="en" ><title>A</title><link href="{SITE}/a" /></entry>'
    f'<entry><title>B</title><link href="{SITE}/b"/><updated>2020-01-01</updated></entry></feed>',
    "text": f"{SITE}/a\nwords\n{SITE}/b\n",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_truncated_document_gives_its_first_entries(kind: str) -> None:
    data = DOCUMENTS[kind].encode()
    whole = sitemap_from_str(data)
    pages = [page.url for page in whole.pages]
    children = [child.url for child in whole.sub_sitemaps]
    for length in range(len(data)):
        truncated = sitemap_from_str(data[:length])
        found = [page.url for page in truncated.pages]
        # The end of a text alone can't be detected, so its last line may be a shorter URL.
        certain = found[:-1] if kind == "text" else found
        assert certain == pages[: len(certain)], data[:length][-40:]
        found = [child.url for child in truncated.sub_sitemaps]
        assert found == children[: len(found)]


ENTRIES: Final = {
    "urlset": ("url", f"<~loc>{SITE}/@</~loc><~lastmod>2020</~lastmod>", "</~urlset>"),
    "index": (
        "sitemap",
        f"<~loc>{SITE}/@</~loc><~lastmod>2020</~lastmod>",
        "</~sitemapindex>",
    ),
    "rss": ("item", f"<~title>T</~title><~link>{SITE}/@</~link>", "</~channel></~rss>"),
    "atom": ("entry", f'<~title>T</~title><~link href="{SITE}/@"/>', "</~feed>"),
}


@pytest.mark.parametrize("prefix", ["", "sm:"])
@pytest.mark.parametrize("kind", ENTRIES)
def test_a_document_that_begins_inside_of_an_entry_is_not_complete(kind: str, prefix: str) -> None:
    name, fields, end = ENTRIES[kind]
    first, second = (f"<~{name}>{fields.replace('@', one)}</~{name}>" for one in "ab")
    tail = f"\n{second}{end}".replace("~", prefix)
    first = first.replace("~", prefix)
    for begin in range(1, len(first)):
        found = sitemap_from_str(first[begin:] + tail)
        urls = [page.url for page in found.pages] + [child.url for child in found.sub_sitemaps]
        assert urls[-1:] == [f"{SITE}/b"], first[begin:]
        assert {*urls} <= {f"{SITE}/a", f"{SITE}/b"}
        assert len(urls) == 2 or not found.complete, first[begin:]


@pytest.mark.parametrize("head", ["urlset>", "set>", f"{SM}>", '0.9">', "<urlset", "> <urlset>"])
def test_a_document_that_begins_before_its_entries_is_complete(head: str) -> None:
    found = sitemap_from_str(f"{head}\n<url><loc>{SITE}/a</loc></url></urlset>")
    assert [page.url for page in found.pages] == [f"{SITE}/a"]
    assert found.complete


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["urlset", "index", "rss", "atom"])
def test_a_truncated_document_is_never_complete(kind: str) -> None:
    data = DOCUMENTS[kind].rstrip().encode()
    assert sitemap_from_str(data).complete
    complete = [length for length in range(len(data)) if sitemap_from_str(data[:length]).complete]
    assert complete == []


LOGO: Final = f"<image><url>{SITE}/logo.png</url><title>C</title><link>{SITE}/</link></image>"
FEED: Final = (
    f'<rss version="2.0"><channel><title>C</title><link>{SITE}/</link>{LOGO}'
    f"<item>{LOGO}<title>A</title><link>{SITE}/a</link></item>"
    f"<item><title>B</title><link>{SITE}/b</link>{LOGO}</item>{LOGO}</channel></rss>"
)


def test_the_logo_of_a_feed_whose_start_is_missing_is_no_page() -> None:
    listed = [f"{SITE}/a", f"{SITE}/b"]
    assert [page.url for page in sitemap_from_str(FEED).pages] == listed
    for begin in range(len(FEED)):
        found = [page.url for page in sitemap_from_str(FEED[begin:]).pages]
        assert found == listed[len(listed) - len(found) :], FEED[begin : begin + 40]


def test_entries_with_their_urls_alone_need_no_root() -> None:
    entries = "".join(f"<url>{SITE}/{name}</url>" for name in "ab")
    for document in (entries, f"</url>{entries}", f"{entries}<url><loc>{SITE}/c</loc></url>"):
        found = [page.url for page in sitemap_from_str(document).pages]
        assert found[:2] == [f"{SITE}/a", f"{SITE}/b"]


# Lines: the start of a URL is another URL


LINES: Final = "".join(f"{SITE}/{(n * 7919) % 1009}\n" for n in range(200))
LISTED: Final = LINES.splitlines()
ROBOTS: Final = "".join(f"Sitemap: {url}.xml\n" for url in LISTED)


def read(data: bytes, path: str, limit: int = 2 * len(ROBOTS), *, truncated: str = "") -> Document:
    return inspect(Source([data], SITE + path, limit=limit, truncated=truncated))


def codes(document: Document) -> list[str]:
    assert isinstance(document.pages, Pages)
    return [problem.code for problem in document.pages.problems]


def listed(document: Document) -> list[str]:
    return [
        *(page.url for page in document.pages),
        *(child.url.removesuffix(".xml") for child in document.children),
    ]


@pytest.mark.parametrize(("path", "text"), [("/s.txt", LINES), ("/robots.txt", ROBOTS)])
def test_a_truncated_line_is_skipped(path: str, text: str) -> None:
    data = text.encode()
    for length in range(60, 200):
        whole_lines = data[:length].count(b"\n")
        skipped = ["SM209"] if data[length - 1 : length] != b"\n" else []
        lost = read(data[:length], path, truncated="120 of 7000 bytes received")
        assert listed(lost) == LISTED[:whole_lines]
        assert codes(lost) == ["SM102", *skipped]
        large = read(data, path, length)
        assert listed(large) == LISTED[:whole_lines]
        assert codes(large) == ["SM701", *skipped]


@pytest.mark.parametrize(("path", "text"), [("/s.txt", LINES), ("/robots.txt", ROBOTS)])
def test_a_truncated_line_in_truncated_gzip_is_skipped(path: str, text: str) -> None:
    compressed = gzip.compress(text.encode())
    found = set()
    for length in range(100, len(compressed) - 8):
        document = read(compressed[:length], path)
        urls = listed(document)
        assert urls == LISTED[: len(urls)]
        assert "SM214" in codes(document)
        found.add(len(urls))
    assert len(found) > 50


@pytest.mark.parametrize(("path", "text"), [("/s.txt", LINES), ("/robots.txt", ROBOTS)])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "  "])
def test_a_last_line_without_an_end_is_kept(path: str, text: str, end: str) -> None:
    document = read((text.rstrip() + end).encode(), path)
    assert listed(document) == LISTED
    assert codes(document) == []


def test_the_problem_has_the_position_of_the_line() -> None:
    document = read(LINES[:60].encode(), "/s.txt", truncated="60 of 7000 bytes received")
    assert isinstance(document.pages, Pages)
    problem = document.pages.problems[-1]
    assert (problem.code, problem.line) == ("SM209", LINES[:60].count("\n") + 1)
    assert problem.offset == LINES.rindex("\n", 0, 60) + 1


def short(body: str) -> Callback:
    """A response whose body is shorter than announced."""
    return raw(f"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{body}".encode())


def test_bodies_shorter_than_announced(server: LoopbackServer) -> None:
    declared = f"Sitemap: {server.at('/s.txt')}\nSitemap: {server.at('/other')}"
    server.site |= {
        "/robots.txt": short(declared),
        "/s.txt": short(f"{SITE}/one\n{SITE}/two\n{SITE}/thr"),
    }
    policy = Policy(max_attempts=1)
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy)
    assert [page.url for page in tree.all_pages()] == [f"{SITE}/one", f"{SITE}/two"]
    assert not tree.tree_complete
    assert "/other" not in server.requested


def test_a_loss_after_very_many_other_problems_is_told(server: LoopbackServer) -> None:
    bad = "<lastmod>x</lastmod><priority>x</priority><changefreq>x</changefreq>"
    entries = "".join(f"<url><loc>{SITE}/{at}</loc>{bad}</url>" for at in range(150))
    server.robots("/cut.xml")
    server.site["/cut.xml"] = text = f"<urlset {SM}>{entries}<url><loc>{SITE}/cut"
    sitemap = sitemap_from_str(text)
    assert len(sitemap.pages) == 150
    assert "SM207" in {problem.code for problem in sitemap.problems}
    assert len(sitemap.problems) == 301
    assert not sitemap.complete
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False)
    assert len(list(tree.all_pages())) == 150
    assert (tree.outcome, tree.complete) == (Outcome.PARTIAL, False)
    stream = iter_pages(server.url, use_known_paths=False)
    assert len(list(stream)) == 150
    assert stream.outcome is Outcome.PARTIAL


@pytest.mark.parametrize(
    "document",
    [
        f"<urlset {SM}><url><loc>{SITE}/ж</loc></url><url><loc>{SITE}/ш</loc></url></urlset>",
        (
            f"<sitemapindex {SM}><sitemap><loc>{SITE}/ж</loc></sitemap>"
            f"<sitemap><loc>{SITE}/ш</loc></sitemap></sitemapindex>"
        ),
        f"{SITE}/ж\n{SITE}/ш\n",
    ],
    ids=["urlset", "index", "text"],
)
def test_urls_that_are_alike_since_bytes_were_replaced_are_a_loss(document: str) -> None:
    data = document.encode("cp1251")
    assert sitemap_from_str(document).complete
    found = inspect(Source([data], f"{SITE}/s", charset="utf-8"))
    assert isinstance(found.pages, Pages)
    assert not found.pages.complete
    if found.children:
        assert [error.code for error in found.known_errors] == ["SM209"]


# A character that is cut: the text itself shows that it ends too early

CUT_CHARACTERS: Final = [
    ("utf-8", "utf-8", "é"),
    ("utf-8", None, "日"),
    ("utf-8", None, "😀"),
    ("utf-16", None, "b"),
    ("utf-16-le", "utf-16-le", "é"),
    ("utf-16-be", None, "😀"),
    ("utf-32", None, "b"),
    ("big5", "big5", "中"),
    ("gb18030", "gb2312", "中"),
    ("shift_jis", "shift_jis", "日"),
    ("euc_kr", "euc-kr", "한"),
]


@pytest.mark.parametrize("prefix", ["", "Sitemap: "])
@pytest.mark.parametrize(("codec", "charset", "character"), CUT_CHARACTERS)
def test_a_line_that_ends_inside_of_a_character_is_skipped(
    prefix: str, codec: str, charset: str | None, character: str
) -> None:
    text = f"{prefix}{SITE}/a\n{prefix}{SITE}/b{character}"
    path = "/robots.txt" if prefix else "/s.txt"
    url = SITE + path
    last = len(text.encode(codec)) - len(text[:-1].encode(codec))
    whole = inspect(Source([text.encode(codec)], url, charset=charset))
    assert listed(whole) == [f"{SITE}/a", f"{SITE}/b{character}"]
    assert codes(whole) == []
    for cut in range(1, last):
        data = text.encode(codec)[:-cut]
        for chunks in ([data], [bytes([byte]) for byte in data], [gzip.compress(data)]):
            document = inspect(Source(chunks, url, charset=charset))
            assert listed(document) == [f"{SITE}/a"], data[-8:]
            assert codes(document) == ["SM209", "SM212"]
            assert not document.blank


@pytest.mark.parametrize(
    "data",
    [
        # Another encoding: its end shows nothing.
        f"{SITE}/é1\n{SITE}/b\n{SITE}/é".encode("latin-1"),
        f"{SITE}/é\n".encode("latin-1"),
        f"{SITE}/é\n{SITE}/日".encode(),
        f"{SITE}/é\n{SITE}/日\n".encode("utf-16"),
    ],
)
def test_text_that_ends_with_a_character_is_whole(data: bytes) -> None:
    document = read(data, "/s.txt")
    assert isinstance(document.pages, Pages)
    assert document.pages.complete
    assert "SM209" not in codes(document)


@pytest.mark.parametrize("data", [b"Non trouv\xe9", b"\xff\xd8\xff\xe0 JFIF \x00\xff\xd9"])
def test_no_sitemap_is_seen_in_what_ends_with_an_odd_byte(data: bytes) -> None:
    document = read(data, "/s.txt")
    assert document.blank
    assert codes(document) == ["SM204", "SM212"]


def test_a_url_that_is_cut_inside_of_a_character_is_not_nothing() -> None:
    document = read(f"{SITE}/é".encode()[:-1], "/s.txt")
    assert not document.blank
    assert codes(document) == ["SM204", "SM209", "SM212"]


def test_a_character_that_is_cut_after_the_root_costs_nothing() -> None:
    document = f"<urlset {SM}><url><loc>{SITE}/a</loc></url></urlset>é"
    sitemap = sitemap_from_str(document.encode()[:-1])
    assert [page.url for page in sitemap.pages] == [f"{SITE}/a"]
    assert [problem.code for problem in sitemap.problems] == ["SM206", "SM212"]
    assert sitemap.complete


def test_a_site_whose_text_is_cut_inside_of_a_character_is_partial(server: LoopbackServer) -> None:
    server.robots("/s.txt")
    server.site["/s.txt"] = f"{server.at('/a')}\n{server.at('/é')}".encode()[:-1]
    stream = iter_pages(server.url, use_known_paths=False)
    assert [page.url for page in stream] == [server.at("/a")]
    assert stream.outcome is Outcome.PARTIAL
    assert [problem.code for problem in stream.problems] == ["SM209"]


def test_a_robots_txt_that_is_cut_inside_of_a_character_is_partial(server: LoopbackServer) -> None:
    declared = f"Sitemap: {server.at('/s.txt')}\nSitemap: {server.at('/é')}"
    server.site["/robots.txt"] = declared.encode()[:-1]
    server.site["/s.txt"] = f"{server.at('/a')}\n"
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False)
    assert [page.url for page in tree.all_pages()] == [server.at("/a")]
    assert tree.outcome is Outcome.PARTIAL
