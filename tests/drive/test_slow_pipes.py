"""``max_seconds`` holds for standard input and named pipes that come slowly, or never."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import USP, environment
from tests.cli.command import usp as command
from tests.drive.ways import WAYS, Finding
from usp import Outcome

SECONDS = 0.4
LATE = SECONDS + 6
ENTRY = b"<urlset><url><loc>http://h.example/a</loc></url>"
LINES = b"http://h.example/a\nhttp://h.exam"

Way = Callable[..., Finding]
SOURCES: dict[str, Way] = {name: way for name, way in WAYS.items() if name.endswith("stream")}
"""Those that take any source."""


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no named pipes here")
    made = tmp_path / "pipe"
    os.mkfifo(made)
    return made


@pytest.fixture
def slow_pipe(pipe: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A pipe with some bytes, whose writer neither goes on nor ends."""
    with pipe.open("r+b", buffering=0) as writer:
        writer.write(request.param)
        yield pipe


def in_time(crawl: Callable[[], Any]) -> Any:
    started = time.monotonic()
    found = crawl()
    assert time.monotonic() - started < LATE
    return found


@pytest.mark.parametrize("way", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("slow_pipe", [ENTRY, LINES], indirect=True, ids=["xml", "text"])
def test_what_came_in_time_is_read(slow_pipe: Path, way: Way) -> None:
    found = in_time(lambda: way(slow_pipe, max_seconds=SECONDS))
    assert (found.outcome, found.pages) == (Outcome.PARTIAL, ["http://h.example/a"])
    assert {"SM705", "SM102"} <= {problem.code for problem in found.problems}


@pytest.mark.parametrize("way", SOURCES.values(), ids=SOURCES)
def test_a_pipe_without_a_writer_is_not_waited_for(pipe: Path, way: Way) -> None:
    found = in_time(lambda: way(pipe, max_seconds=SECONDS))
    assert (found.outcome, found.pages) == (Outcome.PARTIAL, [])
    assert [problem.code for problem in found.problems] == ["SM705"]
    assert [str(attempt.result) for attempt in found.tried] == ["unfinished"]
    with closing(os.fdopen(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "wb")):
        pass  # the thread that waits for a writer ends


def test_a_pipe_that_ends_in_time_is_whole(pipe: Path) -> None:
    with subprocess.Popen(["/bin/sh", "-c", 'printf "$1" >"$0"', str(pipe), "http://h.example/a"]):
        found = WAYS["stream"](pipe, max_seconds=60)
    assert (found.outcome, found.pages) == (Outcome.FOUND, ["http://h.example/a"])


@pytest.mark.parametrize(
    ("arguments", "printed", "expected"),
    [
        (("ls", "-", "-f", "pages"), "http://h.example/a\n", 0),
        (("check", "-", "-f", "concise"), "SM705 undecided", 3),
    ],
)
def test_the_command_ends_in_time_with_what_came(
    arguments: tuple[str, ...], printed: str, expected: int
) -> None:
    command_line = (*USP, *arguments, "--max-seconds", str(SECONDS))
    with subprocess.Popen(
        command_line,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        process.stdin.write(ENTRY)
        process.stdin.flush()
        code = process.wait(timeout=20)
        out, err = (text.decode() for text in process.communicate())
    assert (code, "Fatal" in err) == (expected, False)
    assert printed in out
    assert not {"SM102", "SM207"} & set(out.split())
    assert "limit reached" in err


def test_a_file_for_which_there_is_no_time_has_no_fault(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(ENTRY + b"</urlset>")
    for seconds in ("0", "0.000001"):
        checked = command("check", str(file), "-f", "concise", "--max-seconds", seconds)
        assert (checked.code, "SM705" in checked.out, "SM2" in checked.out) == (3, True, False)
    found = command("find", str(file), "--max-seconds", "0.000001")
    assert (found.code, "unfinished" in found.out, "not-a-sitemap" in found.out) == (0, True, False)
