"""Title, date of publication and declared texts of a page, in every format.

They are not part of the equality of pages.
"""

from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, datetime, timedelta

import pytest

from tests.compat.record import DATA
from tests.parse.reading import atom, page, rss, u, urlset
from usp._parse.formats.field_readers import FIELD_READERS
from usp.objects.page import (
    PageElement,
    PageLink,
    PageMapObject,
    SitemapNewsStory,
    SitemapPage,
    SitemapVideo,
)
from usp.tree import parse, sitemap_from_str

A = "http://h.example/a"
MAY = datetime(2024, 5, 1, tzinfo=UTC)
TITLE = "A &amp; B"
STORY = (
    f"<news:news><news:publication_date>2024-05-01T00:00:00Z</news:publication_date>"
    f"<news:title>{TITLE}</news:title></news:news>"
)
DESCRIPTION = "<description>A text</description>"


def item(inside: str) -> str:
    return rss(f"<item><link>{A}</link>{inside}</item>")


def entry(inside: str) -> str:
    return atom(f'<entry><link href="{A}"/>{inside}</entry>')


def feed(**inside: str) -> str:
    items = [{"id": "1", "url": A, **inside}]
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items})


FORMATS = [
    ("news", urlset(u(A, STORY)), "A & B", MAY),
    ("news without title", urlset(u(A, STORY.replace(TITLE, ""))), None, MAY),
    ("news without date", urlset(u(A, STORY.replace("2024", "x"))), "A & B", None),
    ("news without a time zone", urlset(u(A, STORY.replace("T00:00:00Z", ""))), "A & B", MAY),
    ("no story", urlset(u(A, "<lastmod>2024-05-01</lastmod>")), None, None),
    (
        "RSS",
        item(f"<title>{TITLE}</title><pubDate>Wed, 01 May 2024 00:00:00 GMT</pubDate>"),
        "A & B",
        MAY,
    ),
    ("RSS without a time zone", item("<title>T</title><pubDate>1 May 2024</pubDate>"), "T", MAY),
    ("RSS with a description only", item(DESCRIPTION), None, None),
    ("RSS with dc:date", item(f"{DESCRIPTION}<dc:date>2024-05-01T00:00:00Z</dc:date>"), None, MAY),
    (
        "Atom",
        entry(f"<title>{TITLE}</title><published>2024-05-01T00:00:00Z</published>"),
        "A & B",
        MAY,
    ),
    (
        "Atom with an update only",
        entry("<title>T</title><updated>2024-05-01T00:00:00Z</updated>"),
        "T",
        None,
    ),
    ("Atom without a time zone", entry("<title>T</title><published>2024-05</published>"), "T", MAY),
    ("Atom 0.3", entry("<title>T</title><issued>2024-05-01T00:00:00Z</issued>"), "T", MAY),
    ("JSON Feed", feed(title=TITLE, date_published="2024-05-01T00:00:00Z"), "A & B", MAY),
    ("JSON Feed without a time zone", feed(title="T", date_published="2024-05-01"), "T", MAY),
    ("JSON Feed with a text only", feed(content_text="A text"), None, None),
    ("text", f"{A}\n", None, None),
]


@pytest.mark.parametrize(
    ("what", "document", "title", "published"), FORMATS, ids=[row[0] for row in FORMATS]
)
def test_title_and_date(
    what: str, document: str, title: str | None, published: datetime | None
) -> None:
    read = page(document)
    assert (read.title, read.published_at) == (title, published), what
    for again in (pickle.loads(pickle.dumps(read)), copy.copy(read), copy.deepcopy(read)):
        assert again == read
        assert (again.title, again.published_at) == (title, published)
        assert again.declared == read.declared
        assert again.sitemap_url == read.sitemap_url


def test_title_and_date_of_a_page_built_by_the_caller() -> None:
    for date in (MAY, MAY.replace(tzinfo=None)):
        made = SitemapPage(A, news_story=SitemapNewsStory("T", date))
        assert (made.title, made.published_at, made.declared) == ("T", MAY, {})
    bare = SitemapPage(A)
    assert (bare.title, bare.published_at, bare.declared) == (None, None, {})


