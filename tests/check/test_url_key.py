"""The keys of URLs: what counts as another spelling, and what doesn't."""

import pytest

from usp._check.origins import Origins, UrlOrigin, folder_of, origin_of, path_of
from usp._check.url_key import url_key

KEY = "example.org/a"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a",
        "http://example.org/a",
        "https://www.example.org/a",
        "HTTPS://Example.ORG/A",
        "https://example.org/a/",
        "https://example.org/a/index.html",
        "https://example.org/a/Default.aspx",
        "https://example.org:443/a",
        "https://user@example.org/a",
        "https://example.org/%61",
        "https://example.org/a?",
    ],
)
def test_spellings_of_one_page_have_one_key(url: str) -> None:
    assert url_key(url) == KEY


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/?a=1&b=2", "https://example.org/?b=2&a=1"),
        ("https://example.org/%C3%A9", "https://example.org/é"),
        ("https://example.org/%c3%89", "https://example.org/é"),
        ("https://example.org", "https://www.example.org/index.php"),
        ("https://example.org/a%2fb", "https://example.org/a%2Fb/"),
    ],
)
def test_these_are_spellings_of_one_page_too(one: str, other: str) -> None:
    assert url_key(one) == url_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/b"),
        ("https://example.org/a", "https://blog.example.org/a"),
        ("https://example.org/a", "https://example.org:8080/a"),
        ("https://example.org/a/b", "https://example.org/a%2Fb"),
        ("https://example.org/?a=1", "https://example.org/?a=2"),
        ("https://example.org/#/a", "https://example.org/#/b"),
        ("https://example.org/%ff", "https://example.org/%fe"),
        ("https://example.org/index", "https://example.org/"),
        ("https://example.org/?a=b%26c", "https://example.org/?a=b&c"),
    ],
)
def test_other_pages_have_other_keys(one: str, other: str) -> None:
    assert url_key(one) != url_key(other)


def test_a_text_that_is_no_url_is_its_own_key() -> None:
    assert url_key("Not a URL") == "Not a URL"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Example.org/a", UrlOrigin("https", "example.org")),
        ("http://example.org:80", UrlOrigin("http", "example.org")),
        ("http://example.org:443/", UrlOrigin("http", "example.org:443")),
        ("https://example.org?a=/b", UrlOrigin("https", "example.org")),
        ("https://user:pw@example.org/", UrlOrigin("https", "example.org")),
        ("https://[::1]:8080/a", UrlOrigin("https", "[::1]:8080")),
        ("ftp://example.org/", None),
        ("https:///a", None),
        ("", None),
    ],
)
def test_the_origin_of_a_url_is_its_scheme_and_host(url: str, origin: UrlOrigin | None) -> None:
    assert origin_of(url) == origin
    assert Origins().of(url) == origin


def test_the_folder_of_a_url_ends_with_a_slash() -> None:
    assert path_of("https://example.org/a/b.xml?c=/d#/e") == "/a/b.xml"
    assert folder_of("https://example.org/a/b.xml?c=/d") == "/a/"
    assert folder_of("https://example.org") == "/"
