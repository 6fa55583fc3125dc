"""Sitemaps that get another name: by a redirect, by what lists them, or by both at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import usp
from tests.server import Answer, LoopbackServer
from tests.sync.rounds import PAGES, kept, urlset

APPEARS = {"added", "returned"}
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


def test_no_name_of_a_sitemap_makes_a_page_missing_or_new(
    server: LoopbackServer, tmp_path: Path
) -> None:
    steps = [(layout, changes) for layout in LAYOUTS for changes in (False, True)]
    first, known = 0, None
    for run, number in enumerate(each_after_each(len(steps))):
        layout, changes = steps[number]
        first += changes
        pages = range(first, first + 3)
        prepare(server, layout, pages)
        listed = {f"{kind}{page}" for kind in layout.kinds for page in pages} | {*BIG}
        with usp.sync(server.url, state=tmp_path / "state.db", max_attempts=1) as found:
            for change in found:
                assert known is not None
                url = change.url.removeprefix(PAGES)
                if change.change in APPEARS:
                    assert url not in known, (run, layout, change)
                    known.add(url)
                elif change.change == "missing":
                    known.remove(url)
                elif change.change == "removed":
                    assert url not in known, (run, layout, change)
        known = known or listed
        assert known == listed, (run, layout, changes)
    assert list(usp.diff(tmp_path / "state.db", server.url)) == []


def test_a_sitemap_that_a_known_path_led_to_once_is_gone_when_robots_txt_lists_another(
    server: LoopbackServer, tmp_path: Path
) -> None:
    def told() -> list[tuple[str, str]]:
        with usp.sync(server.url, state=tmp_path / "state.db", max_attempts=1) as found:
            return [(str(one.change), one.url.removeprefix(PAGES)) for one in found]

    robots = kept(f"Sitemap: {server.url}sitemap.xml\nSitemap: {server.url}big.xml\n".encode())
    sitemap, big = kept(urlset("p1", "p2")), kept(urlset(*BIG))
    server.site = {"/robots.txt": robots, "/sitemap.xml": sitemap, "/big.xml": big}
    assert told() == []
    server.site["/robots.txt"] = 503
    assert told() == []
    server.site = {
        "/robots.txt": f"Sitemap: {server.url}new.xml\nSitemap: {server.url}big.xml\n",
        "/new.xml": urlset("p1"),
        "/big.xml": big,
    }
    assert told() == [("moved", "p1"), ("missing", "p2")]
