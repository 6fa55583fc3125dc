"""Reading the items of a JSON document one by one, so that a malformed one costs no other.

The text is split at its brackets and strings, and ``json`` parses one item at a time: a document of
any size takes little memory, and a truncated or malformed one loses only the items concerned. A
generator writes all items alike: after a fault, reading resumes where the next item starts in the
same way as the first valid one. An item may have 1 MiB and 64 levels.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from usp._parse.diagnostics import START, Diagnostics, Position, ReadPosition
from usp._parse.input.chunks import rechunk
from usp._parse.unexplained import REPAIRED, UnexplainedFaults
from usp._parse.values.text import NULL_BLOCK

Item = tuple[dict[str, Any], int]
"""An item, and its offset."""

MAX_ITEM: Final = 1024 * 1024
_MAX_DEPTH: Final = 64
_MAX_RESCANNED: Final = 2 * MAX_ITEM
_MAX_RESCANS: Final = 4
"""How many bytes of malformed items are searched again, so that the time stays linear: so many in
all, and each byte of the document so many times besides."""
_TOO_DEEP: Final = f"it is nested more than {_MAX_DEPTH} levels deep"
_UNMATCHED: Final = "the brackets of an item don't match"
_TOO_LONG: Final = "an item longer than 1 MiB was skipped"
_ROOT, _ITEMS = 1, 2
"""The depth inside the document's object, and inside its list of items."""

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+("?)|[{}\[\]]', re.DOTALL)
"""A bracket, or a string: one without its closing quote extends to the end."""
_TO_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+([{}\[\]])', re.DOTALL)
"""Everything up to the next bracket that is in no string."""
_TOKEN_AMONG_ITEMS: Final = re.compile(
    rb'"(?:[^"\\]++|\\.)*+("?)\s*+(:?)|[{}\[\]]|[^\s,"{}\[\]]++', re.DOTALL
)
"""The same, or a number or word; a string followed by a colon is a name."""
_AFTER_ITEMS: Final = re.compile(rb'[\s,]*+(?:["}]|\Z)')
"""What follows the list: a name, or the end of the document's object."""
_SCALAR: Final = re.compile(
    rb'".*|null|true|false|-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?', re.DOTALL
)
_ITEM_START: Final = re.compile(rb'\{\s{0,64}"[^"\\]{1,64}"')
_MAX_ITEM_START: Final = 131
_REPAIRABLE: Final = re.compile(
    # A string, a comma before a closing bracket, and a backslash that is no part of JSON.
    rb'("(?:[^"\\]++|\\.)*+"?)|,(?=\s*+[}\]])|\\(?!["\\/bfnrtu])',
    re.DOTALL,
)
_ESCAPE_SEQUENCE: Final = re.compile(rb'(\\["\\/bfnrtu])|\\')
"""An escape sequence of JSON, or the backslash of another one, in a string."""

_URL: Final = re.compile(rb"https?:\\?/", re.IGNORECASE)
"""The start of a URL, of which the slash may be escaped."""
_NOT_BLANK: Final = re.compile(rb"\S")

_TITLE: Final = b'"title"'
"""The key that nearly every item has once, in the middle: what is left of two has it twice."""

_DECODER: Final = json.JSONDecoder(strict=False)  # accepts control characters in strings
_MAX_KEY: Final = 32
_PAIRS_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=list)


