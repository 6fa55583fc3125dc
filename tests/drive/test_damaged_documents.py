"""Damaged documents: a tree knows of the damage once it was read, a stream at its end."""

import copy
import pickle
from collections.abc import Callable

import pytest

import usp
from tests.cli.command import usp as command
from tests.drive.ways import WAYS
from tests.server import LoopbackServer, index, urlset
from usp import Outcome
from usp.objects.events import CrawlFinished, Event
from usp.objects.sitemap import IndexWebsiteSitemap


def cut(server: LoopbackServer, *, pages: int = 3) -> bytes:
    """Return a sitemap whose end is missing."""
    return urlset(*(server.at(f"/{number}") for number in range(pages + 1)))[:-30]


@pytest.fixture
def damaged(server: LoopbackServer) -> LoopbackServer:
    server.robots("/a.xml", "/cut.xml")
    server.site |= {"/a.xml": urlset(server.at("/a")), "/cut.xml": cut(server)}
    return server


def crawled(server: LoopbackServer) -> IndexWebsiteSitemap:
    return usp.sitemap_tree_for_homepage(server.url, use_known_paths=False)


def test_the_outcome_of_a_tree_is_final_once_its_pages_were_walked(damaged: LoopbackServer) -> None:
    tree = crawled(damaged)
    assert (tree.outcome, tree.problems) == (Outcome.FOUND, ()), "nothing was parsed yet"
    assert tree.complete
    assert len(list(tree.all_pages())) == 4
    assert tree.outcome is Outcome.PARTIAL
    (problem,) = tree.problems
    assert (problem.code, problem.sitemap_url) == ("SM207", damaged.at("/cut.xml"))
    assert problem.line is not None
    assert not tree.complete


@pytest.mark.parametrize(
    "read",
    [
        lambda tree: tree.tree_complete,
        lambda tree: [sub.problems for sub in tree.all_sitemaps()],
        lambda tree: tree.to_dict(),
        lambda tree: [len(sub.pages) for sub in tree.all_sitemaps()],
    ],
)
def test_whatever_reads_the_documents_shows_the_damage(
    damaged: LoopbackServer, read: Callable[[IndexWebsiteSitemap], object]
) -> None:
    tree = crawled(damaged)
    read(tree)
    assert tree.outcome is Outcome.PARTIAL


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))]
)
def test_a_copy_knows_of_the_damage(
    damaged: LoopbackServer, copied: Callable[[IndexWebsiteSitemap], IndexWebsiteSitemap]
) -> None:
    tree = crawled(damaged)
    list(tree.all_pages())
    same = copied(tree)
    assert (same.outcome, same.problems) == (Outcome.PARTIAL, tree.problems)


def test_a_damaged_index_is_known_when_the_crawl_ends(server: LoopbackServer) -> None:
    server.robots("/i.xml")
    document = index(server.at("/a.xml"), server.at("/b.xml"))
    server.site |= {
        "/i.xml": document[: document.index(b"b.xml")],
        "/a.xml": urlset(server.at("/a")),
    }
    assert crawled(server).outcome is Outcome.PARTIAL


@pytest.mark.parametrize("way", WAYS)
def test_a_document_with_many_odd_entries_shows_its_damage_as_well(
    way: str, server: LoopbackServer
) -> None:
    """Its problems are no longer collected while it is read; that something is lost still is."""
    odd = "".join(
        f"<url><loc>{server.at(f'/{n}')}</loc><lastmod>?</lastmod></url>" for n in range(9000)
    )
    server.robots("/odd.xml")
    server.site["/odd.xml"] = f"<urlset>{odd}<url><loc>http://h.example/cut"
    found = WAYS[way](server.url, use_known_paths=False)
    assert (found.outcome, len(found.pages)) == (Outcome.PARTIAL, 9000)
    assert [problem.code for problem in found.problems] == ["SM207"]


