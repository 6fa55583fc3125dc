"""Values that 1.8.1 gets wrong, what usp gives instead, and why.

A row is a path into what a program prints (keys and indexes), the right value, and the reason. A
row whose value 1.8.1 gives as well, or whose path doesn't exist, fails the tests. So the table
holds the differences and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

Path: TypeAlias = tuple[str | int, ...]

BUGS = ["TypeError", "AttributeError", "NameError", "NotImplementedError", "AssertionError"]
NOT_RESPONSES = ["an abstract class", "a class without url()", "None", "text"]
FAILURES = [
    *("OSError", "ConnectionError", "TimeoutError", "gaierror", "SSLError", "ReadTimeout"),
    *("ValueError", "KeyError", "RuntimeError", "Exception"),
]
RAISED = "raised SitemapException"
BUG_REASON = "a bug in the client reaches the caller from wherever a sitemap was declared"
FAILURE_REASON = "network failures are data, also at the first URL of a crawl"
EARLY = "the wrong value is named at the call, not at the first request or never"
CLEAR = "the error says what is accepted"
ONE_LABEL = "hosts of an intranet have one label"


@dataclass(frozen=True, slots=True)
class Correction:
    program: str
    path: Path
    value: object
    reason: str


def odd_arguments() -> Iterator[Correction]:
    """Yield the rows of the program that passes wrong arguments."""
    rejected_early = {
        "use_robots": ("''", "'yes'"),
        "use_known_paths": ("''", "'yes'"),
        "normalize_homepage_url": ("''", "'yes'"),
        "recurse_callback": ("3",),
        "set_timeout": ("0", "'5'"),
        "set_max_response_data_length": ("-1", "'5'"),
        "set_proxies": ("'x'",),
        "wait": ("-1", "'1'"),
        "RequestsWebClient.get": ("None", "3"),
    }
    rejected_clearly = {
        "sitemap_from_str": ("None", "0", "3", "2.5"),
        "homepage_url": ("0", "3", "2.5"),
        "extra_known_paths": ("'a'", "{None}"),
    }
    for rejected, reason in ((rejected_early, EARLY), (rejected_clearly, CLEAR)):
        for name, values in rejected.items():
            for value in values:
                yield Correction("odd_arguments", (name, value), RAISED, reason)
    for name, accepted in (
        ("is_http_url", True),
        ("SitemapFetcher(url)", "worked"),
        ("homepage_url", "http://a/"),
    ):
        yield Correction("odd_arguments", (name, "'http://a'"), accepted, ONE_LABEL)
    for count in ("0", "-1"):
        path = ("retry_count", count)
        yield Correction("odd_arguments", path, 1, "without retries there is one request")
    path = ("extra_known_paths", "['a']")
    tree = ["http://odd.example/", True, True]
    yield Correction("odd_arguments", path, tree, "a list of paths is as good as a set")


def broken_client() -> Iterator[Correction]:
    """Yield the rows of the program whose client raises."""
    for what, names in (
        ("bugs in get()", BUGS),
        ("bugs in raw_data()", BUGS),
        ("no response at all", NOT_RESPONSES),
    ):
        path = (what, "a declared sitemap")
        yield Correction("broken_client", path, {"raised a bug": names}, BUG_REASON)
    for what in ("failures in get()", "failures in raw_data()"):
        for where, end in (
            ("SitemapFetcher", "0 pages, invalid: /bad.xml"),
            ("robots.txt", "0 pages, invalid: none"),
        ):
            yield Correction("broken_client", (what, where), {end: FAILURES}, FAILURE_REASON)


CORRECTIONS: Final = (
    Correction(
        "callbacks",
        ("a bug in the callback",),
        "raised: a bug of the caller's",
        "what the caller's own code raises reaches the caller",
    ),
    Correction(
        "helper_calls",
        ("html_unescape_strip", "&copy 2020"),
        "&copy 2020",
        "an entity has a semicolon: ?a=1&copy=2 must stay as it is",
    ),
    Correction(
        "helper_calls",
        ("content cut at 4",),
        "<url",
        "the limit on the content also holds for what was never compressed",
    ),
    Correction(
        "interrupted",
        ("SIGALRM at /slow.xml",),
        ["OutOfTime", True],
        "what a signal handler raises ends the crawl wherever it is",
    ),
    Correction(
        "push_parsers",
        ("urlset", 1, "pages", 0, "news_story", "genres"),
        ["Blog", "Opinion"],
        "news:genres is a list like the keywords; 1.8.1 never reads it",
    ),
    Correction(
        "requests_subclass",
        ("user agent",),
        "my-crawler/1.0",
        "the User-Agent that a session sets is kept",
    ),
    Correction(
        "strings",
        ("unknown tags", 1, "pages"),
        [
            {
                "url": "https://text.example/a",
                "priority": "0.5",
                "last_modified": None,
                "change_frequency": None,
                "news_story": None,
                "images": None,
            }
        ],
        "an unknown element between entries costs nothing else",
    ),
    *odd_arguments(),
    *broken_client(),
)
