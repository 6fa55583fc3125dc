"""What identifies the caller in one request: credentials and cookies, and which of them go out.

requests applies ``auth`` last to a request, whatever session prepares it, and copies the policy of
the cookies to each redirect. So the rules hold for a session of the caller's, which is not changed.
"""

from functools import lru_cache
from http.cookiejar import Cookie, DefaultCookiePolicy
from typing import Any, Final
from urllib.request import Request

import requests
from requests.auth import AuthBase, HTTPBasicAuth
from requests.cookies import RequestsCookieJar, get_cookie_header
from requests.exceptions import InvalidHeader

from usp.web_client._http.credentials import Homepage, allows_cookie_domain
from usp.web_client._http.urls import host_of

__all__ = ["RequestAuth", "invalid_header"]

_LINE_BREAKS: Final = frozenset("\r\n") | frozenset(b"\r\n")


def invalid_header() -> InvalidHeader:
    """Return the error for a header that can't be sent.

    Those of requests and ``http.client`` quote its value, which may be a secret: a token that was
    read from a file often ends in a line break.
    """
    return InvalidHeader(
        "a header or cookie of the session can't be sent: it has a line break or is not a string"
    )


class RequestAuth(AuthBase):
    """The ``auth`` of one request: the credentials for its URL, and the rules for its cookies."""

    def __init__(self, auth: Any, homepage: Homepage) -> None:  # noqa: ANN401 -- as requests has it
        """Authenticate a request.

        :param auth: what requests takes: (user, password), a function, or None to leave the
            headers as they are. Neither the session nor ``.netrc`` adds any.
        :param homepage: that of the crawl, whose site the caller's secrets go to.
        """
        self._auth = HTTPBasicAuth(*auth) if isinstance(auth, tuple) else auth
        self._homepage = homepage

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Apply the credentials and the rules."""
        if not self._homepage.is_anywhere:
            self._restrict_cookies(request)
        prepared = self._auth(request) if self._auth else request
        for value in prepared.headers.values():  # requests lets some of them through
            if not isinstance(value, str | bytes) or not _LINE_BREAKS.isdisjoint(value):
                raise invalid_header()
        return prepared

    def _restrict_cookies(self, request: Any) -> None:  # noqa: ANN401 -- its cookies are private
        cookies = request._cookies
        if not isinstance(cookies, RequestsCookieJar):
            return
        restricted = cookies.copy()
        restricted.set_policy(_policy(self._homepage))
        if "Cookie" not in request.headers:
            request._cookies = restricted
            return
        written = request.headers.pop("Cookie")
        from_jar = get_cookie_header(cookies, request)  # type: ignore[no-untyped-call]
        if written == from_jar:
            request.prepare_cookies(restricted)
        else:  # a header of the caller's, which takes precedence over the jar
            request.headers["Cookie"] = written
            request._cookies = restricted


@lru_cache(maxsize=64)
def _policy(homepage: Homepage) -> "_SitePolicy":
    return _SitePolicy(homepage)


class _SitePolicy(DefaultCookiePolicy):
    """Cookies without a domain go to the site of the homepage only; http.cookiejar sends them to
    every host. One whose domain is a public suffix, such as co.uk, goes to no other host below it.
    And if the homepage has TLS, no cookie goes out without it.
    """

    def __init__(self, homepage: Homepage) -> None:
        super().__init__()
        self._homepage = homepage

    def return_ok(self, cookie: Cookie, request: Request) -> bool:
        """Tell whether a cookie is sent with a request."""
        url = request.get_full_url()
        if not self._homepage.allows_scheme(url):
            return False
        if not cookie.domain and not self._homepage.is_trusted(url):
            return False
        if cookie.domain_specified and not allows_cookie_domain(cookie.domain, host_of(url)):
            return False
        return bool(super().return_ok(cookie, request))
