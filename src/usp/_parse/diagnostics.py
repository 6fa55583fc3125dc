"""Diagnostics: collects the problems with a document while it is parsed, with their positions.

The number of problems that are kept is bounded, whatever the document.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Final, NamedTuple

from usp._display import redact
from usp.objects.problem import CODES, Problem, Severity, unlisted_problems

KEPT_PROBLEMS: Final = 300
"""The first problems of a document are kept, up to this number; the rest are counted."""
KEPT_OF_A_CODE: Final = 100
"""At most this many of one code are kept, so that a common one leaves room for others."""

MAX_PAGE_URL: Final = 8192
"""A longer URL is not kept with a problem: some hundred of them would take much memory."""
_TRUNCATING: Final = frozenset({"SM102", "SM214", "SM701"})
"""Problems that mean that the end of the document is missing, whatever its format."""

Ended = Callable[[], bool]
"""Tells whether reading should end: the time is up, or nobody wants the rest. Any thread asks."""
Position = tuple[int | None, int | None]
"""A line and a byte offset in the decompressed document; None where they are unknown."""


class ReadPosition(NamedTuple):
    """How far a reader has come in the document as received, which may have another encoding."""

    line: int = 1
    offset: int = 0
    length: Callable[[bytes], int] = len
    """Returns the length that some decoded bytes had in the document as received."""

    @property
    def position(self) -> Position:
        """The line and the offset."""
        return self.line, self.offset

    def past(self, read: bytes) -> "ReadPosition":
        """Return the position after these bytes."""
        line, offset = self.line + read.count(b"\n"), self.offset + self.length(read)
        return ReadPosition(line, offset, self.length)


START: Final = ReadPosition()


class _Found(NamedTuple):
    """A problem, before anybody asks for it."""

    code: str
    message: str
    position: Position
    page_url: str | None = None

    @property
    def order(self) -> tuple[int, str]:
        """What sorts problems in document order."""
        return self.position[1] or 0, self.code

    @property
    def is_error(self) -> bool:
        """Whether something was lost."""
        return CODES[self.code].severity is Severity.ERROR


class Diagnostics:
    """The problems that one reading of one document finds."""

    def __init__(
        self, *, collecting: bool = True, locating: bool = True, ended: Ended | None = None
    ) -> None:
        self._ended = ended
        self.collecting = collecting
        """Whether all problems are kept: if not, only errors are."""
        self.locating = locating
        """Whether they have positions, which are counted for that."""
        self.complete = True
        """Whether nothing of the document was lost so far."""
        self.corrupt = False
        """Whether what was read may not be what the document was: its compressed data is wrong, not
        just cut off."""
        self.cut_character = False
        """Whether the text ends inside of a character, which is the first fault in its bytes: a
        line that ends there is truncated. XML and JSON have an end of their own."""
        self.first_child: Position | None = None
        """The position of the first entry that names a sitemap, if a walk has met one."""
        self.document_bytes = 0
        """The size of the document so far, decompressed."""
        self.here: int | None = None
        """The offset of the entry that is being checked, in the reader's own count."""
        self.position_of: Callable[[int], Position] | None = None
        """Returns the position of such an offset, as long as the reader holds those bytes."""
        self._kept: list[_Found] = []  # made into problems when asked for
        self._counts: dict[str, int] = {}
        self._reported_once: set[str] = set()

    def unused(self) -> "Diagnostics":
        """Return diagnostics that keep nothing of these, for a look ahead within the same time."""
        return Diagnostics(collecting=False, locating=False, ended=self._ended)

    def forget_time(self) -> Ended | None:
        """Forget what tells whether reading should end: it may hold a whole crawl in memory."""
        ended, self._ended = self._ended, None
        return ended

    def check_time(self) -> None:
        """Raise ``TimeoutError`` if reading should end; called after each part of a document."""
        if self._ended is not None and self._ended():
            raise TimeoutError("the document was not read to its end")

    def report(
        self, code: str, message: str, *, at: int | None = None, position: Position | None = None
    ) -> None:
        """Record a problem; one of severity error means that something was lost.

        Without an offset or a position, it is that of the entry that is being checked.
        """
        if CODES[code].severity is Severity.ERROR:
            self.complete = False
        elif not self.collecting:
            return
        self._counts[code] = count = self._counts.get(code, 0) + 1
        # Problems are sorted and cut at the end: how far a reader is ahead of the entries that are
        # checked differs between the readers.
        if count <= KEPT_OF_A_CODE:
            found_at = position or (self.position(at) if self.locating else (None, None))
            self._kept.append(_Found(code, message, found_at))

    def keeps(self, code: str) -> bool:
        """Tell whether one more problem of a code is kept: of others nobody needs the position."""
        return self._counts.get(code, 0) < KEPT_OF_A_CODE

    @property
    def kept(self) -> int:
        """How many problems are kept so far."""
        return len(self._kept)

    def name_page(self, first: int, page_url: str) -> None:
        """Say which page the problems that are kept are about, from a number on."""
        if len(page_url) <= MAX_PAGE_URL:
            named = [one._replace(page_url=page_url) for one in self._kept[first:]]
            self._kept[first:] = named

    def position(self, at: int | None = None) -> Position:
        """Return the position of an offset, or of the entry that is being checked."""
        at = self.here if at is None else at
        return self.position_of(at) if self.position_of and at is not None else (None, None)

    def report_once(
        self, code: str, message: str, *, at: int | None = None, position: Position | None = None
    ) -> None:
        """Record a problem of the whole document, the first time only."""
        if code not in self._reported_once:
            self._reported_once.add(code)
            self.report(code, message, at=at, position=position)

    @property
    def truncated(self) -> bool:
        """Whether the document is known to end too early: its last line may be incomplete."""
        return not _TRUNCATING.isdisjoint(self._counts)

    def note_child(self) -> None:
        """Remember the entry that is being checked, which names a sitemap."""
        if self.first_child is None:
            self.first_child = self.position() if self.locating else (None, None)

    def has(self, code: str) -> bool:
        """Whether a problem with this code was reported."""
        return code in self._counts

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The first error of each code: why something of the document was lost."""
        if self.complete:
            return ()
        lost = (one for one in self.problems if one.severity is Severity.ERROR)
        return tuple({one.code: one for one in reversed(list(lost))}.values())[::-1]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The first problems in document order; if there are more, the last one counts them.

        Errors are the first to be kept: others must not hide that something was lost.
        """
        in_order = sorted(self._kept, key=attrgetter("order"))
        first = sorted(in_order, key=lambda found: not found.is_error)[:KEPT_PROBLEMS]
        found = [
            Problem(code, redact(message), *position, page_url=page_url)
            for code, message, position, page_url in sorted(first, key=attrgetter("order"))
        ]
        dropped = sum(self._counts.values()) - len(found)
        if dropped:
            found.append(unlisted_problems(dropped))
        return tuple(found)
