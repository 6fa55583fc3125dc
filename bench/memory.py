"""Memory: how much of it a hostile site can make the parser use.

Each case is a sitemap behind a robots.txt on a loopback server. A fresh process crawls it and
iterates over its pages; its peak resident memory is compared with that before the crawl. Both
implementations get at most 3 GB of address space and 60 seconds. If a case has well-formed entries
before and after the attack, there are a thousand of each. Linux only: the figures come from
``/proc``.
"""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, count, repeat
from typing import Any, Final

from bench.documents import FAULTS, FORMATS, SITEMAPS
from bench.implementations import OURS, Implementation, WorkerProcess, reference
from bench.results import Cell, Table
from tests.server import Handler, LoopbackServer

MIB: Final = 1024 * 1024
MAX_MIB: Final = 150.0
"""The most memory above the idle process."""
ADDRESS_SPACE: Final = 3 * 1024**3
SECONDS: Final = 60.0
WELL_FORMED: Final = 1_000
DECOMPRESSED: Final = 600 * 1000 * 1000
LONG: Final = 100 * MIB
HEADINGS: Final = (
    "case",
    "MiB",
    "seconds",
    "found",
    "1.8.1, MiB",
    "1.8.1, seconds",
    "1.8.1, found",
)

Chunks = Iterable[bytes]


def entries(numbers: Iterable[int]) -> Iterator[bytes]:
    """Yield short entries, a thousand per chunk."""
    chunk: list[bytes] = []
    for number in numbers:
        chunk.append(b"<url><loc>http://h.example/%d</loc></url>\n" % number)
        if len(chunk) == WELL_FORMED:
            yield b"".join(chunk)
            chunk.clear()
    yield b"".join(chunk)


