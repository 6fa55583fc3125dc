"""Faults: where expat stopped, what is read of a malformed entry, and where reading resumes.

A fault inside an entry costs that entry at most: ``recovery`` reads it. After a fault between
entries reading resumes at a matching end tag, or at the next entry. Nothing here feeds expat: the
reader asks where to go on.
"""

import re
from collections.abc import Callable, Collection
from typing import Final, NamedTuple
from xml.parsers import expat

from usp._parse.diagnostics import Diagnostics
from usp._parse.input.other_documents import report_other_document
from usp._parse.xml.boundaries import EntryBoundaries
from usp._parse.xml.entry_builder import Entry, EntryBuilder
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.read_buffer import ReadBuffer
from usp._parse.xml.recovery import recover_entry, recover_root
from usp._parse.xml.resync import (
    END_TAG,
    find_malformed_start,
    find_next_start,
    skip_comment,
    skip_end_tags,
)
from usp.objects.page import Record

MAX_ENTRY: Final = 1024 * 1024
_MAX_FAULTS: Final = 16
"""After so many faults between two entries, reading resumes at the second one."""
_CHILD_URL: Final = re.compile(
    rb"<(?:[\w.-]+:)?sitemap[\s>].*?</(?:[\w.-]+:)?loc\s*>", re.IGNORECASE | re.DOTALL
)
_AFTER_ROOT: Final = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
_INVALID_TOKEN: Final = expat.errors.XML_ERROR_INVALID_TOKEN
_INTERRUPTED_TAG: Final = re.compile(
    rb"<[A-Za-z_][A-Za-z0-9_.:-]*+[ \t\r\n]*+(?:>[ \t\r\n]*+<)?+(?=<)"
)
_BLANKS: Final = re.compile(rb"[ \t\r\n]*+")
_LOC_END: Final = re.compile(rb"</(?!(?:image|video):)(?:[\w.-]+:)?loc\s*>", re.IGNORECASE)
_LINK: Final = re.compile(rb"<(?:[\w.-]+:)?(?:link|guid)[\s/>]", re.IGNORECASE)
"""The elements of a feed that have the URL of an entry."""
_LOC_KEYS: Final = ("loc",)
HasLink = Callable[[Record], object]
"""Tells whether an entry of a feed has a link; what that is, its format decides."""
_URL_TRACE: Final = re.compile(rb"""href|(?<!url=["'])http""", re.IGNORECASE)
"""What shows that an entry without a link may have had one; ``url`` is that of its media."""
_TITLE_KEYS: Final = ("title", "description", "summary", "tagline", "content")
_FIELD_END: Final = rb"</(?:[\w.-]+:)?(%s)\s*>"
_LINK_END: Final = re.compile(_FIELD_END % b"link", re.IGNORECASE)
_TITLE_END: Final = re.compile(_FIELD_END % "|".join(_TITLE_KEYS).encode(), re.IGNORECASE)
_TITLE_TEXT: Final = re.compile(rb"[^\s>]\s*+" + _TITLE_END.pattern, re.IGNORECASE)
"""The end tag of a title that has a text."""
_TAG_END: Final = re.compile(rb"[<>]")


