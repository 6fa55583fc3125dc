"""The interval between requests of the client on requests."""

import pickle
import threading
import time
from contextlib import closing
from itertools import pairwise

from tests.server import Handler, LoopbackServer
from usp.web_client.abstract_client import (
    RequestWaiter,
)
from usp.web_client.requests_client import RequestsWebClient


def test_a_wait_of_zero_takes_no_time() -> None:
    waiter = RequestWaiter(wait=0.0)
    assert [waiter.claim() for _ in range(3)] == [0.0, 0.0, 0.0]


def test_the_interval_is_from_start_to_start() -> None:
    waiter = RequestWaiter(wait=100.0, random_wait=False)
    assert waiter.claim() == 0.0
    assert 99.0 < waiter.claim() <= 100.0
    assert 99.0 < waiter.claim() <= 100.0, "nothing is reserved"


def test_a_random_interval_varies_by_half() -> None:
    waiter = RequestWaiter(wait=100.0)
    gaps = [waiter.interval() for _ in range(100)]
    assert 50 <= min(gaps) < 75
    assert 125 < max(gaps) <= 150


def test_a_waiter_can_be_pickled_without_its_clock() -> None:
    waiter = RequestWaiter(wait=100.0, random_wait=False)
    waiter.claim()
    assert pickle.loads(pickle.dumps(waiter)).claim() == 0.0


def test_a_waiter_waits() -> None:
    waiter = RequestWaiter(wait=0.05, random_wait=False)
    begun = time.monotonic()
    for _ in range(3):
        waiter.wait()
    assert time.monotonic() - begun >= 0.1


def test_a_cancelled_request_does_not_delay_others(server: LoopbackServer) -> None:
    starts: list[float] = []

    def note(_: Handler) -> int:
        starts.append(time.monotonic())
        return 404

    server.otherwise = note
    with closing(RequestsWebClient(wait=0.3)) as client:
        client.get(server.url)
        scope = client.for_crawl(server.url)
        waiting = [threading.Thread(target=scope.get, args=(server.url,)) for _ in range(20)]
        for thread in waiting:
            thread.start()
        scope.cancel()
        for thread in waiting:
            thread.join()
        client.get(server.url)
    assert len(starts) == 2
    assert 0.2 < starts[1] - starts[0] < 3, "not twenty intervals later"


def test_the_interval_holds_over_all_threads(server: LoopbackServer) -> None:
    starts: list[float] = []

    def note(_: Handler) -> int:
        starts.append(time.monotonic())
        return 404

    server.otherwise = note
    client = RequestsWebClient(wait=0.1)
    threads = [threading.Thread(target=client.get, args=(server.url,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client.close()
    assert len(starts) == 5
    assert all(after - before > 0.05 for before, after in pairwise(starts))
