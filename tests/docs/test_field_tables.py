"""Every public class is in the docs, every public field of one has its row, and no row is stale.

``TABLES`` has the headings of the tables of each class. In a table of properties or fields, the
quoted names of the first column are compared; in a table of classes, those of the second.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from inspect import getmembers, isclass
from pathlib import Path
from typing import get_args

import pytest

from tests.package_files import public_objects
from usp import FetchFailed, FetchRequest, Policy, exceptions
from usp.objects import events, markup, sitemap, video
from usp.objects.discovery import TriedURL
from usp.objects.fetch_info import FetchInfo
from usp.objects.outcome import Attempt, Outcome, Result
from usp.objects.page import SitemapImage, SitemapNewsStory, SitemapPage, SitemapVideo

DOCS = Path(__file__).resolve().parents[2] / "docs"
NAME = re.compile(r"`(\w+)`")
WORD = re.compile(r"\w+")
OF_FIELDS, OF_CLASSES = ("property", "field"), ("class",)
PAGE = ("formats.md", "Fields of a page")

SITEMAPS = [kind for _, kind in getmembers(sitemap, isclass) if kind.__module__ == sitemap.__name__]
PARTS = [
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
    ("fetch info", [FetchInfo], [("fetching.md", "Fetch info")]),
    ("policy", [Policy], [("crawling.md", "Policy: limits and options")]),
]


def public_fields(kinds: Iterable[type]) -> set[str]:
    """The public properties and fields of these classes."""
    found = set[str]()
    for kind in kinds:
        found |= {name for name, value in getmembers(kind) if isinstance(value, property)}
        found |= {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    return {name for name in found if not name.startswith("_")}


def section_of(page: str, heading: str) -> str:
    """The text under a heading."""
    text = (DOCS / "reference" / page).read_text(encoding="utf-8")
    (section,) = re.findall(rf"^#+ {heading}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    return str(section)


def rows(page: str, heading: str, heads: tuple[str, ...]) -> Iterator[list[list[str]]]:
    """The quoted names in each cell of the tables under a heading with such a first column."""
    for table in re.findall(r"(?:^\|.*\n)+", section_of(page, heading), re.MULTILINE):
        head, _, *lines = table.splitlines()
        for line in lines if head.startswith(tuple(f"| {name}" for name in heads)) else ():
            yield [NAME.findall(cell) for cell in line.strip("|").split("|")]


def names_in(headings: Iterable[tuple[str, str]]) -> set[str]:
    return {name for heading in headings for row in rows(*heading, OF_FIELDS) for name in row[0]}


@pytest.mark.parametrize(("what", "kinds", "headings"), TABLES, ids=[row[0] for row in TABLES])
def test_every_field_has_a_row(
    what: str, kinds: list[type], headings: list[tuple[str, str]]
) -> None:
    assert names_in(headings) == public_fields(kinds), what


def test_every_field_of_the_parts_of_a_page_is_in_the_table() -> None:
    documented = {kind: set(names) for (kind,), names in rows(*PAGE, OF_CLASSES)}
    assert documented == {kind.__name__: public_fields([kind]) for kind in PARTS}


def test_every_public_class_is_on_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    named = {name for code in re.findall(r"`([^`\n]+)`", text) for name in WORD.findall(code)}
    public = {
        value.__name__
        for _, value in public_objects()
        if isinstance(value, type) and value.__module__.startswith("usp")
    }
    assert public - named == set()


@pytest.mark.parametrize(
    ("kind", "page", "heading"),
    [
        (FetchRequest, "crawling.md", "Your own crawl loop"),
        (FetchFailed, "crawling.md", "Your own crawl loop"),
        (TriedURL, "discovery.md", "Without reading pages"),
    ],
)
def test_every_field_of_a_record_has_a_row(kind: type, page: str, heading: str) -> None:
    found = rows(page, heading, (f"field of `{kind.__name__}`",))
    assert {name for row in found for name in row[0]} == public_fields([kind])


def test_every_exception_has_a_row() -> None:
    documented = [name for (name,), *_ in rows("crawling.md", "Exceptions", ("exception",))]
    assert set(documented) == {name for name, _ in getmembers(exceptions, isclass)}
    assert len(documented) == len(set(documented))


def test_every_result_and_outcome_has_a_row() -> None:
    for kind, page, heading in (
        (Result, "discovery.md", "What was tried"),
        (Outcome, "crawling.md", "Outcome"),
    ):
        cells = {
            cell.strip(" `")
            for cell in re.findall(r"^\|([^|]*)\|", section_of(page, heading), re.MULTILINE)
        }
        assert {member.value for member in kind} - cells <= {Result.NOT_NEEDED.value}


def test_every_event_has_a_row() -> None:
    documented = {name for (name,), *_ in rows("crawling.md", "Progress events", ("event",))}
    assert documented == {kind.__name__ for kind in get_args(events.Event)}


class ExtendedPage(SitemapPage):
    """A page with an undocumented field."""

    @property
    def added(self) -> str:
        """An undocumented property."""
        return "good"


@dataclass(frozen=True)
class ExtendedVideo(SitemapVideo):
    """A video with an undocumented field."""

    added: str = "good"


@pytest.mark.parametrize(
    ("kind", "extended"),
    [(SitemapPage, ExtendedPage), (SitemapVideo, ExtendedVideo)],
    ids=["page", "video"],
)
def test_an_added_field_is_noticed(kind: type, extended: type) -> None:
    assert public_fields([extended]) - public_fields([kind]) == {"added"}
