"""Start URLs as callers write them: HTTP(S) URLs and bare domains are accepted, one word is not."""

import pytest

from usp._crawl.urls import check_homepage, check_start_url
from usp.exceptions import UsageError

HOMEPAGES = {
    "http://h.example": "http://h.example",
    "HTTPS://h.example/a": "HTTPS://h.example/a",
    "h.example": "https://h.example",
    "www.h.example/path?q=1": "https://www.h.example/path?q=1",
    "h.example:8080": "https://h.example:8080",
    "localhost": "https://localhost",
    "localhost:8080/": "https://localhost:8080/",
    "intranet:8080": "https://intranet:8080",
    "127.0.0.1": "https://127.0.0.1",
    "[::1]:8080": "https://[::1]:8080",
    "bücher.example": "https://bücher.example",
    "h.example/go?to=http://other.example/": "https://h.example/go?to=http://other.example/",
}
NOT_HOMEPAGES = [
    "foo",
    "",
    " ",
    "two words",
    "/path",
    "http://",
    "http:///path",
    "ftp://h.example/",
    "mailto:me@h.example",
    "h.example:port",
    "h..example",
    "http://h.example:99999/",
    "http://h.example:0/",
    "h.example:0",
    "foo/bar.xml",
]


@pytest.mark.parametrize(("given", "url"), HOMEPAGES.items())
def test_a_homepage_is_a_url_or_a_bare_domain_which_means_https(given: str, url: str) -> None:
    assert check_homepage("homepage_url", given) == url


@pytest.mark.parametrize("given", NOT_HOMEPAGES)
def test_anything_else_is_not_a_homepage(given: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_homepage("homepage_url", given)
    assert str(caught.value) == f"homepage_url must be an HTTP(S) URL or a domain, not {given!r}."


def test_a_start_url_has_a_scheme() -> None:
    assert check_start_url("urls", "http://h.example/a.xml") == "http://h.example/a.xml"
    with pytest.raises(UsageError, match=r"^urls must be an HTTP\(S\) URL, not 'h\.example'\.$"):
        check_start_url("urls", "h.example")
