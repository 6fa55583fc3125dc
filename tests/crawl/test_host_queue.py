"""Queues of hosts, without I/O: their cost with many hosts, and how a crawl waits for a host."""

import heapq
import random

import pytest

from tests.cost import assert_linear
from tests.crawl.simulation import HOME, ROBOTS, Site, pages, robots, run, url
from usp._crawl.core import Crawl
from usp._crawl.messages import FetchFailed, FetchRequest, FetchResult, TruncatedBody
from usp._crawl.policy import Policy
from usp._parse import Child, Document, Kind
from usp.objects.outcome import Outcome

NO_RESPONSE = FetchFailed("timeout", retryable=True, no_response=True)
START = f"{HOME}index.xml"


def crawl_hosts(hosts: int, failing: bool) -> None:
    """Crawl an index whose children are on different hosts."""
    children = tuple(Child(f"http://h{number}.example/s.xml") for number in range(hosts))
    site: dict[str, FetchResult] = {START: Document(START, Kind.INDEX, [], children)}
    if not failing:
        site |= {child.url: Document(child.url, Kind.URLSET, []) for child in children}
    crawl = Crawl(START)
    in_flight: list[FetchRequest] = []
    now = 0.0
    while not crawl.done:
        in_flight += crawl.take(now)
        if in_flight:
            request = in_flight.pop(0)
            crawl._receive(request, site.get(request.url, NO_RESPONSE), now)
            now += 0.001
        else:
            now = crawl.wakeup() or now
    assert crawl.outcome is (Outcome.PARTIAL if failing else Outcome.FOUND)


@pytest.mark.slow
@pytest.mark.parametrize("failing", [False, True])
def test_many_hosts_take_linear_time(failing: bool) -> None:
    assert assert_linear(crawl_hosts, 3_000, failing, memory_mib=512).seconds < 10


def crawl_one_failing_host(children: int) -> None:
    """Crawl an index whose children are on one host, which answers 503 now and then."""
    urls = [f"http://other.example/{number}.xml" for number in range(children)]
    document = Document(START, Kind.INDEX, [], tuple(map(Child, urls)))
    busy = FetchFailed("503", retryable=True, status=503)
    crawl = Crawl(START, Policy(host_failure_threshold=1, retry_budget=children))
    now = 0.0
    while not crawl.done:
        for request in crawl.take(now, limit=1):
            number = request.url.removesuffix(".xml").rpartition("/")[2]
            fails = request.attempt == 1 and number.isdigit() and int(number) % 20 == 0
            found = document if request.url == START else Document(request.url, Kind.URLSET, [])
            crawl._receive(request, busy if fails else found, now)
        now = max(now, crawl.wakeup() or now)
    assert crawl.outcome is Outcome.FOUND


@pytest.mark.slow
def test_a_host_that_backs_off_takes_linear_time_with_many_queued_requests() -> None:
    assert assert_linear(crawl_one_failing_host, 3_000).seconds < 10


def failed_once(kind: str, at: str) -> FetchResult:
    """Return the result of the first attempt for a URL."""
    if kind == "truncated":
        return TruncatedBody(FetchFailed("cut", retryable=True), Document(at, Kind.URLSET, []))
    results: dict[str, FetchResult] = {
        "good": Document(at, Kind.URLSET, []),
        "reset": NO_RESPONSE,
        "busy": FetchFailed("503", retryable=True, status=503, retry_after=1.0),
    }
    return results[kind]


def simulated_seconds(kinds: list[str], seed: int) -> float:
    """Return how long a crawl takes by the clock, if each response takes some milliseconds."""
    varied = random.Random(seed)  # noqa: S311 -- not a secret
    urls = [f"{HOME}{number}.xml" for number in range(len(kinds))]
    document = Document(START, Kind.INDEX, [], tuple(map(Child, urls)))
    crawl = Crawl(START)
    arriving: list[tuple[float, str, FetchRequest]] = []
    now = 0.0
    while not crawl.done:
        for request in crawl.take(now):
            heapq.heappush(arriving, (now + varied.uniform(0.005, 0.015), request.url, request))
        due = crawl.wakeup()
        if not arriving or (due is not None and due < arriving[0][0]):
            assert due is not None
            now = max(now, due)
            continue
        now, at, request = heapq.heappop(arriving)
        if at == START:
            result: FetchResult = document
        else:
            kind = kinds[urls.index(at)] if request.attempt == 1 else "good"
            result = failed_once(kind, at)
        crawl._receive(request, result, now, varied.random())
    assert crawl.outcome is Outcome.FOUND
    return now


