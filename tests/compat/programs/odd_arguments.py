"""A program that passes invalid arguments: None, empty values, wrong types, invalid URLs."""

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import urllib3

from usp.exceptions import GunzipException, SitemapException, StripURLToHomepageException
from usp.fetch_parse import SitemapFetcher
from usp.helpers import (
    get_url_retry_on_client_errors,
    gunzip,
    html_unescape_strip,
    is_http_url,
    parse_iso8601_date,
    parse_rfc2822_date,
    strip_url_to_homepage,
)
from usp.objects.page import (
    SitemapImage,
    SitemapNewsStory,
    SitemapPage,
    SitemapPageChangeFrequency,
)
from usp.objects.sitemap import IndexXMLSitemap, InvalidSitemap, PagesXMLSitemap
from usp.tree import sitemap_from_str, sitemap_tree_for_homepage
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    RequestWaiter,
    WebClientErrorResponse,
)
from usp.web_client.requests_client import RequestsWebClient

ODD: tuple[Any, ...] = (None, "", " ", 0, 3, 2.5, True, b"", b"http://a.example/", (), {})
URLS = (
    "http://.example.lt",
    "http://.",
    "http://a",
    "http://a.",
    "http://localhost",
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://[::1",
    "http://user:word@a.example/",
    "http://a.example:99999/",
    "http://a.example?b",
    "http://a.example/b c",
    "http://a_b.example/",
    "http://ä.example/",
    "\thttp://a.example/\n",
    "https:/a.example",
    "https:a.example",
    "http://?a",
    "http://:80/",
    "javascript:void(0)",
    "feed://a.example/",
)
SITE = "http://odd.example/"
MISTAKES = (TypeError, AttributeError, AssertionError)
KNOWN = (SitemapException, GunzipException)
packed = (  # gzip of "0123456789" ten times; what gzip.compress() writes depends on the Python
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x0330426153\xb7\xb04\xa0\x19\x0b\x00\xbcK\xfc\xb1d\x00\x00\x00"
)


class Nothing(AbstractWebClient):
    """Has no document, and counts how often it is asked."""

    def __init__(self, *, retryable: bool = False) -> None:
        self.requested: list[str] = []
        self.retryable = retryable

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        pass

    def get(self, url: str) -> AbstractWebClientResponse:
        self.requested.append(url)
        return WebClientErrorResponse("500 Busy", retryable=self.retryable)


def attempt(call: Callable[..., Any], *arguments: Any, **options: Any) -> object:
    """What a call returns, or what it raises: one of the library's own errors, or a mistake."""
    try:
        return call(*arguments, **options)
    except StripURLToHomepageException:
        return "raised StripURLToHomepageException"
    except KNOWN as error:
        return f"raised {next(each.__name__ for each in KNOWN if isinstance(error, each))}"
    except MISTAKES:
        return "raised TypeError, AttributeError or AssertionError"


def each(call: Callable[[Any], Any], values: Iterable[Any]) -> dict[str, object]:
    return {repr(value): attempt(call, value) for value in values}


def worked(call: Callable[..., object], *arguments: Any, **options: Any) -> object:
    return attempt(lambda: call(*arguments, **options) and "worked")


def set_on_client(method: str, value: Any) -> object:
    return attempt(getattr(RequestsWebClient(), method), value)


def tree(**options: Any) -> object:
    client = Nothing()
    found = sitemap_tree_for_homepage(f"{SITE}blog", web_client=client, **options)
    robots = [url for url in client.requested if url.endswith("/robots.txt")]
    return [found.url, bool(robots), f"{found.url}sitemap.xml" in client.requested]


def retried(count: Any) -> object:
    client = Nothing(retryable=True)
    get_url_retry_on_client_errors(SITE, client, count, sleep_between_retries=0)
    return len(client.requested)


