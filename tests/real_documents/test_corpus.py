"""Real documents as sites published them: nothing raises, and no URL is missing without a reason.

MANIFEST.tsv has, for each document, the number of distinct URLs that an independent reader and
1.8.1 found in it. Where usp finds fewer, ``known_differences.py`` gives the reason. Each document
is read completely, with every field of every page. Skipped without a folder of real documents.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from tests.parse.pattern.readers import audited
from tests.real_documents.known_differences import EXPLAINED, EXPLAINED_NEWS, EXPLAINED_VIDEOS
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
    """The row of a document in the manifest."""

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
class Counts:
    """What usp found in a document."""

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


def count_all(sitemap: AbstractSitemap) -> Counts:
    urls, found = set[str](), Counter[str]()
    for page in sitemap.all_pages():
        dictionary = page.to_dict(extended=True)  # converts every field
        assert all(dictionary.get(name) or not getattr(page, name) for name in NEWER), page.url
        assert page.declared or isinstance(sitemap, PagesTextSitemap)
        urls.add(dictionary["url"])
        found["images"] += len(page.images or ())
        found["alternates"] += len(page.alternates or ())
        found["videos"] += len(page.videos or ())
        found["news"] += page.news_story is not None
    urls.update(child.url for child in sitemap.sub_sitemaps)
    is_xml = not isinstance(sitemap, PagesTextSitemap | IndexRobotsTxtSitemap)
    return Counts(
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
def counts(corpus: Path, manifest: list[Row]) -> dict[str, Counts]:
    """Each document, read once; an exception fails every test, and names the document."""
    found = {}
    for row in manifest:
        try:
            found[row.file] = count_all(read_document(row, (corpus / row.file).read_bytes()))
        except Exception as error:
            error.add_note(f"while reading {row.file}")
            raise
    return found


@pytest.mark.slow
def test_every_document_is_read_without_an_exception(
    corpus: Path, manifest: list[Row], counts: dict[str, Counts]
) -> None:
    files = {
        str(path.relative_to(corpus))
        for path in corpus.glob("*/*")
        if not path.name.endswith(".md")
    }
    assert counts.keys() == {row.file for row in manifest} == files


@pytest.mark.slow
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.thorough)])
def test_the_pattern_reader_and_expat_agree(corpus: Path, manifest: list[Row], every: int) -> None:
    for row in manifest[::every]:
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
        assert audited([data]) == audited([data], expat_only=True), row.file


def test_missing_urls_are_explained(manifest: list[Row], counts: dict[str, Counts]) -> None:
    fewer = {
        row.file: f"{counts[row.file].urls} of {row.expected} ({row.kind})"
        for row in manifest
        if counts[row.file].urls < row.expected
    }
    assert {file: count for file, count in fewer.items() if file not in EXPLAINED} == {}
    assert EXPLAINED.keys() <= fewer.keys(), "a document is explained that lacks nothing"


def test_no_image_or_alternate_is_missing(manifest: list[Row], counts: dict[str, Counts]) -> None:
    missing = {
        row.file: (counts[row.file].images, row.images, counts[row.file].alternates)
        for row in manifest
        if counts[row.file].images < row.images or counts[row.file].alternates < row.alternates
    }
    assert {file: count for file, count in missing.items() if file not in EXPLAINED} == {}


def test_missing_videos_are_explained(manifest: list[Row], counts: dict[str, Counts]) -> None:
    missing = {row.file for row in manifest if counts[row.file].videos < row.videos}
    assert missing == EXPLAINED_VIDEOS.keys()
    assert sum(counts[row.file].videos for row in manifest if row.kind == "urlset") == 293


def with_unique_urls(data: bytes) -> bytes:
    number = count()
    return re.sub(rb"(?=</(?:\w+:)?loc>)", lambda _: b"#%d" % next(number), data)


def test_every_video_is_read(corpus: Path, manifest: list[Row]) -> None:
    """A page has the videos of its first entry; the manifest counts those of all entries.

    So the same documents are read again with unique URLs.
    """
    rows = {row.file: row for row in manifest if row.kind == "urlset" and row.videos}
    found = {
        file: count_all(read_document(row, with_unique_urls((corpus / file).read_bytes()))).videos
        for file, row in rows.items()
    }
    assert found == {file: row.videos for file, row in rows.items()}
    assert sum(found.values()) == 299


def test_missing_stories_are_explained(manifest: list[Row], counts: dict[str, Counts]) -> None:
    missing = {row.file for row in manifest if counts[row.file].news < row.news}
    assert missing == EXPLAINED_NEWS.keys()


def test_xml_that_expat_rejects_has_problems(
    manifest: list[Row], counts: dict[str, Counts]
) -> None:
    rejected = [counts[row.file] for row in manifest if row.malformed]
    assert [count for count in rejected if count.is_xml and not count.problems] == []
