"""CPU time in seconds of a nominal machine, so that limits on it hold on any machine.

A second of CPU time is not the same everywhere: machines differ by a factor of four, and one that
shares its cores with others is half as fast from one moment to the next. So, while a function runs,
a signal interrupts it now and then for a short reference work, much like the work of a parser, and
the function's CPU time is given in units of what that work took meanwhile:

    with Stopwatch() as watch:
        consume(document)
    assert watch.seconds < 1.5

On the nominal machine ten million additions in a loop of Python 3.11 take 0.36 s, and the reference
work 1 ms. Where there are no such signals, the reference work is done after the function. Only for
the main thread; one stopwatch may run within another.
"""

from __future__ import annotations

import gc
import re
import signal
import sys
import time
from dataclasses import dataclass
from typing import ClassVar, Final, Self
from xml.parsers import expat

NOMINAL: Final = 0.001
"""In seconds: the CPU time of the reference work on the nominal machine."""
INTERVAL: Final = 0.025
"""In seconds of CPU time: how often the reference work is done."""
FEWEST: Final = 4
"""How often it is done at least, if need be after the function."""

_DOCUMENT: Final = "\n".join(
    f"<url><loc>https://h.example/{at}</loc><lastmod>2024-01-{at % 28 + 1:02}</lastmod></url>"
    for at in range(200)
)
_XML: Final = f"<urlset>{_DOCUMENT}</urlset>".encode()
_ENTRY: Final = re.compile(r"<url><loc>([^<&]*+)</loc><lastmod>([^<]*+)</lastmod></url>")
_TAG: Final = re.compile(r"<(/?)(\w++)[^>]*+>")


@dataclass(slots=True)
class _Entry:
    url: str
    date: str
    at: int


def reference_work() -> None:
    """Do what parsers do: events of expat, patterns, slices, small objects."""
    names: list[str] = []
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = lambda name, _: names.append(name)
    parser.CharacterDataHandler = lambda _: None
    parser.Parse(_XML, True)
    found = [_Entry(one[1], one[2], one.start()) for one in _ENTRY.finditer(_DOCUMENT)]
    urls = {one.url.partition("://")[2].lower(): one for one in found}
    at = depth = 0
    while tag := _TAG.search(_DOCUMENT, at):
        depth += -1 if tag[1] else 1
        at = tag.end()
        _DOCUMENT[at : at + 40].strip()
    assert (len(urls), len(names), depth) == (200, 601, 0)


class Stopwatch:
    """Measures the CPU time of all threads while it runs."""

    seconds: float
    """CPU time on the nominal machine."""
    slowness: float
    """How many times as long as on the nominal machine everything took."""
    _running: ClassVar = 0
    _worked: ClassVar = 0.0
    """CPU time of the reference work so far, for all stopwatches."""
    _times: ClassVar = 0

    def __enter__(self) -> Self:
        if not Stopwatch._running:
            _work()  # the first time takes longer
            _interrupt(INTERVAL)
        Stopwatch._running += 1
        self._began = time.process_time(), Stopwatch._worked, Stopwatch._times
        return self

    def __exit__(self, *_: object) -> None:
        ended = time.process_time()
        began, worked, times = self._began
        own = ended - began - (Stopwatch._worked - worked)
        Stopwatch._running -= 1
        if not Stopwatch._running:
            _interrupt(0)
        while Stopwatch._times - times < FEWEST:
            _work()
        each = (Stopwatch._worked - worked) / (Stopwatch._times - times)
        self.slowness = each / NOMINAL
        self.seconds = own / self.slowness


def _interrupt(interval: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, interval, interval)
        signal.signal(signal.SIGPROF, (lambda *_: _work()) if interval else signal.SIG_IGN)


def _work() -> None:
    """Do the reference work and count it; whatever is in the way, such as too deep a recursion."""
    collecting = gc.isenabled()
    gc.disable()  # what the function has in memory is not to be looked through here
    began = time.thread_time()
    try:
        reference_work()
        Stopwatch._times += 1
    except (RecursionError, MemoryError):
        return
    finally:
        Stopwatch._worked += time.thread_time() - began
        if collecting:
            gc.enable()
