"""A large document is held whole at most once: by the caller who has it, else by nobody.

What is held is counted by tracemalloc: the most that was allocated at once, compared with the size
of the document as it is unpacked.
"""

import asyncio
import copy
import gzip
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

import usp
from tests.server import Answer, LoopbackServer
from usp import aio
from usp._parse.input.chunks import peek
from usp.cli.cli import main
from usp.objects.sitemap import AbstractSitemap

MIB: Final = 1024 * 1024
PAGES: Final = 3_000
ENTRY: Final = (
    "<url><loc>https://example.org/{0}</loc><image:image><image:loc>https://example.org/{0}.png"
    "</image:loc><image:caption>{1}</image:caption></image:image></url>\n"
)
TEXT: Final = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">\n'
    + "".join(ENTRY.format(n, f"caption {n} " * 300) for n in range(PAGES))
    + "</urlset>\n"
)
PLAIN: Final = TEXT.encode()
SIZE: Final = len(PLAIN)
MOST: Final = SIZE / 2
"""Far less than the document, far more than pieces, a tree and the names of all its pages."""
FORMS: Final = {
    "plain": PLAIN,
    "gzip": gzip.compress(PLAIN, 1),
    "gzip twice": gzip.compress(gzip.compress(PLAIN, 1), 1),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16 in gzip": gzip.compress(TEXT.encode("utf-16"), 1),
    "windows-1252": b'<?xml version="1.0" encoding="windows-1252"?>'
    + TEXT.replace("caption", "capti\xf6n").encode("cp1252"),
}

Walk = Callable[[AbstractSitemap], int]


def counted(sitemap: AbstractSitemap) -> int:
    return sum(1 for _ in sitemap.all_pages())


def checked(sitemap: AbstractSitemap) -> int:
    """Also read it for what is wrong with it."""
    assert all(one.complete for one in (sitemap, *sitemap.all_sitemaps()))
    return counted(sitemap)


def copied(sitemap: AbstractSitemap) -> int:
    return counted(copy.deepcopy(sitemap))


def pickled(sitemap: AbstractSitemap) -> int:
    once = pickle.loads(pickle.dumps(sitemap))
    return counted(pickle.loads(pickle.dumps(once)))


def without_pages(sitemap: AbstractSitemap) -> int:
    sitemap.to_dict(with_pages=False)
    return counted(sitemap)


WALKS: Final[tuple[Walk, ...]] = (counted, checked, copied, pickled, without_pages)
CASES: Final = [
    *(pytest.param(form, checked, id=form) for form in FORMS),
    *(pytest.param("plain", walk, id=walk.__name__) for walk in WALKS),
]


@pytest.fixture
def most_held() -> Iterator[Callable[[], int]]:
    """Tells the most that was held at once since the test began."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    yield lambda: tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()


def test_the_document_is_large_enough_to_tell() -> None:
    assert SIZE > 10 * MIB


@pytest.mark.parametrize(("form", "walk"), CASES)
def test_from_a_file(tmp_path: Path, most_held: Callable[[], int], form: str, walk: Walk) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(FORMS[form])
    assert walk(usp.sitemap_tree(file)) == PAGES
    assert most_held() < MOST


@pytest.mark.parametrize("form", FORMS)
def test_as_a_stream_from_a_file(tmp_path: Path, most_held: Callable[[], int], form: str) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(FORMS[form])
    assert sum(1 for _ in usp.iter_pages(file)) == PAGES
    assert most_held() < MOST


@pytest.mark.parametrize("walk", WALKS)
def test_a_text_that_the_caller_has(most_held: Callable[[], int], walk: Walk) -> None:
    assert walk(usp.sitemap_from_str(TEXT)) == PAGES
    assert walk(usp.parse(TEXT)) == PAGES
    assert most_held() < MOST


@pytest.mark.parametrize(("form", "walk"), CASES)
def test_bytes_that_the_caller_has(most_held: Callable[[], int], form: str, walk: Walk) -> None:
    assert walk(usp.parse(FORMS[form])) == PAGES
    assert most_held() < MOST


def served(server: LoopbackServer, form: str) -> None:
    server.robots("/sitemap.xml")
    server.site["/sitemap.xml"] = Answer(body=FORMS[form])


@pytest.mark.parametrize("form", FORMS)
def test_over_http(server: LoopbackServer, most_held: Callable[[], int], form: str) -> None:
    served(server, form)
    assert checked(usp.sitemap_tree(server.url)) == PAGES
    assert sum(1 for _ in usp.iter_pages(server.url)) == PAGES
    assert most_held() < MOST


@pytest.mark.parametrize("form", ["plain", "UTF-16 in gzip"])
def test_over_http_in_asyncio(
    server: LoopbackServer, most_held: Callable[[], int], form: str
) -> None:
    served(server, form)

    async def crawl() -> int:
        tree = await aio.sitemap_tree(server.url)
        return counted(tree)

    assert asyncio.run(crawl()) == PAGES
    assert most_held() < MOST


def test_with_the_command(
    tmp_path: Path, most_held: Callable[[], int], capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(PLAIN)
    main(["ls", str(file), "-f", "pages"])
    held = most_held()
    assert len(capfd.readouterr().out.splitlines()) == PAGES
    assert held < MOST


def test_to_look_at_the_beginning_copies_nothing() -> None:
    """Workers that look at documents side by side would each hold several copies of a piece."""
    piece = bytes(256 * 1024)
    head, chunks = peek(iter([piece, b"x"]), 1024)
    assert head is piece
    assert list(chunks) == [piece, b"x"]


def test_a_tree_from_a_pickle_takes_the_room_of_the_pickle(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(PLAIN)
    sealed = pickle.dumps(usp.sitemap_tree(file))
    tracemalloc.start()
    tree = pickle.loads(sealed)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert counted(tree) == PAGES
    assert held < len(sealed) + MIB
    assert len(sealed) < SIZE / 10


def test_a_copy_outlives_what_it_was_made_of(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(PLAIN)
    tree = usp.sitemap_tree(file)
    again = copy.deepcopy(tree)
    assert again == tree
    del tree
    file.unlink()
    assert counted(again) == PAGES
