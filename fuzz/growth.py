"""The growth target: documents of repeated tokens, and what twice the document costs.

An input is a *recipe*: a few bytes, each of which names a token. The document of a recipe has any
size: tokens that stand once at its beginning, tokens that are repeated, others that are repeated
after them (so that end tags may follow their start tags), and tokens at its end. A ``@`` in a token
becomes a number, so that names and URLs may all be different.

Everything is read from it in one reading, as a stream does: children, pages with all fields,
problems. A document of 160 kB may take 1.5 s of CPU time, and at most 2.9 times as much as one of
half its size: less than quadratic time, with a tolerance. Seconds are those of a nominal machine
(``tests.speed``). What takes longer is measured once more before it counts.
"""

from __future__ import annotations

import gc
import gzip
import math
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from fuzz import limits
from fuzz.growth_tokens import COMMON, FORMATS, LIKE_TEXT, TOKENS
from tests.speed import Stopwatch
from usp._parse.diagnostics import KEPT_PROBLEMS
from usp._parse.document import Pages, Source, inspect
from usp._parse.input.sniff import Kind

SMALL: Final = 40_000
SIZE: Final = 160_000
"""In bytes, before compression."""
MAX_SECONDS: Final = 1.5
MAX_GROWTH: Final = 2.9
NOISE: Final = 0.1
"""In seconds: half the document takes at least this long in the comparison."""

_COMMON_SHARE: Final = 0.4
_ROOT_SHARE: Final = 0.9
_AFTER_SHARE: Final = 0.3
"""How many tokens are of those that all formats have in common, how many documents begin with a
root element, and how many have a second part that is repeated."""
_NEXT_PART: Final = 255
"""A byte of a recipe: the next part of the document begins."""
_OPTIONS: Final = 2
"""The bytes before the tokens: how the document is stored, and how it is read."""

