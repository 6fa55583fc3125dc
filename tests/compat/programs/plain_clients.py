"""A program whose clients, responses and sessions are not subclasses of the library's classes."""

import json
from typing import Any
from unittest import mock

import requests
from requests.structures import CaseInsensitiveDict

from usp.fetch_parse import SitemapFetcher
from usp.helpers import get_url_retry_on_client_errors, ungzipped_response_content
from usp.objects.sitemap import AbstractSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientSuccessResponse,
    LocalWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.requests_client import RequestsWebClient, RequestsWebClientSuccessResponse

SITE = "https://plain.example"
SM = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
DOCUMENTS = {
    f"{SITE}/robots.txt": f"Sitemap: {SITE}/a.xml\nSitemap: {SITE}/gone.xml\n",
    f"{SITE}/a.xml": f"<urlset {SM}><url><loc>{SITE}/page</loc></url></urlset>",
}


def response_to(url: str) -> Any:
    """A response of the library's own classes."""
    if url not in DOCUMENTS:
        return WebClientErrorResponse("404 Not Found", False)
    return LocalWebClientSuccessResponse(url=url, data=DOCUMENTS[url])


class Duck:
    """Has the methods of a client, and no base."""

    def __init__(self) -> None:
        self.limit: int | None = None

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        self.limit = max_response_data_length

    def get(self, url: str) -> Any:
        return response_to(url)


def specified_mock() -> Any:
    client = mock.MagicMock(spec=AbstractWebClient)
    client.get.side_effect = response_to
    return client


def free_mock() -> Any:
    client = mock.MagicMock()
    client.get.side_effect = response_to
    return client


def plain_mock() -> Any:
    client = mock.Mock()
    client.get.side_effect = response_to
    return client


def mock_response(url: str) -> Any:
    """A mock of a success response: nothing is set but what the interface has."""
    if url not in DOCUMENTS:
        return WebClientErrorResponse("404 Not Found", False)
    response = mock.MagicMock(spec=AbstractWebClientSuccessResponse)
    response.status_code.return_value = 200
    response.status_message.return_value = "OK"
    response.header.return_value = None
    response.raw_data.return_value = DOCUMENTS[url].encode()
    response.url.return_value = url
    return response


def mocked_responses() -> Any:
    client = mock.MagicMock(spec=AbstractWebClient)
    client.get.side_effect = mock_response
    return client


def bare_response(url: str) -> requests.Response:
    """A response of requests that was never on a network."""
    response = requests.Response()
    response.url = url
    response.status_code = 200 if url in DOCUMENTS else 404
    response.reason = "OK" if url in DOCUMENTS else "Not Found"
    response._content = DOCUMENTS.get(url, "").encode()
    return response


class BareResponses(AbstractWebClient):
    """Wraps responses of requests that were made by hand."""

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> Any:
        response = bare_response(url)
        if response.status_code != 200:
            return WebClientErrorResponse("404 Not Found", False)
        return RequestsWebClientSuccessResponse(response)


def content_response(url: str) -> Any:
    """A mock of a response of requests: its content, URL and headers."""
    response = mock.Mock()
    response.ok = url in DOCUMENTS
    response.status_code = 200 if url in DOCUMENTS else 404
    response.reason = "OK" if url in DOCUMENTS else "Not Found"
    response.content = DOCUMENTS.get(url, "").encode()
    response.url = url
    response.headers = CaseInsensitiveDict({"Content-Type": "text/xml"})
    return response


class MockedContent(BareResponses):
    """Wraps mocks of responses that have ``.content``."""

    def get(self, url: str) -> Any:
        response = content_response(url)
        if not response.ok:
            return WebClientErrorResponse("404 Not Found", False)
        return RequestsWebClientSuccessResponse(response, 1_000_000)


class GetOnly:
    """A session with nothing but ``get``; it gives responses made by hand."""

    def __init__(self) -> None:
        self.requested: list[str] = []

    def get(self, url: str, **_options: Any) -> requests.Response:
        self.requested.append(url)
        return bare_response(url)


class GetOnlyContent(GetOnly):
    """The same, with mocks of responses."""

    def get(self, url: str, **_options: Any) -> Any:
        self.requested.append(url)
        return content_response(url)


def mocked_session() -> Any:
    session = mock.MagicMock()
    session.get.side_effect = lambda url, **_options: bare_response(url)
    return session


def shape(sitemap: AbstractSitemap) -> list[object]:
    return [
        type(sitemap).__name__,
        sitemap.url,
        [page.url for page in sitemap.pages],
        [shape(below) for below in sitemap.sub_sitemaps],
    ]


def crawl(client: Any) -> object:
    """The tree; or, from a program that does not work here, the name of what was raised."""
    try:
        return shape(sitemap_tree_for_homepage(SITE, web_client=client, use_known_paths=False))
    except Exception as error:  # noqa: BLE001 -- whatever it is
        return f"raised {type(error).__name__}"


duck: Any = Duck()
get_only: Any = GetOnly()
get_only_content: Any = GetOnlyContent()
url = f"{SITE}/a.xml"
facts = {
    "a class without a base": crawl(duck),
    "it was told a limit": duck.limit,
    "MagicMock with a spec": crawl(specified_mock()),
    "MagicMock": crawl(free_mock()),
    "Mock": crawl(plain_mock()),
    "mocked responses": crawl(mocked_responses()),
    "requests.Response made by hand": crawl(BareResponses()),
    "mocks with .content": crawl(MockedContent()),
    "a session with nothing but get": crawl(RequestsWebClient(session=get_only)),
    "it was asked for": get_only.requested,
    "that session with mocks": crawl(RequestsWebClient(session=get_only_content)),
    "a mocked session": crawl(RequestsWebClient(session=mocked_session())),
    "SitemapFetcher": shape(SitemapFetcher(url, 0, web_client=duck).sitemap()),
    "SitemapFetcher with a mock": shape(SitemapFetcher(url, 0, free_mock()).sitemap()),
    "get_url_retry_on_client_errors": [
        type(get_url_retry_on_client_errors(url, duck)).__name__,
        type(get_url_retry_on_client_errors(f"{url}/gone", free_mock())).__name__,
    ],
    "ungzipped_response_content": ungzipped_response_content(url, mock_response(url))[:7],
    "raw_data": [
        RequestsWebClientSuccessResponse(bare_response(url)).raw_data()[:7].decode(),
        RequestsWebClientSuccessResponse(bare_response(url), 4).raw_data().decode(),
        RequestsWebClientSuccessResponse(content_response(url)).raw_data()[:7].decode(),
        RequestsWebClientSuccessResponse(content_response(url), 4).raw_data().decode(),
    ],
    "fields": [
        RequestsWebClientSuccessResponse(content_response(url)).status_code(),
        RequestsWebClientSuccessResponse(content_response(url)).status_message(),
        RequestsWebClientSuccessResponse(content_response(url)).url(),
        RequestsWebClientSuccessResponse(content_response(url)).header("content-type"),
        RequestsWebClientSuccessResponse(bare_response(url)).header("content-type"),
    ],
}
print(json.dumps(facts))