class JsonItemReader:
    """Reads the items of one document, given from its first bracket on."""

    def __init__(self, diagnostics: Diagnostics, root: ReadPosition = START) -> None:
        """Start at the first bracket, given its position in the original document."""
        self._diagnostics = diagnostics
        diagnostics.position_of = self._position_of
        self._buffer = b""
        self._buffer_start = 0
        self._root = self._buffer_position = root
        self._known = (0, root)  # the last offset whose position was asked for, and its position
        self._next = 0  # the index in the buffer at which the next token is searched
        self._item_start: int | None = None  # the index of the current item in the buffer
        self._depth = 0
        self._last_string = b""  # the last one directly in the document's object
        self._in_items = self._had_items = self._had_version = False
        self._items_end = b"]"
        self._start_pattern: bytes | None = None  # how the items of this document start
        self._resyncing = False  # whether the start of the next item is searched, after a fault
        self._after_fault = self._given_up = False
        self._scalars = 0  # how many values among the items are no objects, since the last item
        self._scalar_position: Position = (None, None)
        self._scalars_have_url = False
        self._had_objects = self._had_others = False  # among the items
        self._rescan_budget = _MAX_RESCANNED
        self._repeated = UnexplainedFaults(diagnostics)
        self.rest = b""
        """What follows the document's object, as far as it was in the buffer."""
        self.rest_position: Position = (None, None)

    def read(self, chunks: Iterable[bytes]) -> Iterator[Item]:
        """Yield the items as they are completed."""
        try:
            for chunk, _ in rechunk(chunks):
                self._buffer += chunk
                self._rescan_budget += _MAX_RESCANS * len(chunk)
                yield from self._advance(final=False)
                if self._given_up:
                    return
                self._trim_buffer()
            yield from self._advance(final=True)
            self._check_end()
        finally:
            self._diagnostics.position_of = None  # breaks a reference cycle

    def _check_end(self) -> None:
        self._report_scalars()
        self._repeated.finish()
        if self._resyncing or self._after_fault:
            self.rest = b""  # maybe a part of the document, one of whose items is malformed
        if self._depth and not self._resyncing:
            self._report("SM231", "the document is truncated")
        if not self._had_items:
            self._report("SM231", "the document has no items")
        if self._had_others and not self._had_objects and self._diagnostics.complete:
            message = "no item of the feed is an object"
            self._diagnostics.report("SM204", message, position=self._root.position)
        if not self._had_version and not self._resyncing:
            self._diagnostics.report("SM232", "the feed has no version", at=0)

    def _position_of(self, offset: int) -> Position:
        """Return the position of an offset; what lies behind the last one isn't counted again."""
        index = max(offset - self._buffer_start, 0)
        begin, position = self._known
        begin -= self._buffer_start
        if not 0 <= begin <= index:
            begin, position = 0, self._buffer_position
        position = position.past(self._buffer[begin:index])
        self._known = (self._buffer_start + index, position)
        return position.position

    def _report(self, code: str, message: str) -> None:
        index = self._next if self._item_start is None else self._item_start
        self._diagnostics.report(code, message, at=self._buffer_start + index)

    def _advance(self, *, final: bool) -> Iterator[Item]:
        """Read to the end of the buffer."""
        while not self._given_up:
            if self._resyncing and not self._find_next_item():
                return
            if self._item_start is not None:
                if self._find_end_of_item():
                    yield from self._finish_item(self._item_start)
                elif self._depth > _MAX_DEPTH:
                    self._skip_item("SM231", _TOO_DEEP, self._next, ended=False)
                elif not self._skip_endless(self._item_start, final=final):
                    return
                continue
            if self._had_items and not (self._depth or self.rest):
                self._find_rest()
            pattern = _TOKEN_AMONG_ITEMS if self._is_among_items else _TOKEN
            token = pattern.search(self._buffer, self._next)
            if token and self._is_complete(token, final=final):
                self._take(token)
            else:
                self._next = token.start() if token else len(self._buffer)
                if not self._skip_endless(self._next, final=False):
                    return

    def _skip_endless(self, begin: int, *, final: bool) -> bool:
        """Skip what starts here and has no end; False if its end may still come."""
        end = len(self._buffer)
        if end - begin > MAX_ITEM:
            self._skip_item("SM217", _TOO_LONG, end, ended=False)
        elif final:
            self._skip_item("SM231", "the document is truncated inside an item", end, ended=False)
        else:
            return False
        return True

    def _find_rest(self) -> None:
        """Find what follows the document, which has ended."""
        if after := _NOT_BLANK.search(self._buffer, self._next):
            self.rest = self._buffer[after.start() :]
            self.rest_position = self._diagnostics.position(self._buffer_start + after.start())

    def _find_end_of_item(self) -> bool:
        """Go to the end of the current item; False if it isn't in the buffer, or is too deep."""
        buffer, index, depth = self._buffer, self._next, self._depth
        while _ITEMS < depth <= _MAX_DEPTH and (bracket := _TO_BRACKET.match(buffer, index)):
            index = bracket.end()
            depth += 1 if bracket[1] in b"{[" else -1
        self._next, self._depth = index, depth
        return depth == _ITEMS

    @property
    def _is_among_items(self) -> bool:
        return self._in_items and self._depth == _ITEMS

    def _is_complete(self, token: re.Match[bytes], *, final: bool) -> bool:
        """Tell whether a token is complete: a string or a word may continue in the next chunk."""
        if token[0].startswith(b'"') and not token[1]:
            return False
        ends = final or not self._is_among_items or token.end() < len(self._buffer)
        return ends or token[0] in b"{}[]"

    def _take(self, match: re.Match[bytes]) -> None:
        """Handle a token outside of the items."""
        token, self._next = match[0], match.end()
        if token in b"{[":
            self._open(token)
        elif token in b"}]":
            self._close(token)
        elif self._is_among_items:
            self._take_among_items(match)
        elif self._depth == _ROOT:
            if self._last_string.lower() == b'"version"' and b"jsonfeed" in token.lower():
                self._had_version = True
            self._last_string = token

    def _take_among_items(self, match: re.Match[bytes]) -> None:
        """Handle what is no item: its name, a scalar, or a part of one without its bracket."""
        is_name = bool(match[2])
        if is_name and self._items_end == b"}":
            return
        if is_name or not _SCALAR.fullmatch(match[0]):
            self._diagnostics.report("SM231", _UNMATCHED, at=self._buffer_start + match.start())
            self._resyncing = True
            return
        if not self._scalars:
            self._scalar_position = self._diagnostics.position(self._buffer_start + match.start())
        self._scalars += 1
        self._scalars_have_url |= _URL.search(match[0]) is not None

    def _open(self, bracket: bytes) -> None:
        if not self._depth and self._had_items:
            # The document has ended and continues: an item has too many closing brackets.
            self._next -= 1
            self._report("SM231", _UNMATCHED)
            self._resyncing = True
            return
        if self._depth == _ROOT and self._last_string.lower() == b'"items"':
            self._in_items = self._had_items = True
            self._items_end = b"]" if bracket == b"[" else b"}"
            if bracket == b"{":
                self._report("SM407", "items is not a list")
        elif self._is_among_items:
            self._report_scalars()
            self._item_start = self._next - 1
        self._depth += 1
        if self._item_start is None and self._depth > _MAX_DEPTH:
            self._report("SM231", _TOO_DEEP)
            self._given_up = True

    def _close(self, bracket: bytes) -> None:
        if self._is_among_items and not self._ends_items(bracket):
            # An item has too many closing brackets.
            self._report("SM231", _UNMATCHED)
            self._resyncing = True
            return
        self._report_scalars()
        self._depth = max(self._depth - 1, 0)
        # After a fault, this may have been the end of a list inside an item.
        self._resyncing = self._in_items and self._after_fault
        self._in_items = False

    def _ends_items(self, bracket: bytes) -> bool:
        """Tell whether a bracket is probably the end of the list of items."""
        after = _AFTER_ITEMS.match(self._buffer, self._next)
        return bracket == self._items_end and after is not None

    def _report_scalars(self) -> None:
        """Report the values among the items that are no objects."""
        if self._scalars:
            is_one = self._scalars == 1
            message = (
                "an item is not an object" if is_one else f"{self._scalars} items are not objects"
            )
            code = self._not_an_object(has_url=self._scalars_have_url)
            self._diagnostics.report(code, message, position=self._scalar_position)
            self._scalars, self._scalars_have_url = 0, False

    def _not_an_object(self, *, has_url: bool) -> str:
        """Return the problem with items that are no objects: with a URL, a page is lost."""
        self._had_others = True
        return "SM209" if has_url else "SM407"

    def _finish_item(self, start: int) -> Iterator[Item]:
        """Yield the item that has just ended, if it is valid."""
        text = self._buffer[start : self._next]
        if len(text) > MAX_ITEM:
            self._skip_item("SM217", _TOO_LONG, self._next, ended=True)
            return
        value, repaired = _load(text)
        if value is None:
            self._skip_item("SM231", "a malformed item was skipped", self._next, ended=True)
            return
        if repaired:
            self._report("SM233", "a malformed item was repaired")
        if not isinstance(value, dict):
            code = self._not_an_object(has_url=_URL.search(text) is not None)
            self._report(code, "an item is not an object")
        elif "id" in value or not self._after_fault:  # else it may be a part of an item
            self._start_pattern = self._start_pattern or ("id" in value and _start_of(text)) or None
            self._had_objects = True
            if text.count(_TITLE) > 1 and (repeated := _repeated_keys(text)):
                cause = "it has a key twice"
                self._repeated.report(REPAIRED, repeated, cause, self._buffer_start + start)
            yield value, self._buffer_start + start
        self._item_start = None

    def _skip_item(self, code: str, message: str, searched: int, *, ended: bool) -> None:
        """Skip an item, which was searched up to here, and resume where the next one starts."""
        self._report(code, message)
        start = self._next if self._item_start is None else self._item_start
        self._rescan_budget -= searched - start
        self._item_start = None
        if self._rescan_budget > 0:
            self._resyncing, self._next = True, start + 1
        elif not ended:
            self._given_up = True

    def _find_next_item(self) -> bool:
        """Go to the start of the next item; False if it isn't in the buffer."""
        start = self._find_item_start()
        if start < 0:
            self._next = max(self._next, len(self._buffer) - _MAX_ITEM_START + 1)
            return False
        self._next, self._depth, self._in_items = start, _ITEMS, True
        self._resyncing, self._after_fault = False, True
        return True

    def _find_item_start(self) -> int:
        """Return where the items' start pattern is next, or any object before one is known."""
        if self._start_pattern:
            return self._buffer.find(self._start_pattern, self._next)
        match = _ITEM_START.search(self._buffer, self._next)
        return match.start() if match else -1

    def _trim_buffer(self) -> None:
        needed = self._next if self._item_start is None else self._item_start
        self._buffer_position = self._buffer_position.past(self._buffer[:needed])
        self._buffer = self._buffer[needed:]
        self._buffer_start += needed
        self._next -= needed
        self._item_start = None if self._item_start is None else 0


