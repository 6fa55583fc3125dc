"""robots.txt: the sitemaps that it declares, in order, without duplicates."""

from __future__ import annotations

import pytest

import usp
from tests.parse.reading import declared
from tests.server import LoopbackServer
from usp.objects.sitemap import IndexRobotsTxtSitemap
from usp.tree import sitemap_tree_for_homepage

A, B = "http://h.example/a.xml", "http://h.example/b.xml"

ROBOTS = [
    ("plain", f"Sitemap: {A}", [A]),
    ("with a hyphen", f"Site-map: {A}", [A]),
    ("any case", f"SITEMAP: {A}\nsItE-MaP: {B}", [A, B]),
    ("no space after the colon", f"Sitemap:{A}", [A]),
    ("spaces before the colon", f"Sitemap  \t: {A}", [A]),
    ("spaces before the line", f"   Sitemap: {A}", [A]),
    ("spaces after the URL", f"Sitemap: {A}  \t", [A]),
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
    ("an empty file", "", []),
    ("an HTML page", f"<!DOCTYPE html><html><body>\nSitemap: {A}\n</body></html>", []),
]


@pytest.mark.parametrize(("what", "text", "expected"), ROBOTS, ids=[row[0] for row in ROBOTS])
def test_declared_sitemaps(what: str, text: str, expected: list[str]) -> None:
    assert declared(text) == expected, what


def test_a_relative_url_is_resolved_against_the_robots_txt(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = f"Sitemap: /a.xml\nSitemap: {server.url}a.xml\n"
    server.site["/a.xml"] = f"{server.url}page\n"
    robots = sitemap_tree_for_homepage(server.url).sub_sitemaps[0]
    assert isinstance(robots, IndexRobotsTxtSitemap)
    assert [child.url for child in robots.sub_sitemaps] == [server.at("/a.xml")]


def test_a_robots_txt_that_is_html_declares_nothing(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = f"<html>\nSitemap: {server.at('/a.xml')}\n</html>"
    server.site["/a.xml"] = f"{server.url}page\n"
    assert sitemap_tree_for_homepage(server.url).sub_sitemaps == []
    assert "/a.xml" not in server.requested


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
def test_irregular_lines(line: str, expected: list[str]) -> None:
    robots = usp.parse(line, url="http://h/robots.txt")
    assert [sitemap.url for sitemap in robots.sub_sitemaps] == expected
