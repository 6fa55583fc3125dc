"""``usp find`` and ``usp.find``: where the sitemaps are, without reading pages."""

import gzip
import json
import sys
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType, MethodType
from typing import cast

import pytest

import usp as package
from tests.cli.command import usp
from tests.server import Answer, LoopbackServer, index, urlset
from usp._parse import count_entries
from usp.cli._demo_site import DemoSite
from usp.objects.outcome import FoundBy, Outcome, Result
from usp.objects.page import SitemapPage


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    """A site with an index of two sitemaps, one gzipped, and a missing one."""
    server.robots("/index.xml", "/lost.xml")
    old = {"Last-Modified": "Wed, 01 Apr 2026 10:00:00 GMT"}
    listed = index(server.at("/a.xml"), server.at("/b.xml.gz"))
    dated = b"b.xml.gz</loc><lastmod>2026-11-01</lastmod>"
    server.site |= {
        "/index.xml": listed.replace(b"b.xml.gz</loc>", dated),
        "/a.xml": Answer(body=urlset(server.at("/1"), server.at("/1"), "no url"), headers=old),
        "/b.xml.gz": gzip.compress(urlset(*(server.at(f"/{n}") for n in range(50)))),
    }
    return server


def test_the_text_has_each_stage_and_what_came_of_it(site: LoopbackServer) -> None:
    ended = usp("find", site.url)
    lines = ended.out.splitlines()
    assert lines[:3] == [site.url, "", "robots.txt"]
    assert lines[3].startswith("  + /robots.txt                      robots.txt          2  ")
    assert lines[4].startswith("  + /index.xml                       index               2  ")
    assert lines[7] == "  - /lost.xml                        missing: 404 Not Found"
    assert lines[5].split() == ["+", "/a.xml", "urlset", "3", *lines[5].split()[4:6], "2026-04-01"]
    assert lines[6].split()[:4] == ["+", "/b.xml.gz", "urlset", "50"]
    assert lines[6].endswith("2026-11-01"), "that of the index goes first"
    assert lines[5].startswith("    + "), "what an index lists is below it"
    assert "known paths" in lines
    assert lines[-1] == "not tried: homepage, newer paths"
    assert max(map(len, lines)) <= 80
    assert ended.partial == "partial: 1 sitemap could not be read"
    assert (ended.code, ended.found) == (0, "found: 4 sitemaps (1 failed), 1 problem")


def test_no_line_of_text_is_cut_away_from_a_terminal(server: LoopbackServer) -> None:
    server.robots("/lost.xml")
    server.site["/lost.xml"] = Answer(
        status=302, headers={"Location": "ftp://h.example/" + "x" * 80}
    )
    lines = usp("find", server.url, "-k").out.splitlines()
    assert any(line.endswith("x: not followed") for line in lines)


def test_the_reason_of_a_failure_is_in_plain_words_for_programs_too(tmp_path: Path) -> None:
    url, words = "http://127.0.0.1:9/", "Failed to establish a new connection: [Errno "
    (tried,) = json.loads(usp("find", url, "-k", "-f", "json").out)["tried"]
    assert tried["detail"].startswith(words)
    file = tmp_path / "x.jsonl"
    usp("export", url, "-k", "--table", "attempts", "-o", str(file))
    assert json.loads(file.read_text())["detail"] == tried["detail"]


def test_the_json_formats_have_every_field(site: LoopbackServer) -> None:
    found = json.loads(usp("find", site.url, "-k", "-f", "json").out)
    assert (found["url"], found["outcome"], found["sitemaps"]) == (site.url, "partial", 3)
    (lost,) = [one for one in found["tried"] if one["result"] == "missing"]
    assert (lost["found_by"], lost["detail"], lost["kind"]) == ("robots", "404 Not Found", None)
    lines = [
        json.loads(line) for line in usp("find", site.url, "-k", "-f", "jsonl").out.split("\n")[:-1]
    ]
    assert lines == found["tried"]
    packed = lines[3]
    body = site.site["/b.xml.gz"]
    assert isinstance(body, bytes)
    assert packed == {
        "url": site.at("/b.xml.gz"),
        "stage": "indexes",
        "found_by": "index",
        "result": "sitemap",
        "detail": None,
        "level": 2,
        "parent_url": site.at("/index.xml"),
        "final_url": site.at("/b.xml.gz"),
        "kind": "urlset",
        "entries": 50,
        "bytes": len(gzip.decompress(body)),
        "bytes_received": len(body),
        "http_status": 200,
        "index_lastmod": "2026-11-01T00:00:00Z",
        "http_last_modified": None,
    }


