"""The client on requests, against a real server on the loopback interface."""

import gzip
import zlib
from collections.abc import Iterator

import pytest
import requests
import requests_cache

from tests.responses import error
from tests.server import Answer, Handler, LoopbackServer, redirect, reset, stall, urlset
from usp import Outcome, Policy, __version__
from usp._crawl.messages import FetchRequest
from usp._drive.fetch import failed_fetch
from usp.objects.fetch_info import Validators
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import (
    RETRYABLE_HTTP_STATUS_CODES,
    AbstractWebClientResponse,
    LocalWebClient,
    NoWebClientException,
    WebClientErrorResponse,
)
from usp.web_client.requests_client import RequestsWebClient, RequestsWebClientSuccessResponse

REQUEST = FetchRequest("http://host.example/")


@pytest.fixture
def client() -> Iterator[RequestsWebClient]:
    made = RequestsWebClient()
    yield made
    made.close()


def success(response: AbstractWebClientResponse) -> RequestsWebClientSuccessResponse:
    assert isinstance(response, RequestsWebClientSuccessResponse)
    return response


def test_a_document_is_fetched(server: LoopbackServer, client: RequestsWebClient) -> None:
    server.site["/a"] = Answer(body="hello", headers={"X-Thing": "yes"})
    response = success(client.get(server.at("/a")))
    assert (response.status_code(), response.status_message()) == (200, "OK")
    assert (response.header("x-thing"), response.header("nothing")) == ("yes", None)
    assert response.raw_data() == response.raw_data() == b"hello"
    assert list(response.chunks()) == [b"hello"], "after raw_data() the body can be read again"
    assert response.url() == server.at("/a")


def test_the_url_is_the_one_after_redirects(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    server.site |= {"/a": redirect("/b"), "/b": b"here"}
    assert success(client.get(server.at("/a"))).url() == server.at("/b")


@pytest.mark.parametrize("status", [404, 403, 410, 501, *sorted(RETRYABLE_HTTP_STATUS_CODES)])
def test_an_error_status_is_an_error_response(
    server: LoopbackServer, client: RequestsWebClient, status: int
) -> None:
    server.site["/a"] = Answer(status=status, body="an error page")
    response = error(client.get(server.at("/a")))
    assert response.message().startswith(f"{status} ")
    assert response.status_code() == status
    assert response.retryable() == (status in RETRYABLE_HTTP_STATUS_CODES)


def test_retry_after_has_seconds_or_a_date(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    for header, expected in {
        "17": 17.0,
        "Mon, 01 Jan 2001 00:00:00 GMT": 0.0,
        "soon": None,
        "": None,
        "9" * 40: 999999999.0,
    }.items():
        server.site["/a"] = Answer(status=503, headers={"Retry-After": header})
        assert error(client.get(server.at("/a"))).retry_after() == expected, header
    server.site["/a"] = Answer(status=503, headers={"Retry-After": "Fri, 01 Jan 2999 00:00:00 GMT"})
    assert (error(client.get(server.at("/a"))).retry_after() or 0) > 10**9


def test_no_response_is_an_error_and_does_not_raise(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    server.site |= {"/reset": reset, "/stall": stall}
    client.set_timeout(0.3)
    assert error(client.get(server.at("/reset"))).retryable()
    assert error(client.get(server.at("/stall"))).retryable()
    assert not error(client.get("http://127.0.0.1:1/")).retryable(), "refused stays refused"
    assert not error(client.get("http://[broken/")).retryable()
    assert error(client.get(server.at("/stall"))).status_code() is None


def test_the_limit_holds_for_compressed_and_decompressed_bytes(
    server: LoopbackServer, client: RequestsWebClient
) -> None:
    compressed = gzip.compress(b"x" * 10_000_000)
    server.site |= {
        "/plain": b"0123456789" * 10,
        "/compressed": Answer(body=compressed, headers={"Content-Encoding": "gzip"}),
    }
    client.set_max_response_data_length(25)
    assert success(client.get(server.at("/plain"))).raw_data() == b"0123456789" * 2 + b"01234"
    assert len(success(client.get(server.at("/compressed"))).raw_data()) <= 25
    client.set_max_response_data_length(len(compressed))
    assert len(success(client.get(server.at("/compressed"))).raw_data()) == len(compressed)
    client.set_max_response_data_length(None)
    assert len(success(client.get(server.at("/compressed"))).raw_data()) == 10_000_000


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"<urlset/>")),
        ("gzip", b"<urlset/>"),  # the header is wrong
        ("deflate", zlib.compress(b"<urlset/>")),
        ("deflate", zlib.compress(b"<urlset/>")[2:-4]),  # raw, as some servers send it
        ("", b"<urlset/>"),
    ],
    ids=[
        "gzip",
        "plain as gzip",
        "zlib",
        "raw deflate",
        "plain",
    ],  # compressed bytes vary with time
)
def test_a_content_encoding_is_decoded(
    server: LoopbackServer, client: RequestsWebClient, encoding: str, body: bytes
) -> None:
    server.site["/a"] = Answer(
        body=body, headers={"Content-Encoding": encoding} if encoding else {}
    )
    assert success(client.get(server.at("/a"))).raw_data() == b"<urlset/>"


