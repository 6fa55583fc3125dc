"""The summary of a crawl: what it says about limits, and its last line."""

import pytest

from tests.server import LoopbackServer, index, urlset
from usp import Policy, sitemap_tree_for_homepage
from usp._crawl.deadline import ReadingTime
from usp.cli._exit import Exit
from usp.cli._outcome import Summary, reason
from usp.objects.outcome import Attempt, FoundBy, Result

UNLIMITED = ReadingTime(None, float)


def summary(server: LoopbackServer, policy: Policy) -> list[str]:
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=policy)
    found = Summary.of_tree(tree, sum(1 for _ in tree.all_pages()), 0.0, UNLIMITED)
    assert found.exit_code() is Exit.DONE
    return [*found.lines(failures=True), found.last_line]


@pytest.mark.parametrize(
    ("policy", "limit"), [(Policy(max_sitemaps=1), "1 sitemap"), (Policy(limit=2), "2 pages")]
)
def test_a_reached_limit_is_in_the_summary(
    server: LoopbackServer, policy: Policy, limit: str
) -> None:
    server.robots("/a.xml", "/b.xml")
    server.site |= {
        "/a.xml": urlset(server.at("/one"), server.at("/two")),
        "/b.xml": urlset(server.at("/three")),
    }
    (line,) = summary(server, policy)
    assert "; partial: limit reached: " in line
    assert limit in line


def test_an_index_that_is_not_expanded_again_is_in_the_summary(server: LoopbackServer) -> None:
    server.robots("/i.xml", "/j.xml")
    server.site |= {
        "/i.xml": index(server.at("/k.xml")),
        "/j.xml": index(server.at("/k.xml")),
        "/k.xml": index(server.at("/a.xml")),
        "/a.xml": urlset(server.at("/one")),
    }
    (line,) = summary(server, Policy(max_repeated_nodes=0))
    assert line.endswith("; partial: limit reached: an index was not expanded again at 1 node")


def test_nothing_is_missing_in_the_summary_of_a_complete_tree(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    assert summary(server, Policy()) == ["found: 1 sitemap, 1 page, 0.0 s"]


@pytest.mark.parametrize("declared", ["", "Sitemap: ftp://h.example/a.xml\nSitemap: /a.xml\n"])
def test_a_site_whose_robots_txt_disallows_everything_is_blocked_for_that_reason(
    server: LoopbackServer, declared: str
) -> None:
    server.site["/robots.txt"] = f"User-agent: badbot\nDisallow: /\n{declared}"
    policy = Policy(robots="obey", robots_agent="badbot")
    tree = sitemap_tree_for_homepage(server.url, policy=policy)
    (line,) = Summary.of_tree(tree, 0, 0.0, UNLIMITED).lines(failures=True)
    assert line.startswith(f"blocked: {server.url}")
    assert line.endswith(": robots.txt disallows it for badbot (line 2: Disallow: /)")


REFUSED = "[Errno 111] Connection refused"


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        (f"Pool: Max retries (Caused by E('<object>: {REFUSED}'))", f"<object>: {REFUSED}"),
        (f"""(Caused by E("HTTPConnection(host='h', port=80): {REFUSED}"))""", REFUSED),
        (
            f"""(Caused by ProxyError('Unable to connect to proxy', E("C(host=''): {REFUSED}")))""",
            f"proxy: {REFUSED}",
        ),
        (f"(Caused by A(B(1, '{REFUSED}'))): tried 3 times", f"{REFUSED}: tried 3 times"),
        ("""(Caused by E("words that don't end'))""", """(Caused by E("words that don't end'))"""),
        ("(Caused by E('words')) (more)", "(Caused by E('words')) (more)"),
        ("(Caused by )", "(Caused by )"),
        ("503 Service Unavailable", "503 Service Unavailable"),
        ("", ""),
    ],
)
def test_a_reason_is_shortened_to_its_cause(detail: str, expected: str) -> None:
    attempt = Attempt("http://h/", FoundBy.ROBOTS, Result.UNREACHABLE, detail)
    assert reason(attempt) == expected
