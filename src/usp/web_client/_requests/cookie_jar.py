"""The cookies that servers set, a bounded number of them.

requests looks at every cookie for every request. A site that sets others with each response would
make a crawl take quadratic time, and its requests ever longer. RFC 6265 6.1 asks a client to keep
50 cookies of a domain at least. A session of the caller's has a jar of its own.
"""

# ruff: noqa: ANN401 -- methods of requests are extended with the arguments they have

from collections.abc import Iterator
from http.cookiejar import Cookie
from typing import Any, Final

from requests.cookies import RequestsCookieJar

from usp._forks import renewed_in_forks

__all__ = ["BoundedCookieJar"]

MAX_OF_HOST: Final = 50
MAX_IN_ALL: Final = 200


class BoundedCookieJar(RequestsCookieJar):
    """Keeps the newest cookies: those of one domain, and all of them, up to a limit.

    Threads may iterate over it while others set cookies; in requests, that fails.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        renewed_in_forks(self._lock)

    def __iter__(self) -> Iterator[Any]:
        with self._lock:
            return iter(list(super().__iter__()))

    def set_cookie(self, cookie: Cookie, *args: Any, **options: Any) -> None:
        """Set a cookie; the oldest ones beyond a limit are dropped."""
        with self._lock:
            super().set_cookie(cookie, *args, **options)
            kept: list[Any] = list(super().__iter__())
            of_host = [one for one in kept if one.domain == cookie.domain]
            too_many = of_host[:-MAX_OF_HOST] or kept[:-MAX_IN_ALL]
            for old in too_many:
                self.clear(old.domain, old.path, old.name)

    @property
    def _lock(self) -> Any:
        return self._cookies_lock  # type: ignore[attr-defined]  # typeshed leaves it out
