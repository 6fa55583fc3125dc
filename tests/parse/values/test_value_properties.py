"""Properties of single values: any text is parsed or rejected, and dates survive a round trip."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from email.utils import format_datetime
from urllib.parse import urljoin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.parse.strategies import examples
from usp._parse.values.dates import parse_aware_date, parse_date
from usp._parse.values.enumerations import parse_change_frequency
from usp._parse.values.numbers import parse_priority, priority_or_default
from usp._parse.values.text import split_commas
from usp._parse.values.urls import inner_base, joined_base, resolve_url
from usp.helpers import parse_iso8601_date
from usp.objects.page import SitemapPageChangeFrequency

TEXTS = st.text(max_size=40) | st.text("0123456789-+:/., TZWGMTEapmJan", max_size=30)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
EARLIEST = datetime(1000, 1, 1)  # noqa: DTZ001 -- Hypothesis adds the zone
DATES = st.datetimes(EARLIEST) | st.datetimes(EARLIEST, timezones=ZONES)


@examples(500)
@given(TEXTS)
@example("6:99999999999999999999999999999")  # raises exceptions of decimal
@example("0 \x08")  # a space that is last once the control character is removed
def test_any_text_gives_a_value_or_none(text: str) -> None:
    date = parse_date(text)
    assert date is None or isinstance(date, datetime)
    aware = parse_aware_date(text)
    assert (aware is None) == (date is None)
    assert aware is None or aware.tzinfo is not None
    if text:
        assert parse_iso8601_date(text) == date
    priority = parse_priority(text)
    assert priority is None or 0 <= priority <= 1
    assert isinstance(priority_or_default(text), Decimal)
    frequency = parse_change_frequency(text)
    assert frequency is None or isinstance(frequency, SitemapPageChangeFrequency)
    assert all(part.strip() for part in split_commas(text))
    assert resolve_url(text, None) == resolve_url(text, None).strip()
    assert isinstance(resolve_url(text, "https://h.example/a/"), str)


@examples(200)
@given(DATES, st.sampled_from("T "))
def test_a_date_is_parsed_as_it_was_formatted(date: datetime, separator: str) -> None:
    assert parse_date(date.isoformat(separator)) == date
    assert parse_date(date.date().isoformat()) == datetime(date.year, date.month, date.day)  # noqa: DTZ001 -- no zone is named
    whole = date.replace(microsecond=0, tzinfo=date.tzinfo or UTC)
    assert parse_date(format_datetime(whole)) == whole


SEGMENTS = st.sampled_from(["", ".", "..", "a", "b;c", "d.xml"])
PATHS = st.lists(SEGMENTS, max_size=6).map("/".join)
QUERIES = st.sampled_from(["", "?q=/", "#f"])
ORIGINS = st.sampled_from(["http://h.example", "https://h.example:81/", "http://h.example//"])
BEGINNINGS = st.sampled_from(["", "/", "//h/", "http:", "http:/"])
INNER_PATHS = PATHS.map(lambda path: path.lstrip("/"))
REFERENCES = st.builds("{}{}{}".format, BEGINNINGS, INNER_PATHS, QUERIES).filter(
    lambda reference: reference not in {"", "http:", "http:/"}
)


@examples(500)
@given(ORIGINS, PATHS, REFERENCES, st.sampled_from(["", "?" + "q=/&" * 500]))
def test_a_relative_url_is_resolved_as_urljoin_does_however_long_the_query_of_its_base(
    origin: str, path: str, reference: str, query: str
) -> None:
    base = f"{origin}/{path}{query}"
    has_path = reference.removeprefix("http:")[:1] not in {"", "?", "#"}
    expected = urljoin(base, reference) if has_path or not query else reference
    assert resolve_url(reference, base) == expected


@pytest.mark.parametrize("text", ["http:", "HTTPS:", " http:/\n", "http://", "https://", "//"])
@pytest.mark.parametrize("base", [None, "http://h.example/s.xml", "https://h.example/"])
def test_the_beginning_of_a_url_is_none(text: str, base: str | None) -> None:
    assert not resolve_url(text, base)
    assert inner_base(text, base) == base
    assert joined_base(base, text) == (base or text)


@pytest.mark.parametrize(
    ("directory", "is_resolved"),
    [("a" * 1_000 + "/", True), ("a/" * 60, True), ("a" * 1_024 + "/", False), ("a/" * 65, False)],
)
@pytest.mark.parametrize("rest", ["s.xml", "s.xml?q=" + "/" * 2_000])
def test_below_a_directory_that_is_too_long_a_relative_url_stays_as_it_is(
    directory: str, rest: str, *, is_resolved: bool
) -> None:
    base = f"http://h.example/{directory}"
    assert resolve_url("b", base + rest) == (f"{base}b" if is_resolved else "b")
