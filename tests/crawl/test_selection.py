"""Selection, without I/O: why a page or a sitemap is skipped."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from usp import Policy
from usp._crawl.policy import selection_of
from usp._crawl.selection import Selection
from usp._parse import Child
from usp.objects.outcome import SkipReason
from usp.objects.page import SitemapPage

OLD = SitemapPage("http://h.example/old", last_modified=datetime(2020, 1, 1, tzinfo=UTC))
NEW = SitemapPage("http://h.example/new", last_modified=datetime(2024, 1, 1, tzinfo=UTC))
UNDATED = SitemapPage("http://h.example/undated")


def test_without_options_every_page_is_selected() -> None:
    assert Selection().takes_every_page
    assert list(Selection().choose([OLD, NEW, UNDATED])) == [OLD, NEW, UNDATED]
    assert not selection_of(Policy(include="x"), None).takes_every_page


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (Policy(since="2022"), [NEW, UNDATED]),
        (Policy(until="2022"), [OLD, UNDATED]),
        (Policy(since="2022", undated="drop"), [NEW]),
        (Policy(until="2022", undated="drop"), [OLD]),
        (Policy(undated="drop"), [OLD, NEW, UNDATED]),
        (Policy(since="2020-01-01", until="2020-01-01", undated="drop"), [OLD]),
    ],
)
def test_pages_without_a_date_are_kept_or_dropped_where_a_bound_is_given(
    policy: Policy, expected: list[SitemapPage]
) -> None:
    assert list(selection_of(policy, None).choose([OLD, NEW, UNDATED])) == expected


def test_skipped_pages_are_counted_by_their_reason() -> None:
    skipped: Counter[SkipReason] = Counter()
    selection = selection_of(Policy(since="2022", undated="drop", exclude="new"), None)
    assert list(selection.choose([OLD, NEW, UNDATED], skipped)) == []
    assert skipped == {
        SkipReason.PAGE_DATE: 1,
        SkipReason.PAGE_PATTERN: 1,
        SkipReason.PAGE_UNDATED: 1,
    }


@pytest.mark.parametrize(
    ("lastmod", "reason"),
    [
        ("2024-05-31", SkipReason.SITEMAP_LASTMOD),
        ("2024-06-01", None),  # any time of that day
        ("2024-06", None),
        ("2024-06-01T09:00:00Z", SkipReason.SITEMAP_LASTMOD),
        ("not a date", None),
        (None, None),
    ],
)
def test_a_sitemap_that_its_index_calls_older_is_skipped_if_that_is_trusted(
    lastmod: str | None, reason: SkipReason | None
) -> None:
    child = Child("http://h.example/a.xml", lastmod)
    trusting = selection_of(Policy(since="2024-06-01T10:00:00Z", trust_index_lastmod=True), None)
    assert trusting.sitemap_skip_reason(child, in_index=True) is reason
    other = selection_of(Policy(since="2024-06-01T10:00:00Z"), None)
    assert other.sitemap_skip_reason(child, in_index=True) is None


def test_patterns_to_include_sitemaps_apply_to_the_children_of_an_index() -> None:
    selection = selection_of(Policy(include_sitemaps="news", exclude_sitemaps="old"), None)
    pattern = SkipReason.SITEMAP_PATTERN
    for url, in_index, elsewhere in (
        ("http://h.example/news.xml", None, None),
        ("http://h.example/blog.xml", pattern, None),
        ("http://h.example/old-news.xml", pattern, pattern),
    ):
        assert selection.sitemap_skip_reason(Child(url), in_index=True) is in_index
        assert selection.sitemap_skip_reason(Child(url), in_index=False) is elsewhere
