"""Pairs for rules that need more than a document: live pages, a build folder, an earlier run.

Each has what trips the rule, and what is just inside.
"""

from dataclasses import dataclass, field
from typing import Final

from tests.check.documents import urlset
from tests.server import Answer, Plain, redirect

BASE: Final = "https://example.org/"
TEXT: Final = "<p>A text of its own.</p>"
_MODIFIED: Final = '<meta property="article:modified_time" content="{}">'
_LINK: Final = '<{0}link rel="alternate" hreflang="{1}" href="{{at}}{2}"/>'
_ALTERNATES: Final = _LINK.format("xhtml:", "en", "page") + _LINK.format("xhtml:", "de", "de")
_IMAGE: Final = "<image:image><image:loc>{at}a.jpg</image:loc></image:image>"


def page(head: str = "", body: str = TEXT, **headers: str) -> Answer:
    """A page; underscores in the names of headers are hyphens."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    html = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return Answer(body=html, headers={"Content-Type": "text/html; charset=utf-8", **names})


@dataclass(frozen=True, slots=True)
class PagePair:
    """What the server has at /page, wrong and right; ``{at}`` is the URL of the server."""

    wrong: Plain
    right: Plain
    severity: str
    entry: str = ""
    """What the entry of the page has beside its URL."""
    others: dict[str, tuple[Plain, Plain]] = field(default_factory=dict)
    """Other paths, wrong and right."""


PAGE_PAIRS: Final[dict[str, PagePair]] = {
    "SM901": PagePair(404, page(), "error"),
    "SM902": PagePair(500, page(), "error"),
    "SM903": PagePair(redirect("/other"), page(), "warning", others={"/other": (page(), page())}),
    "SM904": PagePair(
        page('<meta name="robots" content="noindex">'),
        page('<meta name="robots" content="noimageindex">'),
        "error",
    ),
    "SM905": PagePair(
        page('<link rel="canonical" href="/b">'),
        page('<link rel="canonical" href="/page#a">'),
        "warning",
    ),
    "SM906": PagePair(403, page(), "undecided"),
    "SM907": PagePair(redirect("/"), page(), "warning", others={"/": (page(), page())}),
    "SM908": PagePair(
        page(_MODIFIED.format("2026-01-31T00:00:01Z")),
        page(_MODIFIED.format("2026-01-31T00:00:00Z")),
        "warning",
        "<lastmod>2026-01-01</lastmod>",
    ),
    "SM909": PagePair(
        page(_LINK.format("", "en", "page")),
        page(_LINK.format("", "en", "page") + _LINK.format("", "de", "de")),
        "warning",
        _ALTERNATES,
    ),
    "SM910": PagePair(page(body="<main></main>"), page(body="<main>A</main>"), "warning"),
    "SM911": PagePair(page(), page(), "warning", _IMAGE, {"/a.jpg": (404, b"jpeg")}),
}

Files = dict[str, str]
"""Texts by the names of files."""


def _site(*paths: str, **pages: str) -> Files:
    entries = (f"<loc>{BASE}{path}</loc><lastmod>2026-11-01</lastmod>" for path in paths)
    return {
        "robots.txt": f"Sitemap: {BASE}sitemap.xml\n",
        "sitemap.xml": urlset(*entries),
        **{f"{name}.html": html for name, html in pages.items()},
    }


FOLDER_PAIRS: Final[dict[str, tuple[Files, Files, str]]] = {
    "SM662": (
        {**_site("a", a=TEXT), "robots.txt": f"Sitemap: {BASE}gone.xml\n"},
        _site("a", a=TEXT),
        "error",
    ),
    "SM920": (_site("a"), _site("a", a=TEXT), "error"),
    "SM921": (
        _site("a", a=TEXT, b=TEXT),
        _site("a", a=TEXT, b='<meta name="robots" content="noindex">'),
        "warning",
    ),
}
"""The files of a folder, wrong and right, and the severity."""


@dataclass(frozen=True, slots=True)
class EarlierPair:
    """The paths of a sitemap in the earlier run, and then; None for a sitemap that is not there."""

    before: list[str]
    wrong: list[str] | None
    right: list[str] | None
    severity: str
    wrong_date: str = "2020-01-01"
    live: dict[str, tuple[Plain, Plain]] | None = None
    """What is at paths, wrong and right, if live pages are requested."""


def _pages(count: int, suffix: str = "") -> list[str]:
    return [f"p{number}{suffix}" for number in range(count)]


EARLIER_PAIRS: Final[dict[str, EarlierPair]] = {
    "SM458": EarlierPair(_pages(20), _pages(20), _pages(20), "warning", "2099-01-01"),
    "SM801": EarlierPair(_pages(100), _pages(79), _pages(80), "error"),
    "SM802": EarlierPair(_pages(3), None, _pages(3), "error"),
    "SM803": EarlierPair(_pages(3), [], _pages(1), "error"),
    "SM804": EarlierPair(
        _pages(20),
        [*_pages(18, "/"), *_pages(2, "-new")],
        [*_pages(17, "/"), *_pages(3, "-new")],
        "warning",
    ),
    "SM805": EarlierPair(
        _pages(3), _pages(2), _pages(2), "warning", live={"/p2": (404, redirect("/p0"))}
    ),
}
