"""Results in files and in data formats: whole or absent, and each row while it arrives."""

import csv
import io
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import usp as package
from tests.cli.command import TIMEOUT, USP, environment, redirected, start, usp
from tests.server import Handler, LoopbackServer, stall, urlset
from usp._tables.schema import TABLES
from usp.cli._demo_site import DemoSite
from usp.cli.cli import main

FETCHING = [("ls", "tabtree"), ("ls", "pages"), ("ls", "csv"), ("find", "text")]
"""Every command that fetches, with a format of each way to print."""


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"), server.at("/2"))
    return server


@pytest.mark.slow
def test_csv_and_json_lines_have_the_pages_with_their_columns(demo_site: DemoSite) -> None:
    pages = list(package.sitemap_tree_for_homepage(demo_site.url).all_pages())
    rows = list(csv.DictReader(io.StringIO(usp("ls", demo_site.url, "-f", "csv").out)))
    lines = usp("ls", demo_site.url, "-f", "jsonl").out.split("\n")[:-1]
    objects = [json.loads(line) for line in lines]
    assert [row["url"] for row in rows] == [page.url for page in pages]
    assert [row["url"] for row in objects] == [page.url for page in pages]
    assert tuple(objects[0]) == TABLES["pages"].names
    for row, read, page in zip(rows, objects, pages, strict=True):
        assert row["site"] == read["site"] == demo_site.url
        assert int(row["images_count"]) == len(read["images"] or ()) == len(page.images or ())
        assert (row["title"] or None) == read["title"] == page.title


def answered_late(server: LoopbackServer, release: threading.Event) -> None:
    def slow(handler: Handler) -> bytes:
        del handler
        release.wait(TIMEOUT)
        return urlset(server.at("/3"))

    server.robots("/a.xml", "/late.xml")
    server.site["/late.xml"] = slow


@pytest.mark.parametrize("form", ["pages", "csv", "jsonl"])
def test_pages_are_printed_while_they_arrive(site: LoopbackServer, form: str) -> None:
    release = threading.Event()
    answered_late(site, release)
    with start("ls", site.url, "-k", "-f", form) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2 + (form == "csv"))]
        assert site.at("/2").encode() in lines[-1]
        release.set()  # only now is the last sitemap answered
        rest = process.stdout.read()
        assert process.stderr is not None
        process.stderr.read()
    assert site.at("/3").encode() in rest
    assert process.returncode == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("command", "form"), FETCHING)
def test_a_file_is_whole_or_absent(
    site: LoopbackServer, tmp_path: Path, command: str, form: str
) -> None:
    file = tmp_path / "out"
    arguments = [command, site.url, "-k", "-f", form]
    printed = usp(*arguments).out
    ended = usp(*arguments, "-o", str(file))
    assert (ended.code, ended.out) == (0, "")
    assert file.read_text(encoding="utf-8").splitlines() == printed.splitlines()
    site.requests.clear()
    ended = usp(*arguments, "-o", str(file))
    (line,) = ended.err.splitlines()
    assert (ended.code, site.requested) == (2, []), "nothing is fetched in vain"
    assert line == f"usp: error: {file} exists already: use --replace or --append"
    site.site["/a.xml"] = stall
    with start(*arguments, "-o", str(file), "--replace") as process:
        while "/a.xml" not in site.requested:
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    assert file.read_text(encoding="utf-8").splitlines() == printed.splitlines()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("form", ["pages", "csv"])
def test_a_file_is_replaced_or_continued(site: LoopbackServer, tmp_path: Path, form: str) -> None:
    file = tmp_path / "out"
    arguments = ["ls", site.url, "-k", "-f", form, "-o", str(file)]
    assert usp(*arguments, "--append").code == 0
    first = file.read_bytes().splitlines()
    assert usp(*arguments, "--append").code == 0
    header = int(form == "csv")
    assert file.read_bytes().splitlines() == [*first, *first[header:]]
    assert usp(*arguments, "--replace").code == 0
    assert file.read_bytes().splitlines() == first