Check = Callable[[bytes], None]
Storage = Callable[[bytes], bytes]
_STORAGES: Final[tuple[Storage, ...]] = (
    *(bytes for _ in range(10)),
    lambda data: gzip.compress(data, 1, mtime=0),
    lambda data: gzip.compress(gzip.compress(data, 1, mtime=0), 1, mtime=0),
    lambda data: gzip.compress(data[:64], 1, mtime=0) * (len(data) // 64),
    lambda data: gzip.compress(gzip.compress(b"", 1, mtime=0) * (len(data) // 20), 1) + data,
    lambda data: data.decode("utf-8", "replace").encode("utf-16"),
    lambda data: b"<?xml version='1.0' encoding='gb18030'?>" + data,
    lambda data: b"<?xml version='1.0' encoding='iso-2022-jp'?>" + data,
)  # fmt: skip
"""How a document is stored; most are as they are."""


_READ_AS: Final[tuple[tuple[Kind | None, str], ...]] = (
    (None, "https://h.example/a/sitemap.xml"),
    (None, "https://h.example/robots.txt"),
    (Kind.HOMEPAGE, "https://h.example/"),
)
"""The kind that is given, and the URL."""


class GrowthError(AssertionError):
    """A document takes too much time for its size."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A document of any size."""

    storage: Storage
    read_as: tuple[Kind | None, str]
    expat_only: bool
    extensions: bool
    once: tuple[bytes, ...]
    repeated: tuple[bytes, ...]
    repeated_after: tuple[bytes, ...]
    last: tuple[bytes, ...]

    @classmethod
    def of(cls, data: bytes) -> Recipe:
        """Read a recipe; every sequence of bytes is one."""
        storage, options = (data + b"\0\0")[:_OPTIONS]
        parts: list[list[bytes]] = [[]]
        for byte in data[_OPTIONS:]:
            if byte == _NEXT_PART:
                parts.append([])
            else:
                parts[-1].append(TOKENS[byte % len(TOKENS)])
        once, repeated, after, last = (tuple(part) for part in [*parts, [], [], [], []][:4])
        return cls(
            _STORAGES[storage % len(_STORAGES)],
            _READ_AS[options % len(_READ_AS)],
            bool(options & 64),
            bool(options & 128),
            once,
            repeated,
            after,
            last,
        )

    def document(self, size: int) -> bytes:
        """Return the document of about this size."""
        share = size // 2 if self.repeated_after else size
        return self.storage(
            b"".join(
                [
                    *(token.replace(b"@", b"0") for token in self.once),
                    *_repeated(self.repeated, share),
                    *_repeated(self.repeated_after, share),
                    *self.last,
                ]
            )
        )

    def read(self, size: int) -> float:
        """Read everything from the document of this size; return its nominal CPU time."""
        data = self.document(size)
        kind, url = self.read_as
        gc.collect()
        with Stopwatch() as watch:
            source = Source([data], url, extensions=self.extensions, expat_only=self.expat_only)
            pages = inspect(source, kind).pages
            for page in pages.walk(with_problems=True) if isinstance(pages, Pages) else pages:
                page.to_dict(extended=True)
            if isinstance(pages, Pages) and len(pages.problems) > KEPT_PROBLEMS + 1:
                raise GrowthError(f"{len(pages.problems)} problems are kept")
        return watch.seconds

    def __str__(self) -> str:
        names = ("once", "repeated", "repeated_after", "last")
        parts = [f"{name}={b''.join(getattr(self, name))!r}" for name in names]
        stored = self.storage(b"<urlset>" * 20)[:24]
        options = f"{self.read_as}, expat_only={self.expat_only}, extensions={self.extensions}"
        return f"{', '.join(parts)}, {options}, stored as {stored!r}"


def _repeated(tokens: tuple[bytes, ...], size: int) -> Iterator[bytes]:
    unit, length = b"".join(tokens), 0
    while unit and length < size:
        for number in range(size // len(unit) + 1):
            piece = unit.replace(b"@", b"%d" % number)
            length += len(piece)
            if length > size:
                return
            yield piece


def draw(rng: Random) -> bytes:
    """Return a random recipe: mostly tokens of one format, some that all have in common."""
    first, count = FORMATS[rng.randrange(len(FORMATS))]

    def tokens(most: int) -> bytes:
        return bytes(
            rng.randrange(*COMMON) if rng.random() < _COMMON_SHARE else first + rng.randrange(count)
            for _ in range(rng.randint(0, most))
        )

    separator = bytes([_NEXT_PART])
    # Nearly all begin with the root element of the format, its first token.
    root = bytes([first]) if rng.random() < _ROOT_SHARE else b""
    after = tokens(2) if rng.random() < _AFTER_SHARE else b""
    parts = [root + tokens(3), tokens(4) or b"\0", after, tokens(2)]
    read_as = rng.choice([0, 0, 1, 2]) if first in LIKE_TEXT else 0
    options = read_as + 3 * rng.randrange(85)
    return bytes([rng.randrange(256), options]) + separator.join(parts)


def growth(data: bytes) -> None:
    """The document of any recipe is read in time that is in line with its size."""
    recipe = Recipe.of(data)
    if finding := finding_of(recipe.read):
        raise GrowthError(f"{finding}: {recipe}")


def finding_of(read: Callable[[int], float]) -> str:
    """Return what is wrong with the times of a reading, given its size; empty if nothing is.

    What takes too long is measured again. Where a limit is reached between two sizes, which costs a
    second reading for example, the next step must be too large as well.
    """
    for size in (SMALL, SIZE):
        seconds = read(size)
        if seconds > MAX_SECONDS and (seconds := min(seconds, read(size))) > MAX_SECONDS:
            return f"{seconds:.2f} s for {size} bytes"
    if seconds <= MAX_GROWTH * NOISE:
        return ""
    half = read(SIZE // 2)
    if seconds <= MAX_GROWTH * max(half, NOISE):
        return ""
    seconds, half = min(seconds, read(SIZE)), max(half, read(SIZE // 2), NOISE)
    if min(seconds / half, read(2 * SIZE) / seconds) <= MAX_GROWTH:
        return ""
    return f"{half:.2f} s for half, {seconds:.2f} s for {SIZE} bytes"


def kept_if_killed(check: Check, path: Path) -> Check:
    """Return a check that limits the CPU time of the process; its input is in the file then.

    The limit ends the process at once: a signal handler of Python would wait until a call into C
    returns.
    """

    def limited(data: bytes) -> None:
        path.write_bytes(data)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        most = math.ceil(time.process_time()) + 2 * limits.SECONDS_AN_INPUT
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
        try:
            check(data)
        finally:
            path.unlink()

    return limited
