"""The sitemaps that a document lists: as many as are wanted become objects, the rest is counted."""

import pytest

from usp._parse import Child, ChildSelection, Document, Kind, Pages, Source, inspect
from usp.objects.outcome import SkipReason

HOME = "http://h.example/"


def index(*names: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{HOME}{name}</loc></sitemap>" for name in names)
    return f"<sitemapindex>{entries}</sitemapindex>".encode()


def inspected(data: bytes, selection: ChildSelection, url: str = f"{HOME}i.xml") -> Document:
    return inspect(Source([data], url), None, selection)


def is_odd(child: Child, *, in_index: bool) -> SkipReason | None:
    is_wanted = child.url[-1] in "02468" or not in_index
    return None if is_wanted else SkipReason.SITEMAP_PATTERN


def test_children_beyond_the_limit_are_counted() -> None:
    document = inspected(index(*"abcabde"), ChildSelection(limit=3))
    assert [child.url[-1] for child in document.children] == ["a", "b", "c"]
    assert (document.more_children, document.skipped) == (2, None), "a and b are known already"
    assert document.child_count == 5


def test_children_that_are_skipped_do_not_count_towards_the_limit() -> None:
    document = inspected(index(*"1133456789"), ChildSelection(2, is_odd))
    assert [child.url[-1] for child in document.children] == ["4", "6"]
    assert document.skipped == {SkipReason.SITEMAP_PATTERN: 3}, "1, 3 and 5: those before the limit"
    assert document.more_children == 3


def test_robots_txt_has_the_same_limit_and_is_no_index() -> None:
    lines = "".join(f"Sitemap: {HOME}{name}\n" for name in "1234")
    document = inspected(lines.encode(), ChildSelection(3, is_odd), f"{HOME}robots.txt")
    assert document.kind is Kind.ROBOTS
    assert [child.url[-1] for child in document.children] == ["1", "2", "3"]
    assert document.more_children == 1


def test_a_homepage_gives_a_thousand_sitemaps_and_a_thousand_feeds() -> None:
    links = [f'<link rel="sitemap" href="/s{n}.xml">' for n in range(1500)]
    feed = '<link rel="alternate" type="application/rss+xml" href="/f{}.xml">'
    links += [feed.format(number) for number in range(1200)]
    page = "<html>" + "".join(links)
    document = inspect(Source([page.encode()], HOME), Kind.HOMEPAGE)
    assert sum(child.is_feed for child in document.children) == 1000
    assert len(document.children) == 2000
    assert document.more_children == 700


@pytest.mark.parametrize(
    "data", [index(*map(str, range(20_000))), b"<urlset>" + b"<url/>" * 200_000, b"x\n" * 300_000]
)
def test_reading_ends_between_two_parts_of_a_document(data: bytes) -> None:
    asked = 0

    def ended() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    with pytest.raises(TimeoutError):
        inspect(Source([data], HOME), None, ended=ended)
    asked = 0
    with pytest.raises(TimeoutError):
        list(Pages(Source([data], HOME)).walk(ended))
