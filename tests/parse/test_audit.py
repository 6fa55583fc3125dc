"""An audit reads what plain reading reads, and tells more: raw values, unknown names, positions."""

from pathlib import Path

import pytest

from usp._parse import Pages, Source
from usp._parse.checking import Audit, AuditEntry
from usp.objects.problem import Problem

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
URLSET = (
    f'{HEAD}<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">\n'
)
URL = "https://example.org/sitemap.xml"


def read(document: str | bytes) -> tuple[list[AuditEntry], list[Problem], Audit]:
    return read_pages(Pages(Source.of(document, URL)))


def read_pages(pages: Pages) -> tuple[list[AuditEntry], list[Problem], Audit]:
    audit = Audit(pages)
    items = list(audit)
    entries = [item for item in items if isinstance(item, AuditEntry)]
    return entries, [item for item in items if isinstance(item, Problem)], audit


def entry(content: str) -> AuditEntry:
    (found,), _, _ = read(f"{URLSET}<url>{content}</url></urlset>")
    return found


def test_empty_elements_and_the_order_are_kept() -> None:
    found = entry("<lastmod/><loc>https://example.org/</loc><priority></priority>")
    assert [key for key, _ in found.record] == ["lastmod", "loc", "priority"]
    assert found.texts("priority") == [""]


@pytest.mark.parametrize(
    ("content", "unexpected"),
    [
        ("<foo>1</foo>", ["foo"]),
        ("<foo><bar/></foo>", ["foo"]),
        ('<lastmod type="a">2026-01-01</lastmod>', ["lastmod@type"]),
        ('<lastmod xml:lang="en" xmlns:a="b">2026-01-01</lastmod>', []),
        ("<image:image><image:loc>https://example.org/a.jpg</image:loc></image:image>", []),
        ("<image:image><loc>https://example.org/a.jpg</loc></image:image>", ["loc"]),
        ("<news:news><news:geo_locations>A</news:geo_locations></news:news>",
         ["news:geo_locations"]),
        ('<link rel="alternate" href="https://example.org/"/>', ["link"]),
        ('<a:b xmlns:a="http://example.org/other"/>', ["?:b"]),
    ],
)  # fmt: skip
def test_names_that_the_grammar_does_not_know_are_told(content: str, unexpected: list[str]) -> None:
    assert entry(f"<loc>https://example.org/</loc>{content}").unexpected == unexpected


def test_every_story_is_told() -> None:
    story = "<news:news><news:title>{0}</news:title></news:news>"
    found = entry(f"<loc>https://example.org/</loc>{story.format('A')}{story.format('B')}")
    titles = [dict(group)["news:title"] for group in found.groups("news:news", "news:")]
    assert titles == ["A", "B"]


def test_entries_know_their_line_and_offset() -> None:
    document = f"{URLSET}<url><loc>https://example.org/é</loc></url>\n\n<url>\n<loc>x</loc></url>"
    entries, _, _ = read(f"{document}</urlset>".encode())
    assert [(one.position, one.line) for one in entries] == [(1, 3), (2, 5)]
    offsets = [one.offset or 0 for one in entries]
    assert [document.encode()[at : at + 5] for at in offsets] == [b"<url>", b"<url>"]


def test_lines_of_a_text_have_positions_too() -> None:
    entries, problems, _ = read("https://example.org/a\nnonsense\nhttps://example.org/b\n")
    assert [(one.url, one.line) for one in entries] == [
        ("https://example.org/a", 1),
        ("https://example.org/b", 3),
    ]
    assert [problem.code for problem in problems] == ["SM309"]


@pytest.mark.parametrize(
    ("document", "charset"),
    [
        (f"{URLSET}</urlset>".encode(), None),
        (f"{URLSET}</urlset>".encode("utf-16"), "utf-16-le"),
        (f"{URLSET}</urlset>".replace("UTF-8", "us-ascii").encode(), None),
        (f"{URLSET}</urlset>".replace("UTF-8", "ISO-8859-1").encode(), "ISO-8859-1"),
    ],
)
def test_another_charset_than_utf_8_is_told(document: bytes, charset: str | None) -> None:
    _, _, audit = read(document)
    assert audit.other_charset == charset


def test_an_audit_finds_the_urls_and_problems_of_plain_reading_in_real_documents(
    corpus: Path,
) -> None:
    files = sorted(file for kind in ("xml", "feeds", "text") for file in (corpus / kind).iterdir())
    for file in files[::20]:
        source = Source.of(file.read_bytes(), "https://site.example/sitemap.xml")
        entries, problems, audit = read_pages(Pages(source))
        pages = Pages(source)
        expected = [page.url for page in pages]
        listed = dict.fromkeys(url for one in entries for url in one.urls if one.name != "sitemap")
        assert list(listed) == expected, file
        kept = [one for one in pages.problems if one.code != "SM702"]
        assert {one.code for one in problems} >= {one.code for one in kept}, file
        if len(problems) <= 100 and str(audit.kind) != "invalid":
            assert sorted(problems, key=repr) == sorted(kept, key=repr), file
