"""A program that calls the helpers: what each gives, or the name of what it raises."""

import gzip
import json
import sys
from collections.abc import Callable
from functools import partial

from usp.exceptions import GunzipException, SitemapException, StripURLToHomepageException
from usp.helpers import (
    gunzip,
    html_unescape_strip,
    is_http_url,
    parse_iso8601_date,
    parse_rfc2822_date,
    strip_url_to_homepage,
    ungzipped_response_content,
)
from usp.web_client.abstract_client import LocalWebClientSuccessResponse

URLS = (
    "http://a.example",
    "https://a.example/b?c#d",
    "HTTP://A.example/",
    "ftp://a.example/",
    "//a.example/",
    "a.example",
    "http://",
    "http:///path",
    "mailto:someone@a.example",
    "",
    " http://a.example/",
)
TEXTS = ("  plain  ", "a &amp; b", "&lt;b&gt;", "caf&eacute;", "&copy 2020", "", "\n")
DATES = (
    "2020-01-02",
    "2020-01-02T03:04:05Z",
    "2020-01-02T03:04:05+02:00",
    "2020-01-02T03:04:05.678Z",
    "2020-01-02 03:04:05",
    "2 Jan 2020 03:04:05 GMT",
    "January 2, 2020",
    "not a date",
)
MAIL_DATES = (
    "Thu, 02 Jan 2020 03:04:05 +0200",
    "Thu, 02 Jan 2020 03:04:05 GMT",
    "02 Jan 2020 03:04 +0000",
    "2020-01-02T03:04:05Z",
    "not a date",
)
HOMEPAGES = (
    "http://a.example/b/c.html?d=e#f",
    "https://a.example",
    "http://a.example:8080/x/",
    "http://user:word@a.example/x",
    "not a url",
    "",
)


def attempt(call: Callable[[], object]) -> object:
    try:
        return call()
    except StripURLToHomepageException:
        return "raised StripURLToHomepageException"
    except GunzipException:
        return "raised GunzipException"
    except SitemapException:
        return "raised SitemapException"


def each(call: Callable[[str], object], texts: tuple[str, ...]) -> dict[str, object]:
    return {text: attempt(partial(call, text)) for text in texts}


def unzipped(data: bytes, limit: int | None = None) -> object:
    return attempt(lambda: gunzip(data, limit).decode())


def content(url: str, text: str, limit: int | None = None) -> object:
    answer = LocalWebClientSuccessResponse(url=url, data=text)
    return attempt(lambda: ungzipped_response_content(url, answer, limit))


packed = gzip.compress(b"0123456789" * 10)
facts = {
    "is_http_url": each(is_http_url, URLS),
    "html_unescape_strip": each(html_unescape_strip, TEXTS),
    "html_unescape_strip(None)": html_unescape_strip(None),
    "parse_iso8601_date": each(parse_iso8601_date, DATES),
    "parse_rfc2822_date": each(parse_rfc2822_date, MAIL_DATES),
    "strip_url_to_homepage": each(strip_url_to_homepage, HOMEPAGES),
    "gunzip": unzipped(packed),
    "gunzip cut at 15": unzipped(packed, 15),
    "gunzip of nothing": unzipped(b""),
    "gunzip of text": unzipped(b"plain"),
    "content": content("http://a.example/s.xml", "<urlset/>"),
    "content of a .gz that isn't": content("http://a.example/s.xml.gz", "<urlset/>"),
    "content cut at 4": content("http://a.example/s.xml", "<urlset/>", 4),
}
json.dump(facts, sys.stdout, default=str)
