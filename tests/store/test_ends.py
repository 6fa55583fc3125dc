"""Nothing is left on disk, whatever way a process ends."""

import signal
import sys
import time
from pathlib import Path

import pytest

from tests.server import LoopbackServer
from tests.store.programs import (
    PAGES,
    PYTHON,
    TREE,
    WAYS,
    command,
    large_site,
    spools,
    started,
    talking,
    wait_for_spool,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@pytest.mark.parametrize("way", [*WAYS, "command"])
def test_after_the_end(server: LoopbackServer, tmp_path: Path, way: str) -> None:
    large_site(server, ends=True)
    with started(command(way, server.url), tmp_path) as process:
        out, err = process.communicate(timeout=60)
    pages = len(out.splitlines()) if way == "command" else int(out)
    assert (process.returncode, pages, err) == (0, PAGES + 1, b"")
    assert list(tmp_path.iterdir()) == []


@posix
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("way", [*WAYS, "command"])
def test_after_a_signal_in_the_middle(
    server: LoopbackServer, tmp_path: Path, way: str, end: signal.Signals
) -> None:
    large_site(server, ends=False)
    with started(command(way, server.url), tmp_path) as process:
        wait_for_spool(process, tmp_path)
        # tempfile looks for a moment whether the directory is any good.
        deadline = time.monotonic() + 20
        while "/b.xml" not in server.asked or list(tmp_path.iterdir()):
            assert time.monotonic() < deadline, "it has no name from the beginning"
            time.sleep(0.01)
        process.send_signal(end)
        process.communicate(timeout=20)
    assert process.returncode
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("left", ["error", "exit"])
def test_after_an_exception(server: LoopbackServer, tmp_path: Path, left: str) -> None:
    large_site(server, ends=True)
    ends = {"error": "raise ValueError(tree.url)", "exit": "import os; os._exit(1)"}
    program = TREE + "next(tree.all_pages()); " + ends[left]
    with started([*PYTHON, program, server.url], tmp_path) as process:
        process.communicate(timeout=60)
    assert process.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_disk_is_given_back_while_a_program_goes_on(server: LoopbackServer, tmp_path: Path) -> None:
    large_site(server, ends=True)
    program = WAYS["stream"] + "; sys.stdout.flush(); sys.stdin.readline()"
    with talking([*PYTHON, program, server.url], tmp_path) as say:
        assert say.next_line() == str(PAGES + 1)
        assert spools(say.pid, tmp_path) == set()


def test_disk_is_given_back_when_a_stream_is_left_early(
    server: LoopbackServer, tmp_path: Path
) -> None:
    """Though somebody still holds it, say to ask what came of it."""
    large_site(server, ends=False)
    program = (
        "import sys, usp; pages = usp.iter_pages(sys.argv[1]); next(pages); "
        "print('one', flush=True); sys.stdin.readline(); "
        "pages.close(); print(pages.outcome, flush=True); sys.stdin.readline()"
    )
    with talking([*PYTHON, program, server.url], tmp_path) as say:
        assert say.next_line() == "one"
        assert len(spools(say.pid, tmp_path)) == 1
        assert say.next_line() == "found"
        assert spools(say.pid, tmp_path) == set()


@pytest.mark.parametrize("close", ["pages.close()", "asyncio.run(pages.aclose())"])
def test_disk_is_given_back_when_a_stream_is_never_read(tmp_path: Path, close: str) -> None:
    file = tmp_path / "large.txt"
    file.write_text("http://h.example/a/page\n" * 10_000)
    module = "usp.aio" if "asyncio" in close else "usp"
    program = (
        f"import asyncio, sys, {module}; pages = {module}.iter_pages(sys.argv[1]); "
        "print('begun', flush=True); sys.stdin.readline(); "
        f"{close}; print(pages.outcome, flush=True); sys.stdin.readline()"
    )
    with talking([*PYTHON, program, str(file)], tmp_path) as say:
        assert say.next_line() == "begun"
        assert len(spools(say.pid, tmp_path)) == 1
        assert say.next_line() == "found"
        assert spools(say.pid, tmp_path) == set()


def test_disk_is_given_back_with_the_tree(server: LoopbackServer, tmp_path: Path) -> None:
    large_site(server, ends=True)
    told = "print({}, flush=True); sys.stdin.readline(); "
    held = TREE + told.format("len(list(tree.all_sitemaps()))")
    program = held + "del tree; import gc; gc.collect(); " + told.format(0)
    with talking([*PYTHON, program, server.url], tmp_path) as say:
        assert say.next_line() == "4"
        assert len(spools(say.pid, tmp_path)) == 1
        assert say.next_line() == "0"
        assert spools(say.pid, tmp_path) == set()