def _start_of(text: bytes) -> bytes | None:
    start = _ITEM_START.match(text)
    return start[0] if start else None


def _repaired(found: re.Match[bytes]) -> bytes:
    string: bytes = found[1] or b""
    return _ESCAPE_SEQUENCE.sub(rb"\1", string) if b"\\" in string else string


def _load(text: bytes) -> tuple[Any, bool]:
    """Return the value, None if it can't be parsed, and whether it was repaired."""
    if NULL_BLOCK in text:
        return None, False
    for repair in (False, True):
        try:
            written = _REPAIRABLE.sub(_repaired, text) if repair else text
            return _DECODER.decode(written.decode("utf-8", "replace")), repair
        except ValueError:  # also for a number with thousands of digits
            continue
    return None, False


def _repeated_keys(text: bytes) -> frozenset[str]:
    """Return the keys that an item has twice."""
    try:
        pairs = _PAIRS_DECODER.decode(text.decode("utf-8", "replace"))
    except ValueError:  # it was repaired
        return frozenset()
    counts = Counter(name for name, _ in pairs)
    return frozenset(name[:_MAX_KEY] for name, count in counts.items() if count > 1)


def looks_like_json_feed(head: bytes) -> bool:
    """Tell by the first bytes whether JSON is a feed: by its version, or the keys of its items."""
    depth = 0
    path: list[bytes] = []  # the last string at each level: the key of the current value
    item_keys: set[bytes] = set()
    for token in _TOKEN.finditer(head):
        if token[0] in b"{[":
            depth += 1
            path.append(b"")
        elif token[0] in b"}]":
            depth -= 1
            path = path[:-1]
        elif path and depth <= _ITEMS + 1:
            if depth == _ROOT and path[0] == b'"version"' and b"jsonfeed" in token[0].lower():
                return True
            path[-1] = token[0].lower()
            if depth == _ITEMS + 1 and path[0] == b'"items"':
                item_keys.add(path[-1])
        if depth < _ROOT or depth > _MAX_DEPTH:
            break
    return bool(item_keys & _URL_KEYS and item_keys & _TYPICAL_KEYS)


_URL_KEYS: Final = {b'"id"', b'"url"', b'"external_url"'}
_TYPICAL_KEYS: Final = {
    b'"content_html"',
    b'"content_text"',
    b'"date_published"',
    b'"date_modified"',
}
"""Keys that hardly anything but the items of a JSON Feed has."""
