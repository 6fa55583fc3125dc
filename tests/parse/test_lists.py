"""robots.txt and text: line by line, in order, once, and nothing that isn't a URL.

Rules of this room: tables. A row says what it shows, what is written and what is read.
"""

from __future__ import annotations

import pytest

from tests.parse.reading import declared, urls
from tests.server import LoopbackServer
from usp.objects.sitemap import IndexRobotsTxtSitemap, PagesTextSitemap
from usp.tree import sitemap_from_str, sitemap_tree_for_homepage

A, B = "http://h.example/a.xml", "http://h.example/b.xml"

ROBOTS = [
    ("plain", f"Sitemap: {A}", [A]),
    ("with a hyphen", f"Site-map: {A}", [A]),
    ("any case", f"SITEMAP: {A}\nsItE-MaP: {B}", [A, B]),
    ("no blank after the colon", f"Sitemap:{A}", [A]),
    ("blanks before the colon", f"Sitemap  \t: {A}", [A]),
    ("blanks before the line", f"   Sitemap: {A}", [A]),
    ("blanks after the URL", f"Sitemap: {A}  \t", [A]),
    ("a comment after the URL", f"Sitemap: {A} # the main one", [A]),
    ("a line that is a comment", f"# Sitemap: {A}\nSitemap: {B}", [B]),
    ("a relative URL", "Sitemap: /a.xml", [A]),
    ("a URL without scheme", "Sitemap: //other.example/a.xml", ["http://other.example/a.xml"]),
    ("lines that end in CR", f"Sitemap: {A}\rSitemap: {B}\r", [A, B]),
    ("lines that end in CR LF", f"Sitemap: {A}\r\nSitemap: {B}\r\n", [A, B]),
    ("a byte order mark", f"\ufeffSitemap: {A}", [A]),
    (
        "inside a group",
        f"User-agent: x\nDisallow: /\nSitemap: {A}\nAllow: /y\nUser-agent: *\nsitemap: {B}",
        [A, B],
    ),
    ("the same twice", f"Sitemap: {A}\nSitemap: {B}\nsite-map: {A}", [A, B]),
    ("nothing after the colon", f"Sitemap:\nSitemap: {B}", [B]),
    ("no colon", f"Sitemap\nSitemap: {B}", [B]),
    ("another key", f"Host: {A}\nMy-Sitemap: {A}\nSite: {A}", []),
    ("nothing at all", "", []),
    ("an HTML page", f"<!DOCTYPE html><html><body>\nSitemap: {A}\n</body></html>", []),
]


@pytest.mark.parametrize(("what", "text", "expected"), ROBOTS, ids=[row[0] for row in ROBOTS])
def test_robots_txt(what: str, text: str, expected: list[str]) -> None:
    assert declared(text) == expected, what


def test_robots_txt_relative_urls_follow_the_redirect(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = f"Sitemap: /a.xml\nSitemap: {server.url}a.xml\n"
    server.site["/a.xml"] = f"{server.url}page\n"
    robots = sitemap_tree_for_homepage(server.url).sub_sitemaps[0]
    assert isinstance(robots, IndexRobotsTxtSitemap)
    assert [child.url for child in robots.sub_sitemaps] == [server.at("/a.xml")]


def test_a_robots_txt_that_is_html_gives_no_node(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = f"<html>\nSitemap: {server.at('/a.xml')}\n</html>"
    server.site["/a.xml"] = f"{server.url}page\n"
    assert sitemap_tree_for_homepage(server.url).sub_sitemaps == []
    assert "/a.xml" not in server.asked


TEXTS = [
    ("one a line", f"{A}\n{B}\n", [A, B]),
    ("no newline at the end", f"{A}\n{B}", [A, B]),
    ("lines that end in CR", f"{A}\r{B}\r", [A, B]),
    ("lines that end in CR LF", f"{A}\r\n{B}\r\n", [A, B]),
    ("blanks around", f"  {A}\t\n\n\n {B} ", [A, B]),
    ("a byte order mark", f"\ufeff{A}\n{B}", [A, B]),
    ("the first of each", f"{B}\n{A}\n {B}\n{A}", [B, A]),
    ("words between", f"Hello.\n{A}\nand then\n{B}\nBye.", [A, B]),
    ("other schemes", f"ftp://h.example/\n{A}\nmailto:x@y\njavascript:void(0)", [A]),
    ("no host", f"http://\nhttps:///x\n{A}\nhttp:x", [A]),
    ("upper case", "HTTP://H.EXAMPLE/X", ["HTTP://H.EXAMPLE/X"]),
    ("ampersands as they are", "http://h/?a=1&b=2&copy=3", ["http://h/?a=1&b=2&copy=3"]),
    ("letters beyond ASCII", "http://h/日本\nhttp://b\u00fccher.example/", None),
]


@pytest.mark.parametrize(("what", "text", "expected"), TEXTS, ids=[row[0] for row in TEXTS])
def test_text(what: str, text: str, expected: list[str] | None) -> None:
    sitemap = sitemap_from_str(text)
    assert isinstance(sitemap, PagesTextSitemap), what
    assert urls(text) == (text.split("\n") if expected is None else expected)


@pytest.mark.parametrize(
    "line", ["http://[::1/x", "http://[bad]/", "http://h:port/", "http://\ud800/"]
)
def test_a_line_that_breaks_url_parsers_costs_only_itself(line: str) -> None:
    found = urls(f"{A}\n{line}\n{B}")
    assert found[0] == A
    assert found[-1] == B


@pytest.mark.parametrize("text", ["", " \n ", "no address here", '{"urls": []}'])
def test_text_without_a_url_is_empty_and_says_so(text: str) -> None:
    sitemap = sitemap_from_str(text)
    assert isinstance(sitemap, PagesTextSitemap)
    assert sitemap.pages == []
    assert not sitemap.complete
    assert [problem.severity for problem in sitemap.problems] == ["error"]


@pytest.mark.parametrize("text", ["", "no address here", '{"error": "not found"}'])
def test_text_without_a_url_at_a_known_path_is_not_found(server: LoopbackServer, text: str) -> None:
    server.site["/sitemap.xml"] = text
    tree = sitemap_tree_for_homepage(server.url)
    assert tree.sub_sitemaps == []
