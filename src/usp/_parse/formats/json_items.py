"""Reading the items of a JSON document one by one: each is parsed alone, none costs another.

The text is cut at its brackets and strings, and ``json`` sees an item at a time, so that a document
of any size takes little memory and one that is cut off, or broken, loses the items that are broken.
Items are written by one machine: behind a fault, reading goes on where the next one begins as the
first sound one did. An item may be 1 MiB long and 64 levels deep.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from usp._parse.diagnostics import START, Diagnostics, Position, ReadPosition
from usp._parse.input.decompress import in_blocks

Item = tuple[dict[str, Any], int]
"""An item, and where it begins."""

MAX_ITEM: Final = 1024 * 1024
_MAX_DEPTH: Final = 64
_MAX_RESCANNED: Final = 4 * MAX_ITEM
"""So many bytes of broken items are looked through again: time stays linear."""
_TOO_DEEP: Final = f"it goes more than {_MAX_DEPTH} levels deep"
_UNMATCHED: Final = "the brackets of an item don't match"
_TOO_LONG: Final = "an item is longer than 1 MiB"
_ROOT, _ITEMS = 1, 2
"""How deep we are inside the document's object, and inside its list of items."""

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+("?)|[{}\[\]]', re.DOTALL)
"""A bracket, or a string: one without its last quote reaches to the end."""
_TO_BRACKET: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+([{}\[\]])', re.DOTALL)
"""All up to the next bracket that is in no string."""
_AMONG_ITEMS: Final = re.compile(
    rb'"(?:[^"\\]++|\\.)*+("?)\s*+(:?)|[{}\[\]]|[^\s,"{}\[\]]++', re.DOTALL
)
"""The same, or a number or word; behind a string stands a colon where it is a name."""
_AFTER_ITEMS: Final = re.compile(rb'[\s,]*+(?:["}]|\Z)')
"""What follows the list: a name, or the end of the document's object."""
_SCALAR: Final = re.compile(
    rb'".*|null|true|false|-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?', re.DOTALL
)
_OPENING: Final = re.compile(rb'\{\s{0,64}"[^"\\]{1,64}"')
_LONGEST_OPENING: Final = 131
_MENDABLE: Final = re.compile(
    # A comma before a closing bracket, and escapes that JSON doesn't have.
    rb'("(?:[^"\\]++|\\["\\/bfnrtu])*+")|,(?=\s*+[}\]])|\\(?!["\\/bfnrtu])',
    re.DOTALL,
)

_DECODER: Final = json.JSONDecoder(strict=False)  # which lets control characters pass


class JsonItemReader:
    """Reads the items of one document, given from its first bracket on."""

    def __init__(self, diagnostics: Diagnostics, root: ReadPosition = START) -> None:
        """Begin, given where that stands in the document as it came."""
        self._diagnostics = diagnostics
        diagnostics.position_of = self._position_of
        self._kept = b""
        self._kept_at = 0
        self._kept_from = root
        self._next = 0  # where the next token is looked for, in what is kept
        self._start: int | None = None  # where the item begins that is being read, in the same
        self._depth = 0
        self._last = b""  # the last string just inside the document's object
        self._in_items = self._had_items = self._had_version = False
        self._items_end = b"]"
        self._opening: bytes | None = None  # how items begin
        self._seeking = False  # whether we have lost our way and look for the next item
        self._after_fault = self._given_up = False
        self._junk = 0  # so many values stand in the position of items, since the last one
        self._junk_position: Position = (None, None)
        self._budget = _MAX_RESCANNED

    def read(self, chunks: Iterable[bytes]) -> Iterator[Item]:
        """Yield the items as they become complete."""
        try:
            for block in in_blocks(chunks):
                self._kept += block
                yield from self._advance(final=False)
                if self._given_up:
                    return
                self._forget()
            yield from self._advance(final=True)
            self._look_at_the_end()
        finally:
            self._diagnostics.position_of = None  # breaks a ring of references

    def _look_at_the_end(self) -> None:
        self._report_junk()
        if self._depth and not self._seeking:
            self._report("SM231", "the document ends before it is closed")
        if not self._had_items:
            self._report("SM231", "it has no items")
        if not self._had_version and not self._seeking:
            self._diagnostics.report("SM232", "the feed doesn't say which version it is", at=0)

    def _position_of(self, at: int) -> Position:
        return self._kept_from.past(self._kept[: max(at - self._kept_at, 0)]).position

    def _report(self, code: str, message: str) -> None:
        at = self._next if self._start is None else self._start
        self._diagnostics.report(code, message, at=self._kept_at + at)

    def _advance(self, *, final: bool) -> Iterator[Item]:
        """Read as far as the kept bytes go."""
        while not self._given_up:
            if self._seeking and not self._sought():
                return
            if self._start is not None:
                if self._find_end_of_item():
                    yield from self._item(self._start)
                elif self._depth > _MAX_DEPTH:
                    self._fault("SM231", _TOO_DEEP, ended=False)
                elif not self._has_no_end(self._start, final=final):
                    return
                continue
            pattern = _AMONG_ITEMS if self._is_among_items else _TOKEN
            token = pattern.search(self._kept, self._next)
            if token and self._is_whole(token, final=final):
                self._take(token)
            else:
                self._next = token.start() if token else len(self._kept)
                if not self._has_no_end(self._next, final=False):
                    return

    def _has_no_end(self, begin: int, *, final: bool) -> bool:
        """Give up what began here and will not end, or tell that its end may still come."""
        if len(self._kept) - begin > MAX_ITEM:
            self._fault("SM217", _TOO_LONG, ended=False)
        elif final:
            self._fault("SM231", "the document ends within an item", ended=False)
        else:
            return False
        return True

    def _find_end_of_item(self) -> bool:
        """Go to the end of the item that is being read; False if it isn't here, or lies deep."""
        kept, at, depth = self._kept, self._next, self._depth
        while _ITEMS < depth <= _MAX_DEPTH and (bracket := _TO_BRACKET.match(kept, at)):
            at = bracket.end()
            depth += 1 if bracket[1] in b"{[" else -1
        self._next, self._depth = at, depth
        return depth == _ITEMS

    @property
    def _is_among_items(self) -> bool:
        return self._in_items and self._depth == _ITEMS

    def _is_whole(self, token: re.Match[bytes], *, final: bool) -> bool:
        """Tell whether a token ends here: more of a string or of a word may still come."""
        if token[0].startswith(b'"') and not token[1]:
            return False
        ends = final or not self._is_among_items or token.end() < len(self._kept)
        return ends or token[0] in b"{}[]"

    def _take(self, found: re.Match[bytes]) -> None:
        """Take what stands outside of the items."""
        token, self._next = found[0], found.end()
        if token in b"{[":
            self._open(token)
        elif token in b"}]":
            self._close(token)
        elif self._is_among_items:
            self._take_among_items(found)
        elif self._depth == _ROOT:
            if self._last.lower() == b'"version"' and b"jsonfeed" in token.lower():
                self._had_version = True
            self._last = token

    def _take_among_items(self, found: re.Match[bytes]) -> None:
        """Take what is no item: its name, junk, or a part of one that has lost its bracket."""
        named = bool(found[2])
        if named and self._items_end == b"}":
            return
        if named or not _SCALAR.fullmatch(found[0]):
            self._diagnostics.report("SM231", _UNMATCHED, at=self._kept_at + found.start())
            self._seeking = True
            return
        if not self._junk:
            self._junk_position = self._diagnostics.position(self._kept_at + found.start())
        self._junk += 1

    def _open(self, bracket: bytes) -> None:
        if not self._depth and self._had_items:
            # The document has ended, and goes on: an item has brackets too many.
            self._next -= 1
            self._report("SM231", _UNMATCHED)
            self._seeking = True
            return
        if self._depth == _ROOT and self._last.lower() == b'"items"':
            self._in_items = self._had_items = True
            self._items_end = b"]" if bracket == b"[" else b"}"
            if bracket == b"{":
                self._report("SM407", "items is no list")
        elif self._is_among_items:
            self._report_junk()
            self._start = self._next - 1
        self._depth += 1
        self._give_up_if_hostile()

    def _close(self, bracket: bytes) -> None:
        if self._is_among_items and not self._ends_items(bracket):
            # An item has a bracket too many.
            self._report("SM231", _UNMATCHED)
            self._seeking = True
            return
        self._report_junk()
        self._depth = max(self._depth - 1, 0)
        # Behind a fault, what has ended may have been a list inside an item.
        self._seeking = self._in_items and self._after_fault
        self._in_items = False

    def _ends_items(self, bracket: bytes) -> bool:
        """Tell whether a bracket looks like that at the end of all items."""
        return bracket == self._items_end and _AFTER_ITEMS.match(self._kept, self._next) is not None

    def _report_junk(self) -> None:
        """Report what stood in the position of items: nothing can be made of it."""
        if self._junk:
            one = self._junk == 1
            message = "an item is no object" if one else f"{self._junk} items are no objects"
            self._diagnostics.report("SM407", message, position=self._junk_position)
            self._junk = 0

    def _give_up_if_hostile(self) -> None:
        if self._start is None and self._depth > _MAX_DEPTH:
            self._report("SM231", _TOO_DEEP)
            self._given_up = True

    def _item(self, start: int) -> Iterator[Item]:
        """Yield the item that has just ended, if it is one."""
        text = self._kept[start : self._next]
        if len(text) > MAX_ITEM:
            self._fault("SM217", _TOO_LONG, ended=True)
            return
        value, mended = _load(text)
        if value is None:
            self._fault("SM231", "an item can't be read", ended=True)
            return
        if mended:
            self._report("SM233", "an item is not JSON, but was read all the same")
        if not isinstance(value, dict):
            self._report("SM407", "an item is no object")
        elif "id" in value or not self._after_fault:  # else it may be a part of an item
            self._opening = self._opening or ("id" in value and _opening_of(text)) or None
            yield value, self._kept_at + start
        self._start = None

    def _fault(self, code: str, message: str, *, ended: bool) -> None:
        """Leave an item out, and go on where the next one begins."""
        self._report(code, message)
        start = self._next if self._start is None else self._start
        self._budget -= min(self._next - start, MAX_ITEM)
        self._start = None
        if self._budget > 0:
            self._seeking, self._next = True, start + 1
        elif not ended:
            self._given_up = True

    def _sought(self) -> bool:
        """Look for the next item; False if it isn't here yet."""
        at = self._find_opening()
        if at < 0:
            self._next = max(self._next, len(self._kept) - _LONGEST_OPENING + 1)
            return False
        self._next, self._depth, self._in_items = at, _ITEMS, True
        self._seeking, self._after_fault = False, True
        return True

    def _find_opening(self) -> int:
        """Find what begins as items do here, or as objects do, as long as no item was whole."""
        if self._opening:
            return self._kept.find(self._opening, self._next)
        found = _OPENING.search(self._kept, self._next)
        return found.start() if found else -1

    def _forget(self) -> None:
        needed = self._next if self._start is None else self._start
        self._kept_from = self._kept_from.past(self._kept[:needed])
        self._kept = self._kept[needed:]
        self._kept_at += needed
        self._next -= needed
        self._start = None if self._start is None else 0


def _opening_of(text: bytes) -> bytes | None:
    opening = _OPENING.match(text)
    return opening[0] if opening else None


def _load(text: bytes) -> tuple[Any, bool]:
    """Return the value, None if there is none, and whether it had to be mended."""
    for mend in (False, True):
        try:
            written = _MENDABLE.sub(rb"\1", text) if mend else text
            return _DECODER.decode(written.decode("utf-8", "replace")), mend
        except ValueError:  # also a number of thousands of digits
            continue
    return None, False


def looks_like_a_feed(head: bytes) -> bool:
    """Tell whether JSON that begins so is a feed: by its version, or by what its items hold."""
    depth = 0
    path: list[bytes] = []  # the last string at each level: the key that we are under
    item: set[bytes] = set()
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
                item.add(path[-1])
        if depth < _ROOT or depth > _MAX_DEPTH:
            break
    return bool(item & _ADDRESSES and item & _MARKS)


_ADDRESSES: Final = {b'"id"', b'"url"', b'"external_url"'}
_MARKS: Final = {b'"content_html"', b'"content_text"', b'"date_published"', b'"date_modified"'}
"""What hardly anything but the item of a JSON Feed is made of."""
