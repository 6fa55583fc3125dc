"""Clients, responses and sessions that are not ours: what works with 1.8.1 works, and more."""

import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import requests

import usp
from tests.server import LoopbackServer, urlset
from usp._crawl.messages import FetchRequest
from usp._drive.fetch import Fetcher, failed_fetch
from usp._drive.time_limit import TimeLimit
from usp._store import Store
from usp.exceptions import UsageError
from usp.objects.sitemap import IndexWebsiteSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client import as_web_client
from usp.web_client.abstract_aio_client import AbstractAioWebClient
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientSuccessResponse,
    LocalWebClient,
    LocalWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.requests_client import RequestsWebClient, RequestsWebClientSuccessResponse

HOME = "http://h.example/"
REQUEST = FetchRequest(HOME)
SITE = {
    f"{HOME}robots.txt": f"Sitemap: {HOME}s.xml\n".encode(),
    f"{HOME}s.xml": urlset(f"{HOME}page"),
}
Make = Callable[[str, bytes], Any]


class OnlyGet:
    """A client with nothing but ``get()``."""

    def __init__(self, make: Make) -> None:
        self._make = make

    def get(self, url: str) -> Any:
        if url not in SITE:
            return WebClientErrorResponse("404 Not Found", retryable=False)
        return self._make(url, SITE[url])


class WithLimit(OnlyGet):
    """A client that also wants to know the limit, as 1.8.1 tells it."""

    limit: int | None = None

    def set_max_response_data_length(self, length: int) -> None:
        self.limit = length


class Duck:
    """A response that is not a subclass of ours."""

    def __init__(self, url: str, data: bytes) -> None:
        self._url, self._data = url, data

    def status_code(self) -> int:
        return 200

    def status_message(self) -> str:
        return "OK"

    def header(self, name: str) -> str | None:
        return None

    def raw_data(self) -> bytes:
        return self._data

    def url(self) -> str:
        return self._url


def ours(url: str, data: bytes) -> LocalWebClientSuccessResponse:
    return LocalWebClientSuccessResponse(url, data.decode())


def crawl(client: Any) -> IndexWebsiteSitemap:
    return sitemap_tree_for_homepage(HOME, client, use_known_paths=False)


def pages(client: Any) -> list[str]:
    return [page.url for page in crawl(client).all_pages()]


# Clients


def test_any_object_with_get_is_a_client() -> None:
    assert pages(OnlyGet(ours)) == [f"{HOME}page"]
    client = WithLimit(ours)
    assert pages(client) == [f"{HOME}page"]
    assert client.limit == 100 * 1024 * 1024
    with usp.iter_pages(HOME, web_client=OnlyGet(ours)) as stream:  # type: ignore[arg-type]
        assert [page.url for page in stream] == [f"{HOME}page"]


@pytest.mark.parametrize("spec", [None, AbstractWebClient, RequestsWebClient])
def test_a_mock_is_a_client(spec: type | None) -> None:
    client = MagicMock(spec=spec)
    client.get.side_effect = OnlyGet(ours).get
    assert pages(client) == [f"{HOME}page"]
    client.set_max_response_data_length.assert_called_once_with(100 * 1024 * 1024)
    used = {name for name, *_ in client.mock_calls}
    assert used == {"get", "set_max_response_data_length"}


def test_a_mock_that_returns_errors() -> None:
    client = MagicMock()
    client.get.return_value = WebClientErrorResponse("404 Not Found", retryable=False)
    assert crawl(client).sub_sitemaps == []


def test_a_client_of_ours_is_used_as_it_is() -> None:
    client = LocalWebClient()
    assert as_web_client(client) is client


class Coroutines(AbstractAioWebClient):
    async def get(self, url: str) -> Any:
        raise AssertionError


