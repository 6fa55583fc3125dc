"""A site on the loopback interface that changes from round to round, and what that means.

Each round says what the server answers from now on, and the changes that a run must find.
"""

import zlib
from dataclasses import dataclass
from typing import TypeAlias

from tests.server import Answer, Callback, Handler, LoopbackServer, Plain

NS = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
)
PAGES = "https://pages.example/"
BIG = tuple(f"big{number}" for number in range(30))

Told: TypeAlias = list[tuple[str, str]]


def page(name: str, *, lastmod: str = "", priority: str = "") -> str:
    fields = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    fields += f"<priority>{priority}</priority>" if priority else ""
    return f"<url><loc>{PAGES}{name}</loc>{fields}</url>"


def story(name: str) -> str:
    fields = (
        "<news:publication><news:name>N</news:name><news:language>en</news:language>"
        "</news:publication><news:publication_date>2026-11-01</news:publication_date>"
        f"<news:title>{name}</news:title>"
    )
    return f"<url><loc>{PAGES}{name}</loc><news:news>{fields}</news:news></url>"


def urlset(*entries: str) -> bytes:
    plain = "".join(entry if entry.startswith("<") else page(entry) for entry in entries)
    return f"<urlset {NS}>{plain}</urlset>".encode()


def news(*names: str) -> bytes:
    return urlset(*map(story, names))


def kept(body: bytes) -> Callback:
    """An answer with an ETag: 304 for who has it."""
    etag = f'"{zlib.crc32(body):x}"'

    def answer(handler: Handler) -> Plain:
        if handler.headers.get("If-None-Match") == etag:
            return Answer(304, headers={"ETag": etag})
        return Answer(200, body, {"ETag": etag, "Content-Type": "application/xml"})

    return answer


