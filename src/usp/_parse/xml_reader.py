"""Reading XML entry by entry: by the pattern reader where it can, else by expat, past any fault.

expat decides what well-formed XML means. The pattern reader takes over where entries look alike.
Where expat stops, ``faults`` says where to resume, and a new expat parser continues there. So a
fault costs its own entry at most, and the time stays linear.

The bytes from the start of the current entry on are buffered, and never more than ``MAX_ENTRY``
(what is looked for ahead is kept compressed: ``unparsed``): older versions of expat take quadratic
time for one huge token, so they never get one. expat is fed from the root element on and is never
outside of all elements again, so it never sees a DOCTYPE. It remembers every name, and every open
element: a parser that holds more of them than any real document has is replaced by a new one
between two entries. A document whose head and whose entries look like others needs no expat at all.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final
from xml.parsers import expat

from usp._parse.diagnostics import START, Diagnostics, ReadPosition
from usp._parse.input.chunks import ChunksAhead
from usp._parse.pattern.head import find_head, keep_head
from usp._parse.pattern.layout import EntryRun
from usp._parse.pattern.pattern_reader import PatternReader
from usp._parse.xml.audit_builder import builder_for
from usp._parse.xml.boundaries import boundaries_for, only_ends_are_left
from usp._parse.xml.entry_builder import IMPLIED_ROOT, Entry
from usp._parse.xml.entry_problems import report_open_entries, report_structure
from usp._parse.xml.expat_parser import ExpatParser
from usp._parse.xml.faults import MAX_ENTRY, UNCLOSED_CDATA, Fault, Faults
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.losses import HasLink
from usp._parse.xml.read_buffer import ReadBuffer
from usp._parse.xml.unparsed import PART_OF_END

_STEP: Final = 64 * 1024
"""How many bytes expat is fed at a time: it holds the interpreter lock where it finds no tags."""
_INSTRUCTION_STEP: Final = 64
"""The same for an instruction that is not closed: its name may be a fault of another kind."""
_STEPWISE_BYTES: Final = 16 * 1024
"""How many bytes after a fault are fed to expat an entry at a time."""


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
        has_link: HasLink = bool,
    ) -> None:
        """Start at a root element, given its position in the original document.

        ``expat_only`` switches the pattern reader off: the result is the same. ``has_link`` tells
        whether an entry of a feed has what makes it a page.
        """
        self._grammar = grammar
        self._diagnostics = diagnostics
        self._root = root
        self._buffer = ReadBuffer(root)
        diagnostics.position_of = self._buffer.position_of
        self._builder = builder_for(grammar)
        self._boundaries = boundaries_for(grammar)
        self._faults = Faults(
            grammar, self._boundaries, self._builder, self._buffer, diagnostics, has_link
        )
        self._faults.rootless = rootless
        self._unparsed = self._faults.unparsed
        self._pattern_reader = None if expat_only else PatternReader(grammar)
        self._parser: ExpatParser | None = None  # made when it is needed
        self._implied_path = [IMPLIED_ROOT] if rootless else []
        self._entry_count = 0  # a run counts as one
        self._completed: list[Entry | EntryRun] = []  # those that were not yielded yet
        self._fed_to = 0  # the offset up to which the document has been read
        self._stepwise_to = 0  # up to this offset, entries are fed one by one
        self._between_entries = False  # the last step ended with an entry, or before the first
        self._crowded = False  # the parser holds too many names or open elements

    def read(self, chunks: Iterable[bytes]) -> Iterator[Entry | EntryRun]:
        """Yield the entries as they are completed, those that match a pattern as runs."""
        try:
            self._unparsed.chunks = ahead = ChunksAhead(chunks, self._root.offset)
            is_last = False
            while not is_last:
                # Never more than MAX_ENTRY: the result must not depend on the chunk size.
                size = max(self._needed_from + MAX_ENTRY - self._buffer.end, 1)
                data, is_last = ahead.take(size)
                self._buffer.append(data)
                if not is_last:
                    yield from self._read_buffer(final=False)
                    self._trim_buffer()
            yield from self._read_buffer(final=True)
            self._faults.unexplained.finish()
            if not (self._entry_count or self._faults.skipped_large) and (
                what := self._builder.not_understood
            ):  # one in which something was skipped may have entries
                message = f"there are no entries, but {what}"
                self._diagnostics.report("SM204", message, position=self._root.position)
        finally:
            self._release()

    def _read_buffer(self, *, final: bool) -> Iterator[Entry | EntryRun]:
        """Yield the entries of the buffer, a run of them as soon as it is read."""
        if self._pattern_reader:
            self._pattern_reader.show(self._buffer.data)
        if not (self._fed_to or self._faults.rootless or self._faults.pending):
            self._read_head(final=final)
        while self._advance(final=final):
            yield from self._take_completed()
        yield from self._take_completed()

    def _release(self) -> None:
        """Break the reference cycles, so that the buffer is freed together with the reader."""
        self._diagnostics.position_of = None
        if self._parser:
            self._parser.release()

    def _take_completed(self) -> list[Entry | EntryRun]:
        builder = self._builder
        report_open_entries(builder, self._diagnostics)
        self._faults.swallowed.report(self._diagnostics, builder.last_entry_end)
        self._completed += builder.completed
        self._entry_count += len(self._completed)
        builder.completed = []
        completed, self._completed = self._completed, []
        report_structure(builder, self._diagnostics, self._root.position)
        return completed

    def _advance(self, *, final: bool) -> bool:
        """Read to the end of the buffer, past any number of faults.

        Stop after each run of entries: True if there may be more.
        """
        while True:
            if self._unparsed.is_passed:
                end = self._unparsed.end(self._fed_to)
                if end is None:
                    return False
                self._resume(end)
            ended, waits = not final, False  # expat has to see the end of the document
            if self._faults.pending:
                if not self._recover_entry(self._faults.pending, final=final):
                    return False
                ended = ended or self._faults.truncated
            elif not self._read_run():
                waits = not final and self._waits_for_end
                is_passed = waits or self._pass_certain_fault(final=final)
                if not is_passed and not (final and self._read_end()):
                    self._feed(final=final)
                ended = True
            is_read = self._fed_to >= self._buffer.end
            if waits or (ended and is_read and not self._faults.pending):
                return False
            if self._completed:
                return True

    # What needs no expat: a head that is known, entries that match a pattern, the usual end

    def _read_head(self, *, final: bool) -> None:
        """Read up to the first entry: it may match a pattern.

        Without patterns, too: where a fault follows, a text before it is told in both ways.
        """
        buffer, builder = self._buffer, self._builder
        first = self._boundaries.starts.search(buffer.data, 0, _STEP)
        if first is None or not first.start():
            return
        head = buffer.data[: first.start()]
        state, shape = find_head(head, self._grammar) if self._pattern_reader else (None, "")
        if state:
            builder.restore(state)
        elif not self._parse(0, len(head), is_last=False, final=final):
            return
        elif (
            self._opened.offset() < len(head)
            or not builder.is_between_entries
            or head.rfind(b"<![CDATA[") > head.rfind(b"]]>")
        ):
            self._fed_to = len(head)
            return
        elif shape:
            keep_head(shape, self._grammar, builder)
        self._fed_to = len(head)
        self._between_entries = True

    def _read_run(self) -> bool:
        """Let the pattern reader read what it can; expat continues after it as if it had read it.

        True if it has read some: there may be more, of another kind.
        """
        if not self._between_entries or self._pattern_reader is None:
            return False
        builder = self._builder
        begin = self._fed_to - self._buffer.start
        run, stop = self._pattern_reader.read(begin, builder.scope, self._buffer.start)
        if run is None:
            return False
        self._completed += builder.completed
        builder.completed = []
        self._completed.append(run)
        self._fed_to += stop - begin
        if self._parser:
            self._parser.skip(stop - begin)
        builder.last_entry_end = self._fed_to
        return True

    @property
    def _waits_for_end(self) -> bool:
        """Whether the end of the next entry is still to come: then it may match a pattern."""
        reader, is_after_fault = self._pattern_reader, self._fed_to < self._stepwise_to
        if reader is None or is_after_fault or not self._between_entries:
            return False
        return reader.is_cut(self._fed_to - self._buffer.start)

    def _read_end(self) -> bool:
        """Close the elements around the entries, if nothing else is left of the document."""
        if not self._between_entries or self._pattern_reader is None or self._faults.rootless:
            return False
        begin = self._fed_to - self._buffer.start
        path = self._builder.path
        # Others are open if an entry stands inside of one that isn't closed: expat reports them.
        if not path or len(path) < self._builder.depth:
            return False
        if not only_ends_are_left(self._buffer.data, begin, path):
            return False
        for _ in path:
            self._builder.end()
        self._fed_to = self._buffer.end
        return True

    def _pass_certain_fault(self, *, final: bool) -> bool:
        """Pass a fault that needs no expat, where reading has just resumed; False if none is."""
        if self._parser is not None:
            return False
        resume_at = self._faults.pass_stray_end(self._fed_to, final=final)
        if resume_at is None:
            return self._faults.find_certain_fault(self._fed_to)
        self._resume(resume_at)
        return True

    # expat

    @property
    def _opened(self) -> ExpatParser:
        """The expat parser, which begins where the document has been read to."""
        if self._parser is None:
            path = self._builder.path or self._implied_path
            self._parser = ExpatParser(self._builder, path, self._fed_to, self._faults.swallowed)
            self._parser.refuses_sections = self._faults.has_endless_section
        return self._parser

    def _resume(self, offset: int, *, stepwise: int = _STEPWISE_BYTES) -> None:
        """Continue with a new parser, between entries."""
        self._diagnostics.check_time()
        self._stepwise_to = offset + stepwise
        self._fed_to = self._faults.resumed_at = offset
        self._between_entries = True
        self._crowded = False
        if self._parser:
            self._parser.release()
        self._parser, self._implied_path = None, [IMPLIED_ROOT]

    def _parse(self, begin: int, stop: int, *, is_last: bool, final: bool) -> bool:
        """Feed expat a part of the buffer; False if there is a fault in it."""
        parser = self._opened
        fault: expat.ExpatError | None = None
        try:
            parser.parse(memoryview(self._buffer.data)[begin:stop], is_last)
        except expat.ExpatError as error:
            fault = error
        is_endless = parser.refuses_sections or (fault and fault.code == UNCLOSED_CDATA)
        if parser.section is not None and is_endless:
            self._stop_at(UNCLOSED_CDATA, parser.section, final=final)
        elif parser.refused_at is not None:
            self._faults.set_unclosed_inside(parser.refused_at)
        elif fault:
            self._stop_at(fault.code, parser.error_offset, final=final)
        else:
            return True
        return False

    def _stop_at(self, code: int, offset: int, *, final: bool) -> None:
        """Resume after a fault between entries; one inside of an entry is pending."""
        self._opened.flush_text()
        resume_at = self._faults.locate(code, offset, final=final)
        if resume_at is not None:
            self._resume(resume_at)

    def _feed(self, *, final: bool) -> None:
        """Feed expat the next bytes, up to a boundary if there is a reason to stop there."""
        builder, buffer = self._builder, self._buffer
        begin = self._fed_to - buffer.start
        after_fault = self._fed_to < self._stepwise_to
        held = self._held_bytes() if after_fault else 0
        boundary = None if held else self._next_boundary(begin, after_fault=after_fault)
        if self._crowded and boundary is None and builder.entry_start is None:
            offset = max(self._opened.offset(), builder.last_entry_end + 1)
            self._resume(self._faults.next_start(offset, final=final))
            return
        boundary, stop, is_last = self._next_stop(begin, held, boundary, final=final)
        is_end = bool(boundary and boundary[1])
        self._between_entries = False
        if not self._parse(begin, stop, is_last=is_last, final=final):
            return
        self._fed_to = buffer.start + stop
        if boundary and is_end and builder.last_entry_end == buffer.start + boundary.start():
            self._between_entries = True
        elif is_end and not after_fault and self._pattern_reader:
            # Else expat would read a long entry again at each end tag inside it.
            self._pattern_reader.miss()
        seen = begin if boundary is None or not is_end else boundary.start()
        if after_fault and boundary and self._faults.is_swallowed(seen, is_end=is_end):
            # Its end tag, or the next entry, is inside something that it doesn't close.
            self._faults.set_unclosed_inside(buffer.start + begin)
        elif self._crowded or (boundary is None and self._opened.is_crowded):
            self._relieve_parser(at_start=bool(boundary and not is_end))

    def _next_stop(
        self, begin: int, held: int, boundary: re.Match[bytes] | None, *, final: bool
    ) -> tuple[re.Match[bytes] | None, int, bool]:
        """Return how far expat is fed: the boundary, if it ends there; the index; if all ends."""
        size = len(self._buffer.data)
        stop = min(begin + held, size) if held else size
        if boundary:
            stop = boundary.end() if boundary[1] else boundary.start()
        if final and self._fed_to < self._stepwise_to:
            unclosed = self._faults.find_unclosed_instruction(begin, held, stop)
            if unclosed is not None and not held and stop > unclosed + _INSTRUCTION_STEP:
                boundary, stop = None, unclosed + _INSTRUCTION_STEP
            elif held and unclosed == begin - held:
                return boundary, begin, True
        if stop > begin + _STEP:
            boundary, stop = None, begin + _STEP
        return boundary, stop, final and stop == size

    def _held_bytes(self) -> int:
        """Return how many bytes expat holds between entries, of a token that is incomplete.

        It scans them again each time that it is fed: as many more at a time keep that linear.
        """
        if self._parser is None or self._builder.entry_start is not None:
            return 0
        return max(self._fed_to - self._parser.offset(), 0)

    def _next_boundary(self, begin: int, *, after_fault: bool) -> re.Match[bytes] | None:
        """Return where expat has to stop: after one entry, while the pattern reader may take over.

        After a fault it is also one entry at a time, for a while. A comment or CDATA that a fault
        opens may extend to the end of the document: with the whole buffer, expat would read that
        far again and again, once for each such fault.
        """
        if after_fault or self._crowded:
            return self._buffer.search(self._boundaries.any_boundary, begin + 1)
        if self._pattern_reader and self._pattern_reader.is_active:
            return self._buffer.search(self._boundaries.ends, begin + 1)
        self._diagnostics.check_time()
        return None

    def _relieve_parser(self, *, at_start: bool) -> None:
        """Replace a parser that holds too much, if this is where an entry ends or starts.

        At the start of an entry the one before is not closed, unless expat is inside of something
        else, such as a comment.
        """
        self._crowded = True
        if at_start and self._opened.offset() >= self._fed_to:
            self._builder.leave_unclosed_entry()
        elif not self._between_entries:
            return
        self._builder.leave_entry()
        self._resume(self._fed_to, stepwise=0)

    def _recover_entry(self, fault: Fault, *, final: bool) -> bool:
        """Read the malformed entry and resume after it; False if its end was not read yet."""
        resume_at = self._faults.recover_entry(fault, final=final)
        if resume_at is None:
            return False
        if self._pattern_reader and self._pattern_reader.is_active:
            self._pattern_reader.miss_entry()  # else it would try in vain after each fault
        self._resume(resume_at)
        return True

    # The buffer

    @property
    def _needed_from(self) -> int:
        """The offset from which on bytes are still needed."""
        fault = self._faults.pending
        needed = fault.entry_start if fault else self._builder.entry_start
        if self._unparsed.is_passed:
            needed = self._buffer.end - PART_OF_END
        elif needed is None:
            needed = self._parser.offset() if self._parser else self._fed_to
        if self._unparsed.held_section is not None:
            needed = min(needed, self._unparsed.held_section)
        return min(max(needed, self._buffer.start), self._buffer.end)

    def _trim_buffer(self) -> None:
        """Drop the bytes that are no longer needed, and skip what has no end."""
        resume_at = self._faults.pass_endless(self._parser, self._needed_from)
        if resume_at is not None:
            self._resume(resume_at)
        if resume_at is not None or self._faults.pending:
            while self._advance(final=False):
                pass
        needed = self._needed_from
        self._faults.stray_ends.reach(needed - self._buffer.start)
        self._buffer.drop_before(needed, counting=self._diagnostics.locating)
        self._crowded = self._crowded or (self._parser is not None and self._parser.is_crowded)
