"""The sitemaps that a document lists: as many as are wanted become objects, the rest is counted."""

import pickle
import weakref
from collections.abc import Iterator

import pytest

from tests.server import LoopbackServer
from usp import Outcome, iter_pages
from usp._parse import Child, ChildSelection, Document, Kind, Pages, Source, inspect, known_document
from usp._parse.checking import Audit
from usp._parse.input.chunks import CHUNK_SIZE
from usp.objects.outcome import SkipReason
from usp.objects.problem import Problem
from usp.tree import sitemap_tree_for_homepage

HOME = "http://h.example/"


def index(*names: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{HOME}{name}</loc></sitemap>" for name in names)
    return f"<sitemapindex>{entries}</sitemapindex>".encode()


def inspected(data: bytes, selection: ChildSelection, url: str = f"{HOME}i.xml") -> Document:
    return inspect(Source([data], url), None, selection)


def is_odd(child: Child, *, in_index: bool) -> SkipReason | None:
    is_wanted = child.url[-1] in "02468" or not in_index
    return None if is_wanted else SkipReason.SITEMAP_PATTERN


def test_children_beyond_the_limit_are_counted() -> None:
    document = inspected(index(*"abcabde"), ChildSelection(limit=3))
    assert [child.url[-1] for child in document.children] == ["a", "b", "c"]
    assert (document.more_children, document.skipped) == (2, None), "a and b are known already"
    assert document.child_count == 5


def test_children_that_are_skipped_do_not_count_towards_the_limit() -> None:
    document = inspected(index(*"1133456789"), ChildSelection(2, is_odd))
    assert [child.url[-1] for child in document.children] == ["4", "6"]
    assert document.skipped == {SkipReason.SITEMAP_PATTERN: 3}, "1, 3 and 5: those before the limit"
    assert document.more_children == 3


def test_robots_txt_has_the_same_limit_and_is_no_index() -> None:
    lines = "".join(f"Sitemap: {HOME}{name}\n" for name in "1234")
    document = inspected(lines.encode(), ChildSelection(3, is_odd), f"{HOME}robots.txt")
    assert document.kind is Kind.ROBOTS
    assert [child.url[-1] for child in document.children] == ["1", "2", "3"]
    assert document.more_children == 1


def test_a_homepage_gives_a_thousand_sitemaps_and_a_thousand_feeds() -> None:
    links = [f'<link rel="sitemap" href="/s{n}.xml">' for n in range(1500)]
    feed = '<link rel="alternate" type="application/rss+xml" href="/f{}.xml">'
    links += [feed.format(number) for number in range(1200)]
    page = "<html>" + "".join(links)
    document = inspect(Source([page.encode()], HOME), Kind.HOMEPAGE)
    assert sum(child.is_feed for child in document.children) == 1000
    assert len(document.children) == 2000
    assert document.more_children == 700


@pytest.mark.slow
@pytest.mark.parametrize(
    "data", [index(*map(str, range(20_000))), b"<urlset>" + b"<url/>" * 200_000, b"x\n" * 300_000]
)
def test_reading_ends_between_two_parts_of_a_document(data: bytes) -> None:
    asked = 0

    def ended() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    with pytest.raises(TimeoutError):
        inspect(Source([data], HOME), None, ended=ended)
    asked = 0
    with pytest.raises(TimeoutError):
        list(Pages(Source([data], HOME)).walk(ended))


# Sitemaps in a urlset: those that the inspection finds, and those that only a walk finds

LOC = f"<loc>{HOME}c.xml</loc>"
SPELLINGS = {
    "plain": f"<sitemap>{LOC}</sitemap>",
    "capitals": f"<SITEMAP><LOC>{HOME}c.xml</LOC></SITEMAP>",
    "one capital": f"<Sitemap>{LOC}</Sitemap>",
    "a line break": f"<sitemap\n>{LOC}</sitemap>",
    "an attribute": f'<sitemap id="1">{LOC}</sitemap>',
    "a space": f"< sitemap>{LOC}</sitemap>",
    "a prefix": f"<sm:sitemap>{LOC}</sm:sitemap>",
    "a prefix and capitals": f"<sm:SITEMAP>{LOC}</sm:SITEMAP>",
    "a prefix that is not ASCII": f"<é:sitemap>{LOC}</é:sitemap>",
    "a prefix with a colon": f"<a:b:sitemap>{LOC}</a:b:sitemap>",
    "a long prefix": f"<{'p' * 100}:sitemap>{LOC}</{'p' * 100}:sitemap>",
    "an unclosed tag": f"<sitemap {LOC}</sitemap>",
}
UNUSUAL = f"<siteMap>{LOC}</siteMap>"
NO_CHILDREN = {
    "a comment": "<!-- our sitemap -->",
    "a text": "<x>a sitemap </x>",
    "a page": f"<url><loc>{HOME}sitemap/</loc></url>",
    "another page": f"<url><loc>{HOME}Special:Sitemap/</loc></url>",
    "another name": "<sitemaps/><sitemap-x/><sitemapé/>",
    "no URL": "<sitemap/>",
}


def listing(more: str, plain: int) -> bytes:
    entries = "".join(f"<url><loc>{HOME}{number}</loc></url>" for number in range(plain))
    return f"<urlset>{entries}{more}</urlset>".encode()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("expat_only", [False, True])
@pytest.mark.parametrize("plain", [0, 1, 3000])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_sitemap_in_a_urlset_is_found_however_it_is_spelt(
    spelling: str, plain: int, *, expat_only: bool
) -> None:
    data = listing(SPELLINGS[spelling], plain)
    for chunks in ([data], [data[at : at + 1] for at in range(len(data))] if plain < 9 else [data]):
        document = inspect(Source(chunks, HOME, expat_only=expat_only))
        assert [child.url for child in document.children] == [f"{HOME}c.xml"]
        assert isinstance(document.pages, Pages)
        assert document.pages.complete


@pytest.mark.parametrize("cut", range(1, 24))
def test_a_tag_that_begins_in_one_chunk_and_ends_in_the_next_is_found(cut: int) -> None:
    data = listing(SPELLINGS["a prefix that is not ASCII"], 10_000)
    at = data.index("<é".encode()) + cut
    document = inspect(Source([data[:at], data[at:]], HOME))
    assert [child.url for child in document.children] == [f"{HOME}c.xml"]


@pytest.mark.parametrize("plain", [1, 3000])
@pytest.mark.parametrize("what", NO_CHILDREN)
def test_what_only_mentions_sitemaps_lists_none(what: str, plain: int) -> None:
    document = inspect(Source([listing(NO_CHILDREN[what], plain)], HOME))
    assert document.children == ()
    assert isinstance(document.pages, Pages)
    assert document.pages.complete


def told(pages: Pages) -> list[str]:
    return [problem.code for problem in pages.known_errors]


@pytest.mark.parametrize("expat_only", [False, True])
def test_a_sitemap_that_only_a_walk_finds_is_told_as_lost(*, expat_only: bool) -> None:
    data = listing(UNUSUAL, 3000)
    document = inspect(Source([data], HOME, expat_only=expat_only))
    pages = document.pages
    assert isinstance(pages, Pages)
    assert (document.children, pages.known_errors) == ((), ())
    for _ in range(2):
        assert len(list(pages)) == 3000
        assert told(pages) == ["SM223"]
    assert (pages.known_errors[0].line, pages.known_errors[0].offset) == (1, data.index(b"<siteM"))
    assert pages.known_errors[0].message.endswith("its tag is written in an unusual way")
    assert not pages.complete
    again = pickle.loads(pickle.dumps(inspect(Source([data], HOME)).pages))
    assert (told(again), len(list(again)), told(again)) == ([], 3000, ["SM223"])
    by_columns = inspect(Source([data], HOME, expat_only=expat_only)).pages
    assert isinstance(by_columns, Pages)
    assert sum(len(batch["url"]) for batch in by_columns.columns(("lastmod",))) == 3000
    assert told(by_columns) == ["SM223"]
    audited = inspect(Source([data], HOME, expat_only=expat_only)).pages
    assert isinstance(audited, Pages)
    assert "SM223" in {one.code for one in Audit(audited) if isinstance(one, Problem)}
    assert told(audited) == ["SM223"]


def test_a_sitemap_that_only_a_walk_finds_makes_the_crawl_partial(server: LoopbackServer) -> None:
    server.robots("/s.xml")
    server.site["/s.xml"] = listing(UNUSUAL, 3000)
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False)
    assert len(list(tree.all_pages())) == 3000
    assert tree.outcome is Outcome.PARTIAL
    assert [problem.code for problem in tree.problems] == ["SM223"]
    stream = iter_pages(server.url, use_known_paths=False)
    assert len(list(stream)) == 3000
    assert stream.outcome is Outcome.PARTIAL
    assert [problem.code for problem in stream.problems] == ["SM223"]


