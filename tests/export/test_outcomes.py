"""What came of a crawl, beside its rows."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.server import LoopbackServer, urlset
from usp.cli._demo_site import DemoSite
from usp.cli._options import SHARED, Destination

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "export.md"
DEAD = "http://127.0.0.1:9/"


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
