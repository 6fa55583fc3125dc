"""The cookies that servers set in one crawl, and which of them go out.

Whether a URL may get any is decided in ``_http/credentials.py``, as for the client on requests.
"""

from http.cookies import BaseCookie, SimpleCookie

import aiohttp
from yarl import URL

from usp.web_client._http.credentials import Homepage

__all__ = ["CrawlCookieJar"]


class CrawlCookieJar(aiohttp.CookieJar):
    """Cookies go back to their server; if the homepage has TLS, none goes out without it.

    aiohttp sends a cookie without ``Secure`` over http, also one that came over https.
    """

    def __init__(self, homepage: Homepage) -> None:
        super().__init__(unsafe=True)  # hosts may be IP addresses
        self._homepage = homepage

    def filter_cookies(self, request_url: URL = URL()) -> "BaseCookie[str]":  # noqa: B008 -- as aiohttp has it
        """Return the cookies that a request gets."""
        if not self._homepage.allows_scheme(str(request_url)):
            return SimpleCookie()
        return super().filter_cookies(request_url)