def test_what_is_known_of_an_earlier_crawl_is_compared_too() -> None:
    source = Source([listing(UNUSUAL, 3000)], HOME)
    for children, expected in (([], ["SM223"]), ([(f"{HOME}c.xml", None)], [])):
        pages = known_document(source, Kind.URLSET, children).pages
        assert isinstance(pages, Pages)
        assert len(list(pages)) == 3000
        assert told(pages) == expected


def test_what_only_the_inspection_found_to_be_lost_stays_among_the_problems(
    server: LoopbackServer,
) -> None:
    # Two sitemaps that are alike, since bytes that are no UTF-8 were replaced.
    children = "".join(f"<sitemap><loc>{server.at(f'/{name}')}</loc></sitemap>" for name in "жш")
    server.robots("/s.xml")
    server.site["/s.xml"] = listing(children, 10).decode().encode("cp1251")
    tree = sitemap_tree_for_homepage(server.url, use_known_paths=False)
    for _ in range(2):
        assert "SM209" in {problem.code for problem in tree.problems}
        assert tree.outcome is Outcome.PARTIAL
        assert len(list(tree.all_pages())) == 10
    (robots,) = tree.sub_sitemaps
    (sitemap,) = robots.sub_sitemaps
    assert not sitemap.complete
    assert "SM209" in {problem.code for problem in sitemap.problems}
    again = pickle.loads(pickle.dumps(sitemap))
    assert len(list(again.pages)) == 10
    assert not again.complete


