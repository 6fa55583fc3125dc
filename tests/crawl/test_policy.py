"""The policy of a crawl: what it holds, and what it refuses."""

import re
from dataclasses import fields
from functools import partial
from threading import TIMEOUT_MAX
from typing import Any, get_type_hints

import pytest

from tests.crawl.test_machine import HOME
from tests.server import LoopbackServer, urlset
from usp import Crawl, Policy
from usp._crawl.policy import policy_of
from usp.exceptions import SitemapException
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
    *(("since", wrong) for wrong in (5, b"2024", True, ["2024"], "", "2024-13")),
]


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_what_makes_no_sense_raises_at_once(name: str, wrong: object) -> None:
    with pytest.raises(SitemapException, match=name) as caught:
        Policy(**{name: wrong})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [field.name for field in fields(Policy)])
def test_every_field_is_looked_at(name: str) -> None:
    wrong: dict[str, Any] = {name: object()}
    with pytest.raises(SitemapException, match=name):
        Policy(**wrong)


@pytest.mark.parametrize("wrong", [Policy, {}, [], 0, False, "", "polite"])
def test_a_policy_is_a_policy(wrong: Any) -> None:
    for use in (partial(policy_of, changes={}), partial(Crawl, []), partial(Crawl.of_site, HOME)):
        with pytest.raises(SitemapException, match="policy must be"):
            use(policy=wrong)


@pytest.mark.parametrize("endless", [float("inf"), 1e12, 10**400])
def test_no_time_limit_is_too_long_to_wait_for(endless: float) -> None:
    policy = Policy(max_seconds=endless, backoff_max=endless, backoff_initial=1e300)
    assert policy.max_seconds is None
    assert policy.delay(1, 1e300, 1.0) == policy.backoff_max < TIMEOUT_MAX
    assert Policy(max_seconds=3600).max_seconds == 3600


def test_pauses_grow_to_their_limit_and_no_further() -> None:
    grown = [
        Policy(max_attempts=5000).delay(tries, None, 0.5) for tries in (1, 2, 3, 11, 3000, 4999)
    ]
    assert grown == [1.0, 1.5, 2.25, 57.6650390625, 60.0, 60.0]
    assert Policy(backoff_factor=1e308).delay(3, None, 0.5) == 60.0
    assert Policy(backoff_initial=0, backoff_factor=2).delay(5000, None, 0.5) == 0.0


def test_more_tries_than_a_pause_can_grow_by(server: LoopbackServer) -> None:
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


def test_the_ceiling_on_a_document_is_an_option(server: LoopbackServer) -> None:
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


def test_how_often_a_failure_is_tried_is_an_option(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = 503
    policy = Policy(max_attempts=2, backoff_initial=0.01)
    sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy)
    assert server.asked == ["/robots.txt", "/a.xml", "/a.xml"]
