"""Real documents as sites published them: nothing raises, and no URL is lost without a reason.

The folder's MANIFEST.tsv tells, for each document, how many distinct URLs an independent reader and
how many 1.8.1 found in it. Where ours finds fewer, ``explained.py`` says why.

Rules of this room: documents are read where they are, from bytes, and each is read whole, every
field of every page included. Skipped where there is no folder of real documents.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.wild.explained import EXPLAINED, EXPLAINED_NEWS, EXPLAINED_VIDEOS
from usp._parse.document import Source, inspect
from usp.fetch_parse import IndexRobotsTxtSitemapParser
from usp.objects.abstract_sitemap import HasProblems
from usp.objects.sitemap import AbstractSitemap, IndexRobotsTxtSitemap, PagesTextSitemap
from usp.tree import sitemap_from_str
from usp.web_client.abstract_client import LocalWebClient

NEWER = ("alternates", "videos", "links", "mobile", "page_map", "extensions")
ROBOTS_URL = "https://site.example/robots.txt"
SITEMAP_URL = "https://site.example/sitemap.xml"


@dataclass(frozen=True, slots=True)
class Row:
    """What the manifest knows of a document."""

    file: str
    kind: str
    reference_urls: int
    urls_1_8_1: int
    images: int
    alternates: int
    videos: int
    news: int
    malformed: str

    @property
    def expected(self) -> int:
        return max(self.reference_urls, self.urls_1_8_1)


@dataclass(frozen=True, slots=True)
class Reading:
    """What ours found in a document."""

    urls: int
    images: int
    alternates: int
    videos: int
    news: int
    problems: int
    is_xml: bool


def read_document(row: Row, data: bytes) -> AbstractSitemap:
    if row.kind != "robots":
        return sitemap_from_str(data)
    text = data.decode("utf-8", errors="replace")
    return IndexRobotsTxtSitemapParser(ROBOTS_URL, text, 0, LocalWebClient(), set()).sitemap()


def weigh(sitemap: AbstractSitemap) -> Reading:
    urls, found = set[str](), Counter[str]()
    for page in sitemap.all_pages():
        told = page.to_dict()  # converts every field
        assert all(told.get(name) or not getattr(page, name) for name in NEWER), page.url
        assert page.declared or isinstance(sitemap, PagesTextSitemap)
        urls.add(told["url"])
        found["images"] += len(page.images or ())
        found["alternates"] += len(page.alternates or ())
        found["videos"] += len(page.videos or ())
        found["news"] += page.news_story is not None
    urls.update(child.url for child in sitemap.sub_sitemaps)
    is_xml = not isinstance(sitemap, PagesTextSitemap | IndexRobotsTxtSitemap)
    return Reading(
        len(urls),
        found["images"],
        found["alternates"],
        found["videos"],
        found["news"],
        len(sitemap.problems),
        is_xml,
    )


@pytest.fixture(scope="module")
def manifest(corpus: Path) -> list[Row]:
    with (corpus / "MANIFEST.tsv").open(encoding="utf-8", newline="") as lines:
        return [
            Row(
                file=row["file"],
                kind=row["kind"],
                reference_urls=int(row["reference_urls"]),
                urls_1_8_1=int(row["urls_1_8_1"]),
                images=int(row["images"]),
                alternates=int(row["alternates"]),
                videos=int(row["videos"]),
                news=int(row["news"]),
                malformed=row["malformed"],
            )
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


@pytest.fixture(scope="module")
def readings(corpus: Path, manifest: list[Row]) -> dict[str, Reading]:
    """Each document, read once; an exception here fails every test, with the document's name."""
    found = {}
    for row in manifest:
        try:
            found[row.file] = weigh(read_document(row, (corpus / row.file).read_bytes()))
        except Exception as error:
            error.add_note(f"while reading {row.file}")
            raise
    return found


def test_all_of_the_corpus_is_read_without_an_exception(
    corpus: Path, manifest: list[Row], readings: dict[str, Reading]
) -> None:
    files = {
        str(path.relative_to(corpus))
        for path in corpus.glob("*/*")
        if not path.name.endswith(".md")
    }
    assert readings.keys() == {row.file for row in manifest} == files


def test_the_learned_lane_reads_what_the_careful_lane_reads(
    corpus: Path, manifest: list[Row]
) -> None:
    for row in manifest:
        data = (corpus / row.file).read_bytes()
        one, other = (
            inspect(Source([data], SITEMAP_URL, expat_only=expat_only))
            for expat_only in (False, True)
        )
        assert one.children == other.children, row.file
        assert list(one.pages) == list(other.pages), row.file
        problems = [
            document.pages.problems if isinstance(document.pages, HasProblems) else ()
            for document in (one, other)
        ]
        assert problems[0] == problems[1], row.file


def test_where_fewer_urls_are_found_there_is_a_reason(
    manifest: list[Row], readings: dict[str, Reading]
) -> None:
    fewer = {
        row.file: f"{readings[row.file].urls} of {row.expected} ({row.kind})"
        for row in manifest
        if readings[row.file].urls < row.expected
    }
    assert {file: told for file, told in fewer.items() if file not in EXPLAINED} == {}
    assert EXPLAINED.keys() <= fewer.keys(), "a reason is kept for a document that needs none"


def test_no_image_or_alternate_is_lost(manifest: list[Row], readings: dict[str, Reading]) -> None:
    lost = {
        row.file: (readings[row.file].images, row.images, readings[row.file].alternates)
        for row in manifest
        if readings[row.file].images < row.images or readings[row.file].alternates < row.alternates
    }
    assert {file: told for file, told in lost.items() if file not in EXPLAINED} == {}


def test_no_video_is_lost(manifest: list[Row], readings: dict[str, Reading]) -> None:
    lost = {row.file for row in manifest if readings[row.file].videos < row.videos}
    assert lost == EXPLAINED_VIDEOS.keys()
    assert sum(readings[row.file].videos for row in manifest if row.kind == "urlset") == 293


def with_its_own_url_for_each_entry(data: bytes) -> bytes:
    number = count()
    return re.sub(rb"(?=</(?:\w+:)?loc>)", lambda _: b"#%d" % next(number), data)


def test_every_video_that_was_counted_is_read(corpus: Path, manifest: list[Row]) -> None:
    """A page has the videos of its first entry; the manifest counts those of all its entries.

    So the same documents are read once more with no entry repeated.
    """
    rows = {row.file: row for row in manifest if row.kind == "urlset" and row.videos}
    found = {
        file: weigh(
            read_document(row, with_its_own_url_for_each_entry((corpus / file).read_bytes()))
        ).videos
        for file, row in rows.items()
    }
    assert found == {file: row.videos for file, row in rows.items()}
    assert sum(found.values()) == 299


def test_no_story_is_lost(manifest: list[Row], readings: dict[str, Reading]) -> None:
    lost = {row.file for row in manifest if readings[row.file].news < row.news}
    assert lost == EXPLAINED_NEWS.keys()


def test_xml_that_expat_refuses_has_problems(
    manifest: list[Row], readings: dict[str, Reading]
) -> None:
    refused = [readings[row.file] for row in manifest if row.malformed]
    assert [reading for reading in refused if reading.is_xml and not reading.problems] == []
