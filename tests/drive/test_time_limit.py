"""``max_seconds`` ends a crawl soon after its time, whatever is being parsed or fetched.

The documents take many seconds to parse. Each case runs in every driver, and the command.
"""

import asyncio
import gzip
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import usp
from tests.cli.command import usp as usp_command
from tests.cost import cost
from tests.server import Handler, LoopbackServer, index, stall, urlset
from usp import Outcome, aio
from usp.objects.problem import Problem
from usp.web_client.requests_client import RequestsWebClient

SECONDS: Final = 1
LATE: Final = SECONDS + 3
PAGE: Final = b"<url><loc>http://h.example/%d</loc><lastmod>2024-01-01</lastmod></url>"
Ended = tuple[Outcome | None, tuple[Problem, ...]]


class OneThread(RequestsWebClient):
    """A client that is used from the caller's thread."""

    thread_safe = False


def tree(source: Any, **options: Any) -> Ended:
    found = usp.sitemap_tree(source, limit=10**9, **options)  # pages are counted for a limit
    return found.outcome, found.problems


def tree_in_one_thread(source: Any, **options: Any) -> Ended:
    return tree(source, web_client=OneThread(), **options)


def stream(source: Any, **options: Any) -> Ended:
    with usp.iter_pages(source, **options) as pages:
        for _ in pages:
            pass
    return pages.outcome, pages.problems


def aio_tree(source: Any, **options: Any) -> Ended:
    found = asyncio.run(aio.sitemap_tree(source, limit=10**9, **options))
    return found.outcome, found.problems


def aio_stream(source: Any, **options: Any) -> Ended:
    async def read() -> aio.AioPageStream:
        pages = aio.iter_pages(source, **options)
        async for _ in pages:
            pass
        return pages

    pages = asyncio.run(read())
    return pages.outcome, pages.problems


DRIVERS: Final = (tree, tree_in_one_thread, stream, aio_tree, aio_stream)


