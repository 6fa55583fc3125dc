"""Reading XML entry by entry with expat, and resuming after a fault.

expat decides what well-formed XML means. The pattern reader takes over where the next entries match
the pattern of the document. Where expat stops inside an entry, ``recovery`` reads that entry and a
new expat parser continues after it; where it stops between entries, reading resumes at the next
entry. So a fault costs its own entry at most, and the time stays linear.

The bytes from the start of the current entry on are buffered, and never more than ``MAX_ENTRY``:
older versions of expat take quadratic time for one huge token, so they never get one. expat is fed
from the root element on and is never outside of all elements again, so it never sees a DOCTYPE.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from xml.parsers import expat

from usp._parse.diagnostics import START, Diagnostics, Position, ReadPosition
from usp._parse.input.chunks import rechunk
from usp._parse.pattern.groups import MatchRun
from usp._parse.pattern.pattern_reader import PatternReader
from usp._parse.xml.boundaries import ROOT_END, boundaries_for
from usp._parse.xml.entry_builder import Entry, EntryBuilder
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.recovery import recover_entry
from usp._parse.xml.resync import (
    END_TAG,
    find_malformed_start,
    find_next_start,
    skip_comment,
    skip_end_tags,
)

MAX_ENTRY: Final = 1024 * 1024
_STEPWISE_BYTES: Final = 16 * 1024
"""How many bytes after a fault are fed to expat an entry at a time."""
_CHILD_URL: Final = re.compile(
    rb"<(?:[\w.-]+:)?sitemap[\s>].*?</(?:[\w.-]+:)?loc\s*>", re.IGNORECASE | re.DOTALL
)
_AFTER_ROOT: Final = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
_BLANKS: Final = re.compile(rb"[ \t\r\n]*+")
_IMPLIED_ROOT: Final = "_"
"""The element that is opened around entries without a root element."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """Where expat stopped inside an entry, and why."""

    entry_start: int
    offset: int
    message: str


class XmlReader:
    """Reads the entries of one document, given from its root element on.

    Offsets are counted in bytes of UTF-8 from there.
    """

    def __init__(
        self,
        grammar: Grammar,
        diagnostics: Diagnostics,
        root: ReadPosition = START,
        *,
        rootless: bool = False,
        expat_only: bool = False,
    ) -> None:
        """Start at a root element, given its position in the original document.

        ``expat_only`` switches the pattern reader off: the result is the same.
        """
        self._diagnostics = diagnostics
        diagnostics.position_of = self._position_of
        self._builder = EntryBuilder(grammar, self._offset)
        self._pattern_reader = None if expat_only else PatternReader(grammar)
        boundaries = boundaries_for(grammar)
        self._starts, self._resume_points = boundaries.starts, boundaries.resume_points
        self._any_boundary, self._ends = boundaries.any_boundary, boundaries.ends
        self._is_sitemap = grammar.plain_texts
        self._entry_count = 0  # a run counts as one
        self._completed: list[Entry | MatchRun] = []  # those that were not yielded yet
        self._reported: set[tuple[str, str]] = set()  # structure problems
        self._buffer = b""
        self._buffer_start = 0  # the offset of the first byte in the buffer
        self._root = self._buffer_position = root
        self._last_position = 0, root  # the last offset whose position was needed
        self._fed_to = 0  # the offset up to which expat has been fed
        self._parser_start = 0  # the offset of the parser's own byte 0
        self._rootless = rootless
        self._root_ended = False
        self._resumed_at = 0
        self._stepwise_to = 0  # up to this offset, entries are fed one by one
        self._between_entries = (
            False  # the parser has consumed all it was fed, up to an entry's end
        )
        self._fault: _Fault | None = None  # in an entry whose end was not read yet
        self._parser = self._new_parser([_IMPLIED_ROOT] if rootless else [])

    def read(self, chunks: Iterable[bytes]) -> Iterator[Entry | MatchRun]:
        """Yield the entries as they are completed, those that match the pattern as runs."""
        try:
            for chunk in rechunk(chunks):
                start = 0
                while start < len(chunk):
                    # Never more than MAX_ENTRY: the result must not depend on the chunk size.
                    size = max(self._needed_from + MAX_ENTRY - self._buffer_end, 1)
                    self._buffer += chunk[start : start + size]
                    start += size
                    yield from self._read_buffer(final=False)
                    self._trim_buffer()
            yield from self._read_buffer(final=True)
            if not self._entry_count and self._builder.has_other_content and self._is_sitemap:
                self._diagnostics.report(
                    "SM204", "there are no entries", position=self._root.position
                )
        finally:
            self._release()

    def _read_buffer(self, *, final: bool) -> Iterator[Entry | MatchRun]:
        """Yield the entries of the buffer, a run of them as soon as it is read."""
        if self._pattern_reader:
            self._pattern_reader.show(self._buffer)
        while self._advance(final=final):
            yield from self._take_completed()
        yield from self._take_completed()

    def _release(self) -> None:
        """Break the reference cycles, so that the buffer is freed together with the reader."""
        self._diagnostics.position_of = None
        self._builder.position = int
        self._parser.StartElementHandler = None
        self._parser.EndElementHandler = None
        self._parser.CharacterDataHandler = None

    def _take_completed(self) -> list[Entry | MatchRun]:
        builder = self._builder
        for offset in builder.unclosed_entries:
            self._diagnostics.report("SM210", "an entry is not closed", at=offset)
        builder.unclosed_entries.clear()
        self._completed += builder.completed
        self._entry_count += len(self._completed)
        builder.completed = []
        completed, self._completed = self._completed, []
        for problem, first in builder.structure_problems.items():
            if problem not in self._reported:
                self._reported.add(problem)
                position = self._root.position if first is None else self._position_of(first)
                self._diagnostics.report(*problem, position=position)
        return completed

    @property
    def _buffer_end(self) -> int:
        return self._buffer_start + len(self._buffer)

    def _offset(self) -> int:
        """Return the current offset, for the builder."""
        if self._fault:
            return self._fault.entry_start
        return self._parser_start + self._parser.CurrentByteIndex

    def _position_of(self, offset: int) -> Position:
        """Return the position of an offset, counted from the last one: most come in order."""
        known, position = self._last_position
        if not self._buffer_start <= known <= offset:
            known, position = self._buffer_start, self._buffer_position
        begin, end = known - self._buffer_start, max(offset - self._buffer_start, 0)
        self._last_position = max(offset, known), position.past(self._buffer[begin:end])
        return self._last_position[1].position

    def _new_parser(self, path: list[str]) -> expat.XMLParserType:
        """Return an expat parser inside the elements that are open around the entries."""
        parser = expat.ParserCreate("utf-8")  # overrides the XML declaration
        parser.buffer_text = True
        if hasattr(parser, "SetReparseDeferralEnabled"):  # not needed, since tokens are bounded
            parser.SetReparseDeferralEnabled(False)
        head = "".join(f"<{name}>" for name in path).encode()
        if head:
            parser.Parse(head, False)
        self._parser_start = self._fed_to - len(head)
        parser.StartElementHandler = self._builder.start
        parser.EndElementHandler = self._builder.end
        parser.CharacterDataHandler = self._builder.text
        return parser

    def _resume(self, offset: int) -> None:
        """Continue with a new parser, between entries."""
        self._stepwise_to = offset + _STEPWISE_BYTES
        self._fed_to = self._resumed_at = offset
        self._between_entries = True
        self._parser = self._new_parser(self._builder.path or [_IMPLIED_ROOT])

    def _advance(self, *, final: bool) -> bool:
        """Read to the end of the buffer, past any number of faults.

        Stop after each run of entries: True if there may be more.
        """
        while True:
            if self._fault:
                if not self._recover_entry(self._fault, final=final):
                    return False
            else:
                self._feed(final=final)
            if not self._fault and self._fed_to >= self._buffer_end:
                return False
            if self._completed:
                return True

    def _feed(self, *, final: bool) -> None:
        """Feed expat the whole buffer, or one entry while the pattern reader may take over.

        After a fault it is also one entry at a time, for a while. A comment or CDATA that a fault
        opens may extend to the end of the document: with the whole buffer, expat would read that
        far again and again, once for each such fault.
        """
        if self._between_entries and self._pattern_reader and self._read_run(self._pattern_reader):
            return
        builder = self._builder
        begin = self._fed_to - self._buffer_start
        after_fault = self._fed_to < self._stepwise_to
        learning = self._pattern_reader is not None and self._pattern_reader.is_active
        boundaries = self._any_boundary if after_fault else self._ends if learning else None
        boundary = boundaries.search(self._buffer, begin + 1) if boundaries else None
        is_end = bool(boundary and boundary[1])
        stop = len(self._buffer)
        if boundary:
            stop = boundary.end() if is_end else boundary.start()
        self._between_entries = False
        try:
            self._parser.Parse(memoryview(self._buffer)[begin:stop], final and boundary is None)
        except expat.ExpatError as error:
            self._handle_error(error, final=final)
            return
        self._fed_to = self._buffer_start + stop
        if boundary and is_end and builder.last_entry_end == self._buffer_start + boundary.start():
            self._between_entries = True
            self._learn(stop)
        elif is_end and not after_fault and self._pattern_reader:
            # Else expat would read a long entry again at each end tag inside it.
            self._pattern_reader.miss()
        entry_start = builder.entry_start
        swallowed = (
            boundary
            and self._starts.match(self._buffer, begin)
            and entry_start != self._buffer_start + begin
        )
        if after_fault and entry_start is not None and (is_end or swallowed):
            # Its end tag, or the next entry, is inside something that it doesn't close.
            offset = self._buffer_start + begin
            self._fault = _Fault(entry_start, offset, "it contains something that is not closed")

    def _read_run(self, pattern_reader: PatternReader) -> bool:
        """Let the pattern reader read what it can; expat continues after it as if it had read it.

        True if it has read some: there may be more, of another kind.
        """
        builder = self._builder
        begin = self._fed_to - self._buffer_start
        run, stop = pattern_reader.read(begin, builder.scope, self._buffer_start)
        if run:
            self._completed += builder.completed
            builder.completed = []
            self._completed.append(run)
            self._fed_to += stop - begin
            self._parser_start += stop - begin
            builder.last_entry_end = self._fed_to
        return run is not None

    def _learn(self, stop: int) -> None:
        """Show the pattern reader the entry that ends here."""
        if self._pattern_reader and self._pattern_reader.is_active:
            entry = self._builder.completed[-1]
            begin = entry[2] - self._buffer_start
            self._pattern_reader.learn(begin, stop, self._builder.scope, entry)

    def _handle_error(self, error: expat.ExpatError, *, final: bool) -> None:
        """Decide whether expat stopped inside an entry or between entries."""
        offset = max(self._parser_start + self._parser.ErrorByteIndex, self._buffer_start)
        if self._buffer.startswith(b"</", max(offset - self._buffer_start - 2, 0)):
            offset -= 2  # expat gives the position of the name in an end tag
        entry_start = self._builder.entry_start
        if entry_start is None and error.code != _AFTER_ROOT:
            begin = max(self._resumed_at - self._buffer_start, 0)
            fault = offset - self._buffer_start
            start = find_malformed_start(self._buffer, fault, begin, self._starts)
            entry_start = None if start is None else self._buffer_start + start
        if entry_start is None:
            self._resume_between_entries(error, offset, final=final)
        else:
            self._fault = _Fault(entry_start, offset, expat.ErrorString(error.code))

    def _recover_entry(self, fault: _Fault, *, final: bool) -> bool:
        """Read the malformed entry and resume after it; False if its end was not read yet."""
        builder = self._builder
        begin = fault.entry_start - self._buffer_start
        boundary = self._any_boundary.search(self._buffer, begin + 1)
        endless = boundary is None and not final
        if endless and len(self._buffer) - begin < MAX_ENTRY:
            return False
        stop = len(self._buffer)
        if boundary:
            stop = boundary.end() if boundary[1] else boundary.start()
        data = self._buffer[begin:stop]
        if endless or len(data) > MAX_ENTRY:
            message = "an entry longer than 1 MiB was skipped"
            self._diagnostics.report("SM217", message, at=fault.entry_start)
        elif boundary is None:
            self._skip_truncated_entry(fault, data)
        else:
            builder.leave_entry()
            before = len(builder.completed)
            recover_entry(data, builder)
            builder.finish_entry()
            skipped = len(builder.completed) == before or (
                self._is_sitemap and not _has_url(builder.completed[-1])
            )
            code, result = ("SM209", "skipped") if skipped else ("SM208", "repaired")
            message = f"a malformed entry was {result}: {fault.message}"
            self._diagnostics.report(code, message, at=fault.offset)
        self._fault = None
        builder.leave_entry()
        # Fed to expat, the whitespace between entries would need a step of its own.
        blanks = _BLANKS.match(self._buffer, stop)
        self._resume(self._buffer_start + (blanks.end() if blanks else stop))
        return True

    def _skip_truncated_entry(self, fault: _Fault, data: bytes) -> None:
        """Skip the entry at which the document ends; for a child sitemap its URL is enough."""
        url = _CHILD_URL.match(data)
        if url:
            self._builder.leave_entry()
            recover_entry(url[0], self._builder)
            self._builder.finish_entry()
        message = "the document is truncated inside an entry"
        self._diagnostics.report("SM207", message, at=fault.entry_start)

    def _resume_between_entries(self, error: expat.ExpatError, offset: int, *, final: bool) -> None:
        """Resume after a fault between entries: at a matching end tag, or at the next entry."""
        builder, buffer = self._builder, self._buffer
        fault = offset - self._buffer_start
        was_inside = builder.leave_entry()
        end_tag = END_TAG.match(buffer, fault)
        if end_tag and builder.close_elements_inside(end_tag[1].decode("utf-8", "replace")):
            if not was_inside:
                self._diagnostics.report_once("SM211", "an element is not closed", at=offset)
            self._resume(self._buffer_start + end_tag.start(1) - len(b"</"))
            return
        resumed_at = max(self._resumed_at - self._buffer_start, 0)
        text_before = buffer[resumed_at:fault].strip()
        if end_tag and text_before and end_tag[1].rpartition(b":")[2].lower() == b"loc":
            self._diagnostics.report("SM209", "the start of an entry is missing", at=offset)
        ended = self._root_ended or builder.root_closed or error.code == _AFTER_ROOT
        if end_tag:
            stop = skip_end_tags(buffer, fault, set(builder.path))
        else:
            begin = max(self._resumed_at, builder.last_entry_end) - self._buffer_start
            after = skip_comment(buffer, fault, max(begin, 0), self._starts)
            stop = find_next_start(buffer, after, self._resume_points, final=final)
        at_end = stop == len(buffer)
        if not builder.has_root and not at_end:
            self._rootless = True  # the start tag of the root element is malformed
        if ended and not self._rootless:
            if fault < len(buffer):
                self._diagnostics.report_once("SM206", "there is junk after the root", at=offset)
        elif final and at_end and not self._rootless:
            message = "the document is truncated: its root element is not closed"
            self._diagnostics.report("SM207", message, at=offset)
        elif fault < len(buffer):
            message = f"malformed between entries: {expat.ErrorString(error.code)}"
            self._diagnostics.report_once("SM211", message, at=offset)
        self._root_ended = ended or bool(ROOT_END.search(buffer[fault:stop]))
        self._resume(self._buffer_start + stop)

    @property
    def _needed_from(self) -> int:
        """The offset from which on bytes are still needed."""
        needed = self._fault.entry_start if self._fault else self._builder.entry_start
        needed = self._offset() if needed is None else needed
        return min(max(needed, self._buffer_start), self._buffer_end)

    def _trim_buffer(self) -> None:
        """Drop the bytes that are no longer needed, and skip what has no end."""
        needed = self._needed_from
        if self._buffer_end - needed >= MAX_ENTRY:
            # Nothing has ended for 1 MiB: an endless entry, comment or tag. Resume after it.
            message = "more than 1 MiB without an end was skipped"
            self._diagnostics.report("SM217", message, at=needed)
            self._builder.leave_entry()
            begin = needed + 1 - self._buffer_start
            start = find_next_start(self._buffer, begin, self._starts, final=False)
            self._resume(self._buffer_start + start)
            while self._advance(final=False):
                pass
            needed = self._needed_from
        if self._diagnostics.collecting:
            dropped = self._buffer[: needed - self._buffer_start]
            self._buffer_position = self._buffer_position.past(dropped)
        self._buffer = self._buffer[needed - self._buffer_start :]
        self._buffer_start = needed


def _has_url(entry: Entry) -> bool:
    """Tell whether an entry has a URL, without which it is skipped."""
    return any(key == "loc" and text.strip() for key, text in entry[1])