class Fault(NamedTuple):
    """Where expat stopped inside an entry, or inside the start tag of a root, and why."""

    entry_start: int
    offset: int
    message: str


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
        self._is_sitemap = grammar.plain_texts
        self._has_link = has_link
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
        self.skipped_large = False
        """Whether more than ``MAX_ENTRY`` was skipped: maybe an entry."""
        self._link_end = 0  # of the last link between entries
        self._count = 0  # since the last entry
        self._counted_after = -1  # the end of that entry

    def report_large(self, message: str, offset: int) -> None:
        """Report that more than ``MAX_ENTRY`` was skipped."""
        self._diagnostics.report("SM217", message, at=offset)
        self.skipped_large = True

    def locate(self, error: expat.ExpatError, offset: int, *, final: bool) -> int | None:
        """Decide whether expat stopped inside an entry, in the tag of a root, or between entries.

        Between entries, return the offset at which to resume; else the fault is pending.
        """
        buffer = self._buffer
        offset = max(offset, buffer.start)
        if buffer.data.startswith(b"</", max(offset - buffer.start - 2, 0)):
            offset -= 2  # expat gives the position of the name in an end tag
        entry_start = self._builder.entry_start
        if entry_start is None and error.code != _AFTER_ROOT:
            begin = max(self.resumed_at - buffer.start, 0)
            is_start = self._boundaries.is_start
            start = find_malformed_start(buffer.data, offset - buffer.start, begin, is_start)
            entry_start = None if start is None else buffer.start + start
        if entry_start is None:
            return self._pass_between_entries(error, offset, final=final)
        self.pending = Fault(entry_start, offset, expat.ErrorString(error.code))
        return None

    def find_interrupted(self, offset: int) -> bool:
        """Tell whether the next entry interrupts a tag here: ``<url <url>`` or ``<url><<url>``.

        That is a fault for certain. To have expat find it takes as long as to repair the entry, and
        a hostile document has thousands of them.
        """
        data, begin = self._buffer.data, offset - self._buffer.start
        tag = _INTERRUPTED_TAG.match(data, begin)
        if tag is None or not self._boundaries.starts.match(data, begin):
            return False
        if not self._boundaries.starts.match(data, tag.end()):
            return False
        self.pending = Fault(offset, self._buffer.start + tag.end(), _INVALID_TOKEN)
        return True

    def recover_entry(self, fault: Fault, *, final: bool) -> int | None:
        """Read the malformed entry; return where to resume, or None if its end was not read yet."""
        builder, buffer = self._builder, self._buffer
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
        stop = recover_root(buffer.data, root, builder)
        self.truncated = is_endless and final
        if self.truncated:
            message = "the document is truncated inside the tag of its root element"
            self._diagnostics.report("SM207", message, at=fault.entry_start)
        else:
            self._report_malformed(fault.message, fault.offset)
        return buffer.start + stop

    def _report_malformed(self, message: str, offset: int) -> None:
        message = f"malformed between entries: {message}"
        self._diagnostics.report_once("SM211", message, at=offset)

    def _repair(self, fault: Fault, data: bytes, *, is_closed: bool) -> None:
        builder = self._builder
        builder.leave_entry()
        before = len(builder.completed)
        recover_entry(data, builder, is_closed=is_closed)
        builder.finish_entry()
        skipped = len(builder.completed) == before or self._has_lost_field(
            builder.completed[-1], data
        )
        code, result = ("SM209", "skipped") if skipped else ("SM208", "repaired")
        message = f"a malformed entry was {result}: {fault.message}"
        self._diagnostics.report(code, message, at=fault.offset)

    def _has_lost_field(self, entry: Entry, data: bytes) -> bool:
        """Tell whether an entry lacks a field without which it is skipped, though it had one."""
        if self._is_sitemap:
            return not _has_text(entry, _LOC_KEYS)
        record = entry[1]
        read = {key for key, _ in record}  # a field that is empty is not lost
        if not self._has_link(record):
            return bool(_URL_TRACE.search(data)) or _has_other_end(data, _LINK_END, read)
        if _has_text(entry, _TITLE_KEYS):
            return False
        return bool(_TITLE_TEXT.search(data)) or _has_other_end(data, _TITLE_END, read)

    def _skip_truncated_entry(self, fault: Fault, data: bytes) -> None:
        """Skip the entry at which the document ends; for a child sitemap its URL is enough."""
        url = _CHILD_URL.match(data)
        if url:
            self._builder.leave_entry()
            recover_entry(url[0], self._builder, is_closed=True)
            self._builder.finish_entry()
        message = "the document is truncated inside an entry"
        self._diagnostics.report("SM207", message, at=fault.entry_start)

    def _pass_between_entries(self, error: expat.ExpatError, offset: int, *, final: bool) -> int:
        """Return where to resume after a fault: at a matching end tag, or at the next entry."""
        builder, buffer = self._builder, self._buffer
        fault = offset - buffer.start
        was_inside = builder.leave_entry()
        end_tag = END_TAG.match(buffer.data, fault)
        if end_tag and builder.close_elements_inside(end_tag[1].decode("utf-8", "replace")):
            if not was_inside:
                self._diagnostics.report_once("SM211", "an element is not closed", at=offset)
            return buffer.start + end_tag.start(1) - len(b"</")
        open_root = builder.open_root
        # Of another name, or not as expat wants it: nothing else is meant.
        tag = fault - buffer.data.startswith(b"<", fault - 1)
        if open_root and (root_end := self._boundaries.root_ends.match(buffer.data, tag)):
            builder.close_elements_inside(open_root)
            builder.end()
            self._report_malformed(expat.ErrorString(error.code), offset)
            return buffer.start + root_end.end()
        ended = builder.scope.has_root and not (open_root or self.rootless)
        many = self._has_many_faults()
        skipped = fault
        if end_tag and not many:
            stop = skip_end_tags(buffer.data, fault, set(builder.path))
        else:
            after = skip_comment(buffer, fault, self._since, self._boundaries.starts)
            # A malformed <loc> would be found again and again.
            after = max(after, self.resumed_at + 1 - buffer.start)
            points = self._boundaries.resume_points(in_root=bool(open_root), many=many)
            stop = find_next_start(buffer, after, points, final=final)
            skipped = max(after, fault)  # what a comment has is not lost
        if self._has_lost_entry(skipped, stop):
            self._diagnostics.report("SM209", "the start of an entry is missing", at=offset)
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
            self._report_malformed(expat.ErrorString(error.code), offset)
        return buffer.start + stop

    @property
    def _since(self) -> int:
        """Where the last entry ended, or reading last resumed."""
        start = self._buffer.start
        return max(self.resumed_at, self._builder.last_entry_end, start) - start

    def _has_lost_entry(self, begin: int, stop: int) -> bool:
        """Tell whether an entry ends in what is skipped, whose start tag is missing or damaged.

        In a sitemap, a text stands before the end tag of its URL; in a feed, the field that has the
        URL stands before the end tag of the entry: else it is one end tag too many.
        """
        data = self._buffer.data
        if self._is_sitemap:
            end = _LOC_END.search(data, begin, stop)
            before = data[self._since : end.start()].rstrip() if end else b""
            return bool(before) and (not before.endswith(b">") or before.endswith(b"]]>"))
        self.note_link(stop)
        if self._link_end <= self._builder.last_entry_end:
            return False
        begin = max(self._link_end - self._buffer.start, begin)
        is_lost = self._boundaries.ends.search(data, begin, stop) is not None
        if is_lost:
            self._link_end = 0  # what follows belongs to another entry
        return is_lost

    def note_link(self, stop: int) -> None:
        """Remember the link of a feed that stands between entries, before it is passed or dropped.

        The end tag of its entry may come after another fault, or in the next part of the document.
        """
        if not self._is_sitemap and (link := _LINK.search(self._buffer.data, self._since, stop)):
            self._link_end = self._buffer.start + link.end()

    def _has_many_faults(self) -> bool:
        """Count a fault between entries; tell whether there are many after the same entry."""
        last_entry_end = self._builder.last_entry_end
        self._count = self._count + 1 if last_entry_end == self._counted_after else 1
        self._counted_after = last_entry_end
        return self._count > _MAX_FAULTS


def _has_text(entry: Entry, keys: Collection[str]) -> bool:
    """Tell whether an entry has one of these fields, and a text in it."""
    for key, text in entry[1]:  # noqa: SIM110 -- half the time of any(): there are few
        if key in keys and text.strip():
            return True
    return False


def _has_other_end(data: bytes, end: re.Pattern[bytes], read: Collection[str]) -> bool:
    """Tell whether there is the end tag of a field that was not read: its start is damaged."""
    return any(name.decode().lower() not in read for name in end.findall(data))