def many_pages(size: int) -> bytes:
    return b"<urlset>" + b"".join(PAGE % number for number in range(size // 70)) + b"</urlset>"


def one_malformed_entry() -> bytes:
    return b"<url><loc>" + b"<b><c></b></c>" * 70_000 + b"</loc></url>"


PARSING: Final = 0.5
"""In seconds: a limit for documents that take many times as long."""

DOCUMENTS: Final[dict[str, Callable[[], bytes]]] = {
    "pages": lambda: many_pages(50_000_000),
    "gzip": lambda: gzip.compress(many_pages(60_000_000), 1),
    "index": lambda: (
        b"<sitemapindex>%b</sitemapindex>"
        % b"".join(
            b"<sitemap><loc>http://127.0.0.1:1/%d</loc></sitemap>" % n for n in range(900_000)
        )
    ),
    "malformed": lambda: b"<urlset>" + b"<url><loc>http://h.example/</loc><x></y></url>" * 900_000,
    # One entry takes as long as many: it is left on the way, too.
    "tags of one entry": lambda: gzip.compress(one_malformed_entry() * 8),
    "text": lambda: b"nothing here\n" * 7_000_000,
}


@cache
def document(name: str) -> bytes:
    return DOCUMENTS[name]()


def assert_ends_in_time(crawl: Callable[..., Ended], source: Any, **options: Any) -> None:
    started, cpu = time.monotonic(), time.process_time()
    outcome, problems = crawl(source, **{"max_seconds": SECONDS} | options)
    assert time.process_time() - cpu < LATE + 1, "the loopback server's threads are counted, too"
    assert time.monotonic() - started < LATE
    assert outcome is Outcome.PARTIAL
    assert problems[0].name == "time-limit"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("crawl", DRIVERS)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_takes_long_to_parse(
    server: LoopbackServer, name: str, crawl: Callable[..., Ended]
) -> None:
    server.site["/s.xml"] = document(name)
    # Each date is parsed.
    assert_ends_in_time(crawl, server.at("/s.xml"), since="2020", max_seconds=PARSING)


@pytest.mark.parametrize("name", ["malformed", "tags of one entry"])
def test_a_table_without_problems_of_a_document_that_has_many(
    server: LoopbackServer, name: str
) -> None:
    """Where something was lost is found in a walk of its own, which the limit is for, too."""
    server.site["/s.xml"] = document(name)
    started = time.monotonic()
    deque(usp.record_batches(server.at("/s.xml"), columns=["url"], max_seconds=PARSING), maxlen=0)
    assert time.monotonic() - started < LATE


@pytest.mark.sampled(3)
@pytest.mark.parametrize("crawl", DRIVERS)
@pytest.mark.parametrize("name", ["pages", "index"])
def test_a_file_that_takes_long_to_parse(
    tmp_path: Path, name: str, crawl: Callable[..., Ended]
) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(document(name))
    assert_ends_in_time(crawl, file, since="2020", max_seconds=PARSING)


@pytest.mark.parametrize("crawl", DRIVERS)
def test_pages_that_are_shown_to_a_callback(
    server: LoopbackServer, crawl: Callable[..., Ended]
) -> None:
    server.site["/s.xml"] = document("pages")
    shown: list[dict[str, Any]] = []
    # With a callback that does nothing, all are read in time.
    fields = {"stop_callback": lambda page: shown.append(page.to_dict())}
    assert_ends_in_time(crawl, server.at("/s.xml"), max_seconds=PARSING, **fields)


def drip(handler: Handler) -> None:
    """Send a document slowly, without an end."""
    handler.send_response(200)
    handler.end_headers()
    number = 0
    while True:
        handler.wfile.write(PAGE % number if number else b"<urlset>")
        number += 1
        time.sleep(0.02)


@pytest.mark.parametrize("crawl", DRIVERS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_document_that_arrives_slowly(
    server: LoopbackServer, crawl: Callable[..., Ended]
) -> None:
    def send(handler: Handler) -> None:
        try:
            drip(handler)
        except OSError:  # the client has closed the connection
            return

    server.site |= {"/s.xml": send, "/i.xml": index(server.at("/a.xml"), server.at("/s.xml"))}
    server.site["/a.xml"] = urlset("http://h.example/")
    assert_ends_in_time(crawl, server.at("/i.xml"))


def drip_head(handler: Handler) -> None:
    """Send a head slowly, without an end."""
    with suppress(OSError):  # the client has closed the connection
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not handler.owner.closing.wait(0.1):
            handler.wfile.write(b"X")


@pytest.mark.parametrize("answer", [drip_head, stall])
@pytest.mark.parametrize("crawl", [tree, stream])
def test_one_request_at_a_time_is_left_when_the_time_is_up(
    server: LoopbackServer, crawl: Callable[..., Ended], answer: Callable[[Handler], None]
) -> None:
    server.site |= {"/s.xml": answer, "/i.xml": index(server.at("/a.xml"), server.at("/s.xml"))}
    server.site["/a.xml"] = urlset("http://h.example/")
    assert_ends_in_time(crawl, server.at("/i.xml"), concurrency=1)


def test_a_check_leaves_the_robots_txt_of_another_host_when_the_time_is_up(
    server: LoopbackServer,
) -> None:
    with LoopbackServer({"/robots.txt": drip_head}) as other:
        server.site["/s.xml"] = urlset(server.at("/"), other.at("/"))

        def check(source: str, **options: Any) -> Ended:
            with usp.check(source, **options) as found:
                codes = [finding.code for finding in found]
            assert "SM705" in codes
            return found.outcome, found.problems

        assert_ends_in_time(check, server.at("/s.xml"))
        assert other.requested == ["/robots.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("crawl", [stream, aio_stream])
def test_a_stream_gives_the_pages_of_what_had_arrived(
    server: LoopbackServer, crawl: Callable[..., Ended]
) -> None:
    def wait(_: Handler) -> bytes:
        time.sleep(2 * SECONDS)
        return urlset("http://h.example/late")

    server.site |= {"/i.xml": index(server.at("/slow.xml"), server.at("/a.xml")), "/slow.xml": wait}
    server.site["/a.xml"] = urlset("http://h.example/a")
    read: list[str] = []
    assert_ends_in_time(
        crawl, server.at("/i.xml"), stop_callback=lambda page: read.append(page.url)
    )
    assert read == ["http://h.example/a"]


@pytest.mark.slow
@pytest.mark.parametrize("crawl", [stream, aio_stream])
def test_a_stream_ends_in_time_though_its_pages_are_used_slowly(
    server: LoopbackServer, crawl: Callable[..., Ended]
) -> None:
    server.site["/s.xml"] = urlset(*(f"http://h.example/{number}" for number in range(2_000)))
    assert_ends_in_time(crawl, server.at("/s.xml"), stop_callback=lambda _: time.sleep(0.05))


@pytest.mark.slow
def test_a_tree_is_read_without_a_limit_of_time(server: LoopbackServer) -> None:
    """``max_seconds`` is the time of the crawl; what it has found stays whole."""
    server.site["/s.xml"] = urlset(*(f"http://h.example/{number}" for number in range(50_000)))
    found = usp.sitemap_tree(server.at("/s.xml"), max_seconds=2)
    time.sleep(2.1)
    assert sum(1 for _ in found.all_pages()) == 50_000
    assert found.outcome is Outcome.FOUND


def run_command(size: int) -> None:
    """Run the command, which prints what it has when its time is up: here it is nothing."""
    from usp.cli.cli import main

    with LoopbackServer() as server:
        server.site["/s.xml"] = b"<sitemapindex>%b</sitemapindex>" % b"".join(
            b"<sitemap><loc>http://127.0.0.1:1/%d</loc></sitemap>" % n for n in range(size)
        )
        started = time.monotonic()
        with pytest.raises(SystemExit, match="3"):
            main(["ls", "-s", server.at("/s.xml"), "--max-seconds", str(SECONDS)])
        assert time.monotonic() - started < LATE


@pytest.mark.slow
def test_the_command_ends_in_time() -> None:
    assert cost(run_command, 900_000).seconds < LATE + 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", ["ls", "ls -f tried", "ls -f pages", "find", "export -f csv -o -"]
)
@pytest.mark.parametrize("name", ["malformed", "tags of one entry"])
def test_commands_that_read_what_was_found_end_in_time(
    server: LoopbackServer, command: str, name: str
) -> None:
    server.site["/s.xml"] = document(name)
    limited = ("-s", server.at("/s.xml"), "--max-seconds", str(SECONDS))
    started = time.monotonic()
    done = usp_command(*command.split(), *limited)
    assert time.monotonic() - started < LATE + 1, "with the start of a process"
    assert done.code in {0, 3}
    assert "limit reached: The crawl took more than 1" in (done.partial or done.err)
