"""``usp export``: one clear line and the right exit code, whatever happens."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import usp as package
from tests.cli.command import USP, environment, redirected, run, search_path, start, usp
from tests.server import Handler, LoopbackServer, index, urlset
from usp._tables.schema import TABLES
from usp.cli._demo_site import DemoSite
from usp.cli._export_options import EXPORT_OPTIONS

UNREACHABLE = "http://127.0.0.1:9/"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(*(f"http://h.example/{at}" for at in range(3)))
    return server


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_says_what_was_found(site: LoopbackServer, tmp_path: Path) -> None:
    done = usp("export", site.url, "-o", f"{tmp_path}/x.csv")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("found: 1 sitemap, 3 pages, ")
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 4


def test_a_partial_site_is_written_and_strict_says_so(site: LoopbackServer, tmp_path: Path) -> None:
    site.robots("/a.xml", "/lost.xml")
    done = usp("export", site.url, "-o", f"{tmp_path}/x.csv", "--strict")
    assert done.code == 3
    assert done.partial == "partial: 1 sitemap could not be read"
    assert names_in(tmp_path) == ["x.csv"]


def test_a_site_without_sitemaps_gives_a_table_without_rows(
    server: LoopbackServer, tmp_path: Path
) -> None:
    done = usp("export", server.url, "-o", f"{tmp_path}/x.csv")
    assert (done.code, done.messages) == (1, [f"usp: no sitemap found at {server.url}"])
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 1


def test_what_is_no_sitemap_leaves_the_file_of_yesterday(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = "<!DOCTYPE html><html><body>log in</body></html>"
    (tmp_path / "x.csv").write_text("yesterday")
    for source in (server.url, server.at("/a.xml")):
        done = usp("export", source, "-o", f"{tmp_path}/x.csv", "--replace")
        assert done.code == 1
        assert done.messages[-1].startswith("usp: no sitemap found at ")
        assert (tmp_path / "x.csv").read_text() == "yesterday"


@pytest.mark.parametrize("table", ["pages", "sitemaps", "attempts", "images", "sites"])
def test_the_exit_code_depends_on_no_column(table: str, server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = "<urlset><url><loc>http://h.example/a</loc></url><url><loc>http://h"
    column = "site" if table == "sites" else "url"
    options = ("-f", "csv", "--table", table, "--columns", column, "--strict")
    done = usp("export", server.url, "-o", "-", *options)
    assert done.code == 3
    assert "partial: 1 sitemap incomplete: " in done.err


def test_a_table_is_no_sitemap_and_nothing_of_it_is_a_page(tmp_path: Path) -> None:
    rows = "".join(f"http://h.example/{at},2024-05-06\n" for at in range(3))
    for name, text in (
        ("whole", f"url,lastmod\n{rows}"),
        ("cut", f"url,lastmod\n{rows}http://h.e"),
    ):
        (tmp_path / f"{name}.csv").write_text(text)
        done = usp("export", f"{tmp_path}/{name}.csv", "-o", "-", "-f", "jsonl")
        assert (done.code, done.out) == (1, "")
        assert "the document is a table (CSV, TSV), not a list of URLs" in done.err


@pytest.mark.slow
def test_names_of_repeated_options_are_added(demo_site: DemoSite, tmp_path: Path) -> None:
    done = usp(
        *("export", demo_site.url, "-o", f"{tmp_path}/x.csv"),
        *("--columns", "url", "--columns", "title,lastmod"),
    )
    assert done.code == 0, done.err
    assert (tmp_path / "x.csv").read_text().startswith("url,title,lastmod\n")
    done = usp(
        *("export", demo_site.url, "-o", f"{tmp_path}/out/", "-f", "csv"),
        *("--table", "pages", "--table", "sitemaps,sites"),
    )
    assert done.code == 0, done.err
    assert names_in(tmp_path / "out") == ["pages.csv", "sitemaps.csv", "sites.csv"]


def test_a_folder_that_is_named_like_a_file_is_not_filled(tmp_path: Path) -> None:
    folder = tmp_path / "dd.csv"
    folder.mkdir()
    done = usp("export", UNREACHABLE, "-o", str(folder))
    assert (done.code, names_in(folder)) == (2, [])
    assert done.err == (
        f"usp: error: cannot write {folder}: it is a folder; with a slash at its end, it gets a "
        "file for each table\n"
    )


def test_a_site_that_refuses_leaves_the_file_of_yesterday(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.otherwise = 403
    (tmp_path / "x.csv").write_text("yesterday")
    done = usp("export", server.url, "-o", f"{tmp_path}/x.csv", "--replace")
    assert done.code == 3
    assert done.messages[0].endswith("x.csv is not written: nothing could be read")
    assert done.messages[1].startswith("usp: blocked: ")
    assert (tmp_path / "x.csv").read_text() == "yesterday"


def test_an_index_whose_sitemaps_fail_leaves_the_file_of_yesterday(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("/i.xml")
    server.site["/i.xml"] = index(server.at("/lost.xml"))
    (tmp_path / "x.csv").write_text("yesterday")
    done = usp("export", server.url, "-o", f"{tmp_path}/x.csv", "--replace", "--no-known")
    assert done.code == 3
    assert done.messages[0].endswith("x.csv is not written: nothing could be read")
    assert "list no pages" not in done.err
    assert (tmp_path / "x.csv").read_text() == "yesterday"
    assert usp("ls", server.url, "-f", "pages", "--no-known").code == 3
    # Of several sources, one that is known to be empty is an answer.
    server.site["/empty.xml"] = "<urlset/>"
    sources = server.at("/i.xml"), server.at("/empty.xml")
    done = usp("export", *sources, "-o", f"{tmp_path}/x.csv", "--replace")
    assert done.code == 0
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "command", [("export", "-o", "-", "-f", "csv"), ("ls", "-f", "csv"), ("ls", "-f", "tabtree")]
)
def test_a_site_of_which_no_page_was_chosen_is_answered(
    command: tuple[str, ...], server: LoopbackServer
) -> None:
    server.robots("/a.xml", "/lost.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    done = usp(*command, server.url, "--include", "no", "--no-known")
    assert done.code == 0
    assert "no page of" in done.err


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.db", "out/"])
def test_a_dead_host_leaves_no_file(name: str, tmp_path: Path) -> None:
    done = usp("export", UNREACHABLE, "-o", f"{tmp_path}/{name}", "-k", "-q")
    assert (done.code, len(done.messages)) == (3, 1)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "x.csv"], "there is no source"),
        ([UNREACHABLE], "--output is missing"),
        ([UNREACHABLE, "-o", "x.xls"], "says no format"),
        ([UNREACHABLE, "-o", "x.csv", "--table", "page"], "'page' is no table"),
        ([UNREACHABLE, "-o", "x.csv", "--columns", "url,u"], "'u' is no column of pages"),
        ([UNREACHABLE, "-o", "x.csv", "--replace", "--append"], "exclude each other"),
        ([UNREACHABLE, "-o", "no/x.csv"], "cannot write"),
        ([UNREACHABLE, "-o", "x", "-f", "excel"], "must be one of csv, tsv"),
        ([UNREACHABLE, "-o", "x.csv", "--uniqe"], "did you mean '--unique'?"),
        (["not a url", "-o", "x.csv"], "is not the URL of a website"),
        (["--from", "missing.txt", "-o", "x.csv"], "--from: cannot read missing.txt"),
        ([UNREACHABLE, "-o", "x.csv", "--since", "soon"], "--since must be"),
        ([UNREACHABLE, "-o", "x.csv", "--proxy", "gopher://h.example"], "--proxy must be"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    done = usp("export", *arguments, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    assert names_in(tmp_path) == []


def test_the_tables_that_are_completed_are_those_of_the_schema() -> None:
    (option,) = (option for option in EXPORT_OPTIONS if option.name == "table")
    assert option.words == (*TABLES, "all")


def test_an_existing_file_is_left_alone(site: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("mine")
    done = usp("export", site.url, "-o", f"{tmp_path}/x.csv")
    assert done.code == 2
    assert "exists already: use --replace or --append" in done.err
    assert (tmp_path / "x.csv").read_text() == "mine"
    assert site.requests == []


@pytest.mark.parametrize(
    ("output", "ways"),
    [("x.parquet", "--replace"), ("out/", "--replace"), ("x.db", "--replace or --append")],
)
def test_what_can_be_done_with_an_existing_file_is_named(
    output: str, ways: str, tmp_path: Path
) -> None:
    path = tmp_path / (output if output != "out/" else "out/pages.parquet")
    path.parent.mkdir(exist_ok=True)
    path.touch()
    done = usp("export", "127.0.0.1:9", "-o", f"{tmp_path}/{output}")
    assert done.code == 2
    assert done.err == f"usp: error: {path} exists already: use {ways}\n"


def test_a_missing_extra_is_one_line_that_says_what_to_install(
    site: LoopbackServer, tmp_path: Path
) -> None:
    fake = tmp_path / "fake" / "pyarrow"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("raise ModuleNotFoundError(name='pyarrow')")
    path = {"PYTHONPATH": search_path(tmp_path / "fake")}
    done = usp("export", site.url, "-o", f"{tmp_path}/x.parquet", env=path)
    assert done.code == 2
    assert "needs pyarrow, which the extra tables installs: in a clone of usp, run pip" in done.err
    assert names_in(tmp_path) == ["fake"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("format", ["csv", "jsonl.gz", "parquet", "arrow"])
def test_standard_output_gets_any_format_but_a_database(
    format: str, site: LoopbackServer, tmp_path: Path
) -> None:
    usp("export", site.url, "-o", f"{tmp_path}/x.{format}")
    done = subprocess.run(
        [*USP, "export", site.url, "-o", "-", "-f", format, "-q"],
        capture_output=True,
        check=True,
        env=environment(),
    )
    assert done.stdout == (tmp_path / f"x.{format}").read_bytes()


@POSIX
def test_a_closed_pipe_ends_it_quietly(site: LoopbackServer) -> None:
    site.site["/a.xml"] = urlset(*(f"http://h.example/{at}" for at in range(30_000)))
    command = " ".join([*USP, "export", site.url, "-o", "-", "-f", "csv"])
    done = run("/bin/bash", "-o", "pipefail", "-c", f"{command} | head -n 2")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1].startswith(f"{site.url},http://h.example/0,")


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_standard_output_is_one_line(site: LoopbackServer) -> None:
    done = redirected(">/dev/full", "export", site.url, "-o", "-", "-f", "csv")
    assert done.code == 3
    told = "usp: error: cannot write to standard output: No space left on device"
    assert done.messages == [told]
    device = usp("export", site.url, "-o", "/dev/full", "-f", "csv")
    assert device.code == 3
    assert device.messages == ["usp: error: cannot write /dev/full: No space left on device"]


@POSIX
@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.db"])
def test_a_full_disk_is_one_line_and_leaves_nothing(
    name: str, site: LoopbackServer, tmp_path: Path
) -> None:
    site.site["/a.xml"] = urlset(*(f"http://h.example/{at}" for at in range(1_000)))
    limited = f"ulimit -f 4; exec {' '.join(USP)} export {site.url} -o {tmp_path}/{name}"
    done = run("/bin/sh", "-c", limited)
    assert done.code == 3, done.err
    assert len(done.messages) == 1
    assert names_in(tmp_path) == []


def endless(handler: Handler) -> None:
    """A sitemap that never ends."""
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"<urlset>")
    for at in range(100_000):
        handler.wfile.write(b"<url><loc>http://h.example/%d</loc></url>" % at * 100)
        time.sleep(0.01)


@POSIX
@pytest.mark.parametrize(
    ("how", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_an_export_that_is_stopped_leaves_no_half_file(
    how: signal.Signals, code: int, site: LoopbackServer, tmp_path: Path
) -> None:
    site.robots("/a.xml", "/endless.xml")
    site.site["/endless.xml"] = endless
    process = start("export", site.url, "-o", f"{tmp_path}/x.csv")
    deadline = time.monotonic() + 60
    while not (names_in(tmp_path) and "/endless.xml" in [one.path for one in site.requests]):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, b"")
    assert "x.csv" not in names_in(tmp_path)
    assert how is signal.SIGKILL or not names_in(tmp_path)
    assert usp("export", f"{tmp_path / 'a.txt'}", "-o", f"{tmp_path}/x.csv").code == 2
    (tmp_path / "a.txt").write_text("http://h.example/\n")
    assert usp("export", f"{tmp_path / 'a.txt'}", "-o", f"{tmp_path}/x.csv").code == 0
    assert names_in(tmp_path) == ["a.txt", "x.csv"]


def test_many_sources_come_from_a_file(site: LoopbackServer, tmp_path: Path) -> None:
    listed = [f"{site.at('/a.xml')}", "", "# a comment", UNREACHABLE]
    (tmp_path / "sites.txt").write_text("\n".join(listed))
    out = f"{tmp_path}/x.jsonl"
    done = usp("export", site.url, "--from", f"{tmp_path}/sites.txt", "-o", out, "-k")
    assert done.code == 0
    rows = [json.loads(line) for line in Path(out).read_text().splitlines()]
    assert [row["site"] for row in rows] == [site.url] * 3 + [site.at("/a.xml")] * 3
    assert any(line.startswith(f"usp: unreachable: {UNREACHABLE}") for line in done.messages)
    assert "found: 2 sitemaps, 6 pages, " in done.err


def test_every_source_is_checked_before_the_first_is_fetched(
    site: LoopbackServer, tmp_path: Path
) -> None:
    package.export(site.url, tmp_path / "pages.db")
    site.requests.clear()
    (tmp_path / "folder").mkdir()
    for wrong, message in (
        ("folder", "folder can't be read: Is a directory"),
        ("pages.db", "pages.db is an SQLite database, not a sitemap"),
    ):
        done = usp("export", site.url, wrong, "-o", "x.csv", cwd=tmp_path)
        assert (done.code, len(done.messages)) == (2, 1)
        assert message in done.err
    assert site.requested == []


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    done = usp("export", "-", "-", "-o", f"{tmp_path}/x.csv")
    assert (done.code, done.err) == (2, "usp: error: standard input, -, can be read once only\n")
    done = usp("export", "-", "--from", "-", "-o", f"{tmp_path}/x.csv")
    assert (done.code, names_in(tmp_path)) == (2, [])


@pytest.mark.parametrize("name", ["x.parquet", "x.jsonl", "x.db", "x.arrow", "folder/"])
@pytest.mark.parametrize("option", ["--bom", "--escape-formulas"])
def test_an_option_for_spreadsheets_is_refused_for_other_formats(
    site: LoopbackServer, tmp_path: Path, name: str, option: str
) -> None:
    done = usp("export", site.url, "-o", f"{tmp_path}/{name}", option)
    assert done.code == 2
    assert done.err.startswith("usp: error: ")
    assert " is for csv and tsv, not for " in done.err
    assert (names_in(tmp_path), site.requests) == ([], [])


def test_the_last_line_names_a_source_that_could_not_be_read(
    site: LoopbackServer, tmp_path: Path
) -> None:
    sources = (UNREACHABLE, site.url, f"{UNREACHABLE}other/")
    done = usp("export", *sources, "-o", f"{tmp_path}/x.csv", "--max-attempts", "1")
    assert done.code == 0
    assert done.partial == (
        f"partial: 2 sources gave no sitemaps: {UNREACHABLE} (unreachable), and 1 more"
    )


def test_the_last_line_counts_sources_that_gave_nothing_by_outcome(
    server: LoopbackServer, tmp_path: Path
) -> None:
    with LoopbackServer() as refusing:
        refusing.otherwise = 403
        none, blocked = server.url, refusing.url
        for sources, code, line in (
            ([none, blocked], 1, "2 sources gave no sitemaps: 1 none, 1 blocked"),
            ([UNREACHABLE, blocked, UNREACHABLE], 3, "3 sources gave no sitemaps: 2 unreachable, "),
            ([none, none], 1, "no sitemap found at 2 sources"),
            ([blocked, blocked], 3, "blocked: 2 sources"),
        ):
            for options in ([], ["-q"]):
                path = f"{tmp_path}/x.csv"
                done = usp("export", *sources, "-k", "-o", path, "--replace", *options)
                assert done.code == code
                assert done.messages[-1].startswith(f"usp: {line}")
                assert len(done.messages) == 1 or not options


def test_what_is_damaged_is_told_once_whatever_the_number_of_sources(
    site: LoopbackServer, tmp_path: Path
) -> None:
    site.site["/cut.xml"] = urlset("http://h.example/1")[:-9] + b"<url><loc>http://h.example/2"
    done = usp("export", site.at("/a.xml"), site.at("/cut.xml"), "-o", f"{tmp_path}/x.csv")
    assert [line for line in done.messages if "/cut.xml: " in line] == done.messages[-1:]
    assert "; partial: 1 sitemap incomplete: " in done.err


def test_what_robots_txt_forbids_is_unread_and_not_incomplete(
    site: LoopbackServer, tmp_path: Path
) -> None:
    site.site["/robots.txt"] = (
        f"User-agent: *\nDisallow: /b\nSitemap: {site.at('/a.xml')}\nSitemap: {site.at('/b.xml')}\n"
    )
    done = usp("export", site.url, "-k", "-o", f"{tmp_path}/x.csv", "--robots", "obey")
    assert done.partial == "partial: 1 sitemap could not be read"
    assert sum("/b.xml" in line for line in done.messages) == 1


def test_several_tables_in_json_lines_and_in_a_folder(site: LoopbackServer, tmp_path: Path) -> None:
    done = usp("export", site.url, "-o", f"{tmp_path}/x.jsonl", "--table", "sites,sitemaps")
    assert done.code == 0
    first, *rows = map(json.loads, (tmp_path / "x.jsonl").read_text().splitlines())
    assert first["schema_version"] == 1
    assert {row["table"] for row in rows} == {"sites", "sitemaps"}
    assert (
        usp("export", site.url, "-o", f"{tmp_path}/out/", "-f", "csv", "--table", "pages").code == 0
    )
    assert names_in(tmp_path / "out") == ["pages.csv"]
