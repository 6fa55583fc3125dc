"""Streams that are closed, full, or pipes that nobody reads.

Trouble with stderr changes neither the answer nor the exit code; trouble with stdout is told.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import TIMEOUT, USP, environment, redirected, usp
from tests.server import LoopbackServer, urlset

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such shell"),
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full"),
]

NOWHERE = "http://127.0.0.1:9/"
DEAF = ["2>&-", "2>/dev/full"]


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    """A site of which one sitemap is missing, so that there is something to tell."""
    server.robots("/a.xml", "/lost.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    return server


@pytest.mark.parametrize("options", [[], ["-vv"]], ids=["", "-vv"])
@pytest.mark.parametrize("how", DEAF)
def test_talk_that_nobody_hears_changes_nothing(
    site: LoopbackServer, how: str, options: list[str]
) -> None:
    told = usp("ls", site.url, *options)
    ended = redirected(how, "ls", site.url, *options)
    assert "could not be read" in told.err
    assert (ended.code, ended.out, ended.err) == (0, told.out, "")


@pytest.mark.parametrize("how", DEAF)
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["ls", "foo"], 2),
        (["ls", "--what"], 2),
        (["nothing"], 2),
        (["ls", NOWHERE, "-k", "-f", "pages"], 3),
    ],
)
def test_exit_code_without_a_stderr(how: str, args: list[str], code: int) -> None:
    ended = redirected(how, *args)
    assert (ended.code, ended.out, ended.err) == (code, "", "")


@pytest.mark.parametrize("options", [[], ["-vv"]], ids=["", "-vv"])
def test_a_stderr_that_nobody_reads_is_not_a_stdout_that_nobody_reads(options: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [*USP, "ls", NOWHERE, "-k", *options],
            stdout=subprocess.PIPE,
            stderr=writer,
            check=False,
            env=environment(),
            timeout=TIMEOUT,
        )
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stdout.decode()) == (3, f"{NOWHERE}\n")


@pytest.mark.parametrize("how", [">&-", ">/dev/full"])
@pytest.mark.parametrize("args", [["ls"], ["demo"], ["--version"], ["ls", "-h"], []])
def test_3_and_one_line_when_the_output_cannot_be_written(
    server: LoopbackServer, how: str, args: list[str]
) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    ended = redirected(how, *args, *([server.url] if args == ["ls"] else []))
    assert (ended.code, ended.out) == (3, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("usp: error: ")


@pytest.mark.parametrize("how", [f">&- {deaf}" for deaf in DEAF])
def test_3_when_nothing_can_be_written_at_all(how: str) -> None:
    ended = redirected(how, "demo")
    assert (ended.code, ended.out, ended.err) == (3, "", "")


def test_a_log_file_that_is_full_ends_the_log_and_nothing_else(site: LoopbackServer) -> None:
    ended = usp("ls", site.url, "-v", "-l", "/dev/full")
    assert (ended.code, ended.out) == (0, usp("ls", site.url).out)
    assert ended.err.splitlines() == [
        "usp: warning: the log ends here: [Errno 28] No space left on device",
        "usp: 1 sitemap could not be read",
    ]
