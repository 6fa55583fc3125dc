"""``usp diff`` as a process: output, exit codes, one line for what is wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import Finished, usp
from tests.server import LoopbackServer, urlset

SITE = "https://example.org/"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Two lists: B lacks one URL of A, and has one more."""
    for name, pages in (("a.txt", "132"), ("b.txt", "423")):
        (tmp_path / name).write_text("".join(f"{SITE}{page}\n" for page in pages), "utf-8")
    return str(tmp_path / "a.txt"), str(tmp_path / "b.txt")


def without_time(done: Finished) -> str:
    return done.err.rpartition(", ")[0]


def test_differences_are_printed_in_order_with_a_summary(files: tuple[str, str]) -> None:
    done = usp("diff", *files)
    assert done.code == 0
    assert done.out == f"- removed  {SITE}1\n+ added    {SITE}4\n"
    summary = "compared: 3 URLs with 3 URLs: 1 added, 1 removed, 2 same"
    assert without_time(done) == summary


def test_programs_get_urls_or_objects_and_an_exit_code(files: tuple[str, str]) -> None:
    urls = usp("diff", *files, "-f", "urls", "--emit", "added", "--exit-code", "-q")
    assert urls == Finished(1, f"{SITE}4\n", "")
    assert usp("diff", *files, "--emit", "moved", "--exit-code", "-q") == Finished(0, "", "")
    assert usp("diff", files[0], files[0], "--exit-code", "-q") == Finished(0, "", "")
    line = usp("diff", *files, "-f", "jsonl").out.splitlines()[1]
    assert json.loads(line) == {
        "change": "added",
        "url": f"{SITE}4",
        "old_url": None,
        "sitemap_url": None,
        "old_sitemap_url": None,
        "lastmod": None,
        "old_lastmod": None,
        "fields": [],
    }


def test_urls_can_be_written_differently(tmp_path: Path) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("id,where\n1,http://old.example/A?x=1&y=2\n2,http://old.example/b\n", "utf-8")
    b.write_text("Seite;Klicks\nhttps://www.new.example/a/?y=2&x=1;5\n", "utf-8")
    done = usp(
        *("diff", str(a), str(b), "--column", "where", "--column", "Seite"),
        *("--map", "http://old.example/=https://new.example/"),
        *("--ignore", "scheme,www,slash,case,query-order"),
    )
    assert done.out == "- removed  http://old.example/b\n"
    assert done.err.startswith("compared: 2 URLs with 1 URL: 1 removed, 1 same")


def test_standard_input_can_be_one_side(files: tuple[str, str]) -> None:
    from tests.cli.command import redirected

    done = redirected(f"<{files[1]}", "diff", files[0], "-", "-f", "urls", "-q")
    assert done == Finished(0, f"{SITE}1\n{SITE}4\n", "")


def test_what_changed_is_shown_with_dates_fields_and_sitemaps(tmp_path: Path) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    head = "url,sitemap_url,lastmod,priority\n"
    a.write_text(
        f"{head}{SITE}1,{SITE}a.xml,2026-11-01T00:00:00Z,0.5\n{SITE}2,{SITE}b.xml,,\n", "utf-8"
    )
    b.write_text(
        f"{head}{SITE}1,{SITE}a.xml,2026-11-02T08:00:00Z,0.6\n{SITE}2,{SITE}a.xml,,\n", "utf-8"
    )
    assert usp("diff", str(a), str(b)).out.splitlines() == [
        f"~ changed  {SITE}1  2026-11-01T00:00:00Z -> 2026-11-02T08:00:00Z, priority",
        f"> moved    {SITE}2  {SITE}b.xml -> {SITE}a.xml",
    ]


def test_rows_without_a_url_are_left_out_and_counted(tmp_path: Path) -> None:
    listed, table = tmp_path / "a.txt", tmp_path / "b.csv"
    listed.write_text(f"{SITE}1\nseen on Monday\n/2\n", "utf-8")
    table.write_text(f"Page,Clicks\n{SITE}1,5\n/2,3\n(not set),1\nTotal,9\n", "utf-8")
    done = usp("diff", str(listed), str(table))
    assert (done.code, done.out) == (0, "")
    assert f"{listed}: 1 row without a URL left out" in done.err
    assert f"{table}: 2 rows without a URL left out" in done.err
    assert "compared: 2 URLs with 2 URLs: 2 same" in done.err
    table.write_text("Page,Clicks\nexample.org/1,5\n", "utf-8")
    none = usp("diff", str(listed), str(table))
    assert (none.code, none.out) == (2, "")
    assert f"{table} has no URLs: 'example.org/1' is none" in none.err


def test_urls_of_an_export_are_compared_whatever_they_are(tmp_path: Path) -> None:
    for name, url in (("a.csv", "mailto:a@example.org"), ("b.csv", "mailto:b@example.org")):
        (tmp_path / name).write_text(f"url,sitemap_url\n{url},{SITE}a.xml\n", "utf-8")
    done = usp("diff", "a.csv", "b.csv", "-f", "urls", "-q", cwd=tmp_path)
    assert done == Finished(0, "mailto:a@example.org\nmailto:b@example.org\n", "")