NAIVE_DATES = [
    ("published_at", "<news:publication_date>{}</news:publication_date>"),
    ("publication_date", "<video:publication_date>{}</video:publication_date>"),
    ("expiration_date", "<video:expiration_date>{}</video:expiration_date>"),
    ("premier_date", "<video:premier_date>{}</video:premier_date>"),
]


@pytest.mark.parametrize(("field", "element"), NAIVE_DATES)
@pytest.mark.parametrize(
    ("text", "offset"),
    [("2024-05-01", 0), ("2024-05-01T10:00:00", 0), ("2024-05-01T10:00:00+02:00", 2)],
)
def test_dates_that_1_8_1_does_not_have_are_aware(
    field: str, element: str, text: str, offset: int
) -> None:
    read = page(urlset(u(A, element.format(text))))
    video = (read.videos or [SitemapVideo()])[0]
    holders = [holder for holder in (read, video, video.tv_show) if hasattr(holder, field)]
    dates = [date for holder in holders if (date := getattr(holder, field))]
    assert [date.utcoffset() for date in dates] == [timedelta(hours=offset)]


def test_dates_of_1_8_1_are_naive_where_no_time_zone_is_named() -> None:
    read = page(urlset(u(A, STORY.replace("T00:00:00Z", "") + "<lastmod>2024-05-01</lastmod>")))
    assert read.news_story is not None
    assert read.last_modified == read.news_story.publish_date == MAY.replace(tzinfo=None)
    assert read.published_at == read.updated_at == MAY


UNREADABLE = ["", "<news:publication_date/>", "<news:publication_date>soon</news:publication_date>"]


@pytest.mark.parametrize("date", UNREADABLE)
@pytest.mark.parametrize("entries", [1, 300])
def test_a_story_without_a_readable_date_is_no_story_and_keeps_its_texts(
    date: str, entries: int
) -> None:
    names = "<news:publication><news:name>N</news:name><news:language>en</news:language>"
    story = f"<news:news>{names}</news:publication>{date}<news:title>T</news:title></news:news>"
    # 300 entries are enough for the pattern reader.
    pages = sitemap_from_str(urlset(*(u(f"{A}{n}", story) for n in range(entries)))).pages
    assert len(pages) == entries
    for read in pages:
        assert (read.news_story, read.title, read.published_at) == (None, "T", None)
        assert read.declared["news:title"] == "T"
        assert (read.declared["news:name"], read.declared["news:language"]) == ("N", "en")


def test_the_first_story_with_a_readable_date_is_used() -> None:
    undated = "<news:news><news:title>U</news:title></news:news>"
    for stories in (undated + STORY, STORY + undated):
        story = page(urlset(u(A, stories))).news_story
        assert story is not None
        assert (story.title, story.publish_date) == ("A & B", MAY)


def test_declared_texts_are_those_of_the_entry_only() -> None:
    read = page(urlset(u(A, "<priority> 0.7\n</priority><lastmod/><x>y</x>")))
    assert read.declared == {"loc": A, "priority": "0.7"}
    assert page(urlset(u(A))).declared == {"loc": A}
    assert page(urlset(u(A))).priority is not None  # the default of 1.8.1, which is not declared


def test_declared_texts_are_not_converted() -> None:
    read = page(urlset(u(A, "<changefreq>Often</changefreq><lastmod>last week</lastmod>")))
    assert read.declared["changefreq"] == "Often"
    assert read.declared["lastmod"] == "last week"
    assert read.last_modified is None


def test_declared_texts_are_in_document_order_and_the_first_of_each_key() -> None:
    images = "".join(f"<image:image><image:loc>{A}{n}</image:loc></image:image>" for n in "12")
    declared = page(urlset(u(A, images + "<lastmod>2024</lastmod>"))).declared
    assert list(declared.items()) == [("loc", A), ("image:loc", f"{A}1"), ("lastmod", "2024")]


