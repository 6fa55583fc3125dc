"""A program whose client has bugs: which exceptions reach the caller, which are failed fetches."""

import json
import socket
from collections.abc import Callable
from typing import Any

import requests

from usp.fetch_parse import SitemapFetcher
from usp.objects.sitemap import AbstractSitemap, InvalidSitemap
from usp.tree import sitemap_tree_for_homepage
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientSuccessResponse,
    LocalWebClientSuccessResponse,
    WebClientErrorResponse,
)

SITE = "https://bugs.example"
ROBOTS, BAD, GOOD = (f"{SITE}/{name}" for name in ("robots.txt", "bad.xml", "good.xml"))
DOCUMENTS = {ROBOTS: f"Sitemap: {BAD}\nSitemap: {GOOD}\n", GOOD: f"{SITE}/page\n"}
BUGS = (TypeError, AttributeError, NameError, NotImplementedError, AssertionError)
FAILURES = (
    OSError,
    ConnectionError,
    TimeoutError,
    socket.gaierror,
    requests.exceptions.SSLError,
    requests.exceptions.ReadTimeout,
    ValueError,
    KeyError,
    RuntimeError,
    Exception,
)


class Client(AbstractWebClient):
    """Gives documents, and at one URL whatever it is told to do there."""

    def __init__(self, url: str, bad: Callable[[], Any]) -> None:
        self.url = url
        self.bad = bad

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> Any:
        if url == self.url:
            return self.bad()
        if url not in DOCUMENTS:
            return WebClientErrorResponse("404 Not Found", False)
        return LocalWebClientSuccessResponse(url=url, data=DOCUMENTS[url])


class NoURL(AbstractWebClientSuccessResponse):
    """Forgets a method that is called, and is an abstract class for that."""

    def status_code(self) -> int:
        return 200

    def status_message(self) -> str:
        return "OK"

    def header(self, case_insensitive_name: str) -> str | None:
        return None

    def raw_data(self) -> bytes:
        return b"https://bugs.example/page"


class Homemade:
    """No base, and one method too few."""

    def status_code(self) -> int:
        return 200

    def header(self, name: str) -> str | None:
        return None

    def raw_data(self) -> bytes:
        return b"https://bugs.example/page"


class BadBody(LocalWebClientSuccessResponse):
    """A response with a bug where its body is read."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"{SITE}/bad.xml", "")
        self.error = error

    def raw_data(self) -> bytes:
        raise self.error


def raising(error: Exception) -> Callable[[], Any]:
    def bad() -> Any:
        raise error

    return bad


def bad_body(error: Exception) -> Callable[[], Any]:
    return lambda: BadBody(error)


def no_url() -> Any:
    return NoURL()  # type: ignore[abstract]


def fetch(bad: Callable[[], Any]) -> AbstractSitemap:
    return SitemapFetcher(BAD, 0, Client(BAD, bad)).sitemap()


def crawl_from_robots(bad: Callable[[], Any]) -> AbstractSitemap:
    client = Client(ROBOTS, bad)
    return sitemap_tree_for_homepage(SITE, web_client=client, use_known_paths=False)


def crawl_from_declared(bad: Callable[[], Any]) -> AbstractSitemap:
    client = Client(BAD, bad)
    return sitemap_tree_for_homepage(SITE, web_client=client, use_known_paths=False)


CRAWLS = {
    "SitemapFetcher": fetch,
    "robots.txt": crawl_from_robots,
    "a declared sitemap": crawl_from_declared,
}


def outcome(crawl: Callable[[Callable[[], Any]], AbstractSitemap], bad: Callable[[], Any]) -> str:
    """What a crawl ends with: an exception, or a tree in which something is invalid."""
    try:
        tree = crawl(bad)
    except Exception as error:  # noqa: BLE001 -- whatever it is
        return "raised a bug" if isinstance(error, BUGS) else "raised it"
    invalid = [
        each.url.removeprefix(SITE)
        for each in (tree, *tree.all_sitemaps())
        if isinstance(each, InvalidSitemap)
    ]
    return f"{len(list(tree.all_pages()))} pages, invalid: {' '.join(invalid) or 'none'}"


def outcomes(makers: dict[str, Callable[[], Any]]) -> dict[str, dict[str, list[str]]]:
    """For each kind of crawl, what it ends with, and for which of these."""
    found: dict[str, dict[str, list[str]]] = {}
    for where, crawl in CRAWLS.items():
        ends = found.setdefault(where, {})
        for name, bad in makers.items():
            ends.setdefault(outcome(crawl, bad), []).append(name)
    return found


facts = {
    "bugs in get()": outcomes({bug.__name__: raising(bug("a mistake")) for bug in BUGS}),
    "bugs in raw_data()": outcomes({bug.__name__: bad_body(bug("a mistake")) for bug in BUGS}),
    "failures in get()": outcomes({error.__name__: raising(error("oh")) for error in FAILURES}),
    "failures in raw_data()": outcomes(
        {error.__name__: bad_body(error("oh")) for error in FAILURES}
    ),
    "no response at all": outcomes(
        {
            "an abstract class": no_url,
            "a class without url()": Homemade,
            "None": lambda: None,
            "text": lambda: "<urlset/>",
        }
    ),
}
print(json.dumps(facts))
