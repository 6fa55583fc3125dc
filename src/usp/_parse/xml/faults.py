"""Faults: where expat stopped, what is read of a malformed entry, and where reading resumes.

A fault inside an entry costs that entry at most: ``recovery`` reads it. After a fault between
entries reading resumes at a matching end tag, or at the next entry. Nothing here feeds expat: the
reader asks where to go on.
"""

import re
from typing import Final, NamedTuple
from xml.parsers import expat

from usp._parse.diagnostics import Diagnostics
from usp._parse.input.other_documents import report_other_document
from usp._parse.unexplained import UnexplainedFaults
from usp._parse.values.text import NULL_BLOCK
from usp._parse.xml.boundaries import EntryBoundaries
from usp._parse.xml.certain_faults import find_end_tag, find_fault_in_entry
from usp._parse.xml.entry_builder import IMPLIED_ROOT, EntryBuilder
from usp._parse.xml.expat_parser import ExpatParser
from usp._parse.xml.feed_header import FeedHeader
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.losses import CHILD_URL, HasLink, Losses
from usp._parse.xml.read_buffer import ReadBuffer
from usp._parse.xml.recovery import recover_entry, recover_root
from usp._parse.xml.resync import (
    END_TAG,
    find_malformed_start,
    find_next_start,
    find_unparsed,
    skip_end_tags,
    without_comments,
)
from usp._parse.xml.stray_end_tags import StrayEndTags
from usp._parse.xml.swallowed import SwallowedEntries
from usp._parse.xml.unparsed import INSTRUCTION, UNPARSED, UNPARSED_START, UnparsedAhead

MAX_ENTRY: Final = 1024 * 1024
_MAX_FAULTS: Final = 16
"""After so many faults between two entries, reading resumes at the second one."""
_LOOKED_AT: Final = 4 * 1024
"""How many bytes after a fault between entries are read before it is judged."""
_AFTER_ROOT: Final = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
UNCLOSED_CDATA: Final = expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION]
_OUTSIDE: Final = frozenset({_AFTER_ROOT, UNCLOSED_CDATA})
"""Errors that are never those of a tag."""
_CDATA: Final = b"<![CDATA["
_INVALID_TOKEN: Final = expat.errors.XML_ERROR_INVALID_TOKEN
_MISMATCH: Final = expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]
_BLANKS: Final = re.compile(rb"[ \t\r\n]*+")
_TAG_END: Final = re.compile(rb"[<>]")
_INSTRUCTION_START: Final = re.compile(rb"<\?")


class Fault(NamedTuple):
    """Where expat stopped inside an entry, or inside the start tag of a root, and why."""

    entry_start: int
    """Between entries, where the last one ended."""
    offset: int
    message: str
    code_between: int | None = None
    """The error of expat, if it stopped between entries."""