def test_declared_texts_are_read_only() -> None:
    declared = page(urlset(u(A))).declared
    with pytest.raises(TypeError):
        declared["loc"] = "x"  # type: ignore[index]  # the test


def test_declared_texts_are_not_part_of_equality() -> None:
    invalid, plain = (
        page(urlset(u(A, f"<priority>{text}</priority>"))) for text in ("high", "0.5")
    )
    assert invalid.declared != plain.declared
    assert invalid == plain == SitemapPage(A)
    assert hash(invalid) == hash(plain)
    assert invalid.to_dict() == plain.to_dict()
    assert {"declared", "title", "published_at", "sitemap_url"}.isdisjoint(invalid.to_dict())


def test_a_pickle_of_1_8_1_has_the_title_and_date_of_its_story() -> None:
    old = pickle.loads((DATA / "SitemapPage.pickle").read_bytes())
    assert isinstance(old, SitemapPage)
    assert old.news_story is not None
    assert (old.title, old.published_at) == (old.news_story.title, old.news_story.publish_date)
    assert (old.videos, old.links, old.mobile, old.page_map) == (None, None, False, None)
    assert old.declared == {}


EXTENDED = SitemapPage(
    A,
    videos=[SitemapVideo(title="V")],
    links=[PageLink("canonical", A)],
    mobile=True,
    page_map=[PageMapObject("t", None, (("n", "v"),))],
    extensions=[PageElement("x:y", text="z")],
)


def test_a_page_built_by_the_caller_has_every_field() -> None:
    assert pickle.loads(pickle.dumps(EXTENDED)) == EXTENDED
    dictionary = EXTENDED.to_dict(extended=True)
    assert dictionary["videos"][0]["title"] == "V"
    assert dictionary["links"][0]["rel"] == "canonical"
    assert dictionary["page_map"] == [{"type": "t", "id": None, "attributes": (("n", "v"),)}]
    assert dictionary["extensions"][0]["name"] == "x:y"
    for name in ("videos", "links", "mobile", "page_map", "extensions"):
        assert f"{name}=" in repr(EXTENDED)
        assert f"{name}=" not in repr(SitemapPage(A))


def test_every_field_of_a_page_has_a_reader_in_every_format() -> None:
    names = {name for name, value in vars(SitemapPage).items() if isinstance(value, property)}
    read_fields = names - {"url", "sitemap_url", "updated_at"}  # these aren't read from the record
    for field_reader in FIELD_READERS.values():
        assert read_fields <= set(dir(field_reader)), field_reader


NEWER = ("alternates", "videos", "links", "mobile", "page_map", "extensions")
ENTRIES = [
    "<xhtml:link rel='alternate' hreflang='de' href='http://h/de'/>",
    "<link rel='canonical' href='http://h/c'/>",
    "<video:tag>x</video:tag>",
    "<mobile:mobile/>",
    "<PageMap><DataObject type='x'/></PageMap>",
    "<unknown/>",
]
ITEMS = [
    "<link>http://h/second</link>",
    "<atom:link rel='self' href='http://h/s'/>",
    "<enclosure url='http://h/v.mp4'/>",
    "<media:player url='http://h/p'/>",
    "<unknown/>",
]
DOCUMENTS = [
    *(urlset(u(A, inside)) for inside in ENTRIES),
    *(item(DESCRIPTION + inside) for inside in ITEMS),
    entry("<title>T</title><link rel='self' href='http://h/s'/>"),
    feed(title="T", external_url="http://h/x"),
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_quick_test_for_newer_fields_misses_none(document: str) -> None:
    (read,) = parse(document, extensions=True).pages
    present = {name for name in NEWER if getattr(read, name)}
    assert present
    assert {name for name in NEWER if f" {name}=" in repr(read)} == present
    plain = page(urlset(u(A)))
    assert not any(getattr(plain, name) for name in NEWER)
