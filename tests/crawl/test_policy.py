"""The policy of a crawl: what it holds, and what it refuses."""

import re
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import TIMEOUT_MAX
from typing import Any, get_type_hints

import pytest

import usp
from tests.crawl.test_core import HOME
from tests.server import LoopbackServer, urlset
from usp import Crawl, Policy, aio
from usp._crawl.backoff import retry_delay
from usp._crawl.policy import policy_with, selection_of
from usp.exceptions import SitemapException, UsageError
from usp.tree import sitemap_tree_for_homepage

WHOLE = [name for name, hint in get_type_hints(Policy).items() if hint in (int, int | None)]
SECONDS = [name for name, hint in get_type_hints(Policy).items() if hint in (float, float | None)]
PATTERNS = ["include", "exclude", "include_sitemaps", "exclude_sitemaps"]
NO_NUMBERS: list[object] = [True, "3", b"3", [3], float("nan"), -1, 3j]
NO_PATTERNS: list[object] = [None, "(", b"x", [b"x"], [re.compile(b"x")], ["a", 5], ["a", "("]]
NO_KINDS: list[object] = [None, 5, b"news", [[]], [None], "podcast", ["news", {}]]
WRONG: list[tuple[str, object]] = [
    ("max_attempts", 0),
    ("max_level", -1),
    ("max_document_bytes", 0),
    ("backoff_initial", float("inf")),
    ("backoff_factor", 0.5),
    ("backoff_factor", float("inf")),
    ("backoff_factor", 10**400),
    *((name, wrong) for name in WHOLE for wrong in (*NO_NUMBERS, 2.5, 3.0, float("inf"))),
    *((name, wrong) for name in SECONDS for wrong in NO_NUMBERS),
    *((name, wrong) for name in PATTERNS for wrong in NO_PATTERNS),
    *(("kind", wrong) for wrong in NO_KINDS),
    *(("since", wrong) for wrong in (5, b"2024", True, ["2024"], "", "2024-13", "48", "3x")),
    *(("since", wrong) for wrong in (timedelta(-1), "999999999w")),
    *(("undated", wrong) for wrong in (None, True, "yes", b"keep")),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_a_wrong_value_raises_at_once(name: str, wrong: object) -> None:
    with pytest.raises(SitemapException, match=name) as caught:
        Policy(**{name: wrong})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [field.name for field in fields(Policy)])
def test_every_field_is_checked(name: str) -> None:
    wrong: dict[str, Any] = {name: object()}
    with pytest.raises(SitemapException, match=name):
        Policy(**wrong)


@pytest.mark.parametrize("wrong", [Policy, {}, [], 0, False, "", "polite"])
def test_a_policy_must_be_a_policy(wrong: Any) -> None:
    for use in (
        partial(policy_with, changes={}),
        partial(Crawl, HOME),
        partial(Crawl.for_site, HOME),
    ):
        with pytest.raises(SitemapException, match="policy must be"):
            use(policy=wrong)


@pytest.mark.parametrize("endless", [float("inf"), 1e12, 10**400])
def test_no_time_limit_is_too_long_to_wait_for(endless: float) -> None:
    policy = Policy(max_seconds=endless, backoff_max=endless, backoff_initial=1e300)
    assert policy.max_seconds is None
    assert retry_delay(policy, 1, 1e300, 1.0) == policy.backoff_max < TIMEOUT_MAX
    assert Policy(max_seconds=3600).max_seconds == 3600


def test_delays_grow_to_their_limit() -> None:
    grown = [
        retry_delay(Policy(max_attempts=5000), attempts, None, 0.5)
        for attempts in (1, 2, 3, 11, 3000, 4999)
    ]
    assert grown == [1.0, 1.5, 2.25, 57.6650390625, 60.0, 60.0]
    assert retry_delay(Policy(backoff_factor=1e308), 3, None, 0.5) == 60.0
    assert retry_delay(Policy(backoff_initial=0, backoff_factor=2), 5000, None, 0.5) == 0.0


def test_more_attempts_than_a_float_delay_can_grow(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = 500
    policy = Policy(
        max_attempts=1200,
        retry_budget=1200,
        backoff_initial=1e-9,
        backoff_max=1e-6,
        backoff_factor=2,
    )
    sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy)
    assert server.asked == ["/robots.txt", *["/a.xml"] * 1200]


def test_the_document_size_limit_is_an_option(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(*(server.at(f"/{number}") for number in range(1000)))
    small = sitemap_tree_for_homepage(
        server.url, use_known_paths=False, policy=Policy(max_document_bytes=5000)
    )
    pages = [page.url for page in small.all_pages()]
    assert 0 < len(pages) < 1000
    assert pages == [server.at(f"/{number}") for number in range(len(pages))]
    names = {problem.name for sitemap in small.all_sitemaps() for problem in sitemap.problems}
    assert {"document-too-large", "truncated"} <= names
    assert not small.tree_complete


def test_the_number_of_attempts_is_an_option(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = 503
    policy = Policy(max_attempts=2, backoff_initial=0.01)
    sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy)
    assert server.asked == ["/robots.txt", "/a.xml", "/a.xml"]


NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        ("48h", datetime(2026, 11, 14, 12, tzinfo=UTC)),
        ("7d", datetime(2026, 11, 9, 12, tzinfo=UTC)),
        (" 90 M ", datetime(2026, 11, 16, 10, 30, tzinfo=UTC)),
        ("2w", datetime(2026, 11, 2, 12, tzinfo=UTC)),
        (timedelta(days=1), datetime(2026, 11, 15, 12, tzinfo=UTC)),
        (timedelta.max, datetime.min.replace(tzinfo=UTC)),
        ("2026-11", datetime(2026, 11, 1, tzinfo=UTC)),
    ],
)
def test_a_duration_counts_back_from_the_start_of_the_crawl(
    since: str | timedelta, expected: datetime
) -> None:
    policy = Policy(since=since)
    assert selection_of(policy, NOW).since == expected
    assert policy == Policy(since=since), "the policy itself names no time"


def test_bounds_in_the_wrong_order_are_rejected_when_the_crawl_starts() -> None:
    policy = Policy(since="1h", until="48h")
    with pytest.raises(UsageError, match=r"since .* must not be after until"):
        selection_of(policy, NOW)
    with pytest.raises(ValueError, match=r"since .* must not be after until"):
        Policy(since="2026-02", until="2026-01")


def test_help_explains_every_field() -> None:
    for documented in (Policy, usp.iter_pages, usp.sitemap_tree, aio.iter_pages, aio.sitemap_trees):
        text = documented.__doc__ or ""
        assert [name for name in fields(Policy) if f":param {name.name}:" not in text] == []
