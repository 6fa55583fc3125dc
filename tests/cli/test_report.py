"""``usp report``: what it writes where, and its exit code."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import Finished, redirected, usp
from tests.server import LoopbackServer
from usp.cli._demo_site import DemoSite

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def entry(path: str, day: str = "2026-11-01") -> str:
    return f"<url><loc>https://example.org/{path}</loc><lastmod>{day}</lastmod></url>"


@pytest.fixture
def sitemap(tmp_path: Path) -> Path:
    file = tmp_path / "sitemap.xml"
    file.write_text(f"<urlset {NS}>{entry('a/b')}{entry('a/c')}{entry('d')}</urlset>")
    return file


def test_a_page_is_written_and_the_last_line_says_what_was_found(
    demo_site: DemoSite, tmp_path: Path
) -> None:
    done = usp("report", demo_site.url, "-o", str(tmp_path / "report.html"))
    assert done.code == 0
    assert done.out == ""
    assert done.found == "found: 17 sitemaps (2 failed), 24 pages, 2 problems"
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "All rules of usp check were applied." in page


def test_without_a_file_it_prints_markdown(sitemap: Path) -> None:
    done = usp("report", str(sitemap))
    assert done.code == 0
    assert done.out.startswith(f"# Sitemap report: {sitemap}\n")
    assert "| a/ | 2 |" in done.out


def test_standard_input_is_a_source() -> None:
    words = ("report", "-", "-f", "markdown")
    done = redirected("<<'END'\nhttps://example.org/a/b\nhttps://example.org/a/c\nEND\n", *words)
    assert done.code == 0
    assert done.out.startswith("# Sitemap report: standard input\n")
    assert "| a/ | 2 |" in done.out


def test_the_format_can_be_chosen(sitemap: Path, tmp_path: Path) -> None:
    assert usp("report", str(sitemap), "-f", "html").out.startswith("<!doctype html>")
    usp("report", str(sitemap), "-f", "markdown", "-o", str(tmp_path / "summary"))
    assert (tmp_path / "summary").read_text().startswith("# Sitemap report")


def test_a_page_without_a_check_has_no_rules_of_it(sitemap: Path) -> None:
    checked = usp("report", str(sitemap), "-f", "html").out
    unchecked = usp("report", str(sitemap), "-f", "html", "--no-check").out
    assert "All rules of usp check were applied." in checked
    assert "All rules of usp check were applied." not in unchecked


def test_markdown_can_be_appended_to_the_summary_of_a_job(sitemap: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Tests\n")
    assert usp("report", str(sitemap), "-o", str(summary), "--append").code == 0
    assert summary.read_text().startswith("# Tests\n# Sitemap report")


def test_a_table_of_another_tool_is_a_source(tmp_path: Path) -> None:
    table = tmp_path / "pages.csv"
    table.write_text("Title,Where\nA,https://example.org/a/b\n")
    done = usp("report", str(table), "--column", "Where", "-f", "html")
    assert done.code == 0
    assert "example.org/a/" in done.out
    assert done.err.startswith("found: 1 page, ")


def test_rows_without_a_url_are_left_out_and_counted(tmp_path: Path) -> None:
    table = tmp_path / "pages.jsonl"
    table.write_text('{"url": "https://example.org/a"}\n{"url": null}\n', "utf-8")
    done = usp("report", str(table))
    assert "| **1** | pages listed |" in done.out
    assert f"{table}: 1 row without a URL left out" in done.err


def test_a_sync_says_what_changed(server: LoopbackServer, tmp_path: Path) -> None:
    state = str(tmp_path / "state.db")
    server.site = {"/sitemap.xml": f"<urlset {NS}>{entry('a')}</urlset>"}
    url = f"{server.url}sitemap.xml"
    usp("sync", url, "--state", state)
    server.site = {"/sitemap.xml": f"<urlset {NS}>{entry('a')}{entry('new')}</urlset>"}
    usp("sync", url, "--state", state)
    done = usp("report", url, "--state", state)
    assert "| added | 1 |" in done.out
    assert f"`usp changes --state {state} --after 0 --site {url}`" in done.out
    assert "| **1** | pages listed |" in usp("report", f"{state}@-1").out
    assert "| **2** | pages listed |" in usp("report", state).out


@pytest.mark.parametrize(
    ("site", "code", "words"),
    [({}, 1, "No sitemap was found."), ({"/robots.txt": 403}, 3, "The site refuses requests.")],
)
def test_a_site_that_says_no_has_a_report_and_an_exit_code(
    server: LoopbackServer, tmp_path: Path, site: dict[str, int], code: int, words: str
) -> None:
    server.site = dict(site)
    if code != 1:
        server.otherwise = 403
    file = tmp_path / "report.html"
    done = usp("report", server.url, "-o", str(file), "--max-attempts", "1")
    assert done.code == code
    assert words in file.read_text()


def test_a_state_of_a_site_that_did_not_answer_says_so_shortly(tmp_path: Path) -> None:
    state = str(tmp_path / "state.db")
    synced = usp("sync", "http://127.0.0.1:9/", "--state", state, "-k", "--max-attempts", "1")
    assert synced.code == 3
    assert "9/: unreachable (Failed to establish a new connection: [Errno" in synced.err
    ended = usp("report", state, "-o", str(tmp_path / "report.html"))
    assert ended.code == 3
    assert ended.err.splitlines()[-1].startswith("unreachable: 1 sitemap (1 failed), 0 pages, ")


def test_strict_fails_for_a_part(demo_site: DemoSite, tmp_path: Path) -> None:
    done = usp("report", demo_site.url, "-o", str(tmp_path / "r.html"), "--strict")
    assert done.code == 3
    export = str(tmp_path / "site.db")
    usp("export", demo_site.url, "-o", export)
    assert usp("report", export, "-q").code == 0
    assert usp("report", export, "--strict").code == 3


def test_the_last_line_is_the_same_for_a_site_and_for_its_tables(
    demo_site: DemoSite, tmp_path: Path
) -> None:
    live = usp("report", demo_site.url)
    export = str(tmp_path / "site.db")
    usp("export", demo_site.url, "-o", export)
    done = usp("report", export)
    assert done.found == live.found
    assert done.partial == live.partial == "partial: 2 sitemaps could not be read"


def test_the_last_line_of_tables_names_the_sitemap_that_is_incomplete(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("/a.xml", "/b.xml")
    server.site["/a.xml"] = "<urlset><url><loc>http://h.example/1</loc></url></urlset>"
    server.site["/b.xml"] = "<urlset><url><loc>http://h.example/2</loc></url><url><loc>htt"
    export = str(tmp_path / "site.db")
    usp("export", server.url, "-o", export, "-q")
    for command in ("report", "check"):
        for source in (server.url, export):
            done = usp(command, source)
            assert f"partial: 1 sitemap incomplete: {server.at('/b.xml')} (" in done.err


def usage(done: Finished) -> str:
    assert done.code == 2
    assert done.out == ""
    (line,) = done.messages
    return line


def cut_gzip_file(server: LoopbackServer, folder: Path) -> tuple[str, str]:
    del server
    entries = "".join(entry(f"{number * 7919 % 10_007}") for number in range(2000))
    file = folder / "cut.xml.gz"
    file.write_bytes(gzip.compress(f"<urlset {NS}>{entries}</urlset>".encode())[:-1000])
    return str(file), "SM214 the compressed data is truncated or corrupt"


def cut_response(server: LoopbackServer, folder: Path) -> tuple[str, str]:
    del folder
    server.site["/cut.xml"] = f"<urlset {NS}>{entry('a')}{entry('b')}<url><loc>https://exa"
    return server.at("/cut.xml"), "SM207 the document is truncated inside an entry"


@pytest.mark.parametrize("options", [(), ("--no-check",)], ids=["checked", "unchecked"])
@pytest.mark.parametrize("damaged", [cut_gzip_file, cut_response])
def test_a_sitemap_that_was_read_in_part_is_counted_and_says_why(
    damaged: Callable[[LoopbackServer, Path], tuple[str, str]],
    options: tuple[str, ...],
    server: LoopbackServer,
    tmp_path: Path,
) -> None:
    source, why = damaged(server, tmp_path)
    markdown = usp("report", source, *options).out
    assert "| **1** | sitemaps | 1 read only in part |" in markdown
    assert f"{Path(source).name} | partial | {why} |" in markdown
    page = usp("report", source, "-f", "html", *options).out
    assert "1 read only in part" in page
    assert why in page


def test_wrong_use_is_one_line(sitemap: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.html"
    there.write_text("mine")
    report = ("report", str(sitemap))
    assert "say the format" in usage(usp(*report, "-o", str(tmp_path / "report.txt")))
    assert "exists already" in usage(usp(*report, "-o", str(there)))
    assert there.read_text() == "mine"
    assert "--format" in usage(usp(*report, "-f", "pdf"))
    assert "is not there" in usage(usp(*report, "--state", str(tmp_path / "no.db")))
    assert "without tables" in usage(usp("report", str(tmp_path)))
    urls = tmp_path / "urls.txt"
    urls.write_text("https://example.org/a\n")
    assert "--since chooses what is crawled" in usage(usp("report", str(urls), "--since", "2d"))
