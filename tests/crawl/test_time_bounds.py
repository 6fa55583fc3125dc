"""The bounds ``since`` and ``until``: dates, times, and durations before the start of the crawl."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest

from usp import Crawl, Policy
from usp._crawl.policy import selection_of
from usp._crawl.time_bounds import Moment
from usp.exceptions import UsageError

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        ("48h", datetime(2026, 11, 14, 12, tzinfo=UTC)),
        ("7d", datetime(2026, 11, 9, 12, tzinfo=UTC)),
        (" 90 M ", datetime(2026, 11, 16, 10, 30, tzinfo=UTC)),
        ("2w", datetime(2026, 11, 2, 12, tzinfo=UTC)),
        ("30s", datetime(2026, 11, 16, 11, 59, 30, tzinfo=UTC)),
        (timedelta(days=1), datetime(2026, 11, 15, 12, tzinfo=UTC)),
        (timedelta.max, datetime.min.replace(tzinfo=UTC)),
        ("2026-11", datetime(2026, 11, 1, tzinfo=UTC)),
        (date(2026, 11, 2), datetime(2026, 11, 2, tzinfo=UTC)),
    ],
)
def test_a_duration_counts_back_from_the_start_of_the_crawl(
    since: Moment, expected: datetime
) -> None:
    policy = Policy(since=since)
    assert selection_of(policy, NOW).since == expected
    assert policy == Policy(since=since), "the policy itself contains no current time"


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        ("2026", datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-02", datetime(2026, 2, 28, 23, 59, 59, 999999, tzinfo=UTC)),
        (date(2026, 2, 3), datetime(2026, 2, 3, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-02-03T04:05:06Z", datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("24h", datetime(2026, 11, 15, 12, tzinfo=UTC)),
    ],
)
def test_until_a_bare_date_means_its_end(until: Moment, expected: datetime) -> None:
    assert selection_of(Policy(until=until), NOW).until == expected


def test_bounds_in_the_wrong_order_are_rejected_when_the_crawl_starts() -> None:
    policy = Policy(since="1h", until="48h")
    with pytest.raises(UsageError, match=r"since .* must not be after until"):
        selection_of(policy, NOW)
    with pytest.raises(ValueError, match=r"since .* must not be after until"):
        Policy(since="2026-02", until="2026-01")


@pytest.mark.parametrize(
    "start",
    [
        lambda policy, **now: Crawl("https://h.example/sitemap.xml", policy, **now),
        lambda policy, **now: Crawl.for_site("h.example", policy, **now),
    ],
)
def test_a_crawl_without_io_needs_the_time_only_for_durations(
    start: Callable[..., Crawl],
) -> None:
    assert start(Policy(since="2026")).policy.since == datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(UsageError, match="now must be given: since is a duration"):
        start(Policy(since="48h"))
    with pytest.raises(UsageError, match="now must be an instance of datetime"):
        start(Policy(since="48h"), now=1.5)
    for now in (NOW, NOW.replace(tzinfo=None)):
        crawl = start(Policy(since="48h"), now=now)
        assert crawl._cursor.selection.since == NOW - timedelta(hours=48)
