"""The policy of a crawl: every field is checked, and explained by ``help()``."""

import re
from dataclasses import fields
from datetime import timedelta
from functools import partial
from typing import Any, get_type_hints

import pytest

import usp
from tests.crawl.simulation import HOME
from tests.server import LoopbackServer, urlset
from usp import Crawl, Policy, aio
from usp._crawl.policy import policy_with
from usp.exceptions import SitemapException
from usp.tree import sitemap_tree_for_homepage

INTEGERS = [name for name, hint in get_type_hints(Policy).items() if hint in (int, int | None)]
SECONDS = [name for name, hint in get_type_hints(Policy).items() if hint in (float, float | None)]
PATTERNS = ["include", "exclude", "include_sitemaps", "exclude_sitemaps"]
NOT_NUMBERS: list[object] = [True, "3", b"3", [3], float("nan"), -1, 3j]
NOT_PATTERNS: list[object] = [None, "(", b"x", [b"x"], [re.compile(b"x")], ["a", 5], ["a", "("]]
NOT_KINDS: list[object] = [None, 5, b"news", [[]], [None], "podcast", ["news", {}]]
WRONG: list[tuple[str, object]] = [
    ("max_attempts", 0),
    ("max_level", -1),
    ("max_document_bytes", 0),
    ("backoff_initial", float("inf")),
    ("backoff_factor", 0.5),
    ("backoff_factor", float("inf")),
    ("backoff_factor", 10**400),
    *((name, wrong) for name in INTEGERS for wrong in (*NOT_NUMBERS, 2.5, 3.0, float("inf"))),
    *((name, wrong) for name in SECONDS for wrong in NOT_NUMBERS),
    *((name, wrong) for name in PATTERNS for wrong in NOT_PATTERNS),
    *(("kind", wrong) for wrong in NOT_KINDS),
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


@pytest.mark.slow
def test_there_may_be_more_attempts_than_a_delay_can_grow_as_a_float(
    server: LoopbackServer,
) -> None:
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
    assert server.requested == ["/robots.txt", *["/a.xml"] * 1200]


def test_the_document_size_limit_is_an_option(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(*(server.at(f"/{number}") for number in range(1000)))
    tree = sitemap_tree_for_homepage(
        server.url, use_known_paths=False, policy=Policy(max_document_bytes=5000)
    )
    pages = [page.url for page in tree.all_pages()]
    assert 0 < len(pages) < 1000
    assert pages == [server.at(f"/{number}") for number in range(len(pages))]
    names = {problem.name for sitemap in tree.all_sitemaps() for problem in sitemap.problems}
    assert {"document-too-large", "truncated"} <= names
    assert not tree.tree_complete


def test_the_number_of_attempts_is_an_option(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = 503
    policy = Policy(max_attempts=2, backoff_initial=0.01)
    sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy)
    assert server.requested == ["/robots.txt", "/a.xml", "/a.xml"]


def test_help_explains_every_field() -> None:
    for documented in (Policy, usp.iter_pages, usp.sitemap_tree, aio.iter_pages, aio.sitemap_trees):
        text = documented.__doc__ or ""
        assert [field.name for field in fields(Policy) if f":param {field.name}:" not in text] == []
