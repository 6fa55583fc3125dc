"""Progress on a real pseudo-terminal, and the line that it shows."""

import os
import re
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command import FOUND, TIMEOUT, environment, search_path
from tests.server import Handler, LoopbackServer, index, urlset
from usp.cli._progress import Tally, progress_line
from usp.objects.events import (
    RequestFailed,
    RequestStarted,
    ResponseReceived,
    SitemapParsed,
)
from usp.objects.fetch_info import FetchInfo

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminals", allow_module_level=True)

import fcntl
import pty
import termios

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A process whose stderr is a terminal; its stdout is a pipe, or the same terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", terminal: int) -> None:
        self.process = process
        self._terminal = terminal
        self.text = ""

    def read_until(self, wanted: Callable[[str], object]) -> str:
        """Read until the text since the last call is as wanted, and return that text."""
        start, until = len(self.text), time.monotonic() + TIMEOUT
        while not wanted(self.text[start:]):
            assert time.monotonic() < until, self.text
            if select.select([self._terminal], [], [], 0.1)[0]:
                try:
                    data = os.read(self._terminal, 65536)
                except OSError:  # the process has closed it
                    data = b""
                if not data:
                    break
                self.text += data.decode()
        return self.text[start:]

    def resize(self, columns: int) -> None:
        resize(self._terminal, columns)

    def finish(self) -> str:
        """Read all that is left, and return the last line."""
        self.read_until(lambda _text: False)
        assert self.process.wait(TIMEOUT) == 0
        return drawn(self.text)[-1] if self.text else ""