class Faults:
    """The faults of one document."""

    def __init__(
        self,
        grammar: Grammar,
        boundaries: EntryBoundaries,
        builder: EntryBuilder,
        buffer: ReadBuffer,
        diagnostics: Diagnostics,
        has_link: HasLink,
    ) -> None:
        self._losses = Losses(grammar, boundaries, has_link)
        self._header = FeedHeader(grammar, builder)
        self._boundaries = boundaries
        self._builder = builder
        self._buffer = buffer
        self._diagnostics = diagnostics
        self.pending: Fault | None = None
        """The fault in an entry whose end was not read yet."""
        self.rootless = False
        """Whether the entries have no root element around them."""
        self.resumed_at = 0
        """The offset at which reading last resumed."""
        self.truncated = False
        """Whether the document ends inside of an entry."""
        self.swallowed = SwallowedEntries(buffer, boundaries)
        self.unexplained = UnexplainedFaults(diagnostics)
        self.unparsed = UnparsedAhead(buffer)
        """The comment or instruction that is being passed, if there is one."""
        self.skipped_large = False
        """Whether more than ``MAX_ENTRY`` was skipped: maybe an entry."""
        self.stray_ends = StrayEndTags(builder, buffer, boundaries)
        self.has_endless_section = False
        """Whether a CDATA section has no end: then none of those after it has one."""
        self._skipped_start = False  # of an entry that was too large, and was reported
        self._count = 0  # since the last entry
        self._counted_after = -1  # the end of that entry

    def report_large(self, message: str, offset: int) -> None:
        """Report that more than ``MAX_ENTRY`` was skipped."""
        self._diagnostics.report("SM217", message, at=offset)
        self.skipped_large = self._skipped_start = True

    def locate(self, code: int, offset: int, *, final: bool) -> int | None:
        """Decide whether expat stopped inside an entry, in the tag of a root, or between entries.

        Between entries, return the offset at which to resume; else the fault is pending.
        """
        buffer = self._buffer
        self.has_endless_section = self.has_endless_section or code == UNCLOSED_CDATA
        offset = max(offset, buffer.start)
        if buffer.data.startswith(b"</", max(offset - buffer.start - 2, 0)):
            offset -= 2  # expat gives the position of the name in an end tag
        entry_start = self._builder.entry_start
        if entry_start is None and self._is_cut_off(offset, final=final):
            self.pending = Fault(buffer.start + self._since, offset, "", code)
            return None
        fault, may_be_in_tag = offset - buffer.start, entry_start is None and code not in _OUTSIDE
        if may_be_in_tag and find_unparsed(buffer.data, fault, self._since) is None:
            begin = max(self.resumed_at - buffer.start, 0)
            start = find_malformed_start(buffer.data, fault, begin, self._boundaries.is_start)
            entry_start = None if start is None else buffer.start + start
        if entry_start is None:
            return self._pass_between_entries(code, offset, final=final)
        if entry_start == offset:
            self._report_cut_tag(offset)
        self.pending = Fault(entry_start, offset, expat.ErrorString(code))
        return None

    def _is_cut_off(self, offset: int, *, final: bool) -> bool:
        """Tell whether what follows a fault was not read yet: no half of a tag is judged."""
        is_short = len(self._buffer.data) - self._since < MAX_ENTRY
        return not final and is_short and offset + _LOOKED_AT > self._buffer.end

    def is_swallowed(self, begin: int, *, is_end: bool) -> bool:
        """Tell whether an entry is still open where its end tag, the next entry or a root was fed.

        An element of an extension, which may have the name of an entry, doesn't end it.
        """
        builder, offset = self._builder, self._buffer.start + begin
        if builder.entry_start is None or offset in {builder.entry_start, builder.nesting.last_tag}:
            return False
        return is_end or bool(self._boundaries.starts_or_roots.match(self._buffer.data, begin))

    def set_unclosed_inside(self, offset: int) -> None:
        """Set a fault of the current entry: something in it is not closed."""
        message = "it contains something that is not closed"
        self.pending = Fault(self._builder.entry_start or 0, offset, message)

    def find_certain_fault(self, offset: int) -> bool:
        """Tell whether an entry starts here that expat would reject for certain."""
        data, begin = self._buffer.data, offset - self._buffer.start
        if not offset or not self._boundaries.starts.match(data, begin):
            return False  # the first element of a document says more than an entry does
        fault = find_fault_in_entry(data, begin)
        boundary = self._buffer.search(self._boundaries.any_boundary, begin + 1)
        if fault is None or (boundary and boundary.start() < fault):
            return False
        self.pending = Fault(offset, self._buffer.start + fault, _INVALID_TOKEN)
        return True

    def find_unclosed_instruction(self, begin: int, held: int, stop: int) -> int | None:
        """Return where the next processing instruction between entries begins, if it has no end.

        expat would read to the end of the document for each of them: it gets the beginning of one,
        then the end. In what else is not closed it finds another fault: a comment in a comment, a
        tag in a tag. In a comment or a CDATA section it is none.

        :param held: how many bytes before ``begin`` expat holds, of a token that is incomplete.
        :param stop: where the next entry starts or ends.
        """
        buffer = self._buffer
        if not held and self._boundaries.starts.match(buffer.data, begin):
            return None  # it is inside of an entry
        found = buffer.search(_INSTRUCTION_START, begin - held)
        if found is None or found.start() > stop or buffer.search(INSTRUCTION.end, found.end()):
            return None
        return found.start()

    def pass_stray_end(self, offset: int, *, final: bool) -> int | None:
        """Return where to resume if reading has resumed at the end tag of an element not open.

        A fault for certain, as those of ``find_certain_fault``.
        """
        if not offset or offset != self.resumed_at:
            return None
        start, open_name = self._buffer.start, (self._builder.path or [IMPLIED_ROOT])[-1]
        tag = find_end_tag(self._buffer.data, offset - start, open_name)
        if tag is None or self._is_cut_off(start + tag, final=final):
            return None
        return self._pass_between_entries(_MISMATCH, start + tag, final=final)

    def recover_entry(self, fault: Fault, *, final: bool) -> int | None:
        """Read the malformed entry; return where to resume, or None if its end was not read yet."""
        if fault.code_between is not None:
            self.pending = None
            resume_at = self.locate(fault.code_between, fault.offset, final=final)
            located: Fault | None = self.pending
            if located is None or located.code_between is not None:
                return resume_at
            fault = located
        builder, buffer = self._builder, self._buffer
        self.swallowed.forget_from(fault.entry_start)
        begin = fault.entry_start - buffer.start
        if root := self._boundaries.roots.match(buffer.data, begin):
            return self._recover_root(fault, root, final=final)
        boundary = buffer.search(self._boundaries.any_boundary, begin + 1)
        endless = boundary is None and not final
        if endless and len(buffer.data) - begin < MAX_ENTRY:
            return None
        stop = len(buffer.data)
        if boundary:
            stop = boundary.end() if boundary[1] else boundary.start()
        data = buffer.data[begin:stop]
        builder.position = lambda: fault.entry_start
        if endless or len(data) > MAX_ENTRY:
            self.report_large("an entry longer than 1 MiB was skipped", fault.entry_start)
        elif boundary is None:
            self._skip_truncated_entry(fault, data)
        else:
            self._repair(fault, data, is_closed=bool(boundary[1]))
        self.pending = None
        self.truncated = boundary is None and final
        builder.leave_entry()
        blanks = _BLANKS.match(buffer.data, stop)  # expat would need a step of its own for them
        return buffer.start + (blanks.end() if blanks else stop)

    def _recover_root(self, fault: Fault, root: re.Match[bytes], *, final: bool) -> int | None:
        """Read a malformed start tag of a root element; return where to resume, as for an entry."""
        builder, buffer = self._builder, self._buffer
        is_endless = buffer.search(_TAG_END, root.end()) is None
        if is_endless and not final and len(buffer.data) - root.start() < MAX_ENTRY:
            return None
        self.pending = None
        builder.leave_entry()
        builder.position = lambda: fault.entry_start
        stop, is_damaged = recover_root(buffer.data, root, builder)
        self.truncated = is_endless and final
        if self.truncated:
            message = "the document is truncated inside the tag of its root element"
            self._diagnostics.report("SM207", message, at=fault.entry_start)
        else:
            self._report_malformed(fault.message, fault.offset)
            if is_damaged:
                message = "the tag of the root element is cut off: entries may be missing"
                self._diagnostics.report("SM209", message, at=fault.entry_start)
        return buffer.start + stop

    def _report_cut_tag(self, offset: int) -> None:
        if self._losses.is_cut_tag(self._buffer.data, self._since, offset - self._buffer.start):
            self._diagnostics.report("SM209", "the tag of an entry is cut off", at=offset)

    def _report_malformed(self, message: str, offset: int) -> None:
        message = f"malformed between entries: {message}"
        self._diagnostics.report_once("SM211", message, at=offset)

    def _repair(self, fault: Fault, data: bytes, *, is_closed: bool) -> None:
        builder = self._builder
        builder.leave_entry()
        if NULL_BLOCK in data:
            message = "an entry with a block of null bytes in it was skipped"
            self._diagnostics.report("SM209", message, at=fault.offset)
            return
        before = len(builder.completed)
        signs = recover_entry(data, builder, self._diagnostics.check_time, is_closed=is_closed)
        builder.finish_entry()
        entry = builder.completed[-1] if len(builder.completed) > before else None
        verdict = self._losses.judge(entry, data, signs)
        self.unexplained.report(verdict, frozenset(signs.odd), fault.message, fault.offset)

    def _skip_truncated_entry(self, fault: Fault, data: bytes) -> None:
        """Skip the entry at which the document ends; for a child sitemap its URL is enough."""
        url = CHILD_URL.match(data)
        if url:
            self._builder.leave_entry()
            check_time = self._diagnostics.check_time
            recover_entry(url[0], self._builder, check_time, is_closed=True)
            self._builder.finish_entry()
        message = "the document is truncated inside an entry"
        self._diagnostics.report("SM207", message, at=fault.entry_start)

    def _pass_between_entries(self, code: int, offset: int, *, final: bool) -> int:
        """Return where to resume after a fault: at a matching end tag, or at the next entry."""
        builder, buffer = self._builder, self._buffer
        fault = offset - buffer.start
        was_inside = builder.leave_entry()
        unparsed = find_unparsed(buffer.data, fault, self._since)
        end_tag = END_TAG.match(buffer.data, fault) if unparsed is None else None
        if unparsed is None:
            resume_at = self._pass_end_tag(end_tag, code, offset, was_inside=was_inside)
            if resume_at is not None:
                return resume_at
        open_root = builder.open_root
        ended = builder.scope.has_root and not (open_root or self.rootless)
        many = self._has_many_faults()
        skipped = fault
        if end_tag and not many:
            stop = skip_end_tags(buffer.data, fault, set(builder.path))
        else:
            after = fault + (len(_CDATA) if code == UNCLOSED_CDATA else 0)
            if unparsed and after == fault:
                after = self.unparsed.pass_fault(unparsed, self._boundaries.starts, final=final)
            # A malformed <loc> would be found again and again.
            after = max(after, self.resumed_at + 1 - buffer.start)
            points = self._boundaries.resume_points(in_root=bool(open_root), many=many)
            stop = find_next_start(buffer, after, points, final=final)
            skipped = min(max(after, fault), stop)  # what is in a comment is not lost
        if code == UNCLOSED_CDATA:
            message = "a CDATA section between the entries has no end"
            self._diagnostics.report_once("SM209", message, at=offset)
        self._report_lost(skipped, stop, offset, after_root=ended)
        self._header.close_ended(buffer.data[fault:stop])
        at_end = stop == len(buffer.data)
        if not builder.scope.has_root and not at_end:
            self.rootless = True  # the start tag of the root element is malformed
        if final and at_end and (open_root or not (ended or self.rootless)):
            message = "the document is truncated: its root element is not closed"
            self._diagnostics.report("SM207", message, at=offset)
        elif fault < len(buffer.data) and ended:
            self._diagnostics.report_once("SM206", "there is junk after the root", at=offset)
            # From the last tag on: expat takes the first word of a text for a part of the document.
            begin = max(buffer.data.rfind(b">", self._since, fault) + 1, self._since)
            report_other_document(buffer.data[begin:stop], self._diagnostics, at=offset)
        elif fault < len(buffer.data):
            self._report_malformed(expat.ErrorString(code), offset)
        return buffer.start + stop

    def _pass_end_tag(
        self, end_tag: re.Match[bytes] | None, code: int, offset: int, *, was_inside: bool
    ) -> int | None:
        """Return where to resume at an end tag that closes what is open; None if there is none."""
        builder, buffer = self._builder, self._buffer
        name = end_tag[1].decode("utf-8", "replace") if end_tag else ""
        if end_tag and (unclosed := builder.close_elements_inside(name)) is not None:
            self._report_cut_tag(offset)
            if not was_inside:
                problem = self._losses.judge_unclosed(unclosed, name)
                self._diagnostics.report_once(*problem, at=offset)
            return buffer.start + end_tag.start(1) - len(b"</")
        # Of another name, or not as expat wants it: nothing else is meant.
        fault = offset - buffer.start
        tag = fault - buffer.data.startswith(b"<", fault - 1)
        closed = end_tag if end_tag and self.stray_ends.close_misspelled(end_tag) else None
        if closed is None and (open_root := builder.open_root):
            closed = self._boundaries.root_ends.match(buffer.data, tag)
            if closed:
                builder.close_elements_inside(open_root)
                builder.end()
        if closed is None:
            return None
        self._report_malformed(expat.ErrorString(code), offset)
        return buffer.start + closed.end()

    def pass_endless(self, parser: ExpatParser | None, needed: int) -> int | None:
        """Return where to resume after the start of what never ends, or has not ended for 1 MiB.

        A comment or an instruction that ends beyond the buffer is passed. In one that has no end at
        all, and in such a CDATA section, entries are read.

        :param needed: the offset from which on bytes are needed.
        """
        section = parser.section if parser else None
        is_endless = self.unparsed.is_endless(section) and not self.pending
        if is_endless and parser and section is not None:
            parser.flush_text()
            return self.locate(UNCLOSED_CDATA, section, final=False)
        if self._buffer.end - needed < MAX_ENTRY:
            return None
        started = UNPARSED_START.match(self._buffer.data, needed - self._buffer.start)
        if started is None or self.pending or self._builder.entry_start is not None:
            self.report_large("more than 1 MiB without an end was skipped", needed)
        elif self.unparsed.start(UNPARSED[started[0]]):
            self._builder.leave_entry()
            return self._buffer.end
        else:
            self._report_malformed("a comment or an instruction is not closed", needed)
        return self.next_start(needed + 1, final=False)

    def next_start(self, offset: int, *, final: bool) -> int:
        """Return where the next entry starts, after an offset at which one is left."""
        self._builder.leave_entry()
        begin, starts = max(offset - self._buffer.start, 0), self._boundaries.starts
        return self._buffer.start + find_next_start(self._buffer, begin, starts, final=final)

    def _report_lost(self, begin: int, stop: int, offset: int, *, after_root: bool) -> None:
        """Report that an entry is lost in what is skipped, if it may be."""
        data, since = self._buffer.data, self._since
        has_null_block = not after_root and data.find(NULL_BLOCK, since, stop) >= 0
        if not has_null_block and self.stray_ends.reach(stop):
            return
        if UNPARSED_START.search(data, begin, stop):  # what is in a comment is not lost
            data = data[since:begin] + without_comments(data[begin:stop])
            since, begin, stop = 0, begin - since, len(data)
        if has_null_block:
            message = "there is a block of null bytes between the entries"
            self._diagnostics.report("SM209", message, at=offset)
        elif self._losses.are_between(data, since, begin, stop, after_root=after_root):
            if not self._skipped_start:
                self._diagnostics.report("SM209", "the start of an entry is missing", at=offset)
            self._skipped_start = False

    @property
    def _since(self) -> int:
        """Where the last entry ended, or reading last resumed."""
        start = self._buffer.start
        return max(self.resumed_at, self._builder.last_entry_end, start) - start

    def _has_many_faults(self) -> bool:
        """Count a fault between entries; tell whether there are many after the same entry."""
        last_entry_end = self._builder.last_entry_end
        self._count = self._count + 1 if last_entry_end == self._counted_after else 1
        self._counted_after = last_entry_end
        return self._count > _MAX_FAULTS
