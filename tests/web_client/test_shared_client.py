"""One client shared by crawls and threads: cancelling one leaves the others alone."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
import requests
from requests.adapters import HTTPAdapter

import usp
from tests.responses import body, error
from tests.server import Handler, LoopbackServer, index, stall, urlset
from tests.servers import Certificate, ServerAt, TLSServer, drip, server_at_capacity
from tests.waiting import fetchers, wait_until
from usp import Outcome
from usp.tree import sitemap_tree_for_homepage
from usp.web_client._requests.crawl_scope import RequestsCrawlScope
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    AbstractWebClientSuccessResponse,
    CrawlScope,
)
from usp.web_client.requests_client import RequestsWebClient


@pytest.fixture
def client() -> Iterator[RequestsWebClient]:
    with closing(RequestsWebClient()) as made:
        yield made


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    """Two sitemaps that are served at once, and one that never is."""
    server.robots("/a.xml", "/b.xml", "/stall.xml")
    server.site |= {
        "/a.xml": urlset(server.at("/1")),
        "/b.xml": urlset(server.at("/2")),
        "/stall.xml": stall,
        "/hello": b"hello",
    }
    return server


def test_after_a_stream_is_closed_its_client_can_be_used(
    site: LoopbackServer, client: RequestsWebClient
) -> None:
    for _ in range(3):
        with usp.iter_pages(site.url, web_client=client) as pages:
            assert next(pages).url == site.at("/1")
            wait_until(lambda: "/stall.xml" in site.requested)
        assert body(client.get(site.at("/hello"))) == b"hello"
    del site.site["/stall.xml"]
    tree = sitemap_tree_for_homepage(site.url, client)
    assert [page.url for page in tree.all_pages()] == [site.at("/1"), site.at("/2")]


class Held:
    """Sitemaps that are served when the test allows it."""

    def __init__(self, server: LoopbackServer, count: int) -> None:
        self.go = threading.Event()
        self.names = [f"/{number}.xml" for number in range(count)]
        self.pages = [server.at(f"/page/{number}") for number in range(count)]
        self.requested = 0
        server.robots("/first.xml", *self.names)
        server.site["/first.xml"] = urlset(server.at("/first"))
        server.site |= dict.fromkeys(self.names, self)

    def __call__(self, handler: Handler) -> bytes:
        self.requested += 1
        self.go.wait(20)
        number = self.names.index(handler.path)
        return urlset(self.pages[number])


def test_closing_one_stream_leaves_the_other_complete(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    held = Held(server, 4)
    streams = [usp.iter_pages(server.url, web_client=client) for _ in range(2)]
    for stream in streams:
        assert next(stream).url == server.at("/first")
    wait_until(lambda: held.requested == 8)
    streams[0].close()
    held.go.set()
    assert [page.url for page in streams[1]] == held.pages
    assert streams[1].outcome is Outcome.FOUND
    assert server.requested.count("/0.xml") == 2, "nothing had to be requested again"


def test_a_kept_connection_belongs_to_the_crawl_that_used_it_last(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    ports: list[int] = []
    go = threading.Event()

    def respond(handler: Handler) -> bytes:
        ports.append(handler.client_address[1])
        if handler.path == "/held":
            go.wait(20)
        return b"hello"

    server.otherwise = respond
    first, second = client.for_crawl(server.url), client.for_crawl(server.url)
    body(first.get(server.url))
    found: list[bytes] = []
    late = threading.Thread(target=lambda: found.append(body(second.get(server.at("/held")))))
    late.start()
    wait_until(lambda: len(ports) == 2)
    assert ports[0] == ports[1], "the second crawl has the connection of the first"
    first.cancel()
    go.set()
    late.join()
    assert found == [b"hello"]
    second.cancel()
    assert body(client.get(server.url)) == b"hello"
    assert ports[2] != ports[0], "the connection is replaced"


def test_a_kept_connection_of_a_cancelled_crawl_is_replaced(
    certificate: Certificate,
) -> None:
    ports: list[int] = []

    def respond(handler: Handler) -> bytes:
        ports.append(handler.client_address[1])
        return b"hello"

    for server in (LoopbackServer(), TLSServer(certificate.context())):
        with server, closing(RequestsWebClient(verify=str(certificate.file))) as client:
            server.otherwise = respond
            scope = client.for_crawl(server.url)
            body(scope.get(server.url))
            assert isinstance(scope, RequestsCrawlScope)
            scope._sockets.cancelled.set()  # and its sockets are not shut down yet
            assert body(client.get(server.url)) == b"hello"
            assert body(client.get(server.url)) == b"hello"
    assert [ports[1] != ports[0], ports[1] == ports[2]] == [True, True]
    assert [ports[4] != ports[3], ports[4] == ports[5]] == [True, True]


def test_a_request_outside_of_any_crawl_is_not_cancelled_with_one(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    held = Held(server, 1)
    found: list[bytes] = []
    with usp.iter_pages(server.url, web_client=client) as pages:
        next(pages)
        get = threading.Thread(
            target=lambda: found.append(body(client.get(server.at(held.names[0]))))
        )
        get.start()
        wait_until(lambda: held.requested == 2)
    held.go.set()
    get.join()
    assert found == [urlset(*held.pages)]


def test_each_crawl_has_its_own_address_guard() -> None:
    class GuardedClient(RequestsWebClient):
        thread_safe = True

        @staticmethod
        def _is_public(address: str) -> bool:
            return address == "127.0.0.1"

    with (
        LoopbackServer() as public,
        ServerAt("127.0.0.2") as private,
        closing(GuardedClient()) as client,
    ):
        for server in (public, private):
            server.robots("/a.xml")
            server.site["/a.xml"] = index(public.at("/b.xml"), private.at("/b.xml"))
            server.site["/b.xml"] = urlset(server.at("/page"))
        streams = [usp.iter_pages(server.url, web_client=client) for server in (public, private)]
        found = [[next(stream).url] for stream in streams]  # both have begun
        for pages, stream in zip(found, streams, strict=True):
            pages += [page.url for page in stream]
        assert found[0] == [public.at("/page")], "a public site does not lead to a private address"
        assert found[1] == [public.at("/page"), private.at("/page")]
        refused = private.requested.count("/b.xml")
        client.for_crawl(public.url)
        error(client.get(private.at("/b.xml")))
        assert private.requested.count("/b.xml") == refused, "nor public of any crawl"


def test_a_client_around_ours_is_cancelled_with_its_crawl_only(server: LoopbackServer) -> None:
    class Around(AbstractWebClient):
        thread_safe = streams = True

        def __init__(self, inner: AbstractWebClient) -> None:
            self.inner = inner

        def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
            self.inner.set_max_response_data_length(max_response_data_length)

        def for_crawl(self, homepage_url: str) -> CrawlScope:
            return self.inner.for_crawl(homepage_url)

        def get(self, url: str) -> AbstractWebClientResponse:
            return self.inner.get(url)

    held = Held(server, 2)
    with closing(RequestsWebClient()) as inner:
        streams = [usp.iter_pages(server.url, web_client=Around(inner)) for _ in range(2)]
        for stream in streams:
            next(stream)
        wait_until(lambda: held.requested == 4)
        streams[1].close()
        wait_until(lambda: len(fetchers()) <= 3)
        held.go.set()
        assert [page.url for page in streams[0]] == held.pages


def test_concurrent_crawls_beside_many_that_are_closed(certificate: Certificate) -> None:
    with (
        TLSServer(certificate.context()) as server,
        closing(RequestsWebClient(verify=str(certificate.file))) as client,
    ):
        names = [f"/{number}.xml" for number in range(8)]
        server.robots(*names)
        server.site |= {name: urlset(server.at(f"{name}/page")) for name in names}
        expected = [server.at(f"{name}/page") for name in names]
        found: list[list[str]] = []

        def whole() -> None:
            found.append([page.url for page in usp.iter_pages(server.url, web_client=client)])

        def closed() -> None:
            for _ in range(5):
                with usp.iter_pages(server.url, web_client=client) as pages:
                    next(pages)

        threads = [threading.Thread(target=work) for work in (whole, closed) * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [expected] * 4
    wait_until(lambda: not fetchers())


# Closing does not wait for what can't be cancelled


class OtherAdapter(HTTPAdapter):
    """Not a plain adapter: its sockets are its own."""


class Unstoppable(AbstractWebClient):
    """The caller's own client, which can't be cancelled."""

    thread_safe = True

    def __init__(self) -> None:
        self.session = requests.Session()
        self.session.mount("http://", OtherAdapter())

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        return StreamedResponse(self.session.get(url, stream=True))


class StreamedResponse(AbstractWebClientSuccessResponse):
    def __init__(self, response: requests.Response) -> None:
        self._response = response

    def status_code(self) -> int:
        return self._response.status_code

    def status_message(self) -> str:
        return self._response.reason

    def header(self, case_insensitive_name: str) -> str | None:
        return self._response.headers.get(case_insensitive_name)

    def url(self) -> str:
        return self._response.url

    def raw_data(self) -> bytes:
        return self._response.content

    def chunks(self) -> Iterator[bytes]:
        return self._response.iter_content(1)

    def close(self) -> None:
        self._response.close()


@pytest.mark.parametrize("kind", ["session", "foreign", "subclass"])
def test_what_can_not_be_cancelled_is_not_waited_for(server: LoopbackServer, kind: str) -> None:
    held = Held(server, 2)
    unstoppable = Unstoppable()

    class Own(RequestsWebClient):
        thread_safe = True

        def get(self, url: str) -> AbstractWebClientResponse:
            if url in map(server.at, held.names):
                held.requested += 1
                held.go.wait(20)
            return super().get(url)

    with unstoppable.session as session:
        clients: dict[str, Callable[[], AbstractWebClient]] = {
            "session": lambda: RequestsWebClient(session=session),
            "foreign": lambda: unstoppable,
            "subclass": Own,
        }
        with usp.iter_pages(server.url, web_client=clients[kind]()) as pages:
            assert next(pages).url == server.at("/first")
            wait_until(lambda: held.requested == 2)
            later = threading.Timer(1.0, held.go.set)
            later.start()
        assert len(fetchers()) >= 2, "they are still running"
        later.join()
        wait_until(lambda: not fetchers())


def test_a_body_is_not_read_further_after_its_crawl_has_ended(server: LoopbackServer) -> None:
    server.robots("/first.xml", "/endless.xml")
    server.site |= {
        "/first.xml": urlset(server.at("/first")),
        "/endless.xml": drip("Connection: close\r\n\r\n", b"x", pause=0.01),
    }
    unstoppable = Unstoppable()
    with unstoppable.session:
        with usp.iter_pages(server.url, web_client=unstoppable) as pages:
            next(pages)
            wait_until(lambda: "/endless.xml" in server.requested)
        wait_until(lambda: not fetchers())
    assert not server.closing.is_set()


def test_a_connection_that_is_being_established_is_not_waited_for(server: LoopbackServer) -> None:
    with server_at_capacity() as never, closing(RequestsWebClient()) as client:
        client.set_timeout((1, 60))
        server.site["/robots.txt"] = f"Sitemap: {server.at('/a.xml')}\nSitemap: {never}a.xml\n"
        server.site["/a.xml"] = urlset(server.at("/1"))
        with usp.iter_pages(server.url, web_client=client) as pages:
            next(pages)
            time.sleep(0.2)  # it was requested with the other, and is connecting now
        assert len(fetchers()) == 1
        wait_until(lambda: not fetchers())


def test_what_can_be_cancelled_has_ended_when_closing_returns(site: LoopbackServer) -> None:
    with usp.iter_pages(site.url) as pages:
        next(pages)
        wait_until(lambda: "/stall.xml" in site.requested)
    assert fetchers() == []
