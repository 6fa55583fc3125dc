"""Where 1.8.1 is wrong: what a program prints with ours instead of what was recorded, and why.

A row is a place in what a program prints (its name, then keys and positions), the right value, and
the reason. A row whose value 1.8.1 gives as well, or whose place doesn't exist, fails the tests: so
the table never holds more than the true differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

Place: TypeAlias = tuple[str | int, ...]

GENRES = "news:genres was never read; it is a list, like the keywords"
ALTERNATES = "to_dict() tells the alternates where there are some"
AGENT = "the User-Agent that a session sets is kept"


@dataclass(frozen=True, slots=True)
class Correction:
    program: str
    place: Place
    value: object
    reason: str


CORRECTIONS: Final = (
    Correction(
        "callbacks",
        ("a bug in the callback",),
        "raised: a bug of the caller's",
        "what the caller's own code raises reaches the caller",
    ),
    Correction(
        "hand_made",
        ("page", "alternates"),
        [["nl", "https://made.example/nl"]],
        ALTERNATES,
    ),
    Correction(
        "hand_made",
        # The website, its robots.txt, the index in it, the sitemap in that, its first page.
        ("tree", *("sub_sitemaps", 0) * 3, "pages", 0, "alternates"),
        [["nl", "https://made.example/nl"]],
        ALTERNATES,
    ),
    Correction(
        "helper_calls",
        ("html_unescape_strip", "&copy 2020"),
        "&copy 2020",
        "an entity without its ; is none: ?a=1&copy=2 must stay as it is",
    ),
    Correction(
        "helper_calls",
        ("content cut at 4",),
        "<url",
        "the limit on what comes out holds for what was never packed, too",
    ),
    Correction(
        "push_parsers",
        ("urlset", 1, "pages", 0, "news_story", "genres"),
        ["Blog", "Opinion"],
        GENRES,
    ),
    Correction(
        "push_parsers",
        ("urlset", 1, "pages", 0, "alternates"),
        [["sv", "https://pushed.example/sv/a"]],
        ALTERNATES,
    ),
    Correction("requests_subclass", ("user agent",), "my-crawler/1.0", AGENT),
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
)