def cut(body: bytes, keep: float = 0.6) -> Callback:
    """An answer that breaks off."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("ETag", '"cut"')
        handler.end_headers()
        handler.wfile.write(body[: int(len(body) * keep)])

    return answer


@dataclass(frozen=True)
class Round:
    """What the server answers from now on, and the changes that a run must find."""

    name: str
    answers: dict[str, Plain | Callback]
    expected: Told
    held_back: int = 0


def rounds(url: str) -> list[Round]:
    """The rounds for a server at this URL."""

    def index(*names: str) -> bytes:
        listed = "".join(f"<sitemap><loc>{url}{name}.xml</loc></sitemap>" for name in names)
        return f"<sitemapindex {NS}>{listed}</sitemapindex>".encode()

    def each(kind: str, names: tuple[str, ...]) -> Told:
        return [(kind, name) for name in names]

    robots = f"Sitemap: {url}index.xml\nSitemap: {url}news.xml\n".encode()
    two, three = page("a2", lastmod="2026-11-01"), page("a3")
    first = urlset("a1", two, three)
    newer = page("a2", lastmod="2026-11-02")
    big = urlset(*(page(name, lastmod="2026-10-01") for name in BIG))
    bumped = urlset(*(page(name, lastmod="2026-11-03") for name in BIG))
    with_a4 = urlset("a1", two, three, "a4")
    without_a3 = urlset("a1", newer, "a4")
    last_a = urlset(newer, three, "a4", "n5")
    last_b = urlset("b1", "b2", "a1")
    return [
        Round(
            "a baseline",
            {
                "/robots.txt": kept(robots),
                "/index.xml": kept(index("a", "b")),
                "/a.xml": kept(first),
                "/b.xml": kept(urlset("b1", "b2")),
                "/news.xml": kept(news("n1", "n2")),
            },
            [],
        ),
        Round("nothing new", {}, []),
        Round("one page more", {"/a.xml": kept(with_a4)}, [("added", "a4")]),
        Round("503", {"/a.xml": 503}, []),
        Round("back again", {"/a.xml": kept(with_a4)}, []),
        Round("a cut body", {"/a.xml": cut(with_a4)}, []),
        Round("whole again", {"/a.xml": kept(with_a4)}, []),
        Round(
            "a newer date",
            {"/a.xml": kept(urlset("a1", newer, three, "a4"))},
            [("changed", "a2")],
        ),
        Round("an older date", {"/a.xml": kept(with_a4)}, []),
        Round(
            "a newer date, one page less",
            {"/a.xml": kept(without_a3)},
            [("missing", "a3"), ("changed", "a2")],
        ),
        Round("503 confirms nothing", {"/a.xml": 503}, []),
        Round("a cut body confirms nothing", {"/a.xml": cut(without_a3)}, []),
        Round("confirmed", {"/a.xml": kept(without_a3)}, [("removed", "a3")]),
        Round(
            "listed again",
            {"/a.xml": kept(urlset("a1", newer, three, "a4"))},
            [("returned", "a3")],
        ),
        Round(
            "another sitemap",
            {"/a.xml": kept(urlset(newer, three, "a4")), "/b.xml": kept(last_b)},
            [("moved", "a1")],
        ),
        Round("the other one fails", {"/b.xml": 503}, []),
        Round("and is back", {"/b.xml": kept(last_b)}, []),
        Round(
            "the window of the news rolls on",
            {"/news.xml": kept(news("n2", "n3"))},
            [("added", "n3"), ("expired", "n1")],
        ),
        Round(
            "and on",
            {"/news.xml": kept(news("n3", "n4"))},
            [("added", "n4"), ("expired", "n2")],
        ),
        Round("the news fail", {"/news.xml": cut(news("n9", "n4"), 0.1)}, []),
        Round("fewer news", {"/news.xml": kept(news("n4"))}, [("expired", "n3")]),
        Round("no news", {"/news.xml": kept(urlset())}, [("expired", "n4")]),
        Round("news again", {"/news.xml": kept(news("n5"))}, [("added", "n5")]),
        Round(
            "from the news to the archive",
            {"/news.xml": kept(urlset()), "/a.xml": kept(last_a)},
            [("moved", "n5")],
        ),
        Round(
            "a new sitemap",
            {"/index.xml": kept(index("a", "b", "big")), "/big.xml": kept(big)},
            each("added", BIG),
        ),
        Round("all dates move", {"/big.xml": kept(bumped)}, [("churn", f"{url}big.xml")]),
        Round("and stay", {}, []),
        Round("the index fails", {"/index.xml": 503}, []),
        Round("the index is cut", {"/index.xml": cut(index("a", "b", "big"))}, []),
        Round("the index is an HTML page", {"/index.xml": b"<html><body>Oops</body></html>"}, []),
        Round("the index is whole", {"/index.xml": kept(index("a", "b", "big"))}, []),
        Round("robots.txt fails", {"/robots.txt": 503}, []),
        Round("robots.txt is back", {"/robots.txt": kept(robots)}, []),
        Round("a mass removal", {"/big.xml": kept(urlset())}, each("missing", BIG)),
        Round("is held back", {}, [], held_back=30),
        Round("and undone", {"/big.xml": kept(bumped)}, each("returned", BIG)),
        Round("a sitemap less", {"/index.xml": kept(index("a", "b"))}, each("missing", BIG)),
        Round(
            "it is listed again",
            {"/index.xml": kept(index("a", "b", "big"))},
            each("returned", BIG),
        ),
        Round(
            "it has another name",
            {"/index.xml": kept(index("a", "b", "large")), "/large.xml": kept(bumped)},
            each("moved", BIG),
        ),
        Round("an HTML page", {"/b.xml": b"<html><body>Oops</body></html>"}, []),
        Round("an empty body", {"/b.xml": b""}, []),
        Round("whole at last", {"/b.xml": kept(last_b)}, []),
        Round(
            "another field",
            {"/b.xml": kept(urlset("b1", page("b2", priority="0.9"), "a1"))},
            [("changed", "b2")],
        ),
        Round("nothing new at the end", {}, []),
    ]


def prepare(server: LoopbackServer, one: Round) -> None:
    """Let the server answer as a round says."""
    server.site.update(one.answers)
