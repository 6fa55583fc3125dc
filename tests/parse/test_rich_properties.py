"""Properties of the richer formats: videos, Media RSS and JSON Feed, with any other fields."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from tests.parse.pattern.readers import assert_readers_agree
from tests.parse.reading import read
from tests.parse.strategies import chunkings, examples
from tests.parse.strategies_rich import Rich, rich_documents
from usp.objects.page import SitemapPage
from usp.tree import parse


def files(page: SitemapPage) -> tuple[set[str], set[str]]:
    """The files of a page: videos with all renditions, and images."""
    videos = page.videos or []
    renditions = [loc for video in videos for loc in (video.content_loc, *video.renditions) if loc]
    assert len(set(renditions)) == len(renditions), "each file belongs to one video"
    return set(renditions), {image.loc for image in page.images or []}


@examples(200)
@given(rich_documents, st.booleans())
def test_every_file_is_found_and_nothing_else(document: Rich, extensions: bool) -> None:
    sitemap = parse(document.data, extensions=extensions)
    found = [files(page) for page in sitemap.pages]
    assert found == list(zip(document.videos, document.images, strict=True))
    assert sitemap.complete


@examples(150)
@given(rich_documents)
def test_the_pattern_reader_and_expat_agree(document: Rich) -> None:
    assert_readers_agree([document.data])


@examples(100)
@given(st.data(), rich_documents)
def test_any_chunking_gives_the_same_result(draw: st.DataObject, document: Rich) -> None:
    chunks = draw.draw(chunkings(document.data))
    assert read(*chunks) == read(document.data)


@examples(100)
@given(rich_documents)
def test_pickles_contain_all_fields(document: Rich) -> None:
    sitemap = parse(document.data, extensions=True)
    again = pickle.loads(pickle.dumps(sitemap))
    assert again == sitemap
    pages = pickle.loads(pickle.dumps(sitemap.pages))
    assert [page.to_dict(extended=True) for page in pages] == [
        page.to_dict(extended=True) for page in again.pages
    ]
    assert [page.declared for page in pages] == [page.declared for page in sitemap.pages]
    for page in pages:
        assert hash(tuple(page.videos or ())) == hash(tuple(page.videos or ()))
        assert repr(page)


@examples(100)
@given(rich_documents, st.integers(0, 1 << 16))
def test_a_truncated_document_gives_the_first_pages(document: Rich, length: int) -> None:
    whole = read(document.data)
    truncated = read(document.data[: length % len(document.data)])
    assert list(truncated.pages) == list(whole.pages[: len(truncated.pages)])
    assert not truncated.complete
