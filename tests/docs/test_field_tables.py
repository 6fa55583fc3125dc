"""Each public field of what a user holds has its row in the docs, and no row is stale.

Rules of this room: ``TABLES`` says under which headings the rows of a class stand. In a table of
properties or fields the names in code marks in the first column are those; in a table of classes
they stand in the second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from inspect import getmembers, isclass
from pathlib import Path

import pytest

from usp.objects import markup, sitemap, video
from usp.objects.outcome import Attempt
from usp.objects.page import SitemapImage, SitemapNewsStory, SitemapPage, SitemapVideo

DOCS = Path(__file__).resolve().parents[2] / "docs"
NAME = re.compile(r"`(\w+)`")
OF_FIELDS, OF_CLASSES = ("property", "field"), ("class",)
PAGE = ("formats.md", "Fields of a page")

SITEMAPS = [kind for _, kind in getmembers(sitemap, isclass) if kind.__module__ == sitemap.__name__]
VALUES = [
    kind
    for module in (markup, video)
    for _, kind in getmembers(module, isclass)
    if kind.__module__ == module.__name__ and kind is not SitemapVideo
]
TABLES: list[tuple[str, list[type], list[tuple[str, str]]]] = [
    ("page", [SitemapPage], [PAGE]),
    ("story", [SitemapNewsStory], [("formats.md", "Google News")]),
    ("image", [SitemapImage], [("formats.md", "Google Images")]),
    ("video", [SitemapVideo], [("formats.md", "Google Video")]),
    (
        "sitemap",
        SITEMAPS,
        [
            ("formats.md", "Fields of a sitemap"),
            ("discovery.md", "Where a sitemap came from"),
        ],
    ),
    ("attempt", [Attempt], [("discovery.md", "What was tried")]),
]


def public_fields(kinds: Iterable[type]) -> set[str]:
    """The names of what can be asked of an object: properties and fields."""
    found = set[str]()
    for kind in kinds:
        found |= {name for name, value in getmembers(kind) if isinstance(value, property)}
        found |= {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    return {name for name in found if not name.startswith("_")}


def rows(page: str, heading: str, heads: tuple[str, ...]) -> Iterator[list[list[str]]]:
    """The names in each cell of the tables under a heading that have such a head."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (section,) = re.findall(rf"^#+ {heading}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE):
        head, _, *lines = table.splitlines()
        for line in lines if head.startswith(tuple(f"| {name}" for name in heads)) else ():
            yield [NAME.findall(cell) for cell in line.strip("|").split("|")]


def named(places: Iterable[tuple[str, str]]) -> set[str]:
    return {name for place in places for row in rows(*place, OF_FIELDS) for name in row[0]}


@pytest.mark.parametrize(("what", "kinds", "places"), TABLES, ids=[row[0] for row in TABLES])
def test_every_field_has_a_row(what: str, kinds: list[type], places: list[tuple[str, str]]) -> None:
    assert named(places) == public_fields(kinds), what


def test_every_field_of_a_small_value_has_its_name_in_the_table() -> None:
    told = {kind: set(names) for (kind,), names in rows(*PAGE, OF_CLASSES)}
    assert told == {kind.__name__: public_fields([kind]) for kind in VALUES}


class Grown(SitemapPage):
    """A page with a field that nobody has told of."""

    @property
    def mood(self) -> str:
        """How it feels."""
        return "good"


@dataclass(frozen=True)
class GrownVideo(SitemapVideo):
    """The same, of a video."""

    mood: str = "good"


@pytest.mark.parametrize(
    ("kind", "grown"), [(SitemapPage, Grown), (SitemapVideo, GrownVideo)], ids=["page", "video"]
)
def test_a_field_that_is_added_is_missed(kind: type, grown: type) -> None:
    assert public_fields([grown]) - public_fields([kind]) == {"mood"}
