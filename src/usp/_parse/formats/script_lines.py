"""The messages of scripts among lines: what they interrupt, as far as that is certain.

PHP prints a message wherever it is in its output. As HTML it begins with a line break in markup, on
the line that it interrupts: without the message, that line is what was written. As text it begins
with a line break, so it can't be told from a message that has a line of its own: where the next
line may be the rest of the one before, the URL is skipped. An error that ends the script ends its
list, too. Messages inside of a single text are in ``values.script_messages``.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from usp._parse.diagnostics import Diagnostics, Position, ReadPosition
from usp._parse.input.lines import LineReader
from usp._parse.values.html_page import PAGE_START
from usp._parse.values.plain import CUT_SCHEME
from usp._parse.values.script_messages import (
    MESSAGE_END,
    MESSAGE_START,
    is_fatal,
    may_have_message,
    without_line_break,
)

_SEVERAL_LINES: Final = re.compile(r"\bFatal error")
"""The only kind of message that may have several lines: an exception that nothing caught."""
_URL_START: Final = re.compile("https?://", re.IGNORECASE)
_CUT_SCHEME: Final = re.compile(CUT_SCHEME, re.IGNORECASE)
_MAX_JOINED: Final = 8192
"""A longer line is no URL: nothing is added to it, so that the time stays linear."""
_MAX_HELD: Final = 256
"""How many messages are held until it is known what follows them."""
_ENDED: Final = ("SM209", "a script's error ends the list: lines may be missing")


class LineSyntax(NamedTuple):
    """What a line means in a format."""

    has_url: Callable[[str], object]
    """Tells whether a line has a URL, or would have."""
    begins: Callable[[str], object]
    """Tells whether a line is certainly not the rest of another one."""
    completes: Callable[[str, str], object]
    """Tells whether a line certainly is the rest of another one."""
    code: str
    """The problem with a line from which a message was removed."""


class _Message(NamedTuple):
    """A message in a line."""

    start: int
    before: str
    """The text between the message before it and this one."""
    is_html: bool
    ends_script: bool
    is_whole: bool


_Line = tuple[str, Position]
"""A line and its position."""


@dataclass(slots=True)
class ScriptLines:
    """Removes the messages among the lines of one document.

    A line that is interrupted gets the mark of a page in it (``PAGE_START``), so that it is skipped
    like one with a page. Each line is held until it is known what follows it.
    """

    reader: LineReader
    diagnostics: Diagnostics
    syntax: LineSyntax
    _held: _Line | None = None
    _messages: list[_Line] = field(default_factory=list)  # after the line that is held
    _is_html: bool = True  # whether all of them are
    _gap: _Line | None = None  # an empty line, or a line break, after them

    def feed(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines before the last one of these; the position is that of each."""
        reader = self.reader
        for text in lines:
            line = text, reader.position
            if not (self._messages or may_have_message(text)):  # nearly all
                held, self._held = self._held, line
                if held:
                    reader.shown = held[1]
                    yield held[0]
                    reader.shown = None
            else:
                messages, rest = _messages_in(text)
                found = self._tell(line, messages, rest) if messages else self._take(line)
                yield from self._show(found)

    def end(self) -> Iterator[str]:
        """Yield the last lines."""
        yield from self._show(self._release())

    def _show(self, lines: Iterable[_Line]) -> Iterator[str]:
        for text, position in lines:
            self.reader.shown = position
            yield text
            self.reader.shown = None

    def _release(self) -> Iterator[_Line]:
        """Yield the line that is held, which is whole, and what follows it."""
        if self._held:
            yield self._held
            if self._messages and self._is_html:
                self._report(self._held)
            else:
                yield from self._messages
        if self._gap:
            yield self._gap
        self._hold(None)

    def _hold(self, line: _Line | None) -> None:
        self._held, self._gap, self._is_html = line, None, True
        self._messages.clear()

    def _interrupt(self, line: _Line) -> Iterator[_Line]:
        """Yield a line whose rest is not known, marked as such."""
        yield line[0] + PAGE_START, line[1]
        self._hold(None)

    def _report(self, line: _Line) -> None:
        message = "a script's message was removed from a line"
        position = line[1] if self.diagnostics.locating else None
        self.diagnostics.report(self.syntax.code, message, position=position)

    def _take(self, line: _Line) -> Iterator[_Line]:
        """Handle a line that is no message: after one, it may be the rest of the line before."""
        held = self._held
        if held is None or not self._messages:
            yield from self._release()
            self._hold(line)
        elif self._gap is None and not without_line_break(line[0]):
            self._gap = line  # of the line that was interrupted, or of another message
        elif self._gap or self.syntax.begins(line[0]):
            yield from self._release()
            self._hold(line)
        elif len(held[0]) <= _MAX_JOINED and (
            self._is_html or self.syntax.completes(held[0], line[0])
        ):
            self._report(held)
            self._hold((held[0] + line[0], held[1]))
        else:
            yield from self._interrupt(held)
            self._hold(line)

    def _tell(self, line: _Line, messages: list[_Message], rest: str) -> Iterator[_Line]:
        """Handle the messages in a line, and what stands before and behind them."""
        for message in messages:
            yield from self._take_before(message, line[1])
            held = self._held
            if held is None or not self.syntax.has_url(held[0]):
                yield from self._release()
                yield line if message is messages[0] else (line[0][message.start :], line[1])
                if message.ends_script:
                    position = line[1] if self.diagnostics.locating else None
                    self.diagnostics.report(*_ENDED, position=position)
                return
            if message.ends_script or not message.is_whole:
                yield from self._interrupt(held)
                return
            self._gap = None
            if not self._messages or self._messages[-1] is not line:
                yield from self._make_room()
                self._messages.append(line)
            self._is_html = self._is_html and message.is_html
        if rest:
            yield from self._take((rest, line[1]))

    def _make_room(self) -> Iterator[_Line]:
        """Yield the messages that are held if they are many, before the line that is held."""
        if len(self._messages) == _MAX_HELD:
            yield from () if self._is_html else self._messages
            self._messages.clear()

    def _take_before(self, message: _Message, position: Position) -> Iterator[_Line]:
        if message.before:
            yield from self._take((message.before, position))
        elif message.is_html and self._gap is None and self._held and not self._messages:
            # The line break before it is on the line that it interrupts.
            before = without_line_break(self._held[0])
            if before == self._held[0]:
                yield from self._release()
            elif before:
                self._held = before, self._held[1]


