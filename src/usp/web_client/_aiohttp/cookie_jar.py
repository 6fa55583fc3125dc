"""The cookies that servers set in one crawl, and which of them go out.

Whether a URL may get any is decided in ``_http/credentials.py``, as for the client on requests.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.cookies import BaseCookie, Morsel, SimpleCookie
from typing import Any

import aiohttp
from aiohttp.abc import AbstractCookieJar
from aiohttp.typedefs import LooseCookies
from yarl import URL

from usp.web_client._http.credentials import Homepage, allows_cookie_domain, is_registered

__all__ = ["CrawlCookieJar"]

_Cookie = tuple[str, Any]
"""A name, and a text or what was parsed of a header."""


class CrawlCookieJar(aiohttp.CookieJar):
    """Cookies go back to their server; if the homepage has TLS, none goes out without it.

    aiohttp sends a cookie without ``Secure`` over http, also one that came over https; and it takes
    one for a public suffix, such as co.uk, which then goes to the sites of others.
    """

    def __init__(self, homepage: Homepage) -> None:
        super().__init__(unsafe=True)  # hosts may be IP addresses
        self._homepage = homepage

    def update_cookies(self, cookies: LooseCookies, response_url: URL = URL()) -> None:  # noqa: B008 -- as aiohttp has it
        """Take the cookies of a response; those for a public suffix are for its own host alone."""
        pairs = cookies.items() if isinstance(cookies, Mapping) else cookies
        super().update_cookies(list(_taken(pairs, response_url.host or "")), response_url)

    def update_cookies_from_headers(self, headers: Sequence[str], response_url: URL) -> None:
        """Take the cookies of a response; that of ``aiohttp.CookieJar`` would take all of them."""
        AbstractCookieJar.update_cookies_from_headers(self, headers, response_url)

    def filter_cookies(self, request_url: URL = URL()) -> "BaseCookie[str]":  # noqa: B008 -- as aiohttp has it
        """Return the cookies that a request gets."""
        if not self._homepage.allows_scheme(str(request_url)):
            return SimpleCookie()
        return super().filter_cookies(request_url)


def _taken(cookies: Iterable[_Cookie], host: str) -> Iterator[_Cookie]:
    for name, one in cookies:
        cookie = one
        if isinstance(one, Morsel) and one["domain"] and not is_registered(one["domain"]):
            if not allows_cookie_domain(one["domain"], host):
                continue
            cookie = one.copy()
            cookie["domain"] = ""
        yield name, cookie
