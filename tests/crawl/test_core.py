"""The crawl core without I/O: results arrive in whatever order a test chooses."""

import pickle
import random
from collections.abc import Callable, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from usp._crawl.assembly import subtree
from usp._crawl.core import Crawl
from usp._crawl.discovery import KNOWN_PATHS, DiscoveryPlan
from usp._crawl.messages import FetchFailed, FetchRequest, FetchResult, TruncatedBody
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._parse import Child, Document, Kind
from usp.objects.outcome import Outcome
from usp.objects.page import SitemapPage
from usp.objects.sitemap import (
    AbstractSitemap,
    IndexRobotsTxtSitemap,
    IndexXMLSitemap,
    InvalidSitemap,
    PagesXMLSitemap,
)

HOME = "http://h.example/"
Site = Mapping[str, FetchResult]
Order = Callable[[list[FetchRequest]], FetchRequest]
MISSING = FetchFailed("404 Not Found", status=404)


def url(name: str) -> str:
    return f"{HOME}{name}.xml"


def pages(name: str, *, at: str | None = None) -> Document:
    return Document(at or url(name), Kind.URLSET, [SitemapPage(f"{HOME}{name}/page")])


def index(name: str, children: Sequence[str], *, at: str | None = None) -> Document:
    return Document(at or url(name), Kind.INDEX, [], tuple(Child(url(child)) for child in children))


def robots(*children: str) -> Document:
    return Document(
        f"{HOME}robots.txt", Kind.ROBOTS, [], tuple(Child(url(child)) for child in children)
    )


def first_in(requests: list[FetchRequest]) -> FetchRequest:
    return requests[0]


def last_in(requests: list[FetchRequest]) -> FetchRequest:
    return requests[-1]


def play(crawl: Crawl, site: Site, order: Order = first_in, most: int = 1) -> list[str]:
    """Answer every request of the crawl; return the URLs in the order of the requests."""
    asked: list[str] = []
    in_flight: list[FetchRequest] = []
    now = 0.0
    while not crawl.done:
        wanted = crawl.take(now, most - len(in_flight))
        asked.extend(request.url for request in wanted)
        in_flight.extend(wanted)
        if in_flight:
            request = order(in_flight)
            in_flight.remove(request)
            crawl._receive(request, site.get(request.url, MISSING), now)
        else:
            due = crawl.wakeup()
            assert due is not None, "the crawl waits for nothing"
            now = max(now, due)
    return asked


def crawl_of(site_robots: bool = True, policy: Policy | None = None) -> Crawl:
    start_urls = DiscoveryPlan(site_robots).start_urls(HOME)
    return Crawl._started(HOME, start_urls, policy)


def shape(sitemap: AbstractSitemap) -> object:
    reason = sitemap.reason if isinstance(sitemap, InvalidSitemap) else ""
    return (
        type(sitemap).__name__,
        sitemap.url,
        reason,
        [page.url for page in sitemap.pages],
        [shape(sub) for sub in sitemap.sub_sitemaps],
    )


NAMES = "abcdef"
children_lists = st.lists(st.sampled_from(NAMES), max_size=5)
redirects = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(NAMES), max_size=3)


@st.composite
def sites(draw: st.DrawFn) -> Site:
    site: dict[str, FetchResult] = {f"{HOME}robots.txt": robots(*draw(children_lists))}
    for name in NAMES:
        site[url(name)] = draw(
            st.one_of(
                st.just(pages(name)),
                st.builds(index, st.just(name), children_lists),
                st.just(MISSING),
                st.just(FetchFailed("503 busy", retryable=True, status=503)),
            )
        )
    moved = draw(redirects)
    for name in moved:
        target, hops = name, len(NAMES)
        while target in moved and hops:
            target, hops = moved[target], hops - 1
        site[url(name)] = site[url(target)] if hops else MISSING
    known = draw(st.sampled_from(KNOWN_PATHS))
    site[HOME + known] = index("known", draw(children_lists), at=HOME + known)
    return site


# A host is given up by time, and these crawls take none.
SMALL = Policy(max_level=4, max_attempts=2, max_repeated_nodes=50, host_failure_threshold=99)


@given(sites(), st.randoms(use_true_random=False), st.integers(1, 8))
def test_any_order_of_results_gives_one_tree(
    site: Site, jitter: random.Random, in_flight: int
) -> None:
    one_by_one = crawl_of(policy=SMALL)
    play(one_by_one, site)
    mixed = crawl_of(policy=SMALL)
    play(mixed, site, jitter.choice, in_flight)
    assert shape(mixed.tree()) == shape(one_by_one.tree())
    assert mixed.outcome == one_by_one.outcome


