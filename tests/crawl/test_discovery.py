"""Discovery, without I/O: the stages of a plan, their conditions, and homepages that have moved."""

from typing import Any

import pytest

from tests.crawl.simulation import HOME, ROBOTS, pages, robots, run, url
from usp import Policy
from usp._crawl.core import Crawl
from usp._crawl.discovery import (
    KNOWN_PATHS,
    NEWER_PATHS,
    Condition,
    HomepageQuery,
    discovery_plan,
    in_fixed_order,
)
from usp._crawl.options import CrawlOptions
from usp.objects.outcome import FoundBy

ALWAYS, UNLESS_FOUND, IF_NONE = Condition.ALWAYS, Condition.UNLESS_FOUND, Condition.IF_NONE


def stages(policy: Policy | None = None, **options: Any) -> dict[str, Condition]:
    """Return the stages of a plan in their order, and when each runs."""
    options = {"use_robots": True, "use_known_paths": True} | options
    plan = discovery_plan(policy or Policy(), **options)
    return {
        start.stage.name: start.stage.condition for start in plan.start_urls("http://h.example/")
    }


def test_the_plan_of_1_8_1_tries_known_paths_always_and_newer_stages_if_needed() -> None:
    assert list(stages().items()) == [
        ("robots.txt", ALWAYS),
        ("known paths", ALWAYS),
        ("homepage", UNLESS_FOUND),
        ("newer paths", IF_NONE),
        ("feeds", UNLESS_FOUND),
    ]


def test_known_paths_that_are_tried_where_needed_come_after_the_homepage() -> None:
    assert list(stages(use_known_paths=None).items()) == [
        ("robots.txt", ALWAYS),
        ("homepage", UNLESS_FOUND),
        ("known paths", UNLESS_FOUND),
        ("newer paths", IF_NONE),
        ("feeds", UNLESS_FOUND),
    ]


def test_without_a_classic_stage_the_newer_stages_run_only_on_request() -> None:
    assert list(stages(use_known_paths=False)) == ["robots.txt"]
    assert list(stages(use_robots=False)) == ["known paths"]
    assert list(stages(use_robots=False, use_known_paths=None)) == ["known paths"]
    policy = Policy(use_homepage=True, use_newer_paths=True)
    assert list(stages(policy, use_known_paths=False).items()) == [
        ("robots.txt", ALWAYS),
        ("homepage", ALWAYS),
        ("newer paths", ALWAYS),
        ("feeds", ALWAYS),
    ]


def test_newer_stages_can_be_excluded() -> None:
    policy = Policy(use_homepage=False, use_newer_paths=False)
    assert list(stages(policy)) == ["robots.txt", "known paths"]


def test_every_known_path_is_tried_below_the_homepage() -> None:
    plan = discovery_plan(Policy(), use_robots=True, use_known_paths=True)
    found = {start.url: start.found_by for start in plan.start_urls("http://h.example/")}
    for path in (*KNOWN_PATHS, *NEWER_PATHS):
        assert found[f"http://h.example/{path}"] is FoundBy.KNOWN_PATH
    assert found["http://h.example/robots.txt"] is FoundBy.WELL_KNOWN


def test_paths_of_a_set_have_one_order() -> None:
    assert in_fixed_order({"z.xml", "sitemap.xml.gz", "a.xml", "sitemap.xml"}) == [
        "sitemap.xml",
        "sitemap.xml.gz",
        "a.xml",
        "z.xml",
    ]


MOVES = [
    ("http://h/", "http://h/", None),
    ("http://h/", "http://h/de/", None),
    ("http://h/", "https://h/", "https://h/"),
    ("https://h/", "http://h/", "http://h/"),
    ("https://h/", "https://www.h/en/?a#b", "https://www.h/"),
    ("https://www.h/", "https://h/", "https://h/"),
    ("https://h/", "https://h.example/", None),
    ("https://h/", "https://shop.h/", None),
    ("https://h./", "https://H/", "https://H/"),
]


@pytest.mark.parametrize(("homepage", "final_url", "expected"), MOVES)
def test_a_homepage_moves_to_another_scheme_or_www_but_not_to_another_site(
    homepage: str, final_url: str, expected: str | None
) -> None:
    assert HomepageQuery(homepage, feeds=False).moved_to(final_url) == expected


def test_a_stream_hands_over_no_guess_that_is_not_made() -> None:
    plan = discovery_plan(Policy(), use_robots=True, use_known_paths=None)
    options = CrawlOptions(streaming=True, every_node=True)
    crawl = Crawl._started(HOME, plan.start_urls(HOME), None, options)
    run(crawl, {ROBOTS: robots("sitemap"), url("sitemap"): pages("sitemap")})
    ready = [(node.url, node.found_by) for node in crawl._cursor.ready]
    assert ready == [
        (ROBOTS, FoundBy.WELL_KNOWN),
        (url("sitemap"), FoundBy.ROBOTS),
        (url("sitemap"), FoundBy.KNOWN_PATH),  # it was found already, which is told
    ]
