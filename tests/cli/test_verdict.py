"""What a crawl with limits is said to lack: limits that the command itself doesn't set."""

import pytest

from tests.server import LoopbackServer, index, urlset
from usp import Policy, sitemap_tree_for_homepage
from usp.cli._exit import Exit
from usp.cli._outcome import verdict


def told(server: LoopbackServer, policy: Policy) -> list[str]:
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy)
    lines, code = verdict(tree, failures=True)
    assert code is Exit.DONE
    return lines


@pytest.mark.parametrize(
    ("policy", "limit"), [(Policy(max_sitemaps=1), "1 sitemaps"), (Policy(limit=2), "2 pages")]
)
def test_a_limit_that_was_reached(server: LoopbackServer, policy: Policy, limit: str) -> None:
    server.robots("/a.xml", "/b.xml")
    server.site |= {
        "/a.xml": urlset(server.at("/one"), server.at("/two")),
        "/b.xml": urlset(server.at("/three")),
    }
    assert told(server, policy) == [f"a limit was reached: The crawl has reached its {limit}"]


def test_an_index_that_is_not_opened_again(server: LoopbackServer) -> None:
    server.robots("/i.xml", "/j.xml")
    server.site |= {
        "/i.xml": index(server.at("/k.xml")),
        "/j.xml": index(server.at("/k.xml")),
        "/k.xml": index(server.at("/a.xml")),
        "/a.xml": urlset(server.at("/one")),
    }
    assert told(server, Policy(max_repeated_nodes=0)) == [
        "a limit was reached: an index was not opened again in 1 place"
    ]


def test_a_whole_tree_needs_no_words(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    assert told(server, Policy()) == []
