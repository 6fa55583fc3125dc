"""Reading XML entry by entry: the expat_only pattern_reader, and the way back to it after a fault.

expat is the judge of what well-formed XML means. Where it stops, the entry it stopped in is handed
to the rescue pattern_reader and a new expat goes on behind it; where it stops between entries, reading goes
on at the next entry. So a fault costs its own entry at most, and time stays linear.

Bytes are kept from the beginning of the entry that is being read, and never more than an entry may
be long: older expats take quadratic time over one huge token, so they aren't shown one. expat is
fed from the root element on and is never outside of all elements again, so no DOCTYPE reaches it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from xml.parsers import expat

from usp._parse.diagnostics import START, Diagnostics, Position, ReadPosition
from usp._parse.input.decompress import in_blocks
from usp._parse.pattern.groups import MatchRun
from usp._parse.pattern.pattern_reader import PatternReader
from usp._parse.xml.boundaries import ROOT_END, boundaries_for
from usp._parse.xml.entry_builder import Entry, EntryBuilder
from usp._parse.xml.grammar import Grammar
from usp._parse.xml.recovery import recover_entry

MAX_ENTRY: Final = 1024 * 1024
_CAUTION: Final = 16 * 1024
"""So much after a fault is fed to expat an entry at a time."""
_CHILD_URL: Final = re.compile(
    rb"<(?:[\w.-]+:)?sitemap[\s>].*?</(?:[\w.-]+:)?loc\s*>", re.IGNORECASE | re.DOTALL
)
_END_TAG: Final = re.compile(rb"\s*</([^\s<>]+)[ \t\r\n]*>")
"""An end tag that expat takes, behind blanks of any kind: XML knows four of the six."""
_AFTER_ROOT: Final = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
_BLANKS: Final = re.compile(rb"[ \t\r\n]*+")
_NOWHERE: Final = "_"
"""The element that stands around entries which have none."""


@dataclass(frozen=True, slots=True)
class _Fault:
    """Where expat stopped inside an entry, and why."""

    entry_at: int
    at: int
    message: str


class XmlReader:
    """Reads the entries of one document, given from its root element on.

    Places are counted in bytes of UTF-8 from there.
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
        """Begin at a root element, given where it stands in the document as it came.

        ``expat_only`` leaves all to expat: the result is the same.
        """
        self._diagnostics = diagnostics
        diagnostics.position_of = self._position_of
        self._builder = EntryBuilder(grammar, self._position)
        self._pattern_reader = None if expat_only else PatternReader(grammar)
        bounds = boundaries_for(grammar)
        self._starts, self._resyncs = bounds.starts, bounds.resyncs
        self._bounds, self._ends = bounds.either, bounds.ends
        self._is_sitemap = grammar.plain_texts
        self._entries = 0  # how many were read, runs counting as one
        self._done: list[Entry | MatchRun] = []  # those that nobody has taken yet
        self._told: set[tuple[str, str]] = set()  # the oddities that were reported
        self._kept = b""
        self._kept_at = 0  # the position of the first kept byte
        self._root = self._kept_from = root
        self._fed_to = 0  # how far expat has been fed
        self._zero = 0  # the position of expat's own byte 0
        self._rootless = rootless
        self._root_ended = False
        self._resumed_at = 0
        self._cautious_to = 0  # up to there, entries are fed one by one
        self._between = False  # expat stands between entries, with nothing half read
        self._fault: _Fault | None = None  # a damaged entry whose end is still to come
        self._parser = self._new_parser([_NOWHERE] if rootless else [])

    def read(self, chunks: Iterable[bytes]) -> Iterator[Entry | MatchRun]:
        """Yield the entries as they become complete, those that are alike together."""
        try:
            for block in in_blocks(chunks):
                at = 0
                while at < len(block):
                    # Never past the length of an entry: where the blocks end must not matter.
                    room = max(self._needed + MAX_ENTRY - self._end, 1)
                    self._kept += block[at : at + room]
                    at += room
                    yield from self._entries_so_far(final=False)
                    self._forget()
            yield from self._entries_so_far(final=True)
            if not self._entries and self._builder.strays and self._is_sitemap:
                self._diagnostics.report(
                    "SM204", "there are no entries", position=self._root.position
                )
        finally:
            self._let_go()

    def _entries_so_far(self, *, final: bool) -> Iterator[Entry | MatchRun]:
        """Yield the entries of what is kept, a run of them as soon as it is read."""
        if self._pattern_reader:
            self._pattern_reader.show(self._kept)
        while self._advance(final=final):
            yield from self._take_done()
        yield from self._take_done()

    def _let_go(self) -> None:
        """Break the rings of references, so that the bytes are free as soon as we are."""
        self._diagnostics.position_of = None
        self._builder.position = int
        self._parser.StartElementHandler = None
        self._parser.EndElementHandler = None
        self._parser.CharacterDataHandler = None

    def _take_done(self) -> list[Entry | MatchRun]:
        builder = self._builder
        for at in builder.unclosed:
            self._diagnostics.report("SM210", "an entry is never closed", at=at)
        builder.unclosed.clear()
        self._done += builder.done
        self._entries += len(self._done)
        builder.done = []
        done, self._done = self._done, []
        for oddity, met_at in builder.oddities.items():
            if oddity not in self._told:
                self._told.add(oddity)
                position = self._root.position if met_at is None else self._position_of(met_at)
                self._diagnostics.report(*oddity, position=position)
        return done

    @property
    def _end(self) -> int:
        return self._kept_at + len(self._kept)

    def _position(self) -> int:
        if self._fault:
            return self._fault.entry_at
        return self._zero + self._parser.CurrentByteIndex

    def _position_of(self, at: int) -> Position:
        return self._kept_from.past(self._kept[: max(at - self._kept_at, 0)]).position

    def _new_parser(self, path: list[str]) -> expat.XMLParserType:
        """Make an expat that stands where we stand: inside the elements around the entries."""
        parser = expat.ParserCreate("utf-8")  # overrides whatever the declaration says
        parser.buffer_text = True
        if hasattr(parser, "SetReparseDeferralEnabled"):  # bounded here; see MAX_ENTRY
            parser.SetReparseDeferralEnabled(False)
        head = "".join(f"<{name}>" for name in path).encode()
        if head:
            parser.Parse(head, False)
        self._zero = self._fed_to - len(head)
        parser.StartElementHandler = self._builder.start
        parser.EndElementHandler = self._builder.end
        parser.CharacterDataHandler = self._builder.text
        return parser

    def _resume(self, at: int) -> None:
        self._cautious_to = at + _CAUTION
        self._fed_to = self._resumed_at = at
        self._between = True
        self._parser = self._new_parser(self._builder.path or [_NOWHERE])

    def _advance(self, *, final: bool) -> bool:
        """Read as far as the kept bytes go, past as many faults as there are in them.

        Stop at each long run of entries: True if there may be more.
        """
        while True:
            if self._fault:
                if not self._rescue_entry(self._fault, final=final):
                    return False
            else:
                self._feed(final=final)
            if not self._fault and self._fed_to >= self._end:
                return False
            if self._done:
                return True

    def _feed(self, *, final: bool) -> None:
        """Feed expat: all there is, or an entry at a time while the other pattern_reader may follow.

        After a fault it is an entry at a time for a while. What a fault opens (a comment, CDATA)
        may reach to the end of the document: fed all there is, expat would read that far again
        and again, once for each such fault.
        """
        if self._between and self._pattern_reader and self._skim(self._pattern_reader):
            return
        builder = self._builder
        begin = self._fed_to - self._kept_at
        cautious = self._fed_to < self._cautious_to
        stepping = self._ends if self._pattern_reader and self._pattern_reader.is_learning else None
        cuts = self._bounds if cautious else stepping
        bound = cuts.search(self._kept, begin + 1) if cuts else None
        ends = bool(bound and bound[1])
        stop = len(self._kept) if bound is None else bound.end() if ends else bound.start()
        self._between = False
        try:
            self._parser.Parse(memoryview(self._kept)[begin:stop], final and bound is None)
        except expat.ExpatError as error:
            self._stopped(error, final=final)
            return
        self._fed_to = self._kept_at + stop
        if bound and ends and builder.finished_at == self._kept_at + bound.start():
            self._between = True
            self._learn(stop)
        elif ends and not cautious and self._pattern_reader:
            self._pattern_reader.miss()  # or expat would read on in it step by step, each from its beginning
        entry_at = builder.entry_at
        swallowed = (
            bound and self._starts.match(self._kept, begin) and entry_at != self._kept_at + begin
        )
        if cautious and entry_at is not None and (ends or swallowed):
            # Its end tag, or the next entry, stands in something that it never closed.
            self._fault = _Fault(entry_at, self._kept_at + begin, "something in it has no end")

    def _skim(self, pattern_reader: PatternReader) -> bool:
        """Have the learned pattern_reader read what it can; expat goes on behind it as if it had read it.

        True if it has read some: there may be more, of another kind.
        """
        builder = self._builder
        begin = self._fed_to - self._kept_at
        run, stop = pattern_reader.read(begin, builder.scope, self._kept_at)
        if run:
            self._done += builder.done
            builder.done = []
            self._done.append(run)
            self._fed_to += stop - begin
            self._zero += stop - begin
            builder.finished_at = self._fed_to
        return run is not None

    def _learn(self, stop: int) -> None:
        """Show the learned pattern_reader the entry that ends here."""
        if self._pattern_reader and self._pattern_reader.is_learning:
            entry = self._builder.done[-1]
            self._pattern_reader.learn(entry[2] - self._kept_at, stop, self._builder.scope, entry)

    def _stopped(self, error: expat.ExpatError, *, final: bool) -> None:
        at = max(self._zero + self._parser.ErrorByteIndex, self._kept_at)
        if self._kept.startswith(b"</", max(at - self._kept_at - 2, 0)):
            at -= 2  # expat points at the name in an end tag
        entry_at = self._builder.entry_at
        if entry_at is None and error.code != _AFTER_ROOT:
            entry_at = self._broken_start(at)
        if entry_at is None:
            self._stopped_between(error, at, final=final)
        else:
            self._fault = _Fault(entry_at, at, expat.ErrorString(error.code))

    def _broken_start(self, at: int) -> int | None:
        """Return where an entry begins whose very start tag is broken at this position.

        Not before the last fault: what lies there was dealt with, and would be for ever.
        """
        since = max(self._resumed_at - self._kept_at, 0)
        tag = self._kept.rfind(b"<", since, at - self._kept_at)
        written = self._kept[tag : at - self._kept_at] if tag >= 0 else b">"
        unfinished = b">" not in written or written.count(b'"') % 2 or written.count(b"'") % 2
        for begin in (tag if unfinished else -1, at - self._kept_at):
            if begin >= 0 and self._starts.match(self._kept, begin):
                return self._kept_at + begin
        return None

    def _rescue_entry(self, fault: _Fault, *, final: bool) -> bool:
        """Mend the entry in which expat stopped; False if its end is still to come."""
        builder = self._builder
        begin = fault.entry_at - self._kept_at
        bound = self._bounds.search(self._kept, begin + 1)
        endless = bound is None and not final
        if endless and len(self._kept) - begin < MAX_ENTRY:
            return False
        stop = bound.end() if bound and bound[1] else bound.start() if bound else len(self._kept)
        piece = self._kept[begin:stop]
        if endless or len(piece) > MAX_ENTRY:
            self._diagnostics.report("SM217", "an entry is longer than 1 MiB", at=fault.entry_at)
        elif bound is None:
            self._truncated(fault, piece)
        else:
            builder.outside()
            before = len(builder.done)
            recover_entry(piece, builder)
            builder.finish()
            lost = len(builder.done) == before or (self._is_sitemap and not _has_url(builder.done))
            code, what = ("SM209", "lost") if lost else ("SM208", "mended")
            self._diagnostics.report(code, f"an entry was {what}: {fault.message}", at=fault.at)
        self._fault = None
        builder.outside()
        # Blanks between entries say nothing; shown to expat, they would take a turn of their own.
        rest = _BLANKS.match(self._kept, stop)
        self._resume(self._kept_at + (rest.end() if rest else stop))
        return True

    def _truncated(self, fault: _Fault, piece: bytes) -> None:
        """Leave out the entry that has no end; of an index's child the URL is enough."""
        url = _CHILD_URL.match(piece)
        if url:
            self._builder.outside()
            recover_entry(url[0], self._builder)
            self._builder.finish()
        self._diagnostics.report("SM207", "the document ends within an entry", at=fault.entry_at)

    def _stopped_between(self, error: expat.ExpatError, at: int, *, final: bool) -> None:
        """Go on after a fault between entries: at an end tag that fits, or at the next entry."""
        builder = self._builder
        stale = builder.outside()
        end_tag = _END_TAG.match(self._kept, at - self._kept_at)
        if end_tag and builder.close_to(end_tag[1].decode("utf-8", "replace")):
            if not stale:
                self._diagnostics.report_once("SM211", "not all that is opened is closed", at=at)
            self._resume(self._kept_at + end_tag.start(1) - len(b"</"))
            return
        since = max(self._resumed_at - self._kept_at, 0)
        text_before = self._kept[since : at - self._kept_at].strip()
        if end_tag and text_before and end_tag[1].rpartition(b":")[2].lower() == b"loc":
            self._diagnostics.report("SM209", "an entry has lost its beginning", at=at)
        after = at if end_tag else self._behind_comment(at)
        ended = self._root_ended or builder.root_closed or error.code == _AFTER_ROOT
        stop = self._past_end_tags(at) if end_tag else self._next_start(after, final=final)
        if not builder.rooted and stop < self._end:
            self._rootless = True  # the root's very start tag is broken
        if ended and not self._rootless:
            if at < self._end:
                self._diagnostics.report_once("SM206", "something follows the root element", at=at)
        elif final and stop == self._end and not self._rootless:
            self._diagnostics.report("SM207", "the document ends before its root does", at=at)
        elif at < self._end:
            message = f"between entries: {expat.ErrorString(error.code)}"
            self._diagnostics.report_once("SM211", message, at=at)
        skipped = self._kept[at - self._kept_at : stop - self._kept_at]
        self._root_ended = ended or bool(ROOT_END.search(skipped))
        self._resume(stop)

    def _behind_comment(self, at: int) -> int:
        """Return where to go on if a comment has swallowed what is before this position, or that.

        Behind the comment, if it only has ``--`` in it; in it, if it has no end of its own.
        """
        begin = max(self._resumed_at, self._builder.finished_at) - self._kept_at
        here = at - self._kept_at
        comment = self._kept.find(b"<!--", max(begin, 0), here)
        if comment < 0 or self._kept.find(b"-->", comment, here) >= 0:
            return at
        end = self._kept.find(b"-->", here)
        another = self._kept.find(b"<!--", here, max(end, here))
        ended = end >= 0 > another and not self._starts.search(self._kept, comment, here)
        return self._kept_at + (end + len(b"-->") if ended else comment + 1)

    def _past_end_tags(self, at: int) -> int:
        """Return where a run of end tags ends that close nothing."""
        path = set(self._builder.path)
        end = at - self._kept_at
        while (tag := _END_TAG.match(self._kept, end)) and tag[1].decode(
            "utf-8", "replace"
        ) not in path:
            end = tag.end()
        return self._kept_at + end

    def _next_start(
        self, after: int, *, final: bool, starts: re.Pattern[bytes] | None = None
    ) -> int:
        """Return where the next entry begins, or where one may begin that isn't all here yet."""
        begin = after - self._kept_at
        following = (starts or self._resyncs).search(self._kept, begin)
        if following:
            return self._kept_at + following.start()
        last = -1 if final else self._kept.rfind(b"<", begin + 1)
        unfinished = last >= 0 and b">" not in self._kept[last:]
        return self._kept_at + last if unfinished else self._end

    @property
    def _needed(self) -> int:
        """Where the bytes begin that are still needed."""
        needed = self._fault.entry_at if self._fault else self._builder.entry_at
        needed = self._position() if needed is None else needed
        return min(max(needed, self._kept_at), self._end)

    def _forget(self) -> None:
        """Drop the bytes that nothing needs any more, and give up on what has no end."""
        needed = self._needed
        if self._end - needed >= MAX_ENTRY:
            # Nothing has ended for 1 MiB: an endless entry, comment or tag. Begin anew behind it.
            self._diagnostics.report("SM217", "more than 1 MiB without an end", at=needed)
            self._builder.outside()
            self._resume(self._next_start(needed + 1, final=False, starts=self._starts))
            while self._advance(final=False):
                pass
            needed = self._needed
        if self._diagnostics.collecting:
            self._kept_from = self._kept_from.past(self._kept[: needed - self._kept_at])
        self._kept = self._kept[needed - self._kept_at :]
        self._kept_at = needed


def _has_url(done: list[Entry]) -> bool:
    """Tell whether the last of the entries has a URL, without which it is lost."""
    return any(key == "loc" and text.strip() for key, text in done[-1][1])