def test_the_default_user_agent(server: LoopbackServer, client: RequestsWebClient) -> None:
    client.get(server.at("/a"))
    assert server.requests[0].headers["user-agent"] == f"ultimate_sitemap_parser/{__version__}"


def test_the_callers_session_is_used_and_never_changed(server: LoopbackServer) -> None:
    with requests.Session() as session:
        session.headers.update({"User-Agent": "mine/1.0", "X-Key": "secret"})
        before = (
            dict(session.headers),
            dict(session.proxies),
            session.verify,
            dict(session.adapters),
        )
        client = RequestsWebClient(session=session)
        client.set_proxies({"http": ""})
        sitemap_tree_for_homepage(server.url, web_client=client)
        client.close()
        after = (
            dict(session.headers),
            dict(session.proxies),
            session.verify,
            dict(session.adapters),
        )
        assert before == after
        assert session.get(server.at("/")).status_code == 404, "and it isn't closed"
    sent = server.requests[0].headers
    assert (sent["user-agent"], sent["x-key"]) == ("mine/1.0", "secret")


def test_a_session_without_a_user_agent_gets_ours(server: LoopbackServer) -> None:
    with requests.Session() as session:
        RequestsWebClient(session=session).get(server.at("/a"))
    assert server.requests[0].headers["user-agent"].startswith("ultimate_sitemap_parser/")


def test_proxies_are_used(server: LoopbackServer, client: RequestsWebClient) -> None:
    server.site["http://elsewhere.example/a"] = b"through the proxy"
    client.set_proxies({"http": server.url})
    assert success(client.get("http://elsewhere.example/a")).raw_data() == b"through the proxy"


def test_one_connection_serves_a_whole_crawl(server: LoopbackServer) -> None:
    ports: set[int] = set()

    def remember(handler: Handler) -> bytes:
        ports.add(handler.client_address[1])
        return b"http://h.example/page"

    server.robots("/a", "/b", "/c")
    server.site |= dict.fromkeys(("/a", "/b", "/c"), remember)
    sitemap_tree_for_homepage(server.url, use_known_paths=False, policy=Policy(concurrency=1))
    assert len(ports) == 1


def test_which_clients_are_thread_safe() -> None:
    class Mine(RequestsWebClient):
        pass

    class Sure(RequestsWebClient):
        thread_safe = True

    class Session(requests.Session):
        pass

    cached: requests.Session = requests_cache.CachedSession(backend="memory")
    thread_safe = {
        name: client.thread_safe
        for name, client in {
            "ours": RequestsWebClient(),
            "with a plain session": RequestsWebClient(session=requests.Session()),
            "with a session of another class": RequestsWebClient(session=Session()),
            "with a cache": RequestsWebClient(session=cached),
            "a subclass": Mine(),
            "a subclass that says so": Sure(),
            "none at all": LocalWebClient(),
        }.items()
    }
    cached.close()
    assert [name for name, safe in thread_safe.items() if safe] == [
        "ours",
        "with a plain session",
        "a subclass that says so",
    ]
    client = RequestsWebClient(session=Session())
    client.thread_safe = True
    assert client.thread_safe


def test_the_scope_of_a_client_passes_on_to_it() -> None:
    client = LocalWebClient()
    with client.for_crawl("http://host.example/") as scope:
        assert scope.client is client
        assert not scope.cancel()
        with pytest.raises(NoWebClientException):
            scope.get("http://host.example/", Validators("x"))
    client.close()


@pytest.mark.parametrize(("given", "read"), [("5", 5.0), ("soon", None), (-1, None), (2, 2.0)])
def test_the_retry_after_of_a_client_is_a_number_or_none(given: object, read: float | None) -> None:
    response = WebClientErrorResponse("503", retryable=True, retry_after=given)  # type: ignore[arg-type]
    assert failed_fetch(response, REQUEST, 0.0).retry_after == read


@pytest.mark.parametrize(
    ("given", "read"), [(404, 404), ("404", None), (0, None), (True, None), (4.5, None), (-1, None)]
)
def test_the_status_of_a_client_is_a_status_or_none(given: object, read: int | None) -> None:
    response = WebClientErrorResponse("gone", retryable=False, status_code=given)  # type: ignore[arg-type]
    assert failed_fetch(response, REQUEST, 0.0).status == read


@pytest.mark.slow
def test_a_truncated_body_is_read_as_far_as_it_goes(server: LoopbackServer) -> None:
    whole = urlset(server.at("/1"), server.at("/2"))

    def half(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(whole)))
        handler.end_headers()
        handler.wfile.write(whole[:-30])

    server.robots("/half.xml")
    server.site["/half.xml"] = half
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False)
    assert [page.url for page in tree.all_pages()] == [server.at("/1")]
    assert tree.outcome is Outcome.PARTIAL
    assert not tree.tree_complete
    (sitemap,) = tree.sub_sitemaps[0].sub_sitemaps
    assert [problem.code for problem in sitemap.problems] == ["SM102", "SM207"]
    assert server.requested.count("/half.xml") == 5, "it was retried first"
