"""What came of a crawl, beside its rows."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.server import LoopbackServer, urlset
from usp._tables.schema import TABLES
from usp.cli._demo_site import DemoSite
from usp.cli._options import SHARED, Destination
from usp.objects.sitemap import IndexWebsiteSitemap
from usp.tree import sitemap_from_str

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "export.md"
DEAD = "http://127.0.0.1:9/"
TRUNCATED = "<urlset><url><loc>http://h.example/a</loc></url><url><loc>http://h.example/b"


def outcomes(source: Any) -> tuple[object, ...]:
    """Return the outcome and whether it is complete, by pandas and by Arrow, if they agree."""
    frame = usp.to_pandas(source, max_attempts=1)
    metadata = usp.to_arrow(source, table="sitemaps", max_attempts=1).schema.metadata
    assert metadata[b"outcome"].decode() == frame.attrs["outcome"]
    assert (metadata[b"complete"] == b"true") is frame.attrs["complete"]
    assert metadata[b"table"] == b"sitemaps", "the rest of the metadata is still there"
    return len(frame), frame.attrs["outcome"], frame.attrs["complete"]


def test_tables_say_what_came_of_the_crawl(server: LoopbackServer) -> None:
    server.otherwise = 403
    assert outcomes(server.url) == (0, "blocked", False)
    assert outcomes(DEAD) == (0, "unreachable", False)
    server.otherwise = 404
    assert outcomes(server.url) == (0, "none", True)
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    assert outcomes(server.url) == (1, "found", True)
    assert outcomes([server.url, DEAD]) == (1, "partial", False)
    server.robots("/a.xml", "/lost.xml")
    assert outcomes(server.url) == (1, "partial", False)


def test_a_table_of_a_tree_has_the_outcome_of_the_tree(server: LoopbackServer) -> None:
    server.otherwise = 403
    tree = usp.sitemap_tree(server.url)
    assert usp.to_pandas(tree).attrs == {"outcome": "blocked", "complete": False}


DOCUMENTS = {
    "whole": ("<urlset><url><loc>http://h.example/a</loc></url></urlset>", "found", True),
    "without pages": ("<urlset/>", "found", True),
    "truncated": (TRUNCATED, "partial", False),
    "truncated index": ("<sitemapindex><sitemap><loc>", "partial", False),
    "login page": ("<!DOCTYPE html><html><body>log in</body></html>", "none", True),
    "declares entities": ('<!DOCTYPE x [<!ENTITY a "b">]><urlset/>', "none", True),
    "empty": ("", "none", True),
    "words": ("hello world", "none", True),
}


@pytest.mark.parametrize(("text", "outcome", "complete"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_that_was_parsed_has_the_outcome_of_a_stream_of_it(
    text: str, outcome: str, complete: bool, tmp_path: Path
) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_text(text)
    for source in (file, usp.parse(text, url="http://h.example/s.xml"), sitemap_from_str(text)):
        assert usp.to_pandas(source).attrs == {"outcome": outcome, "complete": complete}
        (row,) = usp.to_arrow(source, "sites", columns=["outcome", "complete"]).to_pylist()
        assert row == {"outcome": outcome, "complete": complete}
        output = tmp_path / "pages.csv"
        output.write_text("yesterday")
        result = usp.export(source, output, replace=True)
        assert result.outcome == outcome
        is_unread = outcome == "none" or text == DOCUMENTS["truncated index"][0]
        assert bool(result.files) is not is_unread
        assert (output.read_text() == "yesterday") is is_unread


def test_sitemaps_of_a_tree_have_the_outcome_of_their_own_stream(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/forbidden.xml", "/lost.xml", "/broken.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    server.site |= {"/forbidden.xml": 403, "/broken.xml": 500}
    tree = usp.sitemap_tree(server.url, max_attempts=1)
    (robots,) = tree.sub_sitemaps
    expected = ["partial", "found", "blocked", "none", "unreachable"]
    found = [usp.to_pandas(one).attrs["outcome"] for one in (robots, *robots.sub_sitemaps)]
    assert found == expected
    of_streams = [
        usp.to_pandas(one.url, max_attempts=1).attrs["outcome"] for one in robots.sub_sitemaps
    ]
    assert of_streams == expected[1:]
    by_hand = IndexWebsiteSitemap(server.url, [robots.sub_sitemaps[2]])
    assert usp.to_pandas(by_hand).attrs == {"outcome": "none", "complete": True}


def test_the_outcome_depends_on_no_column(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = TRUNCATED
    for table in TABLES.values():
        column = ["url"] if "url" in table.names else [table.names[0]]
        for source in (server.url, usp.sitemap_tree(server.url)):
            found = usp.to_arrow(source, table.name, columns=column)
            assert found.schema.metadata[b"outcome"] == b"partial", table.name
            assert found.schema.metadata[b"complete"] == b"false"


@pytest.mark.parametrize("dead", [True, False])
def test_a_site_that_cannot_be_read_is_a_warning_in_the_log(
    server: LoopbackServer, caplog: pytest.LogCaptureFixture, dead: bool
) -> None:
    server.otherwise = 403
    usp.to_arrow(DEAD if dead else server.url, max_attempts=1)
    assert any(record.levelno == logging.WARNING for record in caplog.records)


def test_sites_counts_what_the_last_line_counts_and_more(demo_site: DemoSite) -> None:
    (site,) = usp.to_arrow(demo_site.url, table="sites").to_pylist()
    with usp.iter_pages(demo_site.url) as stream:
        assert len(list(stream)) == site["pages"]
    assert (stream.sitemaps_read, stream.sitemaps_failed) == (
        site["sitemaps"],
        site["sitemaps_failed"],
    )
    problems = usp.to_arrow(demo_site.url, table="problems").to_pylist()
    assert site["problems"] == len(problems) > len(stream.problems)


def test_the_manual_says_how_to_pass_what_the_command_has_an_option_for() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for option in SHARED:
        if option.target is Destination.CLIENT:
            row = rf"^\| `--(?:no-)?{option.name}\b.*`{option.keyword}="
            assert re.search(row, text, re.MULTILINE), option.name