def test_a_site_that_was_read_in_part_is_one_line_and_exit_code_3(
    server: LoopbackServer, files: tuple[str, str]
) -> None:
    server.robots("/a.xml", "/b.xml")
    server.site["/a.xml"] = f"<urlset><url><loc>{SITE}1</loc></url></urlset>"
    done = usp("diff", files[0], server.url, "--max-attempts", "1")
    assert done.code == 3
    assert done.out == f"? maybe-removed {SITE}2\n? maybe-removed {SITE}3\n"
    missing = server.at("/b.xml")
    told = f"usp: {server.url} was read in part ({missing}): more may be there than was found"
    assert told in done.err
    assert done.err.splitlines()[-1].endswith(f"; partial: {missing}")
    server.site["/a.xml"] = f"<urlset><url><loc>{SITE}9</loc></url></urlset>"
    assert usp("diff", files[0], server.url, "--max-attempts", "1", "--exit-code", "-q").code == 1


def test_a_damaged_sitemap_of_either_side_is_named(server: LoopbackServer, tmp_path: Path) -> None:
    server.robots("/a.xml", "/b.xml")
    server.site["/a.xml"] = f"<urlset><url><loc>{SITE}1</loc></url></urlset>"
    server.site["/b.xml"] = f"<urlset><url><loc>{SITE}2</loc></url><url><loc>{SITE}"
    export = tmp_path / "site.db"
    assert usp("export", server.url, "-o", str(export), "-q").code == 0
    for left, right in ((server.url, server.url), (str(export), server.url)):
        done = usp("diff", left, right)
        assert (done.code, done.out) == (3, "")
        assert f"usp: {left} was read in part ({server.at('/b.xml')}): more" in done.err
        assert done.err.splitlines()[-1].endswith(f"; partial: {server.at('/b.xml')}")


def test_a_site_that_gives_nothing_is_one_line_and_exit_code_3(
    server: LoopbackServer, files: tuple[str, str]
) -> None:
    done = usp("diff", files[0], server.url)
    assert (done.code, done.out) == (3, "")
    assert done.messages == [f"usp: {server.url}: it has no sitemap, so nothing was compared"]


def test_the_output_is_whole_or_absent(files: tuple[str, str], tmp_path: Path) -> None:
    out = tmp_path / "found.txt"
    assert usp("diff", *files, "-o", str(out), "-q") == Finished(0, "", "")
    assert len(out.read_text().splitlines()) == 2
    again = usp("diff", *files, "-o", str(out))
    assert again.code == 2
    assert "exists already: use --replace or --append" in again.err


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["--ignore", "host"], "--ignore must be some of scheme, www, slash, case, query-order"),
        (["--map", "https://old.example/"], "--map must be OLD=NEW, not 'https://old.example/'"),
        (["--emit", "new"], "--emit must be some of added, removed"),
        (["--column", "a", "--column", "b", "--column", "c"], "--column can be given twice"),
        (["--since", "48h"], "there is no option --since"),
        (["more"], "unexpected argument: 'more'"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    args: list[str], reason: str, files: tuple[str, str]
) -> None:
    done = usp("diff", *files, *args)
    assert done.code == 2
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert reason in line


def test_a_file_that_can_not_be_read_is_one_line(files: tuple[str, str]) -> None:
    done = usp("diff", files[0], "missing.parquet")
    assert done == Finished(
        2, "", "usp: error: missing.parquet can't be read: No such file or directory.\n"
    )


def test_what_is_compared_can_be_recorded_and_replayed(
    server: LoopbackServer, tmp_path: Path
) -> None:
    file = str(tmp_path / "r.warc.gz")
    server.site["/a.xml"] = urlset("http://h.example/1")
    server.site["/b.xml"] = urlset("http://h.example/1", "http://h.example/2")
    command = ("diff", server.at("/a.xml"), server.at("/b.xml"), "-f", "urls")
    recorded = usp(*command, "--record", file)
    server.site.clear()
    assert (recorded.code, recorded.out) == (0, "http://h.example/2\n")
    assert usp(*command, "--replay", file).out == recorded.out


def test_nothing_is_recorded_where_nothing_is_fetched(tmp_path: Path) -> None:
    listed, file = tmp_path / "a.txt", tmp_path / "r.warc.gz"
    listed.write_text("http://h.example/1\n")
    ended = usp("diff", str(listed), str(listed), "--record", str(file))
    assert (ended.code, ended.out, file.exists()) == (2, "", False)
    assert "nothing is fetched" in ended.err


@pytest.mark.parametrize("command", [["diff", "-", "{file}"], ["report", "-", "-f", "markdown"]])
def test_a_silent_standard_input_is_waited_for_as_long_as_there_is_time(
    command: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("http://h.example/1\n")
    words = [word.format(file=file) for word in command]
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing):
        ended = subprocess.run(
            [sys.executable, "-m", "usp", *words, "--max-seconds", "0.3"],
            stdin=reading, capture_output=True, text=True, check=False, timeout=20,
        )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == "usp: error: standard input: nothing came within 0.3 s\n"