@pytest.mark.parametrize("form", ["tabtree", "pages", "csv", "jsonl"])
def test_a_listing_of_yesterday_is_better_than_an_empty_one(
    server: LoopbackServer, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "out"
    arguments = ["ls", server.url, "-f", form, "-o", str(file), "--replace"]
    server.otherwise = 403
    ended = usp(*arguments)
    assert (ended.code, file.exists()) == (3, False)
    file.write_text("yesterday")
    ended = usp(*arguments)
    assert (ended.code, file.read_text()) == (3, "yesterday")
    assert ended.messages[0] == f"usp: {file} is not written: nothing could be read"
    assert ended.messages[1].startswith("usp: blocked: ")
    server.otherwise = 404
    ended = usp(*arguments)
    assert (ended.code, file.read_text() == "yesterday") == (1, False), "it has no sitemap"


def test_what_was_tried_is_written_whatever_came_of_it(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.otherwise = 403
    file = tmp_path / "out"
    ended = usp("ls", server.url, "-k", "-f", "tried", "-o", str(file))
    assert (ended.code, len(ended.messages)) == (3, 1)
    assert file.read_text().startswith("blocked\trobots.txt\t")


@pytest.mark.parametrize("form", ["pages", "csv", "jsonl"])
def test_a_last_line_without_an_end_is_ended_first(
    site: LoopbackServer, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "out"
    arguments = ["ls", site.url, "-k", "-f", form, "-o", str(file), "--append"]
    assert usp(*arguments).code == 0
    first = file.read_bytes().splitlines()
    file.write_bytes(file.read_bytes().rstrip(b"\r\n"))
    assert usp(*arguments).code == 0
    assert file.read_bytes().splitlines() == [*first, *first[int(form == "csv") :]]


def test_rows_do_not_follow_other_columns(site: LoopbackServer, tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    file.write_text("a,b\n1,2\n")
    ended = usp("ls", site.url, "-k", "-f", "csv", "-o", str(file), "--append")
    assert (ended.code, file.read_text()) == (2, "a,b\n1,2\n")
    assert "doesn't have the columns" in ended.err


@pytest.mark.parametrize(("command", "form"), FETCHING)
def test_every_command_has_one_line_and_the_right_exit_code(
    server: LoopbackServer, command: str, form: str
) -> None:
    options = ["-k", "-f", form]
    server.otherwise = 403
    ended = usp(command, server.url, *options)
    assert (ended.code, len(ended.err.splitlines())) == (3, 1)
    assert ended.err.startswith(f"usp: blocked: {server.at('/robots.txt')}: 403")
    ended = usp(command, "http://127.0.0.1:9/", *options)
    assert (ended.code, len(ended.err.splitlines())) == (3, 1)
    assert ended.err.startswith("usp: unreachable: http://127.0.0.1:9/robots.txt: ")
    server.otherwise = 404
    ended = usp(command, server.url, *options)
    assert (ended.code, ended.err) == (1, f"usp: no sitemap found at {server.url}\n")
    ended = usp(command, server.url, "--limit", "none")
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("command", "form"), FETCHING)
def test_a_full_disk_is_one_line(site: LoopbackServer, command: str, form: str) -> None:
    arguments = (command, site.url, "-k", "-f", form)
    ended = redirected("> /dev/full", *arguments)
    assert (ended.code, ended.err) == (
        3,
        "usp: error: cannot write standard output: No space left on device\n",
    )
    ended = usp(*arguments, "-o", "/dev/full")
    assert ended.code == 3
    assert ended.err == "usp: error: cannot write /dev/full: No space left on device\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("command", "form"), FETCHING)
def test_a_closed_pipe_is_no_error(site: LoopbackServer, command: str, form: str) -> None:
    many = (site.at(f"/{number}") for number in range(5000))
    site.robots(*(f"/a.xml?{number}" for number in range(100)))
    site.site["/a.xml"] = urlset(*many)
    process = subprocess.Popen(
        [*USP, command, site.url, "-k", "-f", form],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    with process:
        assert process.stdout is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read().decode()
    assert process.returncode == 0
    assert "Broken" not in err
    assert "Traceback" not in err


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="open files have no paths here")
@pytest.mark.parametrize("how", ["", ">{file}"])
def test_dev_stdout_is_standard_output(how: str, site: LoopbackServer, tmp_path: Path) -> None:
    expected = usp("ls", site.url, "-f", "csv").out
    file = tmp_path / "out"
    for command in ("ls", "export"):
        ended = redirected(
            how.format(file=file), command, site.url, "-f", "csv", "-o", "/dev/stdout"
        )
        assert (ended.code, file.read_bytes().decode() if how else ended.out) == (0, expected)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="open files have no paths here")
@pytest.mark.parametrize("command", ["ls", "export"])
def test_a_pipe_can_be_named_by_its_number(command: str, site: LoopbackServer) -> None:
    ended = redirected("3>&1", command, site.url, "-f", "csv", "-o", "/dev/fd/3")
    assert (ended.code, ended.out) == (0, usp("ls", site.url, "-f", "csv").out)


@pytest.mark.parametrize(
    ("command", "format"), [("find", "json"), ("check", "junit"), ("report", "html")]
)
def test_nothing_is_appended_to_what_is_one_document(
    command: str, format: str, site: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, site.url, "-f", format, "-o", "x", "--append"])
    assert ended.value.code == 2
    message = f"Nothing can be appended to the format {format}: a file is one document."
    assert capsys.readouterr().err == f"usp: error: {message}\n"
    assert site.requested == []


LONG = "x" * 300 + ".csv"
WRONG_FILES = [
    ("missing/out", "cannot write missing/out: No such file or directory"),
    (".", "cannot write .: it is a folder"),
    ("file.csv/x.csv", "cannot write file.csv/x.csv: Not a directory"),
    (
        "new.csv/",
        "cannot write new.csv/: it is named like a folder, with a slash at its end",
    ),
    (LONG, f"cannot write {LONG}: File name too long"),
    ("loop.csv", "cannot write loop.csv: Too many levels of symbolic links"),
]


@pytest.mark.parametrize(("name", "message"), WRONG_FILES)
def test_a_file_that_cannot_be_written_is_one_line(
    site: LoopbackServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file.csv").touch()
    Path("loop.csv").symlink_to("loop.csv")
    for more in ([], ["--replace"], ["--append"]):
        with pytest.raises(SystemExit) as ended:
            main(["ls", site.url, "-o", name, *more])
        assert (ended.value.code, capsys.readouterr().err) == (2, f"usp: error: {message}\n")
    assert site.requested == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.csv", "loop.csv"]


class FakeTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv.gz"])
def test_bytes_that_are_no_text_are_not_for_a_terminal(
    form: str,
    site: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdout", FakeTerminal())
    with pytest.raises(SystemExit) as ended:
        main(["export", site.url, "-o", "-", "-f", form])
    message = "is not for a terminal: name a file, or send it to another program."
    assert (ended.value.code, site.requested) == (2, [])
    assert capsys.readouterr().err == f"usp: error: The format {form} {message}\n"


def test_values_cannot_control_a_terminal_or_break_what_replaces_stdout(
    site: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    site.site["/a.xml"] = urlset(site.at("/\u202e\x9b31m"))
    before, sys.stdout = sys.stdout, FakeTerminal()
    try:
        main(["ls", site.url, "-k", "-f", "csv"])
        printed = sys.stdout.getvalue()
    finally:
        sys.stdout = before
    assert len(printed.splitlines()) == 2
    assert printed.isprintable() or printed.replace("\n", "").isprintable()
    main(["ls", site.url, "-k", "-f", "jsonl"])
    assert json.loads(capsys.readouterr().out)["position"] == 1