@given(sites(), st.randoms(use_true_random=False))
def test_no_url_is_requested_twice_except_for_retries(site: Site, jitter: random.Random) -> None:
    asked = play(crawl_of(policy=SMALL), site, jitter.choice, 4)
    for name in set(asked):
        answer = site.get(name, MISSING)
        retried = isinstance(answer, FetchFailed) and answer.retryable
        assert 1 <= asked.count(name) <= (SMALL.max_attempts if retried else 1)


def test_redirects_to_the_same_url_share_one_document() -> None:
    site: dict[str, FetchResult] = {f"{HOME}robots.txt": robots("old", "a", "older", "index")}
    site |= {url("old"): pages("a"), url("older"): pages("a"), url("a"): pages("a")}
    site |= {url("index"): index("index", ["b", "a"]), url("b"): pages("b")}
    asked: dict[str, list[str]] = {}
    for name, order in {"declared": first_in, "reverse": last_in}.items():
        crawl = crawl_of(policy=Policy(prefetch=99))
        asked[name] = play(crawl, site, order, most=1)
        root = crawl.tree()
        (declared,) = root.sub_sitemaps
        assert [sub.url for sub in declared.sub_sitemaps] == [
            url("a"), url("a"), url("a"), url("index"),
        ]  # fmt: skip
        assert [page.url for page in root.all_pages()] == [
            f"{HOME}{name}/page" for name in ("a", "a", "a", "b", "a")
        ]
        documents = {
            id(node.document) for node in crawl._cursor.nodes() if node.final_url == url("a")
        }
        assert len(documents) == 1
    assert url("a") not in asked["declared"], "the redirect has brought it"


def test_a_document_that_redirects_lead_to_is_streamed_once() -> None:
    site: dict[str, FetchResult] = {f"{HOME}robots.txt": robots("old", "a", "older")}
    site |= {url("old"): pages("a"), url("older"): pages("a"), url("a"): pages("a")}
    start_urls = DiscoveryPlan(known_paths=()).start_urls(HOME)
    crawl = Crawl._started(HOME, start_urls, options=CrawlOptions(streaming=True))
    play(crawl, site, most=3)
    assert [node.url for node in crawl._cursor.ready] == [url("old")]
    assert b"a/page" in pickle.dumps(crawl)
    crawl._cursor.release(crawl._cursor.ready.popleft())
    assert b"a/page" not in pickle.dumps(crawl), "nothing of it is kept"


def test_one_request_at_a_time_goes_depth_first() -> None:
    site: Site = {
        f"{HOME}robots.txt": robots("a", "d"),
        url("a"): index("a", ["b", "c"]),
        **{url(name): pages(name) for name in "bcd"},
    }
    asked = play(crawl_of(), site)
    assert asked[:5] == [f"{HOME}robots.txt", *map(url, "abcd")]
    assert asked[5:] == [HOME + path for path in KNOWN_PATHS]


def test_a_transient_failure_is_retried_with_growing_delays() -> None:
    crawl = Crawl(url("a"))
    busy = FetchFailed("503", retryable=True, status=503)
    now, delays = 0.0, []
    while not crawl.done:
        (request,) = crawl.take(now)
        crawl._receive(request, busy, now, jitter=0.5)
        if (due := crawl.wakeup()) is not None:
            assert crawl.take(due - 0.001) == []
            delays.append(due - now)
            now = due
    assert delays == [1.0, 1.5, 2.25, 3.375], "four delays for five attempts, none after the last"
    assert isinstance(subtree(crawl._cursor.roots[0], crawl._cursor.selection), InvalidSitemap)


def test_retry_after_is_respected_within_the_limit() -> None:
    for asked_for, delay in ((7.0, 7.0), (0.1, 1.0), (86_400.0, 60.0)):
        crawl = Crawl(url("a"))
        (request,) = crawl.take(10.0)
        busy = FetchFailed("429", retryable=True, status=429, retry_after=asked_for)
        crawl._receive(request, busy, 10.0)
        assert crawl.wakeup() == 10.0 + delay


def test_other_requests_go_on_while_one_waits_for_its_retry() -> None:
    crawl = Crawl(f"{HOME}robots.txt")
    (request,) = crawl.take(0.0)
    crawl._receive(request, robots("a", "b"), 0.0)
    (first,) = crawl.take(0.0, limit=1)
    crawl._receive(first, FetchFailed("503", retryable=True, status=503), 0.0)
    assert [request.url for request in crawl.take(0.0, limit=9)] == [url("b")]


def test_a_dead_host_is_given_up() -> None:
    dead = FetchFailed("connection refused", no_response=True)
    crawl = crawl_of()
    asked = play(
        crawl, dict.fromkeys([f"{HOME}robots.txt", *(HOME + p for p in KNOWN_PATHS)], dead)
    )
    by_http = [url for url in asked if url.startswith("http:")]
    assert len(by_http) == Policy().host_failure_threshold
    assert set(asked) - set(by_http) <= {"https://h.example/robots.txt", "https://h.example/"}
    assert crawl.tree().outcome is Outcome.UNREACHABLE


