"""The rules of changes: what two readings of a sitemap mean, and what a run means for a URL."""

import pytest

from tests.sync.runs import SECOND, entries, page
from usp._sync.changes import ChangeKind
from usp._sync.listing import ListedPage
from usp._sync.rules import (
    Absence,
    AbsenceKind,
    Evidence,
    Sighting,
    are_too_many,
    compare,
    judge,
    without_removal,
)

A, B, NEWS = "https://example.org/a.xml", "https://example.org/b.xml", "https://example.org/n.xml"
URL = page(1)
MISSING = Absence(AbsenceKind.MISSING, 1, A, 5)


def kinds(evidence: Evidence, confirm: int = 2) -> list[str]:
    return [str(finding.kind) for finding in judge(evidence, confirm).findings]


def test_two_readings_differ_in_what_was_gained_lost_and_altered() -> None:
    old = {**entries(1, 2, lastmod=10), **entries(3, fields=7)}
    new = {**entries(2, 4, lastmod=11), **entries(3, fields=8)}
    found = compare(old, new)
    assert [url for url, _ in found.gained] == [page(4)]
    assert [url for url, _ in found.lost] == [page(1)]
    assert [one.url for one in found.altered] == [page(2), page(3)]
    assert found.churn is None


@pytest.mark.parametrize(
    ("old", "new", "is_change"),
    [
        (ListedPage(5, 0), ListedPage(6, 0), True),
        (ListedPage(None, 0), ListedPage(6, 0), True),
        (ListedPage(5, 0), ListedPage(4, 0), False),
        (ListedPage(5, 0), ListedPage(None, 0), False),
        (ListedPage(5, 1), ListedPage(5, 2), True),
        (ListedPage(5, 1), ListedPage(4, 2), True),
        (ListedPage(5, 1), ListedPage(5, 1), False),
    ],
)
def test_a_page_changed_if_its_date_moved_forward_or_another_field_differs(
    old: ListedPage, new: ListedPage, is_change: bool
) -> None:
    assert bool(compare({URL: old}, {URL: new}).altered) is is_change


def test_dates_of_most_pages_that_move_at_once_are_churn() -> None:
    found = compare(entries(*range(40), lastmod=1), entries(*range(40), lastmod=2))
    assert found.churn == (1 * SECOND, 2 * SECOND)
    assert found.altered == []


def test_a_page_with_another_title_is_reported_in_spite_of_churn() -> None:
    new = entries(*range(40), lastmod=2) | entries(7, lastmod=2, fields=1)
    found = compare(entries(*range(40), lastmod=1), new)
    assert [one.url for one in found.altered] == [page(7)]
    assert found.churn


@pytest.mark.parametrize(("pages", "redated", "gained"), [(15, 15, 0), (100, 40, 0), (40, 40, 20)])
def test_few_dates_or_other_urls_are_no_churn(pages: int, redated: int, gained: int) -> None:
    old = entries(*range(pages), lastmod=1)
    new = old | entries(*range(redated), lastmod=2) | entries(*range(1000, 1000 + gained))
    found = compare(old, new)
    assert found.churn is None
    assert len(found.altered) == redated


def test_a_url_that_no_sitemap_listed_is_added() -> None:
    assert kinds(Evidence(URL, gained=[Sighting(A)])) == ["added"]


def test_what_belongs_to_the_baseline_is_not_reported() -> None:
    assert kinds(Evidence(URL, gained=[Sighting(A, is_silent=True)])) == []


def test_a_url_that_another_sitemap_lists_too_is_not_new() -> None:
    assert kinds(Evidence(URL, gained=[Sighting(B)], kept_by=A)) == []


def test_a_url_in_another_sitemap_has_moved() -> None:
    verdict = judge(Evidence(URL, gained=[Sighting(B, 5)], lost=[Sighting(A, 5)]), 2)
    assert [(one.kind, one.sitemap_url) for one in verdict.findings] == [("moved", B)]
    assert verdict.absence is None


