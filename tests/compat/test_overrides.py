"""Subclasses and overrides in programs for 1.8.1 are respected."""

import copy

import pytest
import requests

from tests.server import LoopbackServer, index, urlset
from usp import Outcome
from usp.exceptions import SitemapException
from usp.fetch_parse import XMLSitemapParser
from usp.objects.page import SitemapPage
from usp.objects.sitemap import (
    AbstractSitemap,
    IndexXMLSitemap,
    InvalidSitemap,
    PagesXMLSitemap,
)
from usp.tree import sitemap_from_str, sitemap_tree_for_homepage
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    LocalWebClient,
    LocalWebClientSuccessResponse,
    WebClientErrorResponse,
)
from usp.web_client.requests_client import RequestsWebClient, RequestsWebClientSuccessResponse


def test_a_response_that_overrides_raw_data_is_used(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/old"))

    class Response(RequestsWebClientSuccessResponse):
        def raw_data(self) -> bytes:
            return super().raw_data().replace(b"/old", b"/new")

    class Client(RequestsWebClient):
        def get(self, url: str) -> AbstractWebClientResponse:
            with requests.Session() as session:
                return Response(session.get(url))

    client = Client()
    tree = sitemap_tree_for_homepage(server.url, web_client=client, use_known_paths=False)
    client.close()
    assert [page.url for page in tree.all_pages()] == [server.at("/new")]


def test_a_subclass_with_its_own_limit_gets_the_limit_of_the_policy() -> None:
    told: list[int | None] = []

    class Client(RequestsWebClient):
        def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
            told.append(max_response_data_length)

        def get(self, url: str) -> AbstractWebClientResponse:
            return WebClientErrorResponse(f"nothing at {url}", retryable=False)

    sitemap_tree_for_homepage("http://h.example/", web_client=Client())
    assert told == [100 * 1024 * 1024]


def test_properties_that_a_subclass_overrides_are_iterated() -> None:
    class Pages(PagesXMLSitemap):
        pages = property(lambda _: [SitemapPage("http://h.example/1")])

    class Index(IndexXMLSitemap):
        sub_sitemaps = property(lambda _: [Pages("http://h.example/a", [])])

    tree: AbstractSitemap = Index("http://h.example/i", [])
    assert [page.url for page in tree.all_pages()] == ["http://h.example/1"]
    assert tree.to_dict()["sub_sitemaps"][0]["pages"][0]["url"] == "http://h.example/1"


def test_pages_given_as_a_generator_can_be_iterated_twice() -> None:
    sitemap = PagesXMLSitemap("http://h.example/a", (SitemapPage(url) for url in ("u", "v")))
    assert len(sitemap.pages) == len(sitemap.pages) == 2


def test_a_copy_of_a_page_is_another_page() -> None:
    class Page(SitemapPage):
        extra: list[int]

    page = Page("http://h.example/1")
    page.extra = [1]
    other = copy.copy(page)
    other.extra = [2]
    assert page.extra == [1]
    assert page == other


def test_the_xml_parser_takes_xml_only() -> None:
    for text in ("hello", "", "Sitemap: http://h.example/a.xml", b"hello"):
        parser = XMLSitemapParser("http://h.example/robots.txt", text, 0, LocalWebClient(), set())
        assert isinstance(parser.sitemap(), InvalidSitemap)


class Fixtures(AbstractWebClient):
    """A client as in the tests of a program: an unknown URL is an error without a status."""

    def __init__(self, **documents: str) -> None:
        self.documents = {f"http://h.example/{name}": text for name, text in documents.items()}

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        if url not in self.documents:
            return WebClientErrorResponse("no such fixture", retryable=False)
        return LocalWebClientSuccessResponse(url, self.documents[url])


def test_errors_without_a_status_do_not_make_a_host_dead() -> None:
    client = Fixtures(**{"sitemap_news.xml": "http://h.example/page"})
    tree = sitemap_tree_for_homepage("http://h.example/", web_client=client)
    assert [page.url for page in tree.all_pages()] == ["http://h.example/page"]
    names = [f"http://h.example/{number}" for number in range(9)]
    robots = "\n".join(f"Sitemap: {name}" for name in names)
    client = Fixtures(**{"robots.txt": robots, "8": "http://h.example/page"})
    tree = sitemap_tree_for_homepage("http://h.example/", web_client=client)
    assert [page.url for page in tree.all_pages()] == ["http://h.example/page"]


def test_an_exception_of_a_client_is_one_failed_fetch() -> None:
    class Raising(Fixtures):
        def get(self, url: str) -> AbstractWebClientResponse:
            if url not in self.documents:
                raise KeyError(url)
            return super().get(url)

    client = Raising(**{"sitemap_news.xml": "http://h.example/page"})
    tree = sitemap_tree_for_homepage("http://h.example/", web_client=client)
    assert [page.url for page in tree.all_pages()] == ["http://h.example/page"]
    assert tree.outcome is Outcome.FOUND


def test_urls_that_differ_in_their_fragment_are_one_sitemap(server: LoopbackServer) -> None:
    server.robots("/i.xml")
    server.site["/i.xml"] = index(*map(server.at, ("/a.xml", "/a.xml#y", "/i.xml#x")))
    server.site["/a.xml"] = urlset(server.at("/page"))
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False)
    assert sorted(server.requested) == ["/a.xml", "/i.xml", "/robots.txt"]
    loop = tree.sub_sitemaps[0].sub_sitemaps[0].sub_sitemaps[2]
    assert isinstance(loop, InvalidSitemap)
    assert loop.code == "SM601"


def test_a_document_that_is_neither_str_nor_bytes_is_rejected() -> None:
    for wrong in (None, 1, ["<urlset/>"]):
        with pytest.raises(SitemapException, match="str or bytes"):
            sitemap_from_str(wrong)  # type: ignore[arg-type]


def test_if_a_callback_rejects_every_sitemap_the_outcome_is_found(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/page"))
    tree = sitemap_tree_for_homepage(server.url, recurse_callback=lambda *_: False)
    assert tree.outcome is Outcome.FOUND
    assert list(tree.all_pages()) == []


def test_if_the_only_sitemap_lists_no_url_the_outcome_is_none(server: LoopbackServer) -> None:
    server.robots("/a.txt")
    server.site["/a.txt"] = b""
    tree = sitemap_tree_for_homepage(server.url)
    assert tree.outcome is Outcome.NONE
    assert not tree.tree_complete
