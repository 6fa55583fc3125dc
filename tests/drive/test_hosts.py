"""Hosts that drop, loop and stall: one that answers anything is never given up."""

import pytest

from tests.server import Answer, LoopbackServer, redirect, reset, urlset
from usp import Outcome, Policy
from usp.objects.sitemap import InvalidSitemap
from usp.tree import sitemap_tree_for_homepage

QUICK = Policy(first_pause=0.01)
ONE_BY_ONE = Policy(first_pause=0.01, total=1)


@pytest.mark.parametrize("policy", [QUICK, ONE_BY_ONE])
def test_a_robots_txt_that_is_dropped_costs_only_itself(
    server: LoopbackServer, policy: Policy
) -> None:
    server.site |= {"/robots.txt": reset, "/sitemap.xml": urlset(server.at("/page"))}
    tree = sitemap_tree_for_homepage(server.url, policy=policy)
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]


@pytest.mark.parametrize(
    "odd", [redirect("ftp://h.example/"), Answer(302, headers={"Location": "/0"}), reset]
)
def test_children_that_lead_nowhere_cost_only_themselves(
    server: LoopbackServer, odd: Answer
) -> None:
    names = [f"/{number}" for number in range(6)]
    server.robots(*names)
    server.site |= dict.fromkeys(names[:2], odd)
    server.site |= {name: urlset(server.at(f"{name}/page")) for name in names[2:]}
    tree = sitemap_tree_for_homepage(server.url, policy=ONE_BY_ONE)
    children = tree.sub_sitemaps[0].sub_sitemaps
    assert [isinstance(child, InvalidSitemap) for child in children] == [True] * 2 + [False] * 4
    assert tree.outcome is Outcome.PARTIAL


def test_redirects_without_end_are_answers(server: LoopbackServer) -> None:
    server.otherwise = redirect("/loop")
    server.site |= {"/loop": redirect("/loop"), "/sitemap_news.xml": urlset(server.at("/page"))}
    tree = sitemap_tree_for_homepage(server.url, policy=QUICK)
    assert [page.url for page in tree.all_pages()] == [server.at("/page")]


def test_a_dead_host_is_given_up_after_a_few_requests() -> None:
    with LoopbackServer() as gone:
        url = gone.url
    tree = sitemap_tree_for_homepage(url, policy=ONE_BY_ONE)
    assert tree.outcome is Outcome.UNREACHABLE
    details = [attempt.detail for attempt in tree.tried]
    assert sum("given up" in detail for detail in details) == len(details) - 3
