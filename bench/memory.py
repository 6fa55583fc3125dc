"""Memory: what a hostile site can make the reader hold.

Each case is a sitemap behind a robots.txt on a loopback server, crawled and walked by a fresh
process, whose highest resident memory is compared with what it had before. Both sides get at most
3 GB of address space and 60 seconds. Where a case has sound entries before and after the attack,
there are a thousand of each. Linux only: the figures come from ``/proc``.
"""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, count, repeat
from typing import Any, Final

from bench.documents import FAULTS, FORMATS, SITEMAPS
from bench.results import Cell, Table
from bench.sides import OURS, Reader, Side, reference
from tests.server import Handler, LoopbackServer

MIB: Final = 1024 * 1024
MOST: Final = 150.0
"""MiB above the idle process."""
ADDRESS_SPACE: Final = 3 * 1024**3
SECONDS: Final = 60.0
SOUND: Final = 1_000
UNPACKED: Final = 600 * 1000 * 1000
LONG: Final = 100 * MIB
HEADINGS: Final = (
    "case",
    "MiB",
    "seconds",
    "found",
    "MiB of 1.8.1",
    "seconds of 1.8.1",
    "found by 1.8.1",
)

Chunks = Iterable[bytes]


def entries(numbers: Iterable[int]) -> Iterator[bytes]:
    """Write short entries, a chunk of a thousand at a time."""
    chunk: list[bytes] = []
    for number in numbers:
        chunk.append(b"<url><loc>http://h.example/%d</loc></url>\n" % number)
        if len(chunk) == SOUND:
            yield b"".join(chunk)
            chunk.clear()
    yield b"".join(chunk)


def filler(unit: bytes, size: int) -> Iterator[bytes]:
    """Write the unit again and again, as many bytes as asked for, a MiB or so at a time."""
    block = unit * (MIB // len(unit))
    whole, rest = divmod(size // len(unit) * len(unit), len(block))
    yield from repeat(block, whole)
    yield block[:rest]


def urlset(*parts: Chunks) -> Iterator[bytes]:
    """Write a urlset of sound entries with an attack in the middle."""
    before, after = entries(range(SOUND)), entries(range(SOUND, 2 * SOUND))
    yield f"<urlset {SITEMAPS}>\n".encode()
    yield from chain(before, *parts, after)
    yield b"</urlset>\n"


def damaged() -> Iterator[bytes]:
    """Write entries without end, each with a fault."""
    form, spoil = FORMATS["urlset"], FAULTS["bare &"]
    for number in count():
        yield spoil(form, form.entry.format(number=number)).encode() + b"\n"


def lines() -> Iterator[bytes]:
    """Write a text sitemap without end."""
    for number in count():
        first = number * SOUND
        yield b"".join(b"http://h.example/%d\n" % at for at in range(first, first + SOUND))


def gzipped(chunks: Chunks) -> Iterator[bytes]:
    """Pack the chunks as they come."""
    packer = zlib.compressobj(1, wbits=16 + zlib.MAX_WBITS)
    for chunk in chunks:
        yield packer.compress(chunk)
    yield packer.flush()


@dataclass(frozen=True, slots=True)
class Case:
    """One attack: the body, written as it is sent, and how it is sent."""

    body: Callable[[], Chunks]
    name: str = "sitemap.xml"
    headers: Mapping[str, str] = field(default_factory=dict)


@cache
def bomb() -> list[bytes]:
    """Pack a document of 600 MB into less than one, once, so that packing isn't timed."""
    return [b"".join(gzipped(urlset(filler(b" ", UNPACKED))))]


CASES: Final[Mapping[str, Case]] = {
    "gzip bomb as .gz": Case(bomb, "sitemap.xml.gz"),
    "gzip bomb as Content-Encoding": Case(bomb, headers={"Content-Encoding": "gzip"}),
    "endless urlset, all pages": Case(lambda: urlset(entries(count(SOUND)))),
    "endless urlset, each entry damaged": Case(lambda: urlset(damaged())),
    "endless urlset, blanks": Case(lambda: urlset(repeat(b" " * MIB))),
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
        "endless urlset, blanks",
        "endless urlset, each entry damaged",
        "endless text, all URLs",
        "text of 100 MiB",
        "comment of 100 MiB",
    }
)
"""Cases that take long, with us or with 1.8.1, and are left out of the quick run."""


def run(*, full: bool) -> Iterator[Table]:
    """Measure every case."""
    if sys.platform != "linux":
        print("memory is left out: it is measured on Linux only")
        return
    rule = f"at most {MOST:g} MiB above the idle process"
    table = Table("peak resident memory above the idle process", HEADINGS, rule)
    with LoopbackServer() as server:
        for number, (name, case) in enumerate(CASES.items()):
            if name in SLOW and not full:
                continue
            homepage = server.at(f"/{number}/")
            server.site[f"/{number}/robots.txt"] = f"Sitemap: {homepage}{case.name}\n"
            server.site[f"/{number}/{case.name}"] = _serve(case)
            ours = _measure(OURS, homepage)
            if not (isinstance(ours[0], float) and ours[0] <= MOST):
                table.broken.append(name)
            other = reference()
            theirs = _measure(other, homepage) if other else (None, None, None)
            table.rows.append([name, *ours, *theirs])
    yield table


def _serve(case: Case) -> Callable[[Handler], None]:
    """Send the body until it ends or the client hangs up."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        for name, value in case.headers.items():
            handler.send_header(name, value)
        handler.send_header("Connection", "close")
        handler.end_headers()
        for chunk in case.body():
            handler.wfile.write(chunk)

    return answer


def _measure(side: Side, homepage: str) -> tuple[Cell, Cell, Cell]:
    """Crawl in a fresh process: MiB above idle, seconds, what was found."""
    with Reader(side, address_space=ADDRESS_SPACE, seconds=SECONDS) as reader:
        found = reader.ask("crawl", homepage)
    return found["above_idle"], found.get("seconds"), found.get("error") or _result(found)


def _result(found: Mapping[str, Any]) -> Cell:
    invalid = found["sitemaps"].get("InvalidSitemap")
    return f"{found['pages']:,} pages" + (" (invalid)" if invalid else "")