def lines_without_messages(
    chunks: Iterable[bytes], diagnostics: Diagnostics, start: ReadPosition, syntax: LineSyntax
) -> Iterator[str]:
    """Yield the lines of a document, without what scripts printed among them."""
    reader = LineReader(diagnostics, start)
    later = iter(chunks)
    first, second = next(later, b""), next(later, None)
    if second is None and not may_have_message(first.decode("latin-1")):  # nearly all
        yield from reader.read(first)
        yield from reader.end()
        return
    lines = ScriptLines(reader, diagnostics, syntax)
    for chunk in chain([first, second or b""], later):
        yield from lines.feed(reader.read(chunk))
    yield from lines.feed(reader.end())
    yield from lines.end()


def _messages_in(line: str) -> tuple[list[_Message], str]:
    """Return the messages in a line, and what stands behind the last one."""
    messages: list[_Message] = []
    at = 0
    while start := MESSAGE_START.search(line, at):
        before = line[at : start.start()]
        end = MESSAGE_END.search(line, start.end())
        is_html, ends_script = start[0].startswith("<b>"), is_fatal(start[0])
        # The first line of a fatal error that has several: on its own, or right after a URL.
        is_first = _SEVERAL_LINES.search(start[0]) and (not before or _ends_in_url(before))
        if end is None and not (is_html or is_first):
            break
        text = without_line_break(before)
        messages.append(_Message(start.start(), text, is_html, ends_script, end is not None))
        at = end.end() if end else len(line)
    return messages, line[at:]


def _ends_in_url(text: str) -> bool:
    """Tell whether a URL, or its beginning, is at the end of a text."""
    if not text or text[-1].isspace():
        return False
    word = text.rsplit(None, 1)[-1]
    is_cut = _CUT_SCHEME.fullmatch(word) is not None
    return is_cut or _URL_START.search(word.rpartition("#")[2]) is not None
