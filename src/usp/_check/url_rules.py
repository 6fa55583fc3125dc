"""Rules about the URL of one entry: SM350 to SM362."""

import ipaddress
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import unquote_to_bytes

from usp._check.facts import EntryFacts
from usp._check.findings import Occurrence
from usp._check.origins import MAX_HOST_NAME
from usp._check.registry import entry_rule
from usp._check.rules import CheckSeverity
from usp._display import excerpt
from usp._parse import Kind, bounded_cache

MAX_URL: Final = 2048
MAX_URL_YANDEX: Final = 1024
_MAX_LABEL: Final = 63
_MAX_NAME: Final = 253
_ORDINARY: Final = re.compile(
    r"(https?://[a-z0-9.-]+\.[a-z]{2,})(?:/[\w./~+,!()*:=-]*+)?", re.ASCII
).fullmatch
"""A URL of which nothing but its length, scheme and host needs to be looked at."""
_HOST: Final = re.compile(r"https?://(\[[^\]/?#]*+\]|[^/?#:\[\]]++)", re.IGNORECASE)
"""The host of a URL; those of entries have no user and password."""
_USERINFO: Final = re.compile(r"[a-z]++://[^/?#@]*+@", re.IGNORECASE)
_FORBIDDEN: Final = re.compile(r"[\"'<>{}\\^|`]")
"""Characters that must be encoded; a single quote is allowed by RFC 3986, and left out below."""
_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SESSION: Final = re.compile(
    r"(?:[?&;](?:PHPSESSID|jsessionid|ASPSESSIONID\w*|CFID|CFTOKEN)=)|[?&;]sid=[0-9a-f]{32}(?![0-9a-f])",
    re.IGNORECASE,
)
_TRACKING: Final = re.compile(r"[?&](utm_\w+|gclid|fbclid|msclkid)=", re.IGNORECASE)
_FEEDS: Final = frozenset({Kind.RSS, Kind.ATOM, Kind.JSON_FEED})
"""The kinds in which fragments are usual: the items of a feed of comments have them."""
_DEVELOPMENT: Final = frozenset({"localhost", "local", "test", "internal", "example"})
"""Top-level names that lead nowhere on the internet (RFC 2606, RFC 6762)."""


@entry_rule(
    "SM350", "SM351", "SM353", "SM355", "SM356", "SM357", "SM359", "SM360", "SM361", "SM362"
)
def urls(facts: EntryFacts) -> Iterable[Occurrence]:
    """Look at each URL; of nearly all, the host was looked at before."""
    scheme = facts.sitemap.scheme
    odd = [url for url in facts.entry.urls if not _is_ordinary(url, scheme)]
    if not odd:
        return ()
    return (*_as_a_whole(facts, odd), *_odd_characters(facts, odd), *_hosts(facts, odd))


def _is_ordinary(url: str, scheme: str) -> bool:
    """Tell whether a URL has certainly nothing that a rule is about."""
    match = _ORDINARY(url) if len(url) <= MAX_URL_YANDEX else None
    return match is not None and _is_ordinary_origin(match[1], scheme)


@lru_cache(maxsize=1024)
def _is_ordinary_origin(origin: str, scheme: str) -> bool:
    """Tell whether the scheme of a URL is that of the sitemap, and its host can be reached."""
    own, _, host = origin.partition("://")
    return own == (scheme or own) and _host_problem(host) is None


def _as_a_whole(facts: EntryFacts, urls: list[str]) -> Iterator[Occurrence]:
    """Look at the length and the scheme of each URL."""
    scheme = facts.sitemap.scheme
    for url in urls:
        if len(url) > MAX_URL_YANDEX:
            code = "SM350" if len(url) > MAX_URL else "SM351"
            yield facts.occurrence(code, f"{len(url):,} characters", url=url)
        own = url.partition(":")[0].lower()
        if scheme and own in {"http", "https"} and own != scheme:
            yield facts.occurrence("SM353", f"the URL has {own}, the sitemap {scheme}", url=url)


def _odd_characters(facts: EntryFacts, urls: list[str]) -> Iterator[Occurrence]:
    """Look at the characters and the parameters of each URL."""
    for url in urls:
        if found := sorted(set(_FORBIDDEN.findall(url)) - {"'"}):
            yield facts.occurrence("SM355", f"unescaped: {' '.join(found)}", url=url)
        elif not url.isascii():
            detail = "it has characters beyond ASCII"
            yield facts.occurrence("SM355", detail, CheckSeverity.INFO, url=url)
        if "%" in url and (detail := _bad_percent(url)):
            yield facts.occurrence("SM356", detail, url=url)
        if "#" in url and facts.sitemap.kind not in _FEEDS:
            yield facts.occurrence(
                "SM357", f"the fragment #{excerpt(url.partition('#')[2], 80)}", url=url
            )
        if _SESSION.search(url):
            yield facts.occurrence("SM359", "it has a session id", url=url)
        if match := _TRACKING.search(url):
            yield facts.occurrence("SM360", f"the parameter {match[1]}", url=url)


def _bad_percent(url: str) -> str:
    """Return what is wrong with the percent-encoding of a URL; empty if nothing is."""
    if match := _PERCENT.search(url):
        return f"{url[match.start() : match.start() + 3]!r} is not a percent-encoded byte"
    try:
        unquote_to_bytes(url).decode()
    except UnicodeDecodeError:
        return "it encodes bytes that are not UTF-8"
    return ""


@entry_rule("SM358")
def credentials(facts: EntryFacts) -> Iterable[Occurrence]:
    """Look for a user and a password; the URL of the occurrence has none."""
    return [
        facts.occurrence("SM358", "it has a user or a password before the @")
        for text in facts.entry.raw("loc")
        if "@" in text and _USERINFO.match(text.strip())
    ]


def _hosts(facts: EntryFacts, urls: list[str]) -> Iterator[Occurrence]:
    """Look at the host of each URL."""
    for url in urls:
        match = _HOST.match(url)  # where there is none, parsing reports it
        if match and (problem := _host_problem(match[1])):
            yield facts.occurrence(*problem, url=url)


@bounded_cache(1024, MAX_HOST_NAME)
def _host_problem(written: str) -> tuple[str, str] | None:
    """Return the code of a host that can't be reached, and why; None for any other."""
    host = written.strip("[]").lower()
    if _is_development_host(host):
        return "SM361", f"the host {host}"
    problem = _impossible(host)
    return ("SM362", f"the host {host[:80]} {problem}") if problem else None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_development_host(host: str) -> bool:
    address = _address(host)
    if address is not None:
        return address.is_private or address.is_loopback or address.is_link_local
    return host.rstrip(".").rpartition(".")[2] in _DEVELOPMENT


def _impossible(host: str) -> str:
    """Return why a host cannot exist; empty if it can."""
    if _address(host) is not None:
        return ""
    name = host.rstrip(".")
    if not name.isascii() and len(name) <= _MAX_NAME:  # a longer one would take quadratic time
        try:
            name = name.encode("idna").decode()
        except UnicodeError:
            return "is no valid international name"
    labels = name.split(".")
    if len(labels) == 1:
        return "has no dot"
    if not all(labels):
        return "has an empty label"
    if max(map(len, labels)) > _MAX_LABEL:
        return f"has a label of more than {_MAX_LABEL} characters"
    return f"has more than {_MAX_NAME} characters" if len(name) > _MAX_NAME else ""
