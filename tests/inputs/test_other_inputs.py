"""Inputs that are no exports: sites, sitemaps, recordings, lists, tables of other tools."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import usp
from tests.server import LoopbackServer, urlset
from usp._inputs.kinds import InputKind
from usp._inputs.listing import READERS, open_listing
from usp.cli._demo_site import DemoSite
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.web_client.recording import RecordingWebClient

if TYPE_CHECKING:
    from collections.abc import Callable

A, B = "https://example.org/a", "https://example.org/b?x=1,2"
SITEMAP = f"<urlset><url><loc>{A}</loc></url><url><loc>{B}</loc></url></urlset>"
ROWS = ((A, "11"), (B, "7"))


def table(header: str, delimiter: str = ",") -> str:
    lines = [header, *(f'"{url}"{delimiter}{number}' for url, number in ROWS)]
    return "\r\n".join(lines) + "\r\n"


TEXTS = {
    "a list": (f"{A}\n\n# a comment\n  {B}\n".encode(), InputKind.URL_LIST),
    "a list in a gzip file": (gzip.compress(f"{A}\n{B}\n".encode()), InputKind.URL_LIST),
    "a list with a byte order mark": (f"\ufeff{A}\r\n{B}\r\n".encode(), InputKind.URL_LIST),
    "Screaming Frog": (table('"Address","Status Code"').encode(), InputKind.DELIMITED),
    "Search Console": (table("Top pages,Clicks").encode(), InputKind.DELIMITED),
    "Search Console in another language": (
        table("Die häufigsten Seiten,Klicks").encode(), InputKind.DELIMITED,
    ),
    "Ahrefs": (table("Current URL\tTraffic", "\t").encode("utf-16"), InputKind.DELIMITED),
    "a spreadsheet": (table("URL;Count", ";").encode("utf-8-sig"), InputKind.DELIMITED),
    "one column": (f'loc\n{A}\n"{B}"\n'.encode(), InputKind.DELIMITED),
    "JSON lines": (
        f'{{"n": 1, "url": "{A}"}}\n{{"n": 2, "url": "{B}"}}'.encode(), InputKind.JSON_LINES,
    ),
    "a sitemap": (SITEMAP.encode(), InputKind.FILE),
    "a sitemap in a gzip file": (gzip.compress(SITEMAP.encode()), InputKind.FILE),
    "a JSON Feed": (
        f'{{"version": "https://jsonfeed.org/version/1.1",\n "title": "x",\n "items": '
        f'[{{"id": "1", "url": "{A}", "title": "t"}}, '
        f'{{"id": "2", "url": "{B}", "title": "t"}}]}}'.encode(),
        InputKind.FILE,
    ),
}  # fmt: skip


FULL = f"url,title\n{A},x\n"
CUT = {
    "inside a quoted cell": f'{FULL}{B},"y',
    "inside a quoted cell of many lines": f'{FULL}"{B}","y\nz\n',
    "inside a quoted URL": 'url\n"https://example.org/a"\n"https://example.or',
    "after a quote": f'{FULL}{B},"',
    "in the middle of a line": f"{FULL}https://example.o",
    "in the first line after the header": "url,title\nhttps://example.o",
    "with tabs": f"url\ttitle\n{A}\tx\nhttps://example.o",
    "after many rows": FULL + f"{A},x\n" * 20_000 + "https://example.o",
    "inside a quoted cell after many rows": FULL + f"{A},x\n" * 16_382 + f'{B},"y',
}
NOT_CUT = {
    "no line end": f"{FULL}{A},y",
    "no line end, one column": f"loc\n{A}\n{A}",
    "no line end, the last cell is quoted": f'{FULL}{A},"y"',
    "no line end, the last cell is empty": f"{FULL}{A},",
    "other rows are short as well": f"url,title,n\n{A},x,1\nTotal,7\n{A},5",
    "the last row is short, and ends": f"{FULL}{A}\n",
    "CR alone": f"{FULL}{A}\r".replace("\n", "\r"),
    "a quote inside of a cell": f'{FULL}{A},5" pipe',
    "nothing but a header": "url,title",
}


@pytest.mark.parametrize("text", CUT.values(), ids=CUT)
def test_a_table_that_was_cut_off_is_no_shorter_table(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, newline="")
    with pytest.raises(UsageError, match="can't be read: its end is missing"):
        urls_of(path)


@pytest.mark.parametrize("text", NOT_CUT.values(), ids=NOT_CUT)
def test_a_table_whose_last_line_has_all_its_cells_needs_no_line_end(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, newline="")
    assert set(urls_of(path)) <= {A}


TWO_COLUMNS = {
    "of ours": f"url,url\n{A},{B}\n",
    "of another tool": f"url,n,url\n{A},1,{B}\n",
    "that differ in case": f"URL,url,n\n{A},{B},1\n",
    "other than that of URLs": f"page,lastmod,lastmod\n{A},2024-05-06,2025-05-06\n",
}


@pytest.mark.parametrize("text", TWO_COLUMNS.values(), ids=TWO_COLUMNS)
def test_two_columns_of_one_name_are_told(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"table.csv has 2 columns '(url|URL|lastmod)': which"):
        urls_of(path)


def test_two_columns_that_are_not_needed_may_have_one_name(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"page,n,n,,\n{A},1,2,,\n")
    assert urls_of(path) == [A]
    path.write_text(f"URL,url,n\nhttp://h.example/,{A},1\n")
    assert urls_of(path, column="url") == [A]


def urls_of(source: str | Path, **given: str) -> list[str]:
    with open_listing(source, columns=["url"], column=given.get("column")) as listing:
        return [url for batch in listing for url in batch.columns["url"]]


@pytest.mark.parametrize("name", TEXTS)
def test_what_a_text_is_is_decided_by_its_content(name: str, tmp_path: Path) -> None:
    data, kind = TEXTS[name]
    (tmp_path / "some.file").write_bytes(data)
    with open_listing(tmp_path / "some.file") as listing:
        assert listing.kind is kind
    assert urls_of(tmp_path / "some.file") == [A, B]


@pytest.mark.parametrize("name", ["a list", "Screaming Frog", "JSON lines", "a sitemap"])
def test_standard_input_is_read_as_a_file_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = TEXTS[name]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    assert urls_of("-") == [A, B]


def test_a_run_of_a_state_is_a_number(server: LoopbackServer, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    server.site["/a.xml"] = SITEMAP
    list(usp.sync(f"{server.url}a.xml", state=state))
    assert urls_of(f"{state}@1") == urls_of(f"{state}@0") == [A, B]
    for run in ("abc", "", "1.5", "99999999999"):
        with pytest.raises(UsageError, match=f"state.db has no run '{run}'"):
            open_listing(f"{state}@{run}")


def test_a_file_that_is_no_text_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\0\1\2,\3\xff\n\4,\5")
    with open_listing(path) as listing:
        assert listing.kind is InputKind.FILE
        assert list(listing) == []
    assert listing.outcome is Outcome.NONE
    path.write_bytes(b"\xff\xfe,Klicks\n1,2\n".replace(b"\xff\xfe", b"Stra\xdfe" * 50))
    with pytest.raises(UsageError) as raised, open_listing(path) as listing:
        list(listing)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_a_compressed_file_that_is_broken_is_named(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"list.{suffix}"
    path.write_bytes({"gz": b"\x1f\x8b", "zst": b"\x28\xb5\x2f\xfd"}[suffix] + b"broken" * 9)
    with pytest.raises(UsageError, match=f"list.{suffix} can't be decompressed"):
        open_listing(path)


def test_a_column_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text(f"url,target\nhttps://from.example/,{A}\n", encoding="utf-8")
    assert urls_of(path, column="target") == [A]
    with pytest.raises(UsageError, match=r"has no column 'where'; it has url, target"):
        urls_of(path, column="where")


def test_a_table_without_urls_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("name,number\nx,1\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"no column with URLs among name, number; say which"):
        urls_of(path)


def test_rows_without_a_url_and_short_rows_are_no_pages(tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    path.write_text(f'Clicks,Page,CTR\n1,{A}\n\nTotal\n2,,\n3,"{B}",4,5\n', encoding="utf-8")
    assert urls_of(path) == [A, B]


def test_of_another_tool_only_the_url_the_date_and_the_sitemap_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "frame.csv"
    path.write_text(
        f'loc,lastmod,title,sitemap\n{A},1970-01-02,T,https://example.org/s.xml\n"{B}",soon,,\n',
        encoding="utf-8",
    )
    with open_listing(path) as listing:
        (batch,) = listing
    assert batch.table.names == ("url", "sitemap_url", "lastmod")
    assert list(batch) == [(A, "https://example.org/s.xml", 86_400_000_000), (B, None, None)]


def test_a_site_a_sitemap_and_a_recording_are_crawled(demo_site: DemoSite, tmp_path: Path) -> None:
    with RecordingWebClient(tmp_path / "site.warc.gz", source=demo_site.url) as client:
        with open_listing(demo_site.url, ("pages", "sitemaps"), web_client=client) as listing:
            live = [(batch.table.name, list(batch)) for batch in listing]
        assert listing.kind is InputKind.SITE
        assert listing.crawl is not None
    with open_listing(tmp_path / "site.warc.gz", ("pages", "sitemaps")) as listing:
        replayed = [(batch.table.name, list(batch)) for batch in listing]
    assert listing.kind is InputKind.RECORDING
    assert [rows for name, rows in replayed if name == "pages"] == [
        rows for name, rows in live if name == "pages"
    ]
    assert {name for name, _ in replayed} == {"pages", "sitemaps"}
    with open_listing(f"{demo_site.url}sitemap.xml") as listing:
        assert listing.kind is InputKind.SITEMAP


def test_a_crawl_says_what_came_of_it(server: LoopbackServer) -> None:
    server.site["/robots.txt"] = f"Sitemap: {server.url}a.xml\nSitemap: {server.url}b.xml"
    server.site["/a.xml"] = SITEMAP
    with open_listing(server.url, max_attempts=1) as listing:
        assert sum(batch.length for batch in listing) == 2
        assert listing.outcome is Outcome.PARTIAL


def test_a_listing_that_is_closed_fetches_nothing_more(demo_site: DemoSite) -> None:
    with open_listing(demo_site.url) as listing:
        assert next(listing).length
    assert next(listing, None) is None


def test_every_kind_has_its_reader() -> None:
    assert set(READERS) == set(InputKind)


@pytest.mark.parametrize("given", [None, 7, b"x"])
def test_what_is_no_name_is_refused(given: object) -> None:
    with pytest.raises(UsageError, match="source must be a URL, a domain or a file"):
        open_listing(given)  # type: ignore[arg-type]


def test_what_can_not_be_crawled_is_refused_at_the_call(tmp_path: Path) -> None:
    (tmp_path / "cut.warc").write_bytes(b"WARC/1.1\r\n")
    with pytest.raises(UsageError, match="is neither a URL, nor a domain, nor a file"):
        open_listing("word")
    with pytest.raises(UsageError, match="is not a recording that can be read"):
        open_listing(tmp_path / "cut.warc")


@pytest.mark.parametrize("url", ["http://[::1/", "http://a]b/", "http://u:PW\uff20h/"])
def test_a_malformed_url_is_refused_by_whatever_reads_inputs(url: str, tmp_path: Path) -> None:
    listed = tmp_path / "l.txt"
    listed.write_text("http://h.example/\n")
    calls: list[Callable[[], object]] = [
        lambda: open_listing(url),
        lambda: usp.report(url, tmp_path / "report.html"),
        lambda: usp.diff(listed, url),
        lambda: usp.diff(url, listed),
    ]
    for call in calls:
        with pytest.raises(UsageError, match="is neither a URL, nor a domain, nor a file") as error:
            call()
        assert "PW" not in str(error.value)


def test_what_is_no_text_is_no_url(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    cells = (None, 5, ["x"])
    for name in ("url", "address"):  # of ours, and of another tool
        lines = [json.dumps({name: cell, "sitemap_url": 5}) for cell in (A, *cells)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), "utf-8")
        table = pa.table({name: pa.array([None, A, None])})
        parquet.write_table(table, tmp_path / f"{name}.parquet")
        for file, left_out in ((f"{name}.jsonl", 3), (f"{name}.parquet", 2)):
            with open_listing(tmp_path / file) as listing:
                assert [(batch.length, list(batch.columns["url"])) for batch in listing] == [
                    (1, [A])
                ]
                assert listing.not_urls == left_out
    parquet.write_table(pa.table({"url": [1, 2]}), tmp_path / "ids.parquet")
    with pytest.raises(UsageError, match="none of its rows has text where the URL is"):
        list(open_listing(tmp_path / "ids.parquet"))


@pytest.mark.parametrize("names", ["url", "url,lastmod", "lastmod,url"])
def test_a_table_that_anyone_may_have_written_has_rows_that_are_no_urls(
    names: str, tmp_path: Path
) -> None:
    table = tmp_path / "a.csv"
    rows = (names.replace("url", url, 1) for url in (A, "=cmd|x", "/path", "Total"))
    table.write_text("\n".join([names, *rows, ""]), "utf-8")
    with open_listing(table) as listing:
        assert [url for batch in listing for url in batch.columns["url"]] == [A, "/path"]
        assert listing.not_urls == 2


def test_a_table_of_ours_has_urls_as_sitemaps_have_them(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text(f"site,url\nx,{A}\nx,../b\n", "utf-8")
    with open_listing(table) as listing:
        assert [url for batch in listing for url in batch.columns["url"]] == [A, "../b"]


def test_whether_there_are_urls_is_said_at_the_end(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("page\n" + "(not set)\n" * 50_000 + f"{A}\n", "utf-8")
    with open_listing(table) as listing:
        assert sum(batch.length for batch in listing) == 1
        assert listing.not_urls == 50_000
    table.write_text("page,clicks\n" + "x" * 100_000 + ",1\n", "utf-8")
    with pytest.raises(UsageError, match=r"has no URLs: 'x{60}…' is none") as raised:
        list(open_listing(table))
    assert len(str(raised.value)) < 200 + len(str(table))


def test_a_file_that_is_not_there_is_no_domain() -> None:
    for name in ("pages.parquet", "state.db@-1", "./x"):
        with pytest.raises(UsageError, match="No such file"):
            open_listing(name)


def test_a_recording_of_several_sites_is_not_taken_for_that_of_one(tmp_path: Path) -> None:
    recording = tmp_path / "two.warc.gz"
    with LoopbackServer() as one, LoopbackServer() as other:
        for site in (one, other):
            site.robots("/a.xml")
            site.site["/a.xml"] = urlset(site.at("/1"))
        usp.export([one.url, other.url], tmp_path / "two.csv", record=recording)
        replayed = [usp.iter_pages(site.url, replay=recording) for site in (one, other)]
        assert [[page.url for page in pages] for pages in replayed] == [
            [one.at("/1")],
            [other.at("/1")],
        ]
    for read in (usp.check, lambda file: usp.report(file, tmp_path / "report.html")):
        with pytest.raises(UsageError, match="a recording of 2 sites, not of one"):
            read(recording)
