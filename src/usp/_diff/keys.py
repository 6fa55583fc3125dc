"""When two URLs count as the same: what is ignored, and which prefixes stand for others."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from usp._display import without_credentials
from usp._validate import argument_error, check_choices
from usp.exceptions import UsageError


class Ignorable(StrEnum):
    """What can be ignored where URLs are compared."""

    SCHEME = "scheme"
    """http or https."""
    WWW = "www"
    """``www.`` before the host."""
    SLASH = "slash"
    """A slash at the end of the path."""
    CASE = "case"
    """Capital and small letters, in the whole URL."""
    QUERY_ORDER = "query-order"
    """The order of the parameters."""


_WWW: Final = re.compile(r"(?i)\A(https?://)www\.")
_ORIGIN: Final = re.compile(r"(?i)https?://[^/?#]*+")
_BOUNDARIES: Final = frozenset("/?#:")
"""What can follow a host."""
_FORBIDDEN: Final = str.maketrans("", "", "\0\t\n\r")
"""What no URL has: parsers of browsers remove it (URL Standard, "basic URL parser")."""

_AT_SIGNS: Final = ("@", "%40", "\uff20")
"""What may be after a password."""


def _any_scheme(url: str) -> str:
    return f"https{url[4:]}" if url[:7].lower() == "http://" else url


def _without_www(url: str) -> str:
    return _WWW.sub(r"\1", url)


def _without_slash(url: str) -> str:
    if "?" not in url and "#" not in url:
        return url.rstrip("/")
    end = min(at for at in (url.find("?"), url.find("#")) if at >= 0)
    return url[:end].rstrip("/") + url[end:]


def _ordered_query(url: str) -> str:
    if "&" not in url:
        return url
    path, is_asked, rest = url.partition("?")
    query, is_marked, fragment = rest.partition("#")
    return f"{path}{is_asked}{'&'.join(sorted(query.split('&')))}{is_marked}{fragment}"


_RULES: Final[Mapping[Ignorable, Callable[[str], str]]] = {
    Ignorable.CASE: str.lower,
    Ignorable.SCHEME: _any_scheme,
    Ignorable.WWW: _without_www,
    Ignorable.SLASH: _without_slash,
    Ignorable.QUERY_ORDER: _ordered_query,
}
"""What makes the spellings of a URL the same, in the order in which it is applied."""


@dataclass(frozen=True, slots=True)
class UrlKeys:
    """Makes the keys of URLs: two that count as the same have the same one."""

    rules: tuple[Callable[[str], str], ...] = ()
    prefixes: tuple[tuple[str, str], ...] = ()
    """Prefixes of A, and what stands for each in B; the longest first."""

    @classmethod
    def of(cls, ignore: Iterable[str], prefixes: Mapping[str, str]) -> Self:
        """Check what a caller has chosen.

        :raises UsageError: if something is wrong.
        """
        chosen = check_choices("ignore", ignore, Ignorable)
        if not isinstance(prefixes, Mapping):
            raise argument_error("map", "a dict from prefixes of A to prefixes of B", prefixes)
        for old, new in prefixes.items():
            if not old or not all(isinstance(part, str) for part in (old, new)):
                raise UsageError(f"map must have prefixes of URLs, not {old!r}: {new!r}.")
        by_length = sorted(prefixes.items(), key=lambda pair: len(pair[0]), reverse=True)
        rules = tuple(rule for name, rule in _RULES.items() if name in chosen)
        return cls(rules, tuple(by_length))

    def of_urls(self, urls: list[str], *, is_first: bool) -> list[str]:
        """Return the keys of some URLs of a side.

        :param is_first: whether it is A, whose prefixes stand for others.
        """
        keys = urls
        if is_first and self.prefixes:
            keys = [self._mapped(url) for url in keys]
        for rule in self.rules:
            keys = list(map(rule, keys))
        return keys

    def _mapped(self, url: str) -> str:
        for old, new in self.prefixes:
            if url.startswith(old) and _ends_at_boundary(url, old):
                return new + url[len(old) :]
        return url


def _ends_at_boundary(url: str, prefix: str) -> bool:
    """Tell whether a prefix that ends within a host is the whole host of a URL."""
    around = {prefix[-1], *url[len(prefix) :][:1]}
    return len(url) == len(prefix) or not _ORIGIN.fullmatch(prefix) or bool(around & _BOUNDARIES)


def clean_urls(urls: list[str]) -> list[str]:
    """Return URLs as all tables have them, whatever an input has.

    They have no characters that no URL has: lines and records end with them. They have no user and
    password: neither is shown, so URLs that differ in nothing else would be told as equal lines.
    """
    joined = "".join(urls)
    if not joined.isprintable():
        urls = [url.translate(_FORBIDDEN) for url in urls]
    if any(sign in joined for sign in _AT_SIGNS):
        urls = [without_credentials(url) for url in urls]
    return urls
