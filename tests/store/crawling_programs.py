"""Programs that crawl, run as processes of their own, each with its own temporary directory.

``spools`` reads what a process has open from ``/proc``: tests that call it are skipped where the
system has none.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.cli.command import USP, environment
from tests.open_files import open_files
from tests.server import LoopbackServer, index, stall, urlset

PAGES: Final = 5_000
"""So many that their sitemap is too large to stay in memory."""

PYTHON: Final = (sys.executable, "-W", "always::ResourceWarning", "-c")
"""Warns of files and sockets left open. (``-X dev`` also makes asyncio log slow callbacks.)"""
TREE: Final = "import sys, usp; tree = usp.sitemap_tree(sys.argv[1]); "
PROGRAMS: Final = {
    "tree": TREE + "print(sum(1 for _ in tree.all_pages()))",
    "tree without concurrency": TREE.replace("])", "], concurrency=1)")
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
"""Programs that crawl the site in their first argument, and print how many pages it has."""


def command(program: str, url: str) -> list[str]:
    """Return the command line of one of the programs, or of ``usp`` itself (``command``)."""
    if program == "command":
        return [*USP, "ls", url, "-f", "pages"]
    return [*PYTHON, PROGRAMS[program], url]


def serve_large_site(server: LoopbackServer, *, complete: bool) -> None:
    """Serve a site with two sitemaps: a large one, and one that stalls unless ``complete``."""
    server.robots("/i.xml")
    server.site["/i.xml"] = index(server.at("/a.xml"), server.at("/b.xml"))
    server.site["/a.xml"] = urlset(*(server.at(f"/page/{n}") for n in range(PAGES)))
    server.site["/b.xml"] = urlset(server.at("/last")) if complete else stall


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


class SteppedProgram:
    """A program that prints a line, and waits for one on standard input before it continues."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._is_waiting = False
        self.pid = process.pid

    def next_line(self) -> str:
        """Let the program continue; return the line that it prints before it waits again."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._is_waiting:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        self._is_waiting = True
        return self._process.stdout.readline().decode().strip()


@contextmanager
def started_in_steps(line: list[str], folder: Path) -> Iterator[SteppedProgram]:
    """Start a program that a test steps through."""
    with started(line, folder) as process:
        yield SteppedProgram(process)


def spools(pid: int, folder: Path) -> set[str]:
    """Return the files in a temporary directory that a process has open."""
    return {file for file in open_files(pid) if Path(file).parent == folder}


def wait_for_spool(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    """Wait until a document is written to disk."""
    while not spools(process.pid, folder):
        assert process.poll() is None, "the program ended before it wrote a document to disk"
        time.sleep(0.01)
