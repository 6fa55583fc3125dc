"""The lines of a text document, with a limit on their length.

The last line of a document that is truncated is skipped: the start of a URL is another URL.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.values.text import decode_line

_LINE_END: Final = re.compile(rb"\r\n?|\n")
MAX_LINE: Final = 64 * 1024
"""How many bytes a line may have; a longer one is skipped."""


def read_lines(chunks: Iterable[bytes], diagnostics: Diagnostics) -> Iterator[str]:
    """Yield the lines, trimmed; one that is too long or truncated is empty, and reported.

    The position of the diagnostics is that of the last line.
    """
    position: Position = (1, 0)
    diagnostics.position_of = lambda _at: position
    diagnostics.here = 0
    for number, (line, offset, ended) in enumerate(_bounded_lines(chunks), 1):
        position = (number, offset)
        text = ""
        if line is None:
            diagnostics.report("SM310", f"a line longer than {MAX_LINE} bytes was skipped")
        elif diagnostics.truncated and not ended and line.strip():
            diagnostics.report("SM209", "the last line is truncated and was skipped")
        else:
            text = decode_line(line)
        yield text


def _bounded_lines(chunks: Iterable[bytes]) -> Iterator[tuple[bytes | None, int, bool]]:
    """Yield each line, its offset, and whether it has an end.

    A line that is too long is None, so that memory is bounded.
    """
    incomplete, too_long = b"", False
    start = read = 0
    after_return = False
    for chunk in chunks:
        begin = int(after_return and chunk.startswith(b"\n"))  # the second half of CR LF
        start += begin
        for end in _LINE_END.finditer(chunk, begin):
            line = incomplete + chunk[begin : end.start()]
            yield (None if too_long or len(line) > MAX_LINE else line), start, True
            incomplete, too_long = b"", False
            begin = end.end()
            start = read + begin
        incomplete = b"" if too_long else incomplete + chunk[begin:]
        too_long = too_long or len(incomplete) > MAX_LINE
        incomplete = b"" if too_long else incomplete
        read += len(chunk)
        after_return = chunk.endswith(b"\r") if chunk else after_return
    yield (None if too_long else incomplete), start, False
