"""Dates: the forms that sites use, and texts that are no dates.

``<lastmod>`` is naive where the text names no time zone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

import usp
from tests.parse.reading import page, problems, u, urls, urlset

A, B = "http://h.example/a", "http://h.example/b"

NAIVE = datetime(2020, 5, 6, 7, 8, 9)  # noqa: DTZ001  # no zone is named
IN_UTC = NAIVE.replace(tzinfo=UTC)


def day(year: int, month: int, number: int) -> datetime:
    return datetime(year, month, number)  # noqa: DTZ001  # a bare date has no zone


DATES = [
    ("2020-05-06", day(2020, 5, 6)),
    ("2020", day(2020, 1, 1)),
    ("2020-05", day(2020, 5, 1)),
    ("2020-05-06T07:08:09", NAIVE),
    ("2020-05-06T07:08:09Z", IN_UTC),
    ("2020-05-06T07:08:09z", IN_UTC),
    ("2020-05-06T07:08:09+00:00", IN_UTC),
    ("2020-05-06T07:08:09+0000", IN_UTC),
    ("2020-05-06T07:08:09 +0000", IN_UTC),
    ("2020-05-06T07:08:09 +00:00", IN_UTC),
    ("2020-05-06T07:08:09+02", NAIVE.replace(tzinfo=timezone(timedelta(hours=2)))),
    ("2020-05-06T07:08Z", IN_UTC.replace(second=0)),
    ("2020-05-06 07:08:09", NAIVE),
    ("2020-05-06T07:08:09.5Z", IN_UTC.replace(microsecond=500_000)),
    ("2020-05-06T07:08:09.1234567Z", IN_UTC.replace(microsecond=123_456)),
    ("2020-05-06T07:08:09.123456789+00:00", IN_UTC.replace(microsecond=123_456)),
    ("Wed, 06 May 2020 07:08:09 GMT", IN_UTC),
    ("Wed, 06 May 2020 07:08:09 +0000", IN_UTC),
    ("6 May 2020", day(2020, 5, 6)),
    ("\n 2020-05-06 ", day(2020, 5, 6)),
    ("<![CDATA[2020-05-06]]>", day(2020, 5, 6)),
    ("20200506", day(2020, 5, 6)),
    ("", None),
    ("null", None),
    ("-", None),
    ("0000-00-00", None),
    ("0000-00-00T00:00:00Z", None),
    ("2020-13-45", None),
    ("2020-02-30", None),
    ("12345678901234567890", None),
    ("99999999999999999999-01-01", None),
    ("soon", None),
    ("2020-05-06T25:00:00Z", None),
    ("May", None),
    ("12:30", None),
    ("Wednesday", None),
    ("May 6", None),
]


@pytest.mark.parametrize(("text", "expected"), DATES)
def test_lastmod(text: str, expected: datetime | None) -> None:
    document = urlset(u(A, f"<lastmod>{text}</lastmod>"), u(B))
    assert urls(document) == [A, B]
    date = page(urlset(u(A, f"<lastmod>{text}</lastmod>"))).last_modified
    assert date == expected
    if date and expected:
        assert date.utcoffset() == expected.utcoffset()


def test_the_offset_of_a_date_is_kept() -> None:
    lastmod = page(urlset(u(A, "<lastmod>2020-05-06T07:08:09-05:30</lastmod>"))).last_modified
    zone = timezone(-timedelta(hours=5, minutes=30))
    assert lastmod == NAIVE.replace(tzinfo=zone)
    assert lastmod.utcoffset() == zone.utcoffset(None)


@pytest.mark.parametrize(
    "text",
    ["Wed, 06/05/2020", "Saturday, May 2020", "5 marraskuu 2020", "5 Maybe 2020", "25:00 PM"],
)
def test_no_date_is_guessed(text: str) -> None:
    document = urlset(u(A, f"<lastmod>{text}</lastmod>"))
    assert page(document).last_modified is None
    assert [problem.code for problem in problems(document)] == ["SM401"]


@pytest.mark.parametrize("zone", ["+00:80", "-00:60", "+0099"])
def test_an_offset_of_more_than_59_minutes_is_not_valid(zone: str) -> None:
    text = f"2024-05-01T10:00:00{zone}"
    document = f"<urlset><url><loc>http://h.example/</loc><lastmod>{text}</lastmod></url></urlset>"
    sitemap = usp.parse(document)
    assert [page.url for page in sitemap.all_pages()] == ["http://h.example/"]
    assert sitemap.pages[0].last_modified is None
    assert "SM401" in {problem.code for problem in sitemap.problems}
