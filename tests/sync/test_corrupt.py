"""A sitemap whose compressed data is corrupt may list what the site never did: that is no news.

A truncated one lacks its end, but what it has is the site's.
"""

import gzip
from pathlib import Path

import pytest

from tests.server import LoopbackServer
from tests.sync.rounds import kept, page, urlset
from tests.sync.test_left_out import index, report, run, serve
from usp.objects.outcome import Outcome

OLD = urlset("1", page("2", lastmod="2026-01-01"))
NEW = urlset("1", page("2", lastmod="2026-01-01"), "3")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def corrupt(body: bytes) -> bytes:
    """The same in gzip, in which some bits of a URL and of a date are others."""
    stored = gzip.compress(body, 0)
    assert b"example/1" in stored, "it is not compressed, so a byte of it can be changed"
    return stored.replace(b"example/1", b"example/9").replace(b"2026", b"2027")


@pytest.mark.parametrize("has_etag", [False, True])
def test_what_a_corrupt_sitemap_lists_is_held_back_until_it_is_read_undamaged(
    server: LoopbackServer, state: Path, has_etag: bool
) -> None:
    url = f"{server.url}a.xml"
    serve(server, a=gzip.compress(OLD))
    assert run(url, state) == []
    server.site["/a.xml"] = kept(corrupt(NEW)) if has_etag else corrupt(NEW)
    for _ in range(3):
        made = report(url, state)
        assert (made.outcome, made.incomplete, made.changes.total()) == (Outcome.PARTIAL, 1, 0)
    serve(server, a=gzip.compress(NEW))
    assert run(url, state) == [("added", "3")]


def test_a_sitemap_that_is_corrupt_in_the_first_run_belongs_to_the_baseline_when_it_is_not(
    server: LoopbackServer, state: Path
) -> None:
    serve(server, index=index(server, "a", "b"), a=corrupt(OLD), b=urlset("5"))
    url = f"{server.url}index.xml"
    assert [run(url, state) for _ in range(2)] == [[], []]
    serve(server, a=gzip.compress(OLD))
    assert run(url, state) == []
    serve(server, a=gzip.compress(NEW))
    assert run(url, state) == [("added", "3")]


def test_a_new_sitemap_that_is_corrupt_adds_its_pages_when_it_is_not(
    server: LoopbackServer, state: Path
) -> None:
    serve(server, index=index(server, "b"), b=urlset("5"))
    url = f"{server.url}index.xml"
    assert run(url, state) == []
    serve(server, index=index(server, "a", "b"), a=corrupt(OLD))
    assert [run(url, state) for _ in range(2)] == [[], []]
    serve(server, a=gzip.compress(OLD))
    assert run(url, state) == [("added", "1"), ("added", "2")]


def test_what_a_truncated_sitemap_lists_is_news(server: LoopbackServer, state: Path) -> None:
    url = f"{server.url}a.xml"
    serve(server, a=gzip.compress(OLD))
    assert run(url, state) == []
    more = gzip.compress(urlset("3", *(f"later-{number}" for number in range(50))), 0)
    serve(server, a=more[: more.index(b"later-1<")])
    assert run(url, state) == [("added", "3"), ("added", "later-0")]


def test_a_corrupt_index_takes_nothing_away(server: LoopbackServer, state: Path) -> None:
    serve(server, index=index(server, "a", "b"), a=urlset("1"), b=urlset("2"))
    url = f"{server.url}index.xml"
    assert run(url, state) == []
    stored = gzip.compress(index(server, "a", "b"), 0)
    serve(server, index=stored.replace(b"/b.xml", b"/c.xml"), a=urlset("1", "3"))
    assert run(url, state) == [("added", "3")]
    serve(server, index=index(server, "a", "b"))
    assert run(url, state) == []
