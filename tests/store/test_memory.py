"""No copy of a whole large document is held in memory, beside one that the caller has.

tracemalloc measures the peak of allocated memory. It is compared with the decompressed size.
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
MAX_PEAK: Final = SIZE / 2
"""Far less than the document; far more than chunks, a tree and the URLs of all its pages."""
ENCODED: Final = {
    "plain": PLAIN,
    "gzip": gzip.compress(PLAIN, 1),
    "gzip twice": gzip.compress(gzip.compress(PLAIN, 1), 1),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16 in gzip": gzip.compress(TEXT.encode("utf-16"), 1),
    "windows-1252": b'<?xml version="1.0" encoding="windows-1252"?>'
    + TEXT.replace("caption", "capti\xf6n").encode("cp1252"),
}

Use = Callable[[AbstractSitemap], int]
"""Uses a sitemap in some way, and returns the number of its pages."""


def counted(sitemap: AbstractSitemap) -> int:
    return sum(1 for _ in sitemap.all_pages())


def checked(sitemap: AbstractSitemap) -> int:
    """Read all sitemaps for their problems, too."""
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


USES: Final[tuple[Use, ...]] = (counted, checked, copied, pickled, without_pages)
CASES: Final = [
    *(pytest.param(name, checked, id=name) for name in ENCODED),
    *(pytest.param("plain", use, id=use.__name__) for use in USES),
]


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """Return the peak of allocated memory since the test began."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    yield lambda: tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()


def test_the_document_is_larger_than_ten_mebibytes() -> None:
    assert SIZE > 10 * MIB


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("encoding", "use"), CASES)
def test_a_tree_of_a_file_does_not_hold_the_document(
    tmp_path: Path, peak: Callable[[], int], encoding: str, use: Use
) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(ENCODED[encoding])
    assert use(usp.sitemap_tree(file)) == PAGES
    assert peak() < MAX_PEAK


@pytest.mark.parametrize("encoding", ENCODED)
def test_a_stream_of_a_file_does_not_hold_the_document(
    tmp_path: Path, peak: Callable[[], int], encoding: str
) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(ENCODED[encoding])
    assert sum(1 for _ in usp.iter_pages(file)) == PAGES
    assert peak() < MAX_PEAK


@pytest.mark.parametrize("use", USES)
def test_a_text_of_the_caller_is_not_copied(peak: Callable[[], int], use: Use) -> None:
    assert use(usp.sitemap_from_str(TEXT)) == PAGES
    assert use(usp.parse(TEXT)) == PAGES
    assert peak() < MAX_PEAK


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("encoding", "use"), CASES)
def test_bytes_of_the_caller_are_not_copied(
    peak: Callable[[], int], encoding: str, use: Use
) -> None:
    assert use(usp.parse(ENCODED[encoding])) == PAGES
    assert peak() < MAX_PEAK


def serve(server: LoopbackServer, encoding: str) -> None:
    server.robots("/sitemap.xml")
    server.site["/sitemap.xml"] = Answer(body=ENCODED[encoding])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("encoding", ENCODED)
def test_a_fetched_document_is_not_held(
    server: LoopbackServer, peak: Callable[[], int], encoding: str
) -> None:
    serve(server, encoding)
    assert checked(usp.sitemap_tree(server.url)) == PAGES
    assert sum(1 for _ in usp.iter_pages(server.url)) == PAGES
    assert peak() < MAX_PEAK


@pytest.mark.parametrize("encoding", ["plain", "UTF-16 in gzip"])
def test_a_document_fetched_with_asyncio_is_not_held(
    server: LoopbackServer, peak: Callable[[], int], encoding: str
) -> None:
    serve(server, encoding)

    async def crawl() -> int:
        tree = await aio.sitemap_tree(server.url)
        return counted(tree)

    assert asyncio.run(crawl()) == PAGES
    assert peak() < MAX_PEAK


def test_the_command_does_not_hold_the_document(
    tmp_path: Path, peak: Callable[[], int], capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(PLAIN)
    main(["ls", str(file), "-f", "pages"])
    measured = peak()
    assert len(capfd.readouterr().out.splitlines()) == PAGES
    assert measured < MAX_PEAK


def test_peeking_at_the_first_chunk_copies_nothing() -> None:
    """Concurrent workers that inspect documents would each hold several copies of a chunk."""
    chunk = bytes(256 * 1024)
    head, chunks = peek(iter([chunk, b"x"]), 1024)
    assert head is chunk
    assert list(chunks) == [chunk, b"x"]


def test_a_tree_from_a_pickle_takes_no_more_memory_than_the_pickle(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(PLAIN)
    pickled_tree = pickle.dumps(usp.sitemap_tree(file))
    tracemalloc.start()
    tree = pickle.loads(pickled_tree)
    measured, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert counted(tree) == PAGES
    assert measured < len(pickled_tree) + MIB
    assert len(pickled_tree) < SIZE / 10


def test_a_copy_of_a_tree_does_not_need_the_original(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(PLAIN)
    tree = usp.sitemap_tree(file)
    copied_tree = copy.deepcopy(tree)
    assert copied_tree == tree
    del tree
    file.unlink()
    assert counted(copied_tree) == PAGES
