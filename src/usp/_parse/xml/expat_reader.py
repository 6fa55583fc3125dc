"""Reading XML entry by entry with expat, and resuming after a fault.

expat decides what well-formed XML means. The pattern reader takes over where the next entries match
the pattern of the document. Where expat stops inside an entry, ``recovery`` reads that entry and a
new expat parser continues after it; where it stops between entries, reading resumes at the next
entry. So a fault costs its own entry at most, and the time stays linear.

The bytes from the start of the current entry on are buffered, and never more than ``MAX_ENTRY``:
older versions of expat take quadratic time for one huge token, so they never get one. expat is fed
from the root element on and is never outside of all elements again, so it never sees a DOCTYPE. It
remembers every name, and every open element: a parser that holds more of them than any real
document has is replaced by a new one between two entries.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from xml.parsers import expat

from usp._parse.diagnostics import START, Diagnostics, ReadPosition
from usp._parse.input.chunks import rechunk
from usp._parse.pattern.groups import MatchRun
from usp._parse.pattern.pattern_reader import PatternReader
from usp._parse.xml.boundaries import ROOT_END, boundaries_for
from usp._parse.xml.entry_builder import Entry, EntryBuilder
from usp._parse.xml.expat_parser import ExpatParser
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.read_buffer import ReadBuffer
from usp._parse.xml.recovery import recover_entry
from usp._parse.xml.resync import (
    END_TAG,
    find_malformed_start,
    find_next_start,
    skip_comment,
    skip_end_tags,
)

MAX_ENTRY: Final = 1024 * 1024
_STEP: Final = 64 * 1024
"""How many bytes expat is fed at a time: it holds the interpreter lock where it finds no tags."""
_STEPWISE_BYTES: Final = 16 * 1024
"""How many bytes after a fault are fed to expat an entry at a time."""
_MAX_FAULTS: Final = 16
"""After so many faults between two entries, reading resumes at the second one."""
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
        self._buffer = ReadBuffer(root)
        diagnostics.position_of = self._buffer.position_of
        self._builder = EntryBuilder(grammar)
        self._pattern_reader = None if expat_only else PatternReader(grammar)
        boundaries = boundaries_for(grammar)
        self._starts, self._resume_points = boundaries.starts, boundaries.resume_points
        self._any_boundary, self._ends = boundaries.any_boundary, boundaries.ends
        self._is_sitemap = grammar.plain_texts
        self._entry_count = 0  # a run counts as one
        self._completed: list[Entry | MatchRun] = []  # those that were not yielded yet
        self._root = root
        self._fed_to = 0  # the offset up to which expat has been fed
        self._rootless = rootless
        self._root_ended = False
        self._resumed_at = 0
        self._skipped_large = False  # more than MAX_ENTRY was skipped: maybe an entry
        self._faults = 0  # since the last entry
        self._faults_after = -1  # the end of that entry
        self._stepwise_to = 0  # up to this offset, entries are fed one by one
        self._between_entries = False  # the parser was fed up to an entry's end
        self._crowded = False  # the parser holds too many names or open elements
        self._fault: _Fault | None = None  # in an entry whose end was not read yet
        self._parser = ExpatParser(self._builder, [_IMPLIED_ROOT] if rootless else [], 0)

    def read(self, chunks: Iterable[bytes]) -> Iterator[Entry | MatchRun]:
        """Yield the entries as they are completed, those that match the pattern as runs."""
        try:
            for chunk in rechunk(chunks):
                start = 0
                while start < len(chunk):
                    # Never more than MAX_ENTRY: the result must not depend on the chunk size.
                    size = max(self._needed_from + MAX_ENTRY - self._buffer.end, 1)
                    self._buffer.append(chunk[start : start + size])
                    start += size
                    yield from self._read_buffer(final=False)
                    self._trim_buffer()
            yield from self._read_buffer(final=True)
            if self._is_without_entries:
                self._diagnostics.report(
                    "SM204", "there are no entries", position=self._root.position
                )
        finally:
            self._release()

    @property
    def _is_without_entries(self) -> bool:
        """Whether the document has no entries; one in which something was skipped may have some."""
        if self._entry_count or self._skipped_large or not self._is_sitemap:
            return False
        return self._builder.has_other_content

    def _read_buffer(self, *, final: bool) -> Iterator[Entry | MatchRun]:
        """Yield the entries of the buffer, a run of them as soon as it is read."""
        if self._pattern_reader:
            self._pattern_reader.show(self._buffer.data)
        while self._advance(final=final):
            yield from self._take_completed()
        yield from self._take_completed()

    def _release(self) -> None:
        """Break the reference cycles, so that the buffer is freed together with the reader."""
        self._diagnostics.position_of = None
        self._parser.release()

    def _take_completed(self) -> list[Entry | MatchRun]:
        builder = self._builder
        for offset in builder.unclosed_entries:
            self._diagnostics.report("SM210", "an entry is not closed", at=offset)
        builder.unclosed_entries.clear()
        self._completed += builder.completed
        self._entry_count += len(self._completed)
        builder.completed = []
        completed, self._completed = self._completed, []
        for code, message, first in builder.structure_problems.take():
            position = self._root.position if first is None else None
            self._diagnostics.report(code, message, at=first, position=position)
        return completed

    def _resume(self, offset: int, *, stepwise: int = _STEPWISE_BYTES) -> None:
        """Continue with a new parser, between entries."""
        self._diagnostics.check_time()
        self._stepwise_to = offset + stepwise
        self._fed_to = self._resumed_at = offset
        self._between_entries = True
        self._crowded = False
        self._parser = ExpatParser(self._builder, self._builder.path or [_IMPLIED_ROOT], offset)

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
            if not self._fault and self._fed_to >= self._buffer.end:
                return False
            if self._completed:
                return True

    def _feed(self, *, final: bool) -> None:
        """Feed expat the next bytes, up to a boundary if there is a reason to stop there."""
        if self._between_entries and self._pattern_reader and self._read_run(self._pattern_reader):
            return
        builder, buffer = self._builder, self._buffer
        begin = self._fed_to - buffer.start
        after_fault = self._fed_to < self._stepwise_to
        boundary = self._next_boundary(begin, after_fault=after_fault)
        if self._crowded and boundary is None and builder.entry_start is None:
            self._skip_to_next_start(
                max(self._parser.offset(), builder.last_entry_end + 1), final=final
            )
            return
        is_end = bool(boundary and boundary[1])
        stop = len(buffer.data)
        if boundary:
            stop = boundary.end() if is_end else boundary.start()
        if stop > begin + _STEP:
            boundary, is_end, stop = None, False, begin + _STEP
        self._between_entries = False
        try:
            is_last = final and stop == len(buffer.data)
            self._parser.parse(memoryview(buffer.data)[begin:stop], is_last)
        except expat.ExpatError as error:
            self._handle_error(error, final=final)
            return
        self._fed_to = buffer.start + stop
        if boundary and is_end and builder.last_entry_end == buffer.start + boundary.start():
            self._between_entries = True
            self._learn(stop)
        elif is_end and not after_fault and self._pattern_reader:
            # Else expat would read a long entry again at each end tag inside it.
            self._pattern_reader.miss()
        entry_start = builder.entry_start
        swallowed = (
            boundary
            and self._starts.match(buffer.data, begin)
            and entry_start != buffer.start + begin
        )
        if after_fault and entry_start is not None and (is_end or swallowed):
            # Its end tag, or the next entry, is inside something that it doesn't close.
            offset = buffer.start + begin
            self._fault = _Fault(entry_start, offset, "it contains something that is not closed")
        elif self._crowded or (boundary is None and self._parser.is_crowded):
            self._relieve_parser(at_start=bool(boundary and not is_end))

    def _next_boundary(self, begin: int, *, after_fault: bool) -> re.Match[bytes] | None:
        """Return where expat has to stop: after one entry, while the pattern reader may take over.

        After a fault it is also one entry at a time, for a while. A comment or CDATA that a fault
        opens may extend to the end of the document: with the whole buffer, expat would read that
        far again and again, once for each such fault.
        """
        if after_fault or self._crowded:
            return self._buffer.search(self._any_boundary, begin + 1)
        if self._pattern_reader and self._pattern_reader.is_active:
            return self._buffer.search(self._ends, begin + 1)
        self._diagnostics.check_time()
        return None

    def _relieve_parser(self, *, at_start: bool) -> None:
        """Replace a parser that holds too much, if this is where an entry ends or starts.

        At the start of an entry the one before is not closed, unless expat is inside of something
        else, such as a comment.
        """
        self._crowded = True
        if at_start and self._parser.offset() >= self._fed_to:
            self._builder.leave_unclosed_entry()
        elif not self._between_entries:
            return
        self._builder.leave_entry()
        self._resume(self._fed_to, stepwise=0)

    def _skip_to_next_start(self, offset: int, *, final: bool) -> None:
        """Resume where the next entry starts, after an offset."""
        self._builder.leave_entry()
        begin = max(offset - self._buffer.start, 0)
        start = find_next_start(self._buffer, begin, self._starts, final=final)
        self._resume(self._buffer.start + start)

    def _read_run(self, pattern_reader: PatternReader) -> bool:
        """Let the pattern reader read what it can; expat continues after it as if it had read it.

        True if it has read some: there may be more, of another kind.
        """
        builder = self._builder
        begin = self._fed_to - self._buffer.start
        run, stop = pattern_reader.read(begin, builder.scope, self._buffer.start)
        if run:
            self._completed += builder.completed
            builder.completed = []
            self._completed.append(run)
            self._fed_to += stop - begin
            self._parser.skip(stop - begin)
            builder.last_entry_end = self._fed_to
        return run is not None

    def _learn(self, stop: int) -> None:
        """Show the pattern reader the entry that ends here."""
        if self._pattern_reader and self._pattern_reader.is_active:
            entry = self._builder.completed[-1]
            begin = entry[2] - self._buffer.start
            self._pattern_reader.learn(begin, stop, self._builder.scope, entry)

    def _handle_error(self, error: expat.ExpatError, *, final: bool) -> None:
        """Decide whether expat stopped inside an entry or between entries."""
        buffer = self._buffer
        offset = max(self._parser.error_offset, buffer.start)
        if buffer.data.startswith(b"</", max(offset - buffer.start - 2, 0)):
            offset -= 2  # expat gives the position of the name in an end tag
        entry_start = self._builder.entry_start
        if entry_start is None and error.code != _AFTER_ROOT:
            begin = max(self._resumed_at - buffer.start, 0)
            start = find_malformed_start(buffer.data, offset - buffer.start, begin, self._starts)
            entry_start = None if start is None else buffer.start + start
        if entry_start is None:
            self._resume_between_entries(error, offset, final=final)
        else:
            self._fault = _Fault(entry_start, offset, expat.ErrorString(error.code))

    def _recover_entry(self, fault: _Fault, *, final: bool) -> bool:
        """Read the malformed entry and resume after it; False if its end was not read yet."""
        builder, buffer = self._builder, self._buffer
        begin = fault.entry_start - buffer.start
        boundary = buffer.search(self._any_boundary, begin + 1)
        endless = boundary is None and not final
        if endless and len(buffer.data) - begin < MAX_ENTRY:
            return False
        stop = len(buffer.data)
        if boundary:
            stop = boundary.end() if boundary[1] else boundary.start()
        data = buffer.data[begin:stop]
        builder.position = lambda: fault.entry_start
        if endless or len(data) > MAX_ENTRY:
            message = "an entry longer than 1 MiB was skipped"
            self._diagnostics.report("SM217", message, at=fault.entry_start)
            self._skipped_large = True
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
        if self._pattern_reader and self._pattern_reader.is_active:
            self._pattern_reader.miss_entry()  # else it would try in vain after each fault
        blanks = _BLANKS.match(buffer.data, stop)  # expat would need a step of its own for them
        self._resume(buffer.start + (blanks.end() if blanks else stop))
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
        fault = offset - buffer.start
        was_inside = builder.leave_entry()
        end_tag = END_TAG.match(buffer.data, fault)
        if end_tag and builder.close_elements_inside(end_tag[1].decode("utf-8", "replace")):
            if not was_inside:
                self._diagnostics.report_once("SM211", "an element is not closed", at=offset)
            self._resume(buffer.start + end_tag.start(1) - len(b"</"))
            return
        resumed_at = max(self._resumed_at - buffer.start, 0)
        text_before = buffer.data[resumed_at:fault].strip()
        if end_tag and text_before and end_tag[1].rpartition(b":")[2].lower() == b"loc":
            self._diagnostics.report("SM209", "the start of an entry is missing", at=offset)
        ended = self._root_ended or builder.root_closed or error.code == _AFTER_ROOT
        many = self._has_many_faults()
        if end_tag and not many:
            stop = skip_end_tags(buffer.data, fault, set(builder.path))
        else:
            begin = max(self._resumed_at, builder.last_entry_end) - buffer.start
            after = skip_comment(buffer, fault, max(begin, 0), self._starts)
            # A malformed <loc> would be found again and again.
            after = max(after, self._resumed_at + 1 - buffer.start)
            points = self._starts if many else self._resume_points
            stop = find_next_start(buffer, after, points, final=final)
        at_end = stop == len(buffer.data)
        if not builder.has_root and not at_end:
            self._rootless = True  # the start tag of the root element is malformed
        if ended and not self._rootless:
            if fault < len(buffer.data):
                self._diagnostics.report_once("SM206", "there is junk after the root", at=offset)
        elif final and at_end and not self._rootless:
            message = "the document is truncated: its root element is not closed"
            self._diagnostics.report("SM207", message, at=offset)
        elif fault < len(buffer.data):
            message = f"malformed between entries: {expat.ErrorString(error.code)}"
            self._diagnostics.report_once("SM211", message, at=offset)
        self._root_ended = ended or bool(ROOT_END.search(buffer.data, fault, stop))
        self._resume(buffer.start + stop)

    def _has_many_faults(self) -> bool:
        """Count a fault between entries; tell whether there are many after the same entry."""
        last_entry_end = self._builder.last_entry_end
        self._faults = self._faults + 1 if last_entry_end == self._faults_after else 1
        self._faults_after = last_entry_end
        return self._faults > _MAX_FAULTS

    @property
    def _needed_from(self) -> int:
        """The offset from which on bytes are still needed."""
        needed = self._fault.entry_start if self._fault else self._builder.entry_start
        needed = self._parser.offset() if needed is None else needed
        return min(max(needed, self._buffer.start), self._buffer.end)

    def _trim_buffer(self) -> None:
        """Drop the bytes that are no longer needed, and skip what has no end."""
        needed = self._needed_from
        if self._buffer.end - needed >= MAX_ENTRY:
            # Nothing has ended for 1 MiB: an endless entry, comment or tag. Resume after it.
            message = "more than 1 MiB without an end was skipped"
            self._diagnostics.report("SM217", message, at=needed)
            self._skipped_large = True
            self._skip_to_next_start(needed + 1, final=False)
            while self._advance(final=False):
                pass
            needed = self._needed_from
        self._buffer.drop_before(needed, counting=self._diagnostics.collecting)
        self._crowded = self._crowded or self._parser.is_crowded


def _has_url(entry: Entry) -> bool:
    """Tell whether an entry has a URL, without which it is skipped."""
    return any(key == "loc" and text.strip() for key, text in entry[1])
