"""Exports, states and recordings as sources: the same rules, as far as they have what is needed."""

from pathlib import Path
from typing import Any

import pytest

import usp
from tests.server import LoopbackServer
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.web_client.recording import RecordingWebClient

SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
XHTML = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
FLAT = {"site.db", "site.csv"}
"""Formats whose pages have no column of alternates."""
FORMATS = ["site.db", "site.parquet", "site/", "site.csv", "site.jsonl"]


@pytest.fixture
def faulty(server: LoopbackServer) -> LoopbackServer:
    """A site with faults of several kinds."""
    server.robots("a.xml", "b.xml", "gone.xml")
    de = server.at("de")
    server.site["/a.xml"] = (
        f"<urlset {SITEMAP} {XHTML}>"
        f"<url><loc>{server.at('p')}#top</loc><lastmod>2026-1-2</lastmod></url>"
        f"<url><loc>{server.at('en')}</loc>"
        f'<xhtml:link rel="alternate" hreflang="en-UK" href="{server.at("en")}"/>'
        f'<xhtml:link rel="alternate" hreflang="de" href="{de}"/></url>'
        f"<url><loc>{de}</loc></url></urlset>"
    )
    server.site["/b.xml"] = (
        f"<urlset {SITEMAP}><url><loc>{de}</loc><lastmod>1969-01-01</lastmod></url>"
        f"<url><loc>{server.at('de/')}</loc><lastmod>soon</lastmod></url></urlset>"
    )
    return server


def codes(source: Any, **options: Any) -> dict[str, int]:
    with usp.check(source, ignore=["SM361"], max_attempts=1, **options) as findings:
        found = {finding.code: finding.count for finding in findings}
    assert findings.outcome is not usp.Outcome.NONE
    return found


ON_THE_SITE = {"SM101": 1, "SM357": 1, "SM365": 1, "SM366": 1, "SM401": 1, "SM451": 1, "SM455": 1}
HREFLANG = {"SM580": 1, "SM583": 1}


@pytest.mark.parametrize("target", FORMATS)
def test_an_export_gives_what_the_site_gives(
    faulty: LoopbackServer, tmp_path: Path, target: str
) -> None:
    live = codes(faulty.url)
    assert ON_THE_SITE.items() | HREFLANG.items() <= live.items()
    has_all_tables = target in {"site.db", "site/"}
    usp.export(faulty.url, f"{tmp_path}/{target}", max_attempts=1)
    requests = len(faulty.requests)
    exported = codes(tmp_path / target)
    expected = {**ON_THE_SITE, **({} if target in FLAT else HREFLANG)}
    if not has_all_tables:
        expected = {code: 1 for code in expected if code not in {"SM101", "SM401"}}
    assert expected.items() <= exported.items()
    assert exported["SM750"] >= 1
    assert len(faulty.requests) == requests


def test_problems_of_an_export_have_their_pages(faulty: LoopbackServer, tmp_path: Path) -> None:
    usp.export(faulty.url, tmp_path / "site.db", max_attempts=1)
    found: dict[str, list[str | None]] = {}
    for source in (faulty.url, tmp_path / "site.db"):
        with usp.check(source, select=["SM401"], max_attempts=1) as stream:
            found[str(source)] = [one.url for finding in stream for one in finding.examples]
    on_the_site, exported = found.values()
    assert exported == on_the_site
    assert all(exported)


def test_rules_that_tables_cannot_decide_are_named(faulty: LoopbackServer, tmp_path: Path) -> None:
    usp.export(faulty.url, tmp_path / "site.db", max_attempts=1)
    found: list[usp.Occurrence] = []
    with usp.check(tmp_path / "site.db", select=["SM750"], on_occurrence=found.append) as stream:
        list(stream)
    (not_run,) = (one for one in found if one.detail.startswith("tables"))
    assert {"SM256", "SM257", "SM552", "SM663"} <= set(not_run.detail.replace(",", "").split())
    assert "SM580" in not_run.detail  # a database has no column of alternates
    assert "SM365" not in not_run.detail
    assert "SM401" not in not_run.detail


def test_the_state_of_a_sync_can_be_checked(faulty: LoopbackServer, tmp_path: Path) -> None:
    with usp.sync(faulty.url, state=tmp_path / "site.db", max_attempts=1) as changes:
        list(changes)
    assert {"SM357", "SM365", "SM366", "SM455"} <= codes(tmp_path / "site.db").keys()


def test_a_recording_is_checked_like_the_site(faulty: LoopbackServer, tmp_path: Path) -> None:
    path = tmp_path / "site.warc.gz"
    with RecordingWebClient(path) as client:
        live = codes(faulty.url, web_client=client)
    requests = len(faulty.requests)
    assert codes(path) == live
    assert len(faulty.requests) == requests


def test_rows_without_a_url_are_counted_and_a_table_needs_no_sitemaps(tmp_path: Path) -> None:
    table = tmp_path / "pages.jsonl"
    table.write_text('{"url": "https://example.org/a"}\n{"url": null}\n{"url": 5}\n', "utf-8")
    with usp.check(table) as found:
        details = [one.detail for finding in found for one in finding.examples]
    assert "2 rows without a URL left out" in details


@pytest.mark.parametrize("name", ["pages.csv", "pages.jsonl", "pages.TSV", "pages.ndjson"])
@pytest.mark.parametrize("rows", ['{{"url": "{}"}}\n', "url,title\n{},t\n"])
def test_the_content_of_a_table_says_what_it_is_not_its_name(
    name: str, rows: str, tmp_path: Path
) -> None:
    table = tmp_path / name
    table.write_text(rows.format("https://example.org/a#top"), "utf-8")
    assert "SM750" in codes(table), "the rules that tables can't decide"


@pytest.mark.parametrize("text", ['{"error": 429}', "Sorry, back soon\n"])
def test_a_text_in_place_of_a_sitemap_is_no_table(text: str, tmp_path: Path) -> None:
    sitemap = tmp_path / "sitemap.xml"
    sitemap.write_text(text, "utf-8")
    with usp.check(sitemap) as found:
        assert {one.code for one in found} == {"SM204"}


def test_a_folder_without_tables_is_refused_and_base_url_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="base_url"):
        usp.check(tmp_path)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [(403, Outcome.BLOCKED), (404, Outcome.NONE), (None, Outcome.UNREACHABLE)],
)
def test_tables_without_a_sitemap_say_why_the_crawl_found_none(
    server: LoopbackServer, tmp_path: Path, answer: int | None, outcome: Outcome
) -> None:
    home = server.url if answer else "http://127.0.0.1:9/"
    server.otherwise = answer or 404
    options: dict[str, Any] = {"use_known_paths": False, "max_attempts": 1}
    with usp.sync(home, state=tmp_path / "state.db", **options) as changes:
        list(changes)
    with usp.check(tmp_path / "state.db") as stream:
        list(stream)
        assert stream.outcome is outcome