def filler(unit: bytes, size: int) -> Iterator[bytes]:
    """Yield the unit repeatedly, this many bytes in all, about one MiB per chunk."""
    block = unit * (MIB // len(unit))
    whole, rest = divmod(size // len(unit) * len(unit), len(block))
    yield from repeat(block, whole)
    yield block[:rest]


def urlset(*parts: Chunks) -> Iterator[bytes]:
    """Yield a urlset of well-formed entries with an attack in the middle."""
    before, after = entries(range(WELL_FORMED)), entries(range(WELL_FORMED, 2 * WELL_FORMED))
    yield f"<urlset {SITEMAPS}>\n".encode()
    yield from chain(before, *parts, after)
    yield b"</urlset>\n"


def malformed() -> Iterator[bytes]:
    """Yield endless entries, each with a fault."""
    form, spoil = FORMATS["urlset"], FAULTS["bare &"]
    for number in count():
        yield spoil(form, form.entry.format(number=number)).encode() + b"\n"


def lines() -> Iterator[bytes]:
    """Yield an endless text sitemap."""
    for number in count():
        first = number * WELL_FORMED
        yield b"".join(b"http://h.example/%d\n" % at for at in range(first, first + WELL_FORMED))


def gzipped(chunks: Chunks) -> Iterator[bytes]:
    """Yield the chunks compressed with gzip."""
    compressor = zlib.compressobj(1, wbits=16 + zlib.MAX_WBITS)
    for chunk in chunks:
        yield compressor.compress(chunk)
    yield compressor.flush()


@dataclass(frozen=True, slots=True)
class Case:
    """One attack: its body, generated while it is sent, its name and its headers."""

    body: Callable[[], Chunks]
    name: str = "sitemap.xml"
    headers: Mapping[str, str] = field(default_factory=dict)


@cache
def bomb() -> list[bytes]:
    """Return 600 MB compressed to less than 1 MB; cached, so that compression is not measured."""
    return [b"".join(gzipped(urlset(filler(b" ", DECOMPRESSED))))]


CASES: Final[Mapping[str, Case]] = {
    "gzip bomb as .gz": Case(bomb, "sitemap.xml.gz"),
    "gzip bomb as Content-Encoding": Case(bomb, headers={"Content-Encoding": "gzip"}),
    "endless urlset, all pages": Case(lambda: urlset(entries(count(WELL_FORMED)))),
    "endless urlset, each entry malformed": Case(lambda: urlset(malformed())),
    "endless urlset, spaces": Case(lambda: urlset(repeat(b" " * MIB))),
    "endless text, all URLs": Case(lines, "sitemap.txt"),
    "text in one line of 100 MiB": Case(lambda: filler(b"word ", LONG), "sitemap.txt"),
    "attribute of 100 MiB": Case(
        lambda: urlset([b'<url long="'], filler(b"x", LONG - MIB), [b'"></url>'])
    ),
    "text of 100 MiB": Case(
        lambda: urlset([b"<url><loc>"], filler(b"x", LONG - MIB), [b"</loc></url>"])
    ),
    "comment of 100 MiB": Case(lambda: urlset([b"<!-- "], filler(b"x", LONG - MIB), [b" -->"])),
    "ten thousand attributes": Case(
        lambda: urlset([b"<url ", *(b'a%d="1" ' % at for at in range(10_000)), b"></url>"])
    ),
    "a million nested tags": Case(
        lambda: urlset(filler(b"<a>", 3_000_000), filler(b"</a>", 4_000_000))
    ),
    "a million nested tags in an entry": Case(
        lambda: urlset(
            [b"<url>"], filler(b"<a>", 3_000_000), filler(b"</a>", 4_000_000), [b"</url>"]
        )
    ),
    "a name of a megabyte": Case(
        lambda: urlset([b"<url><"], filler(b"n", MIB), [b">1</"], filler(b"n", MIB), [b"></url>"])
    ),
}


SLOW: Final = frozenset(
    {
        "endless urlset, all pages",
        "endless urlset, spaces",
        "endless urlset, each entry malformed",
        "endless text, all URLs",
        "text of 100 MiB",
        "comment of 100 MiB",
    }
)
"""Slow cases, ours or those of 1.8.1: the quick run skips them."""


def run(*, full: bool) -> Iterator[Table]:
    """Measure every case."""
    if sys.platform != "linux":
        print("memory is skipped: it is measured on Linux only")
        return
    target = f"at most {MAX_MIB:g} MiB above the idle process"
    table = Table("peak resident memory above the idle process", HEADINGS, target)
    with LoopbackServer() as server:
        for number, (name, case) in enumerate(CASES.items()):
            if name in SLOW and not full:
                continue
            homepage = server.at(f"/{number}/")
            server.site[f"/{number}/robots.txt"] = f"Sitemap: {homepage}{case.name}\n"
            server.site[f"/{number}/{case.name}"] = _serve(case)
            ours = _measure(OURS, homepage)
            if not (isinstance(ours[0], float) and ours[0] <= MAX_MIB):
                table.failed.append(name)
            other = reference()
            theirs = _measure(other, homepage) if other else (None, None, None)
            table.rows.append([name, *ours, *theirs])
    yield table


def _serve(case: Case) -> Callable[[Handler], None]:
    """Return a handler that sends the body until it ends or the client disconnects."""

    def respond(handler: Handler) -> None:
        handler.send_response(200)
        for name, value in case.headers.items():
            handler.send_header(name, value)
        handler.send_header("Connection", "close")
        handler.end_headers()
        for chunk in case.body():
            handler.wfile.write(chunk)

    return respond


def _measure(implementation: Implementation, homepage: str) -> tuple[Cell, Cell, Cell]:
    """Crawl in a fresh process; return MiB above idle, seconds, and what was found."""
    with WorkerProcess(implementation, address_space=ADDRESS_SPACE, seconds=SECONDS) as worker:
        found = worker.run("crawl", homepage)
    return found["above_idle"], found.get("seconds"), found.get("error") or _result(found)


def _result(found: Mapping[str, Any]) -> Cell:
    invalid = found["sitemaps"].get("InvalidSitemap")
    return f"{found['pages']:,} pages" + (" (invalid)" if invalid else "")