@pytest.mark.parametrize("seed", range(20))
def test_retries_of_one_host_wait_concurrently(seed: int) -> None:
    kinds = ["good", "reset", "busy", "truncated", "reset", "busy", "truncated", "reset"] * 8
    assert simulated_seconds(kinds[:60], seed) < 8


def take_all(crawl: Crawl, now: float) -> list[FetchRequest]:
    """Return the requests for the children of robots.txt, in flight."""
    (request,) = crawl.take(now)
    crawl._receive(request, robots(*"abcdefgh"), now)
    return crawl.take(now)


@pytest.mark.parametrize(("status", "waits"), [(429, True), (503, False)])
def test_a_good_response_ends_the_pause_of_a_503_but_not_of_a_429(status: int, waits: bool) -> None:
    crawl = Crawl(ROBOTS, Policy(per_host=2))
    first, second = take_all(crawl, 0.0)
    failure = FetchFailed(str(status), retryable=True, status=status, retry_after=9.0)
    crawl._receive(first, failure, 0.0)
    assert crawl.take(0.0) == []
    crawl._receive(second, pages("b"), 0.0)
    taken = crawl.take(1.0)
    assert [request.url for request in taken] == ([] if waits else [url("c"), url("d")])
    assert crawl.wakeup() == 9.0, "the request that was told to wait waits in either case"


def test_responses_to_requests_in_flight_halve_the_concurrency_once() -> None:
    names = [f"n{number}" for number in range(20)]
    crawl = Crawl([*map(url, names)], Policy(host_failure_threshold=99))
    in_flight = crawl.take(0.0)
    assert len(in_flight) == 8
    for request in in_flight:
        crawl._receive(request, FetchFailed("429", status=429), 0.0)
    assert len(crawl.take(0.0)) == 4


def test_requests_in_flight_at_the_first_failure_count_as_one_if_the_host_has_responded() -> None:
    names = [f"n{number}" for number in range(30)]
    crawl = Crawl(ROBOTS)
    (request,) = crawl.take(0.0)
    crawl._receive(request, robots(*names), 0.0)
    for request in crawl.take(0.0):
        crawl._receive(request, NO_RESPONSE, 0.0)
    assert len(crawl.take(0.0)) == 8, "one cause may have broken all connections"
    never = Crawl([*map(url, names)])
    for request in never.take(0.0):
        never._receive(request, NO_RESPONSE, 0.0)
    assert never.take(0.0) == [], "a host that has never responded backs off at once"


def test_a_host_that_is_paused_is_requested_when_its_time_has_come() -> None:
    site: Site = {ROBOTS: robots("a", "b"), url("b"): pages("b")}
    crawl = Crawl(ROBOTS, Policy(per_host=1))
    (request,) = crawl.take(0.0)
    crawl._receive(request, site[ROBOTS], 0.0)
    (request,) = crawl.take(0.0)
    crawl._receive(request, FetchFailed("429", status=429, retry_after=5.0), 0.0)
    assert crawl.take(0.0) == []
    assert crawl.wakeup() == 5.0
    assert [request.url for request in crawl.take(5.0)] == [url("b")]


def test_a_due_retry_goes_before_new_urls() -> None:
    crawl = Crawl([*map(url, "abcdef")], Policy(per_host=1))
    (request,) = crawl.take(0.0)
    crawl._receive(request, FetchFailed("500", retryable=True, status=500), 0.0)
    (request,) = crawl.take(0.0)
    assert request.url == url("b")
    crawl._receive(request, pages("b"), 0.0)
    assert [request.url for request in crawl.take(2.0)] == [url("a")]


def test_every_request_is_made_with_any_number_of_hosts_and_schemes() -> None:
    children = [f"{s}://h{n % 5}.example/{n}.xml" for n in range(50) for s in ("http", "https")]
    document = Document(START, Kind.INDEX, [], tuple(map(Child, children)))
    site: dict[str, FetchResult] = {START: document}
    site |= {child: Document(child, Kind.URLSET, []) for child in children}
    crawl = Crawl(START, Policy(per_host=1))
    assert sorted(run(crawl, site, concurrency=4)) == sorted([START, *children])
