"""Programs that crawl, as processes of their own with a temporary directory of their own.

Rules of this room: real processes, real signals, real files; what a process has open is read from
``/proc``, so tests that ask for it are skipped where there is none.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from tests.cli.command import USP, environment
from tests.server import LoopbackServer, index, stall, urlset

PAGES: Final = 5_000
"""Enough that their sitemap is too large to rest in memory."""

PYTHON: Final = (sys.executable, "-W", "always::ResourceWarning", "-c")
"""Says of files and sockets that were left open; asyncio doesn't say what took long."""
TREE: Final = "import sys, usp; tree = usp.sitemap_tree(sys.argv[1]); "
WAYS: Final = {
    "tree": TREE + "print(sum(1 for _ in tree.all_pages()))",
    "one by one": TREE.replace("])", "], concurrency=1)")
    + "print(sum(1 for _ in tree.all_pages()))",
    "stream": "import sys, usp; print(sum(1 for _ in usp.iter_pages(sys.argv[1])))",
    "asyncio tree": (
        "import asyncio, sys\nfrom usp import aio\n"
        "tree = asyncio.run(aio.sitemap_tree(sys.argv[1]))\n"
        "print(sum(1 for _ in tree.all_pages()))"
    ),
    "asyncio stream": (
        "import asyncio, sys\nfrom usp import aio\n"
        "async def main():\n"
        "    async with aio.iter_pages(sys.argv[1]) as pages:\n"
        "        return [page async for page in pages]\n"
        "print(len(asyncio.run(main())))"
    ),
}
"""Programs that crawl the site they are told and print how many pages it has."""


def command(way: str, url: str) -> list[str]:
    """The command line of a program, or of the command ``usp`` itself."""
    if way == "command":
        return [*USP, "ls", url, "-f", "pages"]
    return [*PYTHON, WAYS[way], url]


def large_site(server: LoopbackServer, *, ends: bool) -> None:
    """Serve a site with a large sitemap, and one that never comes unless the site ``ends``."""
    server.robots("/i.xml")
    server.site["/i.xml"] = index(server.at("/a.xml"), server.at("/b.xml"))
    server.site["/a.xml"] = urlset(*(server.at(f"/page/{n}") for n in range(PAGES)))
    server.site["/b.xml"] = urlset(server.at("/last")) if ends else stall


@contextmanager
def started(line: list[str], folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a program whose temporary directory is this folder."""
    with subprocess.Popen(
        line,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"TMPDIR": str(folder)}),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


class Talk:
    """A program that says a line and waits to be asked for the next."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._asks = False
        self.pid = process.pid

    def next_line(self) -> str:
        """Ask for a line; the program waits at its first one by itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._asks:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        self._asks = True
        return self._process.stdout.readline().decode().strip()


@contextmanager
def talking(line: list[str], folder: Path) -> Iterator[Talk]:
    """Start a program to talk with."""
    with started(line, folder) as process:
        yield Talk(process)


def spools(pid: int, folder: Path) -> set[str]:
    """The files of this folder that a process has open."""
    opened = Path(f"/proc/{pid}/fd")
    if not opened.is_dir():
        pytest.skip("this system doesn't say which files are open")
    links = set()
    for file in opened.iterdir():
        with suppress(FileNotFoundError):  # closed since
            links.add(str(file.readlink()))
    return {link for link in links if link.startswith(f"{folder}{os.sep}")}


def wait_for_spool(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Wait until a document has gone to disk."""
    while not spools(process.pid, folder):
        assert process.poll() is None, "it ended too soon"
        time.sleep(0.01)