facts = {
    "is_http_url": each(is_http_url, (*ODD, *URLS)),
    "strip_url_to_homepage": each(strip_url_to_homepage, (*ODD, *URLS)),
    "html_unescape_strip": each(html_unescape_strip, ODD[:3]),
    "parse_iso8601_date": each(parse_iso8601_date, ODD[:6]),
    "parse_rfc2822_date": each(parse_rfc2822_date, ODD[:6]),
    "gunzip": each(gunzip, (*ODD, "foo", b"foo", b"\x1f\x8b", bytearray(packed))),
    "gunzip of most of it": attempt(gunzip, packed[:-3]),
    "gunzip with junk behind": attempt(gunzip, packed + b"junk"),
    "gunzip with zeros behind": attempt(gunzip, packed + bytes(8)),
    "gunzip twice": attempt(gunzip, packed + packed),
    "gunzip up to": each(partial(gunzip, packed), (None, 100, 99, 0, -1)),
    "retry_count": each(retried, (1, 3, 0, -1, None)),
    "SitemapFetcher(url)": each(lambda url: worked(SitemapFetcher, url, 0), (*ODD, *URLS[:4])),
    "SitemapFetcher(level)": each(lambda level: worked(SitemapFetcher, SITE, level), (-1, None)),
    "SitemapFetcher(parent_urls)": each(
        lambda urls: worked(SitemapFetcher, SITE, 0, None, urls), (None, (), [], [SITE], {SITE: 1})
    ),
    "sitemap_from_str": each(lambda text: type(sitemap_from_str(text)).__name__, ODD[:6]),
    "homepage_url": each(
        lambda url: sitemap_tree_for_homepage(url, web_client=Nothing()).url, (*ODD[:6], *URLS[:3])
    ),
    "use_robots": each(lambda value: tree(use_robots=value), (None, 0, 1, "", "yes")),
    "use_known_paths": each(lambda value: tree(use_known_paths=value), (None, 0, 1, "", "yes")),
    "normalize_homepage_url": each(
        lambda value: tree(normalize_homepage_url=value), (None, 0, 1, "", "yes")
    ),
    "extra_known_paths": each(
        lambda value: tree(extra_known_paths=value), (None, set(), ["a"], "a", {None})
    ),
    "recurse_callback": each(lambda value: tree(recurse_callback=value), (None, 3)),
    "set_timeout": {
        "urllib3.Timeout(5)": set_on_client("set_timeout", urllib3.Timeout(5)),
        **each(partial(set_on_client, "set_timeout"), (None, 5, 2.5, (1, 2), (None, 2), 0, "5")),
    },
    "set_max_response_data_length": each(
        partial(set_on_client, "set_max_response_data_length"), (None, 0, 5, -1, "5")
    ),
    "set_proxies": each(partial(set_on_client, "set_proxies"), (None, {}, {"http": None}, "x")),
    "verify": each(lambda value: worked(RequestsWebClient, verify=value), (None, 0, "/ca.pem")),
    "wait": each(lambda value: worked(RequestsWebClient, wait=value), (None, 0, 0.5, -1, "1")),
    "random_wait": each(lambda value: worked(RequestsWebClient, random_wait=value), (None, 0, 1)),
    "RequestWaiter": each(lambda value: RequestWaiter(value).wait(), (None, 0)),
    "RequestsWebClient.get": each(
        lambda url: type(RequestsWebClient().get(url)).__name__, (None, "", 3, "a", "ftp://a/")
    ),
    "SitemapPage": each(lambda url: SitemapPage(url).to_dict()["url"], ODD[:3]),
    "SitemapPage(priority=None)": str(SitemapPage("u", None).priority),  # type: ignore[arg-type]
    "SitemapImage": each(lambda url: SitemapImage(url).loc, ODD[:3]),
    "SitemapNewsStory": SitemapNewsStory(None, None).to_dict(),  # type: ignore[arg-type]
    "SitemapPageChangeFrequency": each(SitemapPageChangeFrequency.has_value, (None, 3, "daily")),
    "PagesXMLSitemap": each(lambda pages: PagesXMLSitemap("u", pages).pages, ([], ())),
    "IndexXMLSitemap": each(lambda below: IndexXMLSitemap("u", below).to_dict(), ([],)),
    "InvalidSitemap": each(lambda reason: InvalidSitemap("u", reason).reason, (None, 3, "r")),
}
print(json.dumps(facts, default=str))
