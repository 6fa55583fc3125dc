"""No temporary file is left behind, however a process ends; disk space is freed before that."""

import signal
import sys
import time
from pathlib import Path

import pytest

from tests.server import LoopbackServer
from tests.store.crawling_programs import (
    PAGES,
    PROGRAMS,
    PYTHON,
    TREE,
    command,
    serve_large_site,
    spools,
    started,
    started_in_steps,
    wait_for_spool,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@pytest.mark.parametrize("program", [*PROGRAMS, "command"])
def test_a_program_that_ends_leaves_no_file(
    server: LoopbackServer, tmp_path: Path, program: str
) -> None:
    serve_large_site(server, complete=True)
    with started(command(program, server.url), tmp_path) as process:
        out, err = process.communicate(timeout=60)
    pages = len(out.splitlines()) if program == "command" else int(out)
    messages = [line for line in err.splitlines() if not line.startswith(b"found: ")]
    assert (process.returncode, pages, messages) == (0, PAGES + 1, [])
    assert list(tmp_path.iterdir()) == []


@posix
@pytest.mark.sampled(4)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("program", [*PROGRAMS, "command"])
def test_a_program_that_a_signal_ends_leaves_no_file(
    server: LoopbackServer, tmp_path: Path, program: str, number: signal.Signals
) -> None:
    serve_large_site(server, complete=False)
    with started(command(program, server.url), tmp_path) as process:
        wait_for_spool(process, tmp_path)
        # tempfile itself creates and removes a file, to see whether it can write.
        deadline = time.monotonic() + 20
        while "/b.xml" not in server.requested or list(tmp_path.iterdir()):
            assert time.monotonic() < deadline, "the temporary file has a name"
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate(timeout=20)
    assert process.returncode
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("last", ["raise ValueError(tree.url)", "import os; os._exit(1)"])
def test_a_program_that_fails_leaves_no_file(
    server: LoopbackServer, tmp_path: Path, last: str
) -> None:
    serve_large_site(server, complete=True)
    program = TREE + "next(tree.all_pages()); " + last
    with started([*PYTHON, program, server.url], tmp_path) as process:
        process.communicate(timeout=60)
    assert process.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_disk_space_is_freed_when_a_stream_ends(server: LoopbackServer, tmp_path: Path) -> None:
    serve_large_site(server, complete=True)
    program = PROGRAMS["stream"] + "; sys.stdout.flush(); sys.stdin.readline()"
    with started_in_steps([*PYTHON, program, server.url], tmp_path) as running:
        assert running.next_line() == str(PAGES + 1)
        assert spools(running.pid, tmp_path) == set()


def test_disk_space_is_freed_when_a_stream_is_closed_early(
    server: LoopbackServer, tmp_path: Path
) -> None:
    """The closed stream may still be referenced, for its outcome."""
    serve_large_site(server, complete=False)
    program = (
        "import sys, usp; pages = usp.iter_pages(sys.argv[1]); next(pages); "
        "print('first page', flush=True); sys.stdin.readline(); "
        "pages.close(); print(pages.outcome, flush=True); sys.stdin.readline()"
    )
    with started_in_steps([*PYTHON, program, server.url], tmp_path) as running:
        assert running.next_line() == "first page"
        assert len(spools(running.pid, tmp_path)) == 1
        assert running.next_line() == "partial"
        assert spools(running.pid, tmp_path) == set()


@pytest.mark.parametrize(
    ("close", "spooled"), [("pages.close()", 1), ("asyncio.run(pages.aclose())", 0)]
)
def test_disk_space_is_freed_when_a_stream_is_closed_unread(
    tmp_path: Path, close: str, spooled: int
) -> None:
    """With asyncio, a file is read with the first page: it would block the event loop."""
    file = tmp_path / "large.txt"
    file.write_text("http://h.example/a/page\n" * 10_000)
    module = "usp.aio" if "asyncio" in close else "usp"
    program = (
        f"import asyncio, sys, {module}; pages = {module}.iter_pages(sys.argv[1]); "
        "print('started', flush=True); sys.stdin.readline(); "
        f"{close}; print(pages.outcome, flush=True); sys.stdin.readline()"
    )
    with started_in_steps([*PYTHON, program, str(file)], tmp_path) as running:
        assert running.next_line() == "started"
        assert len(spools(running.pid, tmp_path)) == spooled
        assert running.next_line() == "partial"
        assert spools(running.pid, tmp_path) == set()


def test_disk_space_is_freed_with_the_tree(server: LoopbackServer, tmp_path: Path) -> None:
    serve_large_site(server, complete=True)
    step = "print({}, flush=True); sys.stdin.readline(); "
    program = (
        TREE
        + step.format("len(list(tree.all_sitemaps()))")
        + "del tree; import gc; gc.collect(); "
        + step.format(0)
    )
    with started_in_steps([*PYTHON, program, server.url], tmp_path) as running:
        assert running.next_line() == "4"
        assert len(spools(running.pid, tmp_path)) == 1
        assert running.next_line() == "0"
        assert spools(running.pid, tmp_path) == set()