def resize(terminal: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


@contextmanager
def terminal(
    *args: str, columns: int = 80, env: dict[str, str] | None = None, stdout: bool = False
) -> Iterator[Terminal]:
    """Run ``usp`` on a terminal."""
    ours, theirs = pty.openpty()
    resize(theirs, columns)
    variables = {"TERM": "xterm-256color", **(env or {})}
    process = subprocess.Popen(
        [sys.executable, "-m", "usp", *args],
        stdin=subprocess.DEVNULL,
        stdout=theirs if stdout else subprocess.DEVNULL,
        stderr=theirs,
        env={
            name: value
            for name, value in environment(variables).items()
            if name not in {"COLUMNS", "NO_COLOR", "FORCE_COLOR"} or name in variables
        },
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.fixture
def release() -> threading.Event:
    """When it is set, the last sitemap is answered."""
    return threading.Event()


@pytest.fixture
def site(server: LoopbackServer, release: threading.Event) -> Iterator[LoopbackServer]:
    """A site whose last sitemap waits for ``release``."""

    def slow(handler: Handler) -> bytes:
        del handler
        release.wait(TIMEOUT)
        return urlset(server.at("/2"))

    server.robots("/i.xml")
    paths = [server.at(f"/{name}.xml") for name in ("lost", "a", "slow")]
    server.site |= {"/i.xml": index(*paths), "/a.xml": urlset(server.at("/1")), "/slow.xml": slow}
    yield server
    release.set()


@pytest.fixture(params=["rich", "plain"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The environment with rich, and without it."""
    if request.param == "rich":
        return {}
    (tmp_path / "rich.py").write_text("raise ImportError('hidden')\n")
    return {"PYTHONPATH": search_path(tmp_path)}


def drawn(text: str) -> list[str]:
    """The lines that were drawn, without what controls the terminal."""
    lines = re.split(r"[\r\n]", ANSI.sub("", text))
    return [line.strip() for line in lines if line.strip()]


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("columns", [80, 30])
def test_progress_fits_the_terminal_also_when_it_is_resized(
    site: LoopbackServer, release: threading.Event, kind: dict[str, str], columns: int
) -> None:
    with terminal("find", site.url, "-k", columns=columns, env=kind) as running:
        shown = drawn(running.read_until(lambda text: text.count("sitemap") >= 2))
        assert all(len(line) <= columns for line in shown)
        assert "2 sitemaps" in shown[-1]
        assert "1 failed" in shown[-1]
        assert ("127.0.0.1" in shown[-1]) == (columns == 80)
        assert ("B/s" in shown[-1]) == (columns == 80)
        running.resize(110 - columns)
        resized = drawn(running.read_until(lambda text: text.count("sitemap") >= 3))
        assert len(resized[-1]) <= 110 - columns
        assert ("B/s" in resized[-1]) == (columns == 30)
        release.set()
        last = running.finish()
    assert FOUND.fullmatch(last)


@pytest.mark.slow
def test_colours_are_those_of_rich_and_can_be_switched_off(
    site: LoopbackServer, release: threading.Event, kind: dict[str, str]
) -> None:
    for no_color in ({}, {"NO_COLOR": "1"}):
        with terminal("find", site.url, "-k", env={**kind, **no_color}) as running:
            text = running.read_until(lambda text: text.count("sitemap") >= 2)
        coloured = {code for code in COLOUR.findall(text) if re.search(r"3\d|9\d", code)}
        assert bool(coloured) == (not kind and not no_color)
    release.set()


@pytest.mark.slow
@pytest.mark.parametrize("option", ["-q", "--no-progress"])
def test_there_is_no_progress_if_it_is_not_wanted(
    site: LoopbackServer, release: threading.Event, option: str
) -> None:
    threading.Timer(1.6, release.set).start()
    with terminal("find", site.url, "-k", option) as running:
        running.finish()
    assert "\x1b" not in running.text
    assert ("found: " in running.text) == (option != "-q")


@pytest.mark.slow
def test_there_is_no_progress_where_stderr_is_no_terminal_or_quick(
    site: LoopbackServer, release: threading.Event
) -> None:
    threading.Timer(1.6, release.set).start()
    done = subprocess.run(
        [sys.executable, "-m", "usp", "find", site.url, "-k"],
        capture_output=True,
        check=True,
        env=environment(),
        timeout=TIMEOUT,
    )
    assert b"\x1b" not in done.stderr
    with terminal("find", site.url, "-k") as running:
        running.finish()
    assert "\x1b" not in running.text, "less than a second"


@pytest.mark.slow
def test_lines_on_the_same_terminal_are_the_progress(
    site: LoopbackServer, release: threading.Event
) -> None:
    with terminal("ls", site.url, "-k", "-f", "pages", stdout=True) as running:
        first = running.read_until(lambda text: "/1" in text)
        assert drawn(first) == [site.at("/1")], "it is printed before the last sitemap is answered"
        time.sleep(1.2)
        release.set()
        running.finish()
    assert "\x1b" not in running.text
    assert site.at("/2") in running.text


def test_the_line_leaves_out_what_matters_least() -> None:
    tally = Tally()
    for event in (
        RequestStarted("http://h.example/robots.txt", 0, 1, is_guess=True),
        SitemapParsed("", "", "robots", 3, is_guess=True, reason=""),
        RequestStarted("http://h.example/a.xml", 1, 1, is_guess=False),
        ResponseReceived("", "", FetchInfo(bytes_received=1_234_567)),
        SitemapParsed("", "", "urlset", 0, is_guess=False, reason=""),
        RequestFailed("", 1, "", 404, is_guess=True),
        RequestFailed("", 1, "", 404, is_guess=False),
    ):
        tally.observe(event)
    tally.pages = 1_043_221
    whole = "1 sitemap, 2 queued, 1,043,221 pages, 1.2 MB, 617.3 kB/s, 1 failed, h.example"
    assert progress_line(tally, 2.0, 80) == whole
    assert progress_line(tally, 2.0, 70) == whole.removesuffix(", h.example")
    assert progress_line(tally, 2.0, 40) == "1 sitemap, 1,043,221 pages, 1 failed"
    assert progress_line(tally, 2.0, 27) == "1 sitemap, 1,043,221 pages"
    assert progress_line(tally, 2.0, 5) == ""
    assert max(len(progress_line(tally, 2.0, width)) - width for width in range(100)) <= 0


def test_a_host_cannot_control_the_terminal() -> None:
    tally = Tally()
    tally.observe(RequestStarted("http://h\x9b31m.example/", 0, 1, is_guess=True))
    assert progress_line(tally, 1.0, 80).endswith("h%C2%9B31m.example")


def test_the_line_of_a_check_counts_live_pages() -> None:
    tally = Tally(done=3, live_pages=lambda: 1234)
    assert progress_line(tally, 2.0, 40).startswith("3 sitemaps, 1,234 live pages")