def test_a_url_that_moved_and_got_a_newer_date_has_changed_as_well() -> None:
    evidence = Evidence(URL, gained=[Sighting(B, 6)], lost=[Sighting(A, 5)])
    assert kinds(evidence) == ["moved", "changed"]


def test_a_url_that_is_read_under_the_same_sitemap_has_not_moved() -> None:
    assert kinds(Evidence(URL, gained=[Sighting(A)], lost=[Sighting(A)])) == []


def test_a_url_that_leaves_the_news_and_is_in_the_archive_has_not_moved() -> None:
    assert kinds(Evidence(URL, lost=[Sighting(NEWS, is_rolling=True)], kept_by=A)) == []


def test_a_url_that_goes_from_the_news_to_the_archive_has_moved() -> None:
    evidence = Evidence(URL, gained=[Sighting(A)], lost=[Sighting(NEWS, is_rolling=True)])
    assert kinds(evidence) == ["moved"]


def test_a_url_that_leaves_the_news_is_expired_at_once() -> None:
    verdict = judge(Evidence(URL, lost=[Sighting(NEWS, 5, is_rolling=True)]), 2)
    assert [one.kind for one in verdict.findings] == [ChangeKind.EXPIRED]
    assert verdict.absence == Absence(AbsenceKind.EXPIRED, 1, NEWS, 5)


def test_a_url_is_missing_first_and_removed_when_that_is_confirmed() -> None:
    first = judge(Evidence(URL, lost=[Sighting(A, 5)]), 3)
    assert [one.kind for one in first.findings] == [ChangeKind.MISSING]
    assert first.absence == MISSING
    second = judge(Evidence(URL, absence=MISSING, is_confirmed=True), 3)
    assert second.findings == ()
    assert second.absence is not None
    assert second.absence.runs == 2
    third = judge(Evidence(URL, absence=second.absence, is_confirmed=True), 3)
    assert third.removes


def test_what_was_not_read_again_confirms_nothing() -> None:
    verdict = judge(Evidence(URL, absence=MISSING), 2)
    assert (verdict.findings, verdict.absence) == ((), MISSING)


def test_a_url_is_removed_at_once_if_no_confirmation_is_wanted_and_all_was_read() -> None:
    gone = Evidence(URL, lost=[Sighting(A)], is_confirmed=True)
    assert kinds(gone, confirm=1) == ["removed"]
    assert kinds(Evidence(URL, lost=[Sighting(A)]), confirm=1) == ["missing"]
    assert kinds(Evidence(URL, absence=MISSING, is_confirmed=True), confirm=1) == ["removed"]


@pytest.mark.parametrize("kind", AbsenceKind)
def test_a_url_that_was_gone_and_is_listed_again_has_returned(kind: AbsenceKind) -> None:
    verdict = judge(Evidence(URL, gained=[Sighting(B, 6)], absence=Absence(kind, 2, A, 5)), 2)
    (finding,) = verdict.findings
    assert finding == (ChangeKind.RETURNED, B, 6, 5)
    assert verdict.absence is None


def test_a_removal_that_is_held_back_leaves_the_url_missing() -> None:
    at_once = without_removal(judge(Evidence(URL, lost=[Sighting(A, 5)], is_confirmed=True), 1))
    assert [one.kind for one in at_once.findings] == [ChangeKind.MISSING]
    later = without_removal(judge(Evidence(URL, absence=MISSING, is_confirmed=True), 2))
    assert later.findings == []
    assert later.absence == Absence(AbsenceKind.MISSING, 2, A, 5)
    kept = judge(Evidence(URL, gained=[Sighting(A)]), 1)
    assert without_removal(kept) is kept


def test_more_than_the_share_are_too_many() -> None:
    assert not are_too_many(5, 10, 0.5)
    assert are_too_many(6, 10, 0.5)
    assert not are_too_many(10, 10, 1.0)
    assert not are_too_many(0, 0, 0.5)
