"""Changes as text, URLs, JSON lines and an Atom feed."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID
from xml.etree import ElementTree as ET

import pytest

from usp._parse import Kind, Pages, Source, inspect
from usp._sync.changes import Change, ChangeKind, iso
from usp._sync.formats import LINE_FORMATS, atom_lines, feed_title, page_title

AT = datetime(2026, 11, 17, 4, 0, 0, tzinfo=UTC)
DAY = datetime(2026, 11, 1, tzinfo=UTC)
CHECKED = datetime(2026, 11, 18, tzinfo=UTC)
FEED = UUID("12345678-1234-4234-8234-123456789abc")
ATOM = "{http://www.w3.org/2005/Atom}"


def change(seq: int, kind: ChangeKind, url: str, old: datetime | None = None) -> Change:
    return Change(seq, kind, url, "https://example.org/a.xml", DAY, old, AT)


CHANGES = [
    change(7, ChangeKind.ADDED, "https://example.org/a?b=1&c=<2>"),
    change(8, ChangeKind.CHANGED, "https://example.org/b", datetime(2026, 10, 1, tzinfo=UTC)),
    change(9, ChangeKind.REMOVED, "https://example.org/new\nline\x1b[31m"),
]


def parsed(lines: Iterable[str]) -> ET.Element:
    return ET.fromstring("\n".join(lines))  # noqa: S314 -- written here


def test_text_has_a_mark_the_kind_the_url_and_the_dates() -> None:
    lines = list(LINE_FORMATS["text"](CHANGES))
    assert lines[0] == "+ added    https://example.org/a?b=1&c=<2>  2026-11-01T00:00:00Z"
    assert lines[1].endswith("  2026-10-01T00:00:00Z -> 2026-11-01T00:00:00Z")
    assert all("\n" not in line and "\x1b" not in line for line in lines)


def test_a_date_that_did_not_change_is_shown_once() -> None:
    (line,) = LINE_FORMATS["text"]([change(1, ChangeKind.REMOVED, "https://example.org/", DAY)])
    assert line == "- removed  https://example.org/  2026-11-01T00:00:00Z"


def test_a_feed_has_links_that_are_iris_and_titles_that_reorder_nothing() -> None:
    odd = change(1, ChangeKind.ADDED, "https://example.org/a b<c>%E2%80%AEd")
    (entry,) = parsed(atom_lines([odd], FEED, "t", CHECKED)).iter(f"{ATOM}entry")
    link, title = entry.find(f"{ATOM}link"), entry.find(f"{ATOM}title")
    assert link is not None
    assert link.get("href") == "https://example.org/a%20b%3Cc%3E%E2%80%AEd"
    assert title is not None
    assert title.text == "A b<c>%E2%80%AEd"


def test_nothing_in_a_feed_controls_a_terminal_or_reorders_a_line() -> None:
    odd = change(1, ChangeKind.ADDED, "https://example.org/\x1b\x9b2J\u202e\u2028\x85\u200f\u061cz")
    lines = list(atom_lines([odd], FEED, "t\u202e", CHECKED))
    assert all(line.isprintable() for line in lines)
    (link,) = parsed(lines).iter(f"{ATOM}link")
    encoded = "%1B%C2%9B2J%E2%80%AE%E2%80%A8%C2%85%E2%80%8F%D8%9Cz"
    assert link.get("href") == f"https://example.org/{encoded}"


def test_urls_are_the_urls_alone() -> None:
    assert next(LINE_FORMATS["urls"](CHANGES)) == "https://example.org/a?b=1&c=<2>"


def test_json_lines_have_the_fields_of_a_change() -> None:
    second = [*map(json.loads, LINE_FORMATS["jsonl"](CHANGES))][1]
    assert second == {
        "seq": 8,
        "change": "changed",
        "url": "https://example.org/b",
        "sitemap_url": "https://example.org/a.xml",
        "lastmod": "2026-11-01T00:00:00Z",
        "old_lastmod": "2026-10-01T00:00:00Z",
        "at": "2026-11-17T04:00:00Z",
    }


def test_a_feed_has_what_rfc_4287_requires() -> None:
    root = parsed(atom_lines(CHANGES, FEED, "A & B", CHECKED))
    assert root.tag == f"{ATOM}feed"
    assert root.findtext(f"{ATOM}title") == "A & B"
    assert root.findtext(f"{ATOM}id") == FEED.urn
    assert root.findtext(f"{ATOM}updated") == "2026-11-17T04:00:00Z"
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    entries = root.findall(f"{ATOM}entry")
    assert [entry.find(f"{ATOM}category").get("term") for entry in entries] == [  # type: ignore[union-attr]
        "removed",
        "changed",
        "added",
    ]
    for entry in entries:
        for required in ("id", "title", "updated", "link"):
            assert len(entry.findall(f"{ATOM}{required}")) == 1
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == len(entries)


def test_the_id_of_an_entry_stays_the_same() -> None:
    first = list(atom_lines(CHANGES[:1], FEED, "one", CHECKED))
    later = list(atom_lines(CHANGES, FEED, "another", CHECKED))
    (found,) = [line for line in first if "<id>" in line][1:]
    assert found in later


def test_our_own_parser_reads_the_feed() -> None:
    feed = "\n".join(atom_lines(CHANGES, FEED, "A", CHECKED)).encode()
    document = inspect(Source([feed], "https://example.org/feed"))
    assert document.kind is Kind.ATOM
    assert isinstance(document.pages, Pages)
    assert [page.url for page in document.pages][1:] == [
        "https://example.org/b",
        "https://example.org/a?b=1&c=%3C2%3E",
    ]
    assert document.pages.complete


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", " JavaScript:x", "/a", "httpx://a/"]
)
def test_a_feed_links_web_pages_only(url: str) -> None:
    other = replace(CHANGES[0], url=url)
    assert list(atom_lines([other], FEED, "A", CHECKED)) == list(atom_lines([], FEED, "A", CHECKED))
    upper = replace(CHANGES[0], url="HTTP://example.org/")
    assert len(parsed(atom_lines([upper], FEED, "A", CHECKED)).findall(f"{ATOM}entry")) == 1


def test_an_empty_feed_is_a_feed() -> None:
    root = parsed(atom_lines([], FEED, "A", CHECKED))
    assert root.findtext(f"{ATOM}updated") == iso(CHECKED), "the time of the last run"


def test_the_title_of_a_feed_names_some_sites() -> None:
    sites = [f"https://{name}.example/" for name in "abcde"]
    assert feed_title(sites[:1]) == "Changes in a.example"
    assert feed_title(sites) == "Changes in a.example, b.example, c.example and 2 more"


@pytest.mark.parametrize(
    ("url", "title"),
    [
        ("https://example.org/news/a-new_bridge.html", "A new bridge"),
        ("https://example.org/%C3%BCber-uns/", "Über uns"),
        ("https://example.org/", "example.org"),
        ("https://example.org/v1.2", "V1.2"),
        ("https://example.org/--/", "example.org"),
        ("http://[::1/", "http://[::1/"),
    ],
)
def test_a_title_is_made_of_the_url(url: str, title: str) -> None:
    assert page_title(url) == title