@pytest.mark.parametrize(
    "wrong", [None, 5, "x", b"x", [], object(), RequestsWebClient, OnlyGet, Coroutines()]
)
def test_what_has_no_get_is_rejected_in_one_line(wrong: object) -> None:
    with pytest.raises(UsageError, match=r"^web_client must be .*\.$") as caught:
        as_web_client(wrong)
    assert "\n" not in str(caught.value)


# Responses


def configured(mock: MagicMock, url: str, data: bytes) -> MagicMock:
    mock.url.return_value = url
    mock.raw_data.return_value = data
    return mock


def of_requests(**attributes: Any) -> requests.Response:
    response = requests.Response()
    for name, value in attributes.items():
        setattr(response, name, value)
    return response


RESPONSES: dict[str, Make] = {
    "not a subclass": Duck,
    "a mock": lambda url, data: configured(MagicMock(), url, data),
    "a mock of the abstract class": lambda url, data: configured(
        MagicMock(spec=AbstractWebClientSuccessResponse), url, data
    ),
    "a mock of our class": lambda url, data: configured(
        MagicMock(spec=RequestsWebClientSuccessResponse), url, data
    ),
    "requests.Response by hand": lambda url, data: RequestsWebClientSuccessResponse(
        of_requests(_content=data, status_code=200, url=url)
    ),
    "requests.Response around a file": lambda url, data: RequestsWebClientSuccessResponse(
        of_requests(raw=io.BytesIO(data), status_code=200, url=url)
    ),
    "a mock with content": lambda url, data: RequestsWebClientSuccessResponse(
        MagicMock(content=data, status_code=200, url=url)
    ),
    "a mock of requests.Response": lambda url, data: RequestsWebClientSuccessResponse(
        MagicMock(spec=requests.Response, content=data, status_code=200, url=url, headers={})
    ),
    "an object with content": lambda url, data: RequestsWebClientSuccessResponse(
        SimpleNamespace(content=data, status_code=200, url=url, headers={})  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_a_response_is_judged_by_what_it_can_do(name: str) -> None:
    assert pages(OnlyGet(RESPONSES[name])) == [f"{HOME}page"]


def test_a_limit_holds_for_a_response_by_hand() -> None:
    by_hand = of_requests(_content=b"0123456789", status_code=200, url=HOME)
    assert RequestsWebClientSuccessResponse(by_hand, 4).raw_data() == b"0123"


@pytest.mark.parametrize("error", [TypeError("t"), NotImplementedError("n")])
def test_a_success_response_needs_no_status(error: Exception) -> None:
    class WithoutStatus(LocalWebClientSuccessResponse):
        def status_code(self) -> int:
            raise error

        def status_message(self) -> str:
            raise error

    assert pages(OnlyGet(lambda url, data: WithoutStatus(url, data.decode()))) == [f"{HOME}page"]


def test_the_header_of_a_mock_is_none() -> None:
    class Odd(LocalWebClientSuccessResponse):
        def header(self, case_insensitive_name: str) -> Any:
            return MagicMock()

    tree = crawl(OnlyGet(lambda url, data: Odd(url, data.decode())))
    (sitemap,) = tree.sub_sitemaps[0].sub_sitemaps
    assert sitemap.http_last_modified is None


def test_an_error_of_another_class_is_an_error() -> None:
    class Failure:
        def message(self) -> str:
            return "503 Service Unavailable"

        def retryable(self) -> bool:
            return True

    result = failed_fetch(Failure(), REQUEST, 0.0)
    assert (result.message, result.retryable, result.status) == (Failure().message(), True, 503)


def test_the_error_of_a_mock_says_nothing_about_the_host() -> None:
    mock = MagicMock(spec=WebClientErrorResponse)
    mock.message.return_value = "gone"
    mock.retryable.return_value = False
    result = failed_fetch(mock, REQUEST, 0.0)
    assert (result.no_response, result.untrusted, result.status) == (False, False, None)
    assert result.retry_after in {None, 1.0}  # a mock is a number, too


@pytest.mark.parametrize("wrong", [None, b"x", "x", 5, {}], ids=repr)
def test_what_is_not_a_response_is_a_bug(wrong: object) -> None:
    with pytest.raises(TypeError, match="must return a response, not an object of"):
        crawl(OnlyGet(lambda *_: wrong))


@pytest.mark.parametrize("wrong", [None, "x", 5], ids=repr)
def test_a_body_that_is_not_bytes_is_a_bug(wrong: object) -> None:
    with pytest.raises(TypeError, match="the body of a response must be bytes, not"):
        crawl(OnlyGet(lambda url, _: Duck(url, wrong)))  # type: ignore[arg-type]


def test_a_url_that_is_not_a_string_is_a_bug() -> None:
    with pytest.raises(TypeError, match=r"url\(\) of the response must return a string, not None"):
        crawl(OnlyGet(lambda _, data: RequestsWebClientSuccessResponse(of_requests(_content=data))))


# Sessions


class SessionOf:
    """A session with nothing but ``get()``, and no options but those of 1.8.1."""

    def __init__(self, make: Callable[[str, bytes, int], Any]) -> None:
        self._make = make
        self.headers_sent: list[dict[str, str]] = []

    def get(
        self,
        url: str,
        timeout: object,
        stream: bool,
        headers: dict[str, str],
        proxies: dict[str, str],
        verify: object,
    ) -> Any:
        assert (timeout, stream, proxies, verify) == ((9.05, 60), True, {}, True)
        self.headers_sent.append(headers)
        return self._make(url, SITE.get(url, b""), 200 if url in SITE else 404)


@pytest.mark.parametrize(
    "make",
    [
        lambda url, data, status: of_requests(_content=data, url=url, status_code=status),
        lambda url, data, status: MagicMock(content=data, url=url, status_code=status, headers={}),
        lambda url, data, status: SimpleNamespace(
            content=data, url=url, status_code=status, headers={}
        ),
    ],
    ids=["requests.Response", "mock", "object"],
)
def test_a_session_with_nothing_but_get(make: Callable[[str, bytes, int], Any]) -> None:
    session = SessionOf(make)
    client = RequestsWebClient(session=session)  # type: ignore[arg-type]
    assert pages(client) == [f"{HOME}page"]
    assert crawl(client).outcome is usp.Outcome.FOUND
    assert not client.thread_safe
    assert set(session.headers_sent[0]) == {"User-Agent"}


@pytest.mark.parametrize("spec", [None, requests.Session])
def test_a_mock_is_a_session(spec: type | None) -> None:
    session = MagicMock(spec=spec)
    session.get.side_effect = SessionOf(
        lambda url, data, status: of_requests(_content=data, url=url, status_code=status)
    ).get
    assert pages(RequestsWebClient(session=session)) == [f"{HOME}page"]


def test_the_requests_module_is_a_session(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    client = RequestsWebClient(session=requests)  # type: ignore[arg-type]
    tree = sitemap_tree_for_homepage(server.url, client, use_known_paths=False)
    assert [page.url for page in tree.all_pages()] == [server.at("/1")]
    strict = RequestsWebClient(session=requests, private_addresses="refuse")  # type: ignore[arg-type]
    response = strict.get(server.at("/a.xml"))
    assert isinstance(response, WebClientErrorResponse)
    assert "refused" in response.message(), "its response is not used"


def test_a_failed_fetch_has_the_type_and_text_of_the_exception() -> None:
    class Raising(OnlyGet):
        def get(self, url: str) -> Any:
            raise KeyError(url)

    scope = as_web_client(Raising(ours)).for_crawl(HOME)
    fetch = Fetcher(scope, Store(), 100, TimeLimit(usp.Crawl(HOME)))
    result = fetch(usp.FetchRequest(HOME))
    assert isinstance(result, usp.FetchFailed)
    assert result.message == f"KeyError: '{HOME}'"
