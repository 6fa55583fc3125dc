"""Sorts more lines than fit in memory.

Lines are sorted a run at a time; runs are compressed into one temporary file without a name, which
the system removes however the process ends. At the end, all runs are merged. Where a block of one
run ends, what the others have up to there is sorted at once: Python's sort merges what is in order
already, at the speed of C.
"""

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from usp._store import Spool

_RUN: Final = 24 * 1024 * 1024
"""How many characters are sorted in memory; a line counts at least as many as a string takes."""
_LINE: Final = 64
_BLOCK: Final = 96 * 1024
"""How many characters of a run are read at once."""
_LEVEL: Final = 1
"""Of zlib: sorted lines begin alike, so the quickest level is enough."""

Block = tuple[int, int]
"""Where some lines are in the temporary file."""


class LineSorter:
    """Takes lines in any order, and gives them sorted, once; a line has no line feed."""

    def __init__(self, run: int = _RUN, block: int = _BLOCK) -> None:
        """Start with no lines.

        :param run: how many characters are sorted in memory.
        :param block: how many characters of a run are read at once.
        """
        self._max_run, self._block = run, block
        self._lines: list[str] = []
        self._size = 0
        self._runs: list[list[Block]] = []
        self._spool: Spool | None = None

    def add(self, lines: Sequence[str]) -> None:
        """Add some lines.

        :raises StorageError: if there is no room for them.
        """
        self._lines += lines
        self._size += sum(map(len, lines)) + _LINE * len(lines)
        if self._size >= self._max_run:
            self._write_run()

    def _write_run(self) -> None:
        if self._spool is None:
            self._spool = Spool()
        lines, self._lines = self._lines, []
        lines.sort()
        at_once = max(1, self._block * len(lines) // self._size)
        self._size = 0
        self._runs.append(
            [
                self._spool.append(_packed(lines[start : start + at_once]))
                for start in range(0, len(lines), at_once)
            ]
        )

    def merged(self) -> Iterator[list[str]]:
        """Yield all lines in order, some at a time; none of them is kept."""
        if self._spool is None:
            lines, self._lines = self._lines, []
            lines.sort()
            yield lines
            return
        if self._lines:
            self._write_run()
        runs = [_Run(self._spool, blocks) for blocks in self._runs]
        while runs:
            end = min(run.last for run in runs)
            lines = []
            for run in runs:
                lines += run.take(end)
            runs = [run for run in runs if run.has_lines]
            lines.sort()
            yield lines

    def close(self) -> None:
        """Forget all lines, and free the disk space."""
        self._lines, self._runs, self._size = [], [], 0
        if self._spool is not None:
            self._spool.close()
            self._spool = None


class _Run:
    """A sorted run while it is merged: one block of it is in memory."""

    def __init__(self, spool: Spool, blocks: list[Block]) -> None:
        self._spool = spool
        self._blocks = iter(blocks)
        self._read_block()

    def _read_block(self) -> None:
        block = next(self._blocks, None)
        self._lines = _unpacked(self._spool.read(*block)) if block else []
        self._at = 0

    @property
    def has_lines(self) -> bool:
        """Whether there are more lines."""
        return bool(self._lines)

    @property
    def last(self) -> str:
        """The last line that is in memory."""
        return self._lines[-1]

    def take(self, end: str) -> list[str]:
        """Return the lines in memory up to this one."""
        start, self._at = self._at, bisect_right(self._lines, end, self._at)
        taken = self._lines[start : self._at]
        if self._at == len(self._lines):
            self._read_block()
        return taken


def _packed(lines: list[str]) -> bytes:
    return zlib.compress("\n".join(lines).encode("utf-8", "surrogatepass"), _LEVEL)


def _unpacked(data: bytes) -> list[str]:
    return zlib.decompress(data).decode("utf-8", "surrogatepass").split("\n")
