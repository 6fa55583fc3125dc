"""Folders of URLs: how many pages are in each, exactly, whatever their number.

A folder is a host, or a segment of a path that isn't the last: ``/blog/2026/post`` is in
``/blog/2026``. Folders beyond a few hundred thousand are sorted in a temporary file. When
everything was counted, only the largest folders become values.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from typing import Final

from usp._display import one_line
from usp._report.counting import First, NameCounts
from usp._report.figures import Folder, Ranking
from usp._sorting import LineSorter

_MAX_DEPTH: Final = 8
"""Segments of a path that count; what is deeper is in the last of them."""
_MAX_HOSTS: Final = 100
_MAX_CHILDREN: Final = 60
MAX_FOLDERS: Final = 1500
"""How many folders a report has."""
_SMALLEST_SHARE: Final = 5000
"""A folder below a host has at least this part of all pages."""
_MAX_ENTRIES: Final = 300_000
_MAX_CHARACTERS: Final = 32_000_000
_RUN: Final = 8_000_000
"""Less than what is handed over at once, so that little of it stays in memory."""
_END: Final = "\0"
"""After the key of a folder: it sorts before a separator, so a folder is before what it has."""
_SEPARATOR: Final = "\1"
"""Between segments, which have no control characters: it sorts before every other character."""
_AFTER_SCHEME: Final = "://"

_NO_SCHEME: Final = "none"

_Counted = tuple[str, int]


def folder_of(url: str) -> str:
    """Return a URL up to its last segment, without a slash at the end."""
    path = url.partition("?")[0].partition("#")[0]
    scheme = path.find(_AFTER_SCHEME)
    slash = path.rfind("/", scheme + len(_AFTER_SCHEME) if scheme >= 0 else 0, -1)
    if slash >= 0:
        return path[:slash]
    return path.rstrip("/") if scheme >= 0 else ""


@dataclass(slots=True)
class _Open:
    """A folder whose pages are being added up."""

    name: str
    floor: int
    """What is smaller is not kept."""
    limit: int
    own: int = 0
    pages: int = 0
    folders: int = 0
    children: First[Folder] = field(init=False)

    def __post_init__(self) -> None:
        self.children = First(self.limit, lambda child: (-child.pages, child.name))

    def take(self, child: Folder) -> None:
        """Add a folder that is directly in it."""
        self.pages += child.pages
        self.folders += 1
        if child.pages >= self.floor:
            self.children.add(child)

    def folder(self) -> Folder:
        """Return it as a value."""
        children = tuple(self.children.items())
        return Folder(self.name, self.pages + self.own, self.own, self.folders, children)


class FolderCounts:
    """Counts pages by folder, and by scheme.

    :param max_entries: how many folders are kept in memory.
    """

    def __init__(self, max_entries: int = _MAX_ENTRIES) -> None:
        self._max_entries = max_entries
        self.schemes = NameCounts()
        self.pages = 0
        self._counts: Counter[str] = Counter()
        self._characters = 0
        self._sorter = LineSorter(_RUN)

    def add(self, urls: Iterable[str]) -> None:
        """Count some pages."""
        counts = self._counts
        for prefix, number in Counter(map(folder_of, urls)).items():
            scheme, is_absolute, rest = prefix.partition(_AFTER_SCHEME)
            self.schemes.add_one(scheme.lower() if is_absolute else _NO_SCHEME, number)
            self.pages += number
            key = _key(rest if is_absolute else f"/{prefix}")
            if key not in counts:
                self._characters += len(key)
            counts[key] += number
        if len(counts) > self._max_entries or self._characters > _MAX_CHARACTERS:
            self._take_to_sorter()

    def close(self) -> None:
        """Free the disk space."""
        self._sorter.close()

    def _take_to_sorter(self) -> None:
        """Hand over what was counted so far, and forget it."""
        self._sorter.add([f"{key}{_END}{number}" for key, number in self._counts.items()])
        self._counts.clear()
        self._characters = 0

    def _sorted(self) -> Iterator[_Counted]:
        """Yield each folder that has pages of its own, with their number, in order; once."""
        self._take_to_sorter()
        lines = chain.from_iterable(self._sorter.merged())
        counted = (line.split(_END) for line in lines)
        for key, found in groupby(counted, key=itemgetter(0)):
            yield key, sum(int(number) for _, number in found)

    def tree(self) -> Folder:
        """Return the largest folders, once: hosts below a folder without a name."""
        floor = self.pages // _SMALLEST_SHARE
        stack = [_Open("", 0, _MAX_HOSTS)]
        path: list[str] = []
        for key, number in self._sorted():
            names = key.split(_SEPARATOR)
            shared = _shared(path, names)
            _close_down_to(stack, shared + 1)
            stack += (_Open(name, floor, _MAX_CHILDREN) for name in names[shared:])
            stack[-1].own += number
            path = names
        _close_down_to(stack, 1)
        return stack[0].folder()


def _key(rest: str) -> str:
    """Return the host and the segments of a URL without its scheme, as the key of a folder."""
    authority, *segments = one_line(rest).split("/", _MAX_DEPTH + 1)[: _MAX_DEPTH + 1]
    # A user and password are nobody's business, and no host has a longer name (RFC 1035 2.3.4).
    host = authority.rpartition("@")[2].lower()[:253]
    return _SEPARATOR.join((host, *segments))


def _shared(path: list[str], names: list[str]) -> int:
    """Return how many names two paths begin with."""
    shared = 0
    for one, other in zip(path, names, strict=False):
        if one != other:
            break
        shared += 1
    return shared


def _close_down_to(stack: list[_Open], depth: int) -> None:
    while len(stack) > depth:
        closed = stack.pop().folder()
        stack[-1].take(closed)


def hosts_of(tree: Folder) -> Ranking:
    """Return the hosts of a tree of folders."""
    top = tuple((host.name, host.pages) for host in tree.children)
    return Ranking(top, tree.folders - len(top), tree.others_pages)


def largest(tree: Folder, limit: int = MAX_FOLDERS) -> Folder:
    """Return a tree with so many folders at most: the largest."""
    sizes = sorted(map(attrgetter("pages"), _walk(tree)), reverse=True)
    return _at_least(tree, sizes[limit] + 1 if len(sizes) > limit else 0)


def _walk(folder: Folder) -> Iterator[Folder]:
    yield folder
    for child in folder.children:
        yield from _walk(child)


def _at_least(folder: Folder, pages: int) -> Folder:
    children = (_at_least(child, pages) for child in folder.children if child.pages >= pages)
    return Folder(folder.name, folder.pages, folder.own, folder.folders, tuple(children))
