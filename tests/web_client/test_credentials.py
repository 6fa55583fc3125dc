"""Which URLs get the caller's credentials: those of the homepage's domain, and not without TLS."""

import pytest

from usp.web_client._http.credentials import Homepage


@pytest.mark.parametrize(
    ("url", "homepage", "expected"),
    [
        ("https://h.example/a", "https://h.example/", True),
        ("https://cdn.h.example/a", "https://www.h.example/", True),
        ("https://other.example/a", "https://h.example/", False),
        ("https://other-h.example/a", "https://h.example/", False),
        ("http://h.example/a", "http://h.example/", True),
        ("https://h.example/a", "http://h.example/", True),
        ("http://h.example/a", "https://h.example/", False),
        ("http://h.example/a", "", True),
    ],
)
def test_credentials_go_to_the_domain_of_the_homepage_and_not_from_https_to_http(
    url: str, homepage: str, expected: bool
) -> None:
    assert Homepage.of(homepage).is_trusted(url) is expected