def test_a_url_without_a_response_is_requested_once_by_the_other_scheme() -> None:
    dead = FetchFailed("connection refused", no_response=True)
    names = [f"n{number}" for number in range(40)]
    secure = {name: url(name).replace("http:", "https:") for name in names}
    site: dict[str, FetchResult] = {f"{HOME}robots.txt": robots(*names)}
    site |= {url(name): dead for name in names}
    site |= {secure[name]: pages(name, at=secure[name]) for name in names[:-1]}
    site[secure["n39"]] = dead
    trees = []
    for order in (first_in, last_in):
        crawl = crawl_of()
        asked = play(crawl, site, order, most=4)
        assert len(asked) == len(set(asked))
        assert {secure[name] for name in names} <= set(asked)
        by_http = [one for one in asked if one in {url(name) for name in names}]
        assert len(by_http) <= 4 + Policy().host_failure_threshold + Policy().max_attempts, (
            "four were in flight"
        )
        trees.append(crawl.tree())
    (declared,) = trees[0].sub_sitemaps
    assert [sub.url for sub in declared.sub_sitemaps] == [*list(secure.values())[:-1], url("n39")]
    first, *_, last = declared.sub_sitemaps
    assert [problem.name for problem in first.problems] == ["dead-scheme"]
    assert first.declared_url == url("n0")
    assert isinstance(last, InvalidSitemap)
    assert shape(trees[0]) == shape(trees[1])


def test_a_document_that_a_redirect_brought_is_kept_though_its_host_is_dead() -> None:
    dead = FetchFailed("no answer", no_response=True, retryable=True)
    names = ["a", "b", "c", "d"]
    children = (*(Child(url(name)) for name in names), Child("http://other.example/x.xml"))
    crawl = crawl_of(
        policy=Policy(backoff_initial=100, scheme_fallback=False, host_failure_threshold=3)
    )
    (request,) = (one for one in crawl.take(0.0) if one.url.endswith("robots.txt"))
    crawl._receive(request, Document(f"{HOME}robots.txt", Kind.ROBOTS, [], children), 0.0)
    asked = {request.url: request for request in crawl.take(0.0)}
    assert crawl._receive(asked[url("a")], dead, 0.0), "to be tried again"
    crawl._receive(asked["http://other.example/x.xml"], pages("a"), 0.0)  # it redirects to a
    for name in names[1:]:
        crawl._receive(asked[url(name)], dead, 0.0)
    play(crawl, {})
    (declared,) = crawl.tree().sub_sitemaps
    assert [isinstance(sub, PagesXMLSitemap) for sub in declared.sub_sitemaps] == [
        True, False, False, False, True,
    ]  # fmt: skip


def test_both_schemes_declared_and_both_dead_end_the_crawl() -> None:
    dead = FetchFailed("connection refused", no_response=True)
    secure = url("a").replace("http:", "https:")
    document = Document(f"{HOME}robots.txt", Kind.ROBOTS, [], (Child(url("a")), Child(secure)))
    crawl = crawl_of()
    asked = play(crawl, {f"{HOME}robots.txt": document, url("a"): dead, secure: dead})
    assert asked.count(url("a")) == asked.count(secure) == 1
    (declared,) = crawl.tree().sub_sitemaps
    assert all(isinstance(sub, InvalidSitemap) for sub in declared.sub_sitemaps)


def test_an_untrusted_certificate_is_no_reason_to_use_http() -> None:
    bad = FetchFailed("bad certificate", no_response=True, untrusted=True)
    crawl = Crawl("https://h.example/a.xml")
    assert play(crawl, {"https://h.example/a.xml": bad}) == ["https://h.example/a.xml"]


def test_a_truncated_body_is_used_when_no_attempts_are_left() -> None:
    crawl = Crawl(url("a"), Policy(max_attempts=2))
    broken = TruncatedBody(FetchFailed("reset", retryable=True), pages("a"))
    assert play(crawl, {url("a"): broken}) == [url("a")] * 2
    assert isinstance(subtree(crawl._cursor.roots[0], crawl._cursor.selection), PagesXMLSitemap)


