"""What an observer is told, against a real server."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

import usp
from tests.server import Answer, LoopbackServer, redirect, urlset
from usp import Outcome
from usp.objects.progress import Answered, Asked, Ended, Event, Failed, PagesCounted, Retrying
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.requests_client import RequestsWebClient


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.robots("/moved.xml", "/busy.xml", "/gone.xml", "/page.html")
    server.site["/moved.xml"] = redirect("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"), server.at("/2"))
    server.site["/busy.xml"] = Answer(status=503, headers={"Retry-After": "0"})
    server.site["/page.html"] = "<!DOCTYPE html><html><body>hello</body></html>"
    return server


def with_tree(url: str, **options: Any) -> None:
    sitemap_tree_for_homepage(url, use_known_paths=False, **options)


def with_stream(url: str, **options: Any) -> None:
    list(usp.iter_pages(url, use_known_paths=False, **options))


def one_by_one(url: str, **options: Any) -> None:
    class Own(RequestsWebClient):
        """A client that doesn't say that it may be used from several threads."""

    client = Own()
    sitemap_tree_for_homepage(url, web_client=client, use_known_paths=False, **options)
    client.close()


WAYS = [with_tree, with_stream, one_by_one]


@pytest.mark.parametrize("way", WAYS)
def test_an_observer_is_told_of_all_that_happens(
    site: LoopbackServer, way: Callable[..., None]
) -> None:
    told: list[Event] = []
    threads = set()

    def note(event: Event) -> None:
        told.append(event)
        threads.add(threading.current_thread())

    way(site.url, observer=note, tries=2, first_pause=0.001)
    assert threads == {threading.current_thread()}
    at = site.at
    events = set(told)
    assert told[0] == Asked(at("/robots.txt"), 0, 1, True)
    assert Answered(at("/robots.txt"), at("/robots.txt"), "robots", 4, True, "") in events
    assert Asked(at("/moved.xml"), 1, 1, False) in events
    assert Answered(at("/moved.xml"), at("/a.xml"), "urlset", 0, False, "") in events
    assert PagesCounted(at("/a.xml"), 2) in events
    assert Asked(at("/busy.xml"), 1, 2, False) in events
    (retry,) = [event for event in told if isinstance(event, Retrying)]
    assert (retry.url, retry.attempt, retry.status) == (at("/busy.xml"), 1, 503)
    assert 0 < retry.seconds < 1
    failed = {event.url: event for event in told if isinstance(event, Failed)}
    assert failed[at("/busy.xml")].attempt == 2
    assert failed[at("/gone.xml")].status == 404
    invalid = [event for event in told if isinstance(event, Answered) and event.reason]
    assert [event.kind for event in invalid] == ["invalid"]
    assert told[-1] == Ended(Outcome.PARTIAL)


@pytest.mark.parametrize("way", WAYS)
def test_what_an_observer_raises_reaches_the_caller(
    site: LoopbackServer, way: Callable[..., None]
) -> None:
    before = threading.active_count()

    def faulty(event: Event) -> None:
        if isinstance(event, Answered):
            raise KeyError(event.url)

    with pytest.raises(KeyError):
        way(site.url, observer=faulty, tries=1)
    assert threading.active_count() <= before + 1, "but for the server's own"


def test_pages_that_are_left_out_are_not_counted(site: LoopbackServer) -> None:
    told: list[Event] = []
    with_tree(site.url, observer=told.append, exclude="1", tries=1)
    with_stream(site.url, observer=told.append, exclude="/1$", tries=1)
    counted = [event for event in told if isinstance(event, PagesCounted) and event.pages]
    assert {event.pages for event in counted} <= {1}