class CountedChunks(list[bytes]):
    """Chunks that count how often they were read."""

    readings = 0

    def __iter__(self) -> Iterator[bytes]:
        self.readings += 1
        return super().__iter__()


def test_an_index_is_read_once_for_its_children_and_its_problems() -> None:
    names = (f"sitemaps/of-the-year-{number}.xml" for number in range(5000))
    chunks = CountedChunks([index(*names, "sitemaps/of-the-year-1.xml")])
    assert len(chunks[0]) > CHUNK_SIZE  # it is not held in memory
    document = inspect(Source(chunks, "http://h.example/index.xml"))
    assert document.child_count == 5000
    assert isinstance(document.pages, Pages)
    assert [problem.code for problem in document.pages.problems] == ["SM219", "SM305"]
    assert chunks.readings == 1


def test_an_index_whose_pages_have_no_url_is_not_read_again_for_them() -> None:
    chunks = CountedChunks([b"<sitemapindex><sitemap>" + b"<url></url>" * 24_000])
    document = inspect(Source(chunks, "http://h.example/index.xml"))
    assert isinstance(document.pages, Pages)
    assert list(document.pages) == []
    assert not document.pages.complete
    assert chunks.readings == 1


def test_an_index_that_was_read_does_not_hold_what_limits_the_time() -> None:
    class Limit:
        def __call__(self) -> bool:
            return False

    limit = Limit()
    alive = weakref.ref(limit)
    document = inspect(Source([index("a.xml")], HOME), ended=limit)
    del limit
    assert alive() is None
    assert document.child_count == 1