def test_a_web_of_indexes_is_bounded() -> None:
    names = [f"n{number}" for number in range(40)]
    site: dict[str, FetchResult] = {url(name): index(name, [*names, "leaf"]) for name in names}
    site[url("leaf")] = pages("leaf")
    site[f"{HOME}robots.txt"] = robots(*names)
    crawl = Crawl(f"{HOME}robots.txt")
    asked = play(crawl, site)
    assert len(asked) == len(names) + 2
    declared = len(names) * (len(names) + 2)
    assert sum(1 for _ in crawl._cursor.nodes()) < Policy().max_repeated_nodes + 2 * declared
    found = subtree(crawl._cursor.roots[0], crawl._cursor.selection)
    assert isinstance(found, IndexRobotsTxtSitemap)
    assert f"{HOME}leaf/page" in {page.url for page in found.all_pages()}
    closed = [sub for sub in found.all_sitemaps() if "SM606" in {p.code for p in sub.problems}]
    assert closed, "an index past the budget says that it is collapsed"


def test_an_index_found_too_deep_is_expanded_again_at_a_higher_level() -> None:
    # "deep" is reached at level 4 first, where its child is too deep, then at level 1.
    site: Site = {
        f"{HOME}robots.txt": robots("a", "deep"),
        url("a"): index("a", ["b"]),
        url("b"): index("b", ["c"]),
        url("c"): index("c", ["deep"]),
        url("deep"): index("deep", ["leaf"]),
        url("leaf"): pages("leaf"),
    }
    policy = Policy(max_level=4, max_repeated_nodes=0)
    crawl = Crawl(f"{HOME}robots.txt", policy)
    play(crawl, site)
    found = subtree(crawl._cursor.roots[0], crawl._cursor.selection)
    assert isinstance(found, IndexRobotsTxtSitemap)
    assert [page.url for page in found.all_pages()] == [f"{HOME}leaf/page"]
    deep = found.sub_sitemaps[1]
    assert isinstance(deep, IndexXMLSitemap)
    assert deep.problems == ()


FORBIDDEN = FetchFailed("403 Forbidden", status=403)
FAILING = FetchFailed("500 Internal Server Error", status=500)
AT_KNOWN_PATH = pages("x", at=f"{HOME}sitemap.xml")
OUTCOMES: dict[str, tuple[Outcome, dict[str, FetchResult]]] = {
    "all is read": (Outcome.FOUND, {"robots.txt": robots("a"), "a.xml": pages("a")}),
    "one is missing": (Outcome.PARTIAL, {"robots.txt": robots("a", "b"), "a.xml": pages("a")}),
    "nothing anywhere": (Outcome.NONE, {}),
    "robots.txt declares nothing": (Outcome.NONE, {"robots.txt": robots()}),
    "the only one is gone": (Outcome.NONE, {"robots.txt": robots("a")}),
    "robots.txt is forbidden": (Outcome.BLOCKED, {"robots.txt": FORBIDDEN}),
    "the only one is forbidden": (
        Outcome.BLOCKED,
        {"robots.txt": robots("a"), "a.xml": FORBIDDEN},
    ),
    "one odd path is forbidden": (Outcome.NONE, {".sitemap.xml": FORBIDDEN}),
    "all are forbidden": (Outcome.BLOCKED, dict.fromkeys(KNOWN_PATHS, FORBIDDEN)),
    "all fail": (Outcome.UNREACHABLE, dict.fromkeys(KNOWN_PATHS, FAILING)),
    "found though robots.txt fails": (
        Outcome.FOUND,
        {"robots.txt": FAILING, "sitemap.xml": AT_KNOWN_PATH},
    ),
}


def test_outcomes() -> None:
    for what, (expected, answers) in OUTCOMES.items():
        crawl = crawl_of()
        play(crawl, {HOME + path: answer for path, answer in answers.items()})
        assert crawl.outcome == expected, what
        assert crawl.tree().outcome == expected, what


def test_tried_lists_the_result_of_each_url() -> None:
    plan = DiscoveryPlan(known_paths=("sitemap.xml", "other.xml", "a.xml"))
    crawl = Crawl._started(HOME, plan.start_urls(HOME))
    site: Site = {
        f"{HOME}robots.txt": robots("a", "b", "robots"),
        url("a"): pages("a"),
        url("b"): FetchFailed("403 Forbidden", status=403),
        url("robots"): Document(url("robots"), Kind.INVALID, [], code="SM202", reason="HTML"),
        f"{HOME}sitemap.xml": pages("a", at=url("a")),
    }
    play(crawl, site)
    tried = [(a.url.removeprefix(HOME), a.found_by, a.result) for a in crawl.tree().tried]
    assert tried == [
        ("robots.txt", "well-known", "sitemap"),
        ("a.xml", "robots", "sitemap"),
        ("b.xml", "robots", "blocked"),
        ("robots.xml", "robots", "not-a-sitemap"),
        ("sitemap.xml", "known-path", "already-found"),
        ("other.xml", "known-path", "missing"),
        ("a.xml", "known-path", "already-found"),
    ]
