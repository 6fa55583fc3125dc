"""Documents of sitemaps and malformed pages: what was repaired is kept, with the same result."""

from typing import Final

import pytest

from tests.cost import cost
from usp._parse.document import Pages, Source, inspect

WELL_FORMED: Final = "well-formed pages"
UNITS: Final = {
    "tags that are cut off": "<url <loc>\u00e9<sitemap>",
    "pages": "<url><loc>http://h.example/@</loc><lastmod>2024-05-01</url><sitemap><loc>/s@.xml",
    "pages with images": "<url <loc>/@<image:image><image:loc>/i@</url><sitemap><loc>/s@</loc>",
    WELL_FORMED: "<url><loc>http://h.example/@</loc></url>",
}
SITEMAP: Final = "<sitemap><loc>http://h.example/s.xml</loc></sitemap>"


def document(unit: str, count: int) -> bytes:
    entries = "".join(unit.replace("@", str(number)) for number in range(count))
    return f"<urlset>{SITEMAP}{entries}</urlset>".encode()


def pages_of(data: bytes, *, expat_only: bool = False) -> Pages:
    source = Source([data], "http://h.example/sitemap.xml", expat_only=expat_only)
    pages = inspect(source).pages
    assert isinstance(pages, Pages)
    return pages


@pytest.mark.parametrize("count", [1, 700, 3000])
@pytest.mark.parametrize("expat_only", [False, True])
@pytest.mark.parametrize("what", UNITS)
def test_what_was_kept_is_what_is_read(what: str, expat_only: bool, count: int) -> None:
    pages = pages_of(document(UNITS[what], count), expat_only=expat_only)
    again = Pages(pages.source)  # nothing is known of it
    names = ["url", "position", "lastmod", "images"]
    assert list(pages.columns(names)) == list(again.columns(names))
    for _ in range(2):
        found = [page.to_dict(extended=True) for page in pages.walk(with_problems=True)]
        assert found == [page.to_dict(extended=True) for page in again.walk(with_problems=True)]
    assert found
    assert (pages.problems, pages.complete) == (again.problems, again.complete)


def walk_after_inspection(count: int) -> None:
    pages = pages_of(document(UNITS["tags that are cut off"], count))
    for _ in range(6):
        assert len(list(pages)) == 1


def inspect_alone(count: int) -> None:
    pages_of(document(UNITS["tags that are cut off"], count))


def test_a_walk_of_what_was_kept_repairs_nothing() -> None:
    assert cost(walk_after_inspection, 1500).seconds < 3 * cost(inspect_alone, 1500).seconds


def test_what_takes_much_memory_is_read_again() -> None:
    texts = "".join(f"<url <loc>{pow(3, at + 9, 10**180)}<sitemap>" for at in range(3000))
    pages = pages_of(f"<urlset>{SITEMAP}{texts}</urlset>".encode())
    assert pages._kept is None
    assert len(list(pages)) == 3000


def inspect_long_entries(count: int) -> None:
    title = f"<image:image><image:title>{'long ' * 100_000}</image:title></image:image>"
    unit = f"<url <loc>http://h.example/@</loc>{title}</url>"
    pages_of(document(unit, count))


def test_long_entries_do_not_wait_for_many_others() -> None:
    """The document is held as text and as bytes here; what waits was as large again, four times."""
    size = 20 * 500_000
    assert cost(inspect_long_entries, 20).memory < 5 * size


def test_what_the_pattern_reader_splits_is_not_kept() -> None:
    assert pages_of(document(UNITS[WELL_FORMED], 500))._kept is None
