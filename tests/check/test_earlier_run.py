"""Against the last run: what usp sync has seen before is compared with what is there now."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import usp
from tests.server import LoopbackServer, redirect
from tests.server import index as index_of
from tests.server import urlset as plain_urlset
from usp.exceptions import UsageError

SITEMAP = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
EARLIER = ["SM458", "SM8", "SM750"]


def urlset(urls: Iterable[str], date: str = "2020-01-01") -> str:
    entries = "".join(f"<url><loc>{url}</loc><lastmod>{date}</lastmod></url>\n" for url in urls)
    return f"<urlset {SITEMAP}>\n{entries}</urlset>"


class Site:
    """A site that a sync has read once."""

    def __init__(self, server: LoopbackServer, folder: Path) -> None:
        self.server = server
        self.state = folder / "site.db"

    def pages(self, count: int, suffix: str = "") -> list[str]:
        return [self.server.at(f"/p{number}{suffix}") for number in range(count)]

    def serve(self, **sitemaps: str | int) -> None:
        """Serve sitemaps by their names; robots.txt declares them."""
        self.server.robots(*(f"/{name}.xml" for name in sitemaps))
        self.server.site |= {f"/{name}.xml": body for name, body in sitemaps.items()}

    def sync(self) -> None:
        with usp.sync(self.server.url, state=self.state) as changes:
            assert list(changes) == []

    def found(self, **options: Any) -> list[usp.Occurrence]:
        found: list[usp.Occurrence] = []
        chosen: dict[str, Any] = {"select": EARLIER, "max_attempts": 1, **options}
        with usp.check(
            self.server.url, state=self.state, on_occurrence=found.append, **chosen
        ) as stream:
            list(stream)
        return found

    def codes(self, **options: Any) -> list[str]:
        return [one.code for one in self.found(**options)]


@pytest.fixture
def site(server: LoopbackServer, tmp_path: Path) -> Site:
    return Site(server, tmp_path)


def test_nothing_is_found_where_nothing_changed(site: Site) -> None:
    site.serve(a=urlset(site.pages(30)))
    site.sync()
    assert site.codes() == []


def test_pages_may_fall_by_so_much_and_no_more(site: Site) -> None:
    site.serve(a=urlset(site.pages(100)))
    site.sync()
    site.serve(a=urlset(site.pages(80)))
    assert site.codes() == []
    site.serve(a=urlset(site.pages(79)))
    (occurrence,) = site.found()
    assert (occurrence.code, occurrence.sitemap_url) == ("SM801", None)
    assert occurrence.detail == "100 pages in the earlier run, 79 now: 21% fewer"
    assert site.codes(max_drop="50%") == []


def test_a_sitemap_that_was_not_read_whole_does_not_count_as_a_drop(site: Site) -> None:
    site.serve(a=urlset(site.pages(100)))
    site.sync()
    site.serve(a=urlset(site.pages(50)).removesuffix("</urlset>"))
    assert site.codes() == []


def test_a_sitemap_that_is_gone_or_empty_is_found(site: Site) -> None:
    site.serve(a=urlset(site.pages(3)), b=urlset(site.pages(3, "b")))
    site.sync()
    site.serve(a=404, b=plain_urlset().decode())
    found = {(one.code, one.sitemap_url) for one in site.found(max_drop=1.0)}
    server = site.server
    assert found == {("SM802", server.at("/a.xml")), ("SM803", server.at("/b.xml"))}


def test_a_sitemap_that_nothing_names_is_gone_unless_others_have_its_pages(site: Site) -> None:
    site.serve(a=urlset(site.pages(3)), b=urlset(site.pages(3, "b")))
    site.sync()
    site.serve(a=urlset([*site.pages(3), *site.pages(3, "b")]))
    assert site.codes() == []
    site.serve(a=urlset([*site.pages(3), *site.pages(2, "b")]))
    (occurrence,) = site.found()
    assert occurrence.code == "SM802"
    assert occurrence.detail.endswith("1 of its 3 pages are in no sitemap")


def test_what_an_unread_index_may_name_is_undecided(site: Site) -> None:
    server = site.server
    site.serve(index=index_of(server.at("/a.xml")).decode(), b=urlset(site.pages(3, "b")))
    server.site["/a.xml"] = urlset(site.pages(3))
    site.sync()
    server.site["/index.xml"] = 500
    assert site.codes() == ["SM802", "SM750"]


def test_a_blank_date_before_the_date_does_not_hide_that_it_moved(site: Site) -> None:
    site.serve(a=urlset(site.pages(20)))
    site.sync()
    moved = urlset(site.pages(20), "2099-01-01")
    site.serve(a=moved.replace("<lastmod>", "<lastmod> </lastmod><lastmod>"))
    assert site.codes() == ["SM458"]


def test_dates_that_move_alone_are_found(site: Site) -> None:
    site.serve(a=urlset(site.pages(20)))
    site.sync()
    site.serve(a=urlset(site.pages(20), "2099-01-01"))
    assert site.codes() == ["SM458"]
    two_old = (
        urlset(site.pages(2)).removesuffix("</urlset>")
        + urlset(site.pages(20)[2:], "2099-01-01").partition("\n")[2]
    )
    site.serve(a=two_old)
    assert site.codes() == ["SM458"]
    three_old = (
        urlset(site.pages(3)).removesuffix("</urlset>")
        + urlset(site.pages(20)[3:], "2099-01-01").partition("\n")[2]
    )
    site.serve(a=three_old)
    assert site.codes() == []
    site.serve(a=urlset(site.pages(21), "2099-01-01"))
    assert site.codes() == []


def test_a_change_of_spelling_is_found(site: Site) -> None:
    site.serve(a=urlset(site.pages(20)))
    site.sync()
    site.serve(a=urlset(site.pages(20, "/")))
    assert site.codes() == ["SM804"]
    site.serve(a=urlset([*site.pages(17, "/"), *site.pages(3, "-new")]))
    assert site.codes() == []


def test_removed_pages_without_a_redirect_are_found_live(site: Site) -> None:
    server = site.server
    site.serve(a=urlset(site.pages(10)))
    site.sync()
    kept, moved, gone = site.pages(8), *(url for url in site.pages(10)[8:])
    site.serve(a=urlset(kept))
    server.site[moved.removeprefix(server.url.rstrip("/"))] = redirect("/p0")
    server.site |= {f"/p{number}": b"<p>text</p>" for number in range(8)}
    found = site.found(select=["SM805"], live="all")
    assert [(one.url, one.sitemap_url) for one in found] == [(gone, server.at("/a.xml"))]
    methods = {request.path: request.method for request in server.requests[-20:]}
    assert methods["/p9"] == "HEAD"


def test_without_an_earlier_run_nothing_is_decided(site: Site) -> None:
    site.serve(a=urlset(site.pages(3)))
    (occurrence,) = site.found()
    assert occurrence.code == "SM750"
    assert "no earlier run" in occurrence.detail
    assert not site.state.exists()


def test_a_check_leaves_the_state_as_it_was(site: Site) -> None:
    site.serve(a=urlset(site.pages(3)))
    site.sync()
    before = site.state.read_bytes()
    site.serve(a=urlset(site.pages(1)))
    site.found()
    assert site.state.read_bytes() == before


def test_wrong_use_gives_one_clear_line(site: Site, tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database, but a text that is long enough to be read")
    with pytest.raises(UsageError, match="is not a state of usp"):
        usp.check(site.server.url, state=tmp_path / "text.db")
    with pytest.raises(UsageError, match="max_drop needs a state"):
        usp.check(site.server.url, max_drop="5%")
    with pytest.raises(UsageError, match="max_drop must be"):
        usp.check(site.server.url, state=site.state, max_drop="much")