def test_warnings_are_no_damage(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = f"<urlset><url><loc>{server.at('/?a=1&b=2')}</loc></url></urlset>"
    tree = crawled(server)
    assert tree.sub_sitemaps[0].sub_sitemaps[0].problems != ()
    assert (tree.outcome, tree.problems) == (Outcome.FOUND, ())


@pytest.mark.parametrize("way", WAYS)
def test_a_stream_that_a_limit_ends_has_not_read_what_is_damaged_behind_it(
    way: str, damaged: LoopbackServer
) -> None:
    damaged.site["/cut.xml"] = cut(damaged, pages=2_000)
    found = WAYS[way](damaged.url, limit=2)
    assert (found.outcome, len(found.pages)) == ("partial", 2)
    codes = [problem.code for problem in found.problems]
    assert codes == (["SM704"] if "stream" in way else ["SM704", "SM207"])


def test_a_filtered_tree_shows_the_damage(damaged: LoopbackServer) -> None:
    tree = usp.sitemap_tree_for_homepage(damaged.url, use_known_paths=False, exclude="/1$")
    assert len(list(tree.all_pages())) == 3
    assert tree.outcome is Outcome.PARTIAL


@pytest.mark.parametrize("way", ["stream", "asyncio stream"])
def test_the_last_event_of_a_stream_has_its_final_outcome(
    way: str, damaged: LoopbackServer
) -> None:
    events: list[Event] = []
    found = WAYS[way](damaged.url, observer=events.append)
    assert found.outcome is Outcome.PARTIAL
    assert events[-1] == CrawlFinished(Outcome.PARTIAL)
    assert sum(isinstance(event, CrawlFinished) for event in events) == 1


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("way", ["stream", "asyncio stream"])
def test_a_stream_keeps_a_bounded_number_of_failures(way: str, server: LoopbackServer) -> None:
    server.robots("/i.xml")
    children = [server.at(f"/{number}.xml") for number in range(1200)]
    server.site["/i.xml"] = index(*children, server.at("/a.xml"))
    server.site["/a.xml"] = urlset(server.at("/a"))
    found = WAYS[way](server.url)
    assert found.outcome is Outcome.PARTIAL
    *listed, more = found.problems
    assert [problem.sitemap_url for problem in listed] == children[:1000]
    assert (more.code, more.message) == ("SM702", "200 more problems are not listed")
    failed = [attempt.url for attempt in found.tried if attempt.result == "missing"]
    assert failed == children[:1000]
    assert len(found.tried) == 1003, "robots.txt, the index and a sitemap besides"


@pytest.mark.slow
@pytest.mark.parametrize("output", ["tabtree", "pages", "tried"])
def test_the_command_names_the_damaged_sitemap_in_its_last_line(
    output: str, damaged: LoopbackServer
) -> None:
    ended = command("ls", damaged.url, "-f", output)
    url = damaged.at("/cut.xml")
    assert ended.code == 0
    why = "the document is truncated inside an entry"
    assert ended.messages == [f"usp: {url}: {why}"]
    assert ended.partial == f"partial: 1 sitemap incomplete: {url} ({why})"
    assert command("ls", damaged.url, "-f", output, "--strict").code == 3


def test_the_command_names_the_damaged_sitemap_with_a_log_too(damaged: LoopbackServer) -> None:
    ended = command("ls", damaged.url, "-v")
    assert ended.partial is not None
    assert ended.partial.startswith(f"partial: 1 sitemap incomplete: {damaged.at('/cut.xml')} (")
    damaged.site["/a.xml"] = cut(damaged)
    ended = command("ls", damaged.url)
    assert ended.err.endswith(", and 1 more\n")


def test_a_damaged_file_is_partial(server: LoopbackServer, tmp_path: object) -> None:
    file = f"{tmp_path}/cut.xml"
    with open(file, "wb") as opened:  # noqa: PTH123 -- a name, as the command gets it
        opened.write(cut(server))
    ended = command("ls", file)
    assert ended.code == 0
    assert ended.partial is not None
    assert ended.partial.startswith(f"partial: 1 sitemap incomplete: {file} (")
    with usp.iter_pages(file) as pages:
        assert len(list(pages)) == 3
    assert pages.outcome is Outcome.PARTIAL
    assert [problem.sitemap_url for problem in pages.problems] == [file]
