"""Differences as text: for people, as URLs, as JSON lines.

Each writer is a pure function of differences, and yields lines without their ends.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from usp._diff.differences import Difference, DifferenceKind
from usp._display import shown_url
from usp._json import json_text
from usp._sync.changes import iso

_MARKS: Final = {
    DifferenceKind.ADDED: "+",
    DifferenceKind.REMOVED: "-",
    DifferenceKind.CHANGED: "~",
    DifferenceKind.MOVED: ">",
    DifferenceKind.MAYBE_ADDED: "?",
    DifferenceKind.MAYBE_REMOVED: "?",
}
_WIDTH: Final = 8


def text_lines(differences: Iterable[Difference]) -> Iterator[str]:
    """Yield a line for people of each difference: ``+ added    URL  2026-11-01T08:30:00Z``."""
    for one in differences:
        line = f"{_MARKS[one.change]} {one.change:{_WIDTH}} {shown_url(one.url)}"
        detail = _detail(one)
        yield f"{line}  {detail}" if detail else line


def _detail(one: Difference) -> str:
    """Return what there is to say beside the kind and the URL."""
    parts = []
    if one.old_url is not None and one.old_url != one.url:
        parts.append(f"(was {shown_url(one.old_url)})")
    if one.change is DifferenceKind.MOVED:
        parts.append(
            f"{shown_url(one.old_sitemap_url or '')} -> {shown_url(one.sitemap_url or '')}"
        )
    elif one.change is DifferenceKind.CHANGED:
        parts += [_dates(one) if name == "lastmod" else name for name in one.fields]
    else:
        parts.append(iso(one.lastmod or one.old_lastmod) or "")
    return ", ".join(filter(None, parts))


def _dates(one: Difference) -> str:
    return f"{iso(one.old_lastmod) or 'no date'} -> {iso(one.lastmod) or 'no date'}"


def url_lines(differences: Iterable[Difference]) -> Iterator[str]:
    """Yield the URL of each difference."""
    return (shown_url(one.url) for one in differences)


def json_lines(differences: Iterable[Difference]) -> Iterator[str]:
    """Yield each difference as a JSON object."""
    return (json_text(one.to_dict()) for one in differences)


LINE_FORMATS: Final[dict[str, Callable[[Iterable[Difference]], Iterator[str]]]] = {
    "text": text_lines,
    "urls": url_lines,
    "jsonl": json_lines,
}
"""The writer of each format."""
