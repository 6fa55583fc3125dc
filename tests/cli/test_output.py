"""stdout and stderr that are closed, full, or pipes without a reader.

Errors of stderr change neither the output nor the exit code; errors of stdout are reported.
"""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.command import TIMEOUT, USP, environment, redirected, run, usp
from tests.server import LoopbackServer, urlset

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such shell"),
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full"),
]

UNREACHABLE = "http://127.0.0.1:9/"
UNWRITABLE = ["2>&-", "2>/dev/full"]


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    """A site with one missing sitemap, so that there is a message."""
    server.robots("/a.xml", "/lost.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    return server


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", [[], ["-vv"]], ids=["", "-vv"])
@pytest.mark.parametrize("how", UNWRITABLE)
def test_an_unwritable_stderr_changes_nothing_else(
    site: LoopbackServer, how: str, options: list[str]
) -> None:
    normal = usp("ls", site.url, *options)
    ended = redirected(how, "ls", site.url, *options)
    assert "could not be read" in normal.err
    assert (ended.code, ended.out, ended.err) == (0, normal.out, "")


@pytest.mark.parametrize("how", UNWRITABLE)
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["ls", "foo"], 2),
        (["ls", "--what"], 2),
        (["nothing"], 2),
        (["ls", UNREACHABLE, "-k", "-f", "pages"], 3),
    ],
)
def test_exit_code_without_stderr(how: str, args: list[str], code: int) -> None:
    ended = redirected(how, *args)
    assert (ended.code, ended.out, ended.err) == (code, "", "")


@pytest.mark.parametrize("options", [[], ["-vv"]], ids=["", "-vv"])
def test_a_broken_pipe_on_stderr_is_not_one_on_stdout(options: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [*USP, "ls", UNREACHABLE, "-k", *options],
            stdout=subprocess.PIPE,
            stderr=writer,
            check=False,
            env=environment(),
            timeout=TIMEOUT,
        )
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stdout.decode()) == (3, f"{UNREACHABLE}\n")


@pytest.mark.parametrize("how", [">&-", ">/dev/full"])
@pytest.mark.parametrize("args", [["ls"], ["demo"], ["--version"], ["ls", "-h"], []])
def test_3_and_one_message_if_stdout_cannot_be_written(
    server: LoopbackServer, how: str, args: list[str]
) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    ended = redirected(how, *args, *([server.url] if args == ["ls"] else []))
    assert (ended.code, ended.out) == (3, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("usp: error: ")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("command", "name"), [("export", "x.csv"), ("export", "x.db"), ("ls", "x.txt")]
)
@pytest.mark.parametrize("how", [">&-", "<&- >&- 2>&-"])
def test_a_closed_stdout_changes_nothing_if_a_file_is_written(
    site: LoopbackServer, how: str, command: str, name: str, tmp_path: Path
) -> None:
    normal = usp(command, site.url, "-o", f"{tmp_path}/open-{name}")
    ended = redirected(how, command, site.url, "-o", f"{tmp_path}/{name}")
    assert (ended.code, ended.out) == (0, "")
    assert ended.messages == ([] if "2>" in how else normal.messages)
    if name.endswith(".db"):
        with closing(sqlite3.connect(tmp_path / name)) as database:
            assert database.execute("SELECT url FROM pages").fetchall() == [(site.at("/one"),)]
    else:
        assert (tmp_path / name).read_bytes() == (tmp_path / f"open-{name}").read_bytes()


def test_nothing_is_fetched_for_a_closed_stdout(site: LoopbackServer) -> None:
    for args in (["ls"], ["find"], ["export", "-o", "-", "-f", "csv"], ["check"]):
        ended = redirected(">&-", *args, site.url)
        message = "usp: error: cannot write standard output: Bad file descriptor\n"
        assert (ended.code, ended.err) == (3, message)
    assert site.requested == []


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["ls", "-h"]])
def test_3_and_one_message_if_stdout_is_full_and_not_buffered(args: list[str]) -> None:
    shell = ("/bin/sh", "-c", 'exec "$@" >/dev/full', "sh")
    ended = run(*shell, *USP, *args, env={"PYTHONUNBUFFERED": "1"})
    message = "usp: error: cannot write standard output: No space left on device\n"
    assert (ended.code, ended.err) == (3, message)


@pytest.mark.parametrize("how", [f">&- {how}" for how in UNWRITABLE])
def test_3_if_neither_stream_can_be_written(how: str) -> None:
    ended = redirected(how, "demo")
    assert (ended.code, ended.out, ended.err) == (3, "", "")


def test_a_full_log_file_stops_the_log_and_nothing_else(site: LoopbackServer) -> None:
    ended = usp("ls", site.url, "-v", "-l", "/dev/full")
    assert (ended.code, ended.out) == (0, usp("ls", site.url).out)
    assert ended.messages == [
        "usp: warning: logging stopped: [Errno 28] No space left on device",
    ]
    assert ended.partial == "partial: 1 sitemap could not be read"
