"""Sitemaps that get another name: by a redirect, by what lists them, or by both at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import usp
from tests.server import Answer, Callback, Handler, LoopbackServer, Plain
from tests.sync.rounds import Told, kept, urlset
from tests.sync.test_rounds import in_asyncio, in_threads, told

APPEARS, GOES = {"added", "returned"}, {"missing", "removed"}
BIG = [f"big{number}" for number in range(40)]
"""Pages beside those that move, so that all of these may go at once."""


@dataclass(frozen=True)
class Layout:
    """What robots.txt lists, and what is at a.xml; at b.xml is a document, or 404."""

    listed: str
    a: str
    """A page that begins the names of its pages, ``->`` for a redirect to b.xml, or nothing."""
    b: str = "p"

    @property
    def kinds(self) -> set[str]:
        """What the pages are called that are listed."""
        return {kind for name in self.listed for kind in self.leads_to(name)}

    def leads_to(self, name: str) -> str:
        return self.b if name == "b" or self.a == "->" else self.a


LAYOUTS = [
    Layout("a", "p", ""),
    Layout("a", "->"),
    Layout("b", "->"),
    Layout("ab", "->"),
    Layout("b", ""),
    Layout("ab", "q"),
]


def each_after_each(number: int) -> Iterator[int]:
    """Yield numbers so that each one follows each one once (a de Bruijn sequence)."""
    for one in range(number):
        yield one
        for other in range(one + 1, number):
            yield from (one, other)


def prepare(server: LoopbackServer, layout: Layout, pages: Sequence[int]) -> None:
    def document(kind: str) -> bytes:
        return urlset(*(f"{kind}{number}" for number in pages))

    names = [f"{server.url}{name}.xml" for name in (*layout.listed, "big")]
    server.site = {
        "/robots.txt": kept("".join(f"Sitemap: {name}\n" for name in names).encode()),
        "/big.xml": kept(urlset(*BIG)),
    }
    if layout.a == "->":
        server.site["/a.xml"] = Answer(301, headers={"Location": f"{server.url}b.xml"})
    elif layout.a:
        server.site["/a.xml"] = kept(document(layout.a))
    if layout.b:
        server.site["/b.xml"] = kept(document(layout.b))


@pytest.mark.slow
def test_no_name_of_a_sitemap_makes_a_page_missing_or_new(
    server: LoopbackServer, tmp_path: Path
) -> None:
    steps = [(layout, is_changed) for layout in LAYOUTS for is_changed in (False, True)]
    first = 0
    known: set[str] = set()
    for run, step in enumerate(each_after_each(len(steps))):
        layout, is_changed = steps[step]
        first += is_changed
        pages = range(first, first + 3)
        prepare(server, layout, pages)
        listed = {f"{kind}{number}" for kind in layout.kinds for number in pages} | {*BIG}
        changes, report = in_threads(server.url, tmp_path / "state.db")
        known = listed if report.is_baseline else known
        for kind, page in told(changes):
            if kind in APPEARS:
                assert page not in known, (run, layout, kind)
                known.add(page)
            elif kind in GOES:
                known.discard(page)
        assert known == listed, (run, layout, is_changed)
    assert list(usp.diff(tmp_path / "state.db", server.url)) == []


def test_a_sitemap_that_a_known_path_led_to_once_is_gone_when_robots_txt_lists_another(
    server: LoopbackServer, tmp_path: Path
) -> None:
    def found() -> Told:
        return told(in_threads(server.url, tmp_path / "state.db")[0])

    robots = kept(f"Sitemap: {server.url}sitemap.xml\nSitemap: {server.url}big.xml\n".encode())
    sitemap, big = kept(urlset("p1", "p2")), kept(urlset(*BIG))
    server.site = {"/robots.txt": robots, "/sitemap.xml": sitemap, "/big.xml": big}
    assert found() == []
    server.site["/robots.txt"] = 503
    assert found() == []
    server.site = {
        "/robots.txt": f"Sitemap: {server.url}new.xml\nSitemap: {server.url}big.xml\n",
        "/new.xml": urlset("p1"),
        "/big.xml": big,
    }
    assert found() == [("moved", "p1"), ("missing", "p2")]


@pytest.mark.parametrize("run", [in_threads, in_asyncio])
def test_a_304_by_a_new_redirect_says_nothing_about_the_old_document(
    run: Callable[[str, Path], tuple[list[usp.Change], usp.SiteReport]],
    server: LoopbackServer,
    tmp_path: Path,
) -> None:
    def dated(body: bytes) -> Callback:
        """An answer with a date: 304 for who has that, or a later one."""

        def answer(handler: Handler) -> Plain:
            if handler.headers.get("If-Modified-Since"):
                return 304
            return Answer(200, body, {"Last-Modified": "Tue, 17 Nov 2026 08:00:00 GMT"})

        return answer

    state = tmp_path / "state.db"
    server.site = {
        "/robots.txt": f"Sitemap: {server.url}a.xml\n",
        "/a.xml": dated(urlset("p1", "p2")),
    }
    run(server.url, state)
    server.site["/a.xml"] = Answer(301, headers={"Location": "/b.xml"})
    server.site["/b.xml"] = dated(urlset("p2", "p3"))
    changes, _ = run(server.url, state)
    assert told(changes) == [("added", "p3"), ("missing", "p1")]
    changes, report = run(server.url, state)
    assert report.not_modified == 1
    assert list(usp.diff(state, server.url)) == []
