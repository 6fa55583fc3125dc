"""The robots.txt of other hosts: those that don't answer take a bounded time in all."""

from __future__ import annotations

import socket

import pytest

from tests.server import LoopbackServer
from usp._check.stream import RobotsFetcher
from usp._crawl.messages import FetchFailed
from usp._crawl.options import CrawlOptions
from usp._crawl.policy import Policy
from usp._drive.run import CrawlClient
from usp.stream import StreamStart
from usp.web_client.requests_client import RequestsWebClient


def silent_host() -> socket.socket:
    """A host that accepts connections and never answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    return listener


def test_no_other_host_is_asked_after_long_silence(server: LoopbackServer) -> None:
    client = RequestsWebClient()
    client.set_timeout(0.2)
    start = StreamStart.of(
        server.url,
        Policy(),
        CrawlOptions(),
        CrawlClient(client),
        use_robots=True,
        use_known_paths=False,
    )
    fetch = RobotsFetcher(start, max_silence=0.3)
    server.robots("/a.xml")
    robots = [server.at("/robots.txt")]
    with silent_host() as first, silent_host() as second, silent_host() as third:
        silent = [
            f"http://127.0.0.1:{host.getsockname()[1]}/robots.txt"
            for host in (first, second, third)
        ]
        assert not isinstance(fetch(*robots), FetchFailed)  # what answers costs nothing
        for url in silent[:2]:
            failure = fetch(url)
            assert isinstance(failure, FetchFailed)
            assert failure.status is None
        assert fetch(silent[2]) is None
        assert fetch(*robots) is None
        with pytest.raises(BlockingIOError):
            third.accept()
