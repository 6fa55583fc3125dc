"""Progress on a terminal, while work takes longer than a second.

``Tally`` counts the events of a crawl, ``progress_line`` writes them on one line that fits the
terminal, and ``Progress`` shows the line: with rich if that is installed, else as a plain line that
rewrites itself. A thread redraws it, since a slow site sends no events. Nothing is shown where
stderr is no terminal, and no error of the terminal reaches the command.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol, Self, TextIO, TypeVar

from usp._crawl.urls import host_and_port
from usp._display import one_line
from usp._quantities import size
from usp.objects.events import (
    Event,
    RequestFailed,
    RequestStarted,
    ResponseReceived,
    SitemapParsed,
)

DELAY: Final = 1.0
"""Seconds before anything is shown."""
_INTERVAL: Final = 0.2
_DEFAULT_WIDTH: Final = 80
_ERASE: Final = "\r\x1b[K"
_INVALID: Final = "invalid"
Page = TypeVar("Page")
_NO_SITEMAPS: Final = frozenset({"robots", "homepage"})


@dataclass(slots=True)
class Tally:
    """What a crawl has done so far."""

    done: int = 0
    """The sitemaps that were read."""
    failed: int = 0
    """The declared sitemaps that could not be."""
    listed: int = 0
    """The sitemaps that robots.txt and indexes list."""
    requested: int = 0
    """Those of them that were requested."""
    pages: int = 0
    """The pages that the command has taken."""
    bytes: int = 0
    host: str = ""
    """The host of the last request."""
    live_pages: Callable[[], int] = int
    """Returns how many live pages of a check have answered."""

    def observe(self, event: Event) -> None:
        """Count an event."""
        match event:
            case RequestStarted(url=url, attempt=attempt, is_guess=is_guess):
                self.host = host_and_port(url)
                self.requested += attempt == 1 and not is_guess
            case ResponseReceived(fetch_info=info):
                self.bytes += info.bytes_received or 0
            case SitemapParsed(kind=kind, is_guess=is_guess, sitemaps=sitemaps):
                self.listed += sitemaps
                self.done += kind != _INVALID and kind not in _NO_SITEMAPS
                self.failed += kind == _INVALID and not is_guess
            case RequestFailed(is_guess=is_guess):
                self.failed += not is_guess

    @property
    def queued(self) -> int:
        """The sitemaps that are listed and not requested yet."""
        return max(self.listed - self.requested, 0)


def progress_line(tally: Tally, seconds: float, width: int) -> str:
    """Return the progress on one line of at most so many characters.

    What matters least is left out first: the host, the rate, the bytes, the queue.
    """
    parts = [
        (0, _sitemaps(tally.done)),
        (3, f"{tally.queued:,} queued" if tally.queued else ""),
        (1, f"{tally.pages:,} pages" if tally.pages else ""),
        (1, f"{live:,} live pages" if (live := tally.live_pages()) else ""),
        (4, size(tally.bytes)),
        (5, f"{size(tally.bytes / max(seconds, DELAY))}/s"),
        (2, f"{tally.failed:,} failed" if tally.failed else ""),
        (6, one_line(tally.host)),
    ]
    return fitting(parts, width)


def fitting(parts: list[tuple[int, str]], width: int) -> str:
    """Return the parts of a line that fit; those with a higher rank are left out first."""
    chosen: list[int] = []
    for number, (_, text) in sorted(enumerate(parts), key=lambda part: part[1][0]):
        line = _joined(parts, [*chosen, number])
        if text and len(line) <= width:
            chosen.append(number)
    return _joined(parts, chosen)


def _joined(parts: list[tuple[int, str]], chosen: list[int]) -> str:
    return ", ".join(parts[number][1] for number in sorted(chosen))


def _sitemaps(done: int) -> str:
    return f"{done:,} sitemap{'' if done == 1 else 's'}"


class _Display(Protocol):
    """Shows one line, which changes."""

    def show(self) -> None: ...

    def stop(self) -> None: ...


class _PlainLine:
    """A line that rewrites itself, without colour."""

    def __init__(self, line: Callable[[int], str]) -> None:
        self._line = line

    def show(self) -> None:
        # One column less: a line that fills the terminal breaks on some.
        sys.stderr.write(f"{_ERASE}{self._line(_width() - 1)}")
        sys.stderr.flush()

    def stop(self) -> None:
        sys.stderr.write(_ERASE)
        sys.stderr.flush()


class _RichLine:
    """The same with rich: a spinner, and colours unless NO_COLOR is set."""

    def __init__(self, line: Callable[[int], str]) -> None:
        from rich.console import Console  # installed with the extra "cli", and slow to import
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        self._line = line
        self._console = Console(stderr=True)
        self._text = Text
        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(
            self._spinner,
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def show(self) -> None:
        room = self._console.width - 3  # the spinner, a space, and a free column
        self._spinner.update(text=self._text(self._line(room), no_wrap=True))
        if not self._live.is_started:
            self._live.start()
        self._live.refresh()

    def stop(self) -> None:
        self._live.stop()


def _width() -> int:
    """Return the number of columns of the terminal, which may change at any time."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _DEFAULT_WIDTH
    except (OSError, ValueError):
        return _DEFAULT_WIDTH


class Progress:
    """Shows the progress of a crawl, for the time of a ``with`` block.

    ``tally.observe`` is the observer of the crawl.
    """

    def __init__(self, *, shown: bool, line: Callable[[float, int], str] | None = None) -> None:
        """Prepare it.

        :param line: returns the line, given the seconds so far and the width; by default, that of
            the tally.
        """
        self.tally = Tally()
        self._shown = shown
        self._line = line or (lambda seconds, width: progress_line(self.tally, seconds, width))
        self._started = time.monotonic()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @classmethod
    def of(
        cls,
        args: argparse.Namespace,
        *,
        prints_to: TextIO | None = None,
        line: Callable[[float, int], str] | None = None,
    ) -> Self:
        """Return the progress of a command.

        :param prints_to: where the command prints lines while it crawls: on a terminal, those are
            the progress.
        :param line: returns the line, if it isn't that of the tally.
        """
        logs_here = args.verbose and not args.log_file
        wanted = not (args.quiet or args.no_progress or logs_here)
        shown = wanted and _is_terminal(sys.stderr) and not _is_terminal(prints_to)
        return cls(shown=shown, line=line)

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self._started

    def counted(self, pages: Iterable[Page]) -> Iterator[Page]:
        """Yield pages, and count them."""
        for page in pages:
            self.tally.pages += 1
            yield page

    def begin_output(self, out: TextIO) -> None:
        """Give way to lines on a terminal."""
        if _is_terminal(out):
            self.stop()

    def __enter__(self) -> Self:
        if self._shown:
            self._thread = threading.Thread(target=self._draw, name="usp-progress", daemon=True)
            with suppress(RuntimeError):  # no more threads: then there is no progress to see
                self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the line; it doesn't come back."""
        self._ended.set()
        if self._thread is not None and self._thread.ident is not None:
            self._thread.join()

    def _draw(self) -> None:
        if self._ended.wait(DELAY):
            return
        with suppress(OSError, ValueError):  # the terminal is gone, or stderr is closed
            display = _display(lambda width: self._line(self.seconds, width))
            try:
                while not self._ended.is_set():
                    display.show()
                    self._ended.wait(_INTERVAL)
            finally:
                display.stop()


def _display(line: Callable[[int], str]) -> _Display:
    try:
        return _RichLine(line)
    except ImportError:
        return _PlainLine(line)


def _is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a stream is a terminal that can rewrite a line."""
    with suppress(OSError, ValueError):  # closed
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    return False