def test_what_indexes_list_can_be_left_out(site: LoopbackServer) -> None:
    found = package.find(site.url, shallow=True, use_known_paths=False)
    assert [(one.url, one.entries) for one in found.sitemaps] == [(site.at("/index.xml"), 2)]
    assert "/a.xml" not in site.requested
    ended = usp("find", site.url, "-k", "--shallow")
    assert (ended.code, ended.found) == (0, "found: 2 sitemaps (1 failed), 1 problem")


@pytest.mark.parametrize("end", [b"", b"<url><loc>https://h.example/b</l"])
def test_a_document_without_its_end_is_found_in_part(server: LoopbackServer, end: bytes) -> None:
    whole = urlset(*(f"https://h.example/{number}" for number in range(20)))
    server.site["/cut.xml"] = whole.replace(b"</urlset>", end)
    found = package.find(server.at("/cut.xml"))
    assert found.outcome is Outcome.PARTIAL
    assert [one.sitemap_url for one in found.problems] == [server.at("/cut.xml")]
    ended = usp("find", server.at("/cut.xml"), "--strict")
    assert ended.code == 3
    assert ended.partial is not None
    assert server.at("/cut.xml") in ended.partial


def test_no_page_is_made(site: LoopbackServer) -> None:
    called: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            called[frame.f_code] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        found = package.find(site.url, use_known_paths=False, since="2020", limit=1)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert [one.entries for one in found.sitemaps] == [2, 3, 50]
    assert found.outcome is Outcome.PARTIAL
    assert called[count_entries.__code__] > 0
    assert not called[cast("MethodType", SitemapPage.from_entry).__func__.__code__]


@pytest.mark.slow
def test_every_kind_of_document_is_counted(demo_site: DemoSite) -> None:
    found = package.find(demo_site.url, use_homepage=True, use_newer_paths=True)
    tree = package.sitemap_tree_for_homepage(demo_site.url, use_homepage=True, use_newer_paths=True)
    pages = {sitemap.url: len(sitemap.pages) for sitemap in tree.all_sitemaps()}
    counted = {one.final_url: one.entries for one in found.sitemaps if one.kind != "sitemapindex"}
    pages[f"{demo_site.url}feeds/rss.xml"] += 1  # an item without a link is an entry, but no page
    assert counted == {url: number for url, number in pages.items() if url in counted}
    assert {one.kind for one in found.sitemaps} == {
        *("urlset", "sitemapindex", "rss", "atom", "jsonfeed", "text")
    }
    assert [one.result for one in found.tried] == [
        attempt.result
        for attempt in package.sitemap_tree(
            demo_site.url, use_known_paths=True, use_homepage=True, use_newer_paths=True
        ).tried
    ]
    (home,) = [one for one in found.tried if one.url == demo_site.url]
    assert (home.stage, home.result, home.found_by) == (
        "homepage",
        Result.NOT_A_SITEMAP,
        FoundBy.WELL_KNOWN,
    )


def test_a_sitemap_url_and_a_file_are_sources_too(site: LoopbackServer, tmp_path: Path) -> None:
    ended = usp("find", site.at("/a.xml"))
    assert ended.out.splitlines()[3].split()[:4] == ["+", site.at("/a.xml"), "urlset", "3"]
    assert ended.messages == [f"usp: reading the sitemap {site.at('/a.xml')}"]
    assert site.requested == ["/a.xml"]
    file = tmp_path / "a.xml"
    file.write_bytes(urlset("http://h/1"))
    (one,) = package.find(file).sitemaps
    assert (one.url, one.kind, one.entries, one.bytes_received) == (str(file), "urlset", 1, None)


def test_exit_codes(server: LoopbackServer) -> None:
    ended = usp("find", server.url)
    assert (ended.code, ended.messages) == (1, [f"usp: no sitemap found at {server.url}"])
    assert "not tried: " not in ended.out, "every stage ran"
    server.otherwise = 403
    ended = usp("find", server.url)
    assert ended.code == 3
    assert ended.messages == [f"usp: blocked: {server.at('/robots.txt')}: 403 Forbidden"]
    ended = usp("find", "http://127.0.0.1:9/", "-k")
    assert ended.code == 3
    assert ended.err.startswith("usp: unreachable: http://127.0.0.1:9/robots.txt: ")
    assert usp("find", "http://127.0.0.1:9/", "-f", "xml").code == 2
