"""The lines of a text document, with a limit on their length."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.values.text import decode_line

_LINE_END: Final = re.compile(rb"\r\n?|\n")
MAX_LINE: Final = 64 * 1024
"""How many bytes a line may have; a longer one is skipped."""


def read_lines(chunks: Iterable[bytes], diagnostics: Diagnostics) -> Iterator[str]:
    """Yield the lines, trimmed; one that is too long is empty, and reported.

    The position of the diagnostics is that of the last line.
    """
    position: Position = (1, 0)
    diagnostics.position_of = lambda _at: position
    diagnostics.here = 0
    for number, (line, offset) in enumerate(_bounded_lines(chunks), 1):
        position = (number, offset)
        if line is None:
            diagnostics.report("SM310", f"a line longer than {MAX_LINE} bytes was skipped")
        yield "" if line is None else decode_line(line)


def _bounded_lines(chunks: Iterable[bytes]) -> Iterator[tuple[bytes | None, int]]:
    """Yield each line and its offset; None for one that is too long, so that memory is bounded."""
    incomplete, too_long = b"", False
    start = read = 0
    after_return = False
    for chunk in chunks:
        begin = int(after_return and chunk.startswith(b"\n"))  # the second half of CR LF
        start += begin
        for end in _LINE_END.finditer(chunk, begin):
            line = incomplete + chunk[begin : end.start()]
            yield (None if too_long or len(line) > MAX_LINE else line), start
            incomplete, too_long = b"", False
            begin = end.end()
            start = read + begin
        incomplete = b"" if too_long else incomplete + chunk[begin:]
        too_long = too_long or len(incomplete) > MAX_LINE
        incomplete = b"" if too_long else incomplete
        read += len(chunk)
        after_return = chunk.endswith(b"\r") if chunk else after_return
    yield (None if too_long else incomplete), start
