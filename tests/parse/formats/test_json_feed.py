"""JSON Feed: its items, their keys, and values of the wrong type.

Malformed feeds are tested in ``test_json_recovery``.
"""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parse.json_feeds import HOME, VERSION, codes, feed, item, names, read
from usp.objects.page import PageLink, SitemapImage, SitemapPage, SitemapVideo
from usp.objects.sitemap import PagesJSONFeedSitemap, PagesTextSitemap
from usp.tree import parse, sitemap_from_str


def only(**item: object) -> SitemapPage:
    (page,) = read(feed(item)).pages
    return page


FULL = {
    "id": "1",
    "url": "http://h.example/kites",
    "external_url": "http://other.example/kites",
    "title": "Kites &amp; strings",
    "content_html": "<p>All about kites</p>",
    "content_text": "All about kites",
    "summary": "Kites",
    "image": "/kite.jpg",
    "banner_image": "/banner.jpg",
    "date_published": "2024-05-01T10:00:00Z",
    "date_modified": "2024-06-01T10:00:00Z",
    "authors": [{"name": "Kim", "url": "http://h.example/kim"}],
    "tags": ["kite", "string"],
    "language": "en",
    "attachments": [
        {
            "url": "http://h.example/kite.mp4",
            "mime_type": "video/mp4",
            "title": "The video",
            "duration_in_seconds": 90,
            "size_in_bytes": 12345,
        },
        {"url": "http://h.example/kite.png", "mime_type": "image/png"},
        {"url": "http://h.example/kite.mp3", "mime_type": "audio/mpeg"},
    ],
    "_private": {"deep": [1, 2, 3]},
}


def test_every_field_of_an_item() -> None:
    page = only(**FULL)
    assert page.url == "http://h.example/kites"
    assert page.title == "Kites & strings"
    assert page.published_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert page.last_modified == datetime(2024, 6, 1, 10, tzinfo=UTC)
    assert page.news_story is not None
    assert (page.news_story.title, page.news_story.publish_date) == (page.title, page.published_at)
    assert page.images == [
        SitemapImage("http://h.example/kite.jpg"),
        SitemapImage("http://h.example/banner.jpg"),
        SitemapImage("http://h.example/kite.png"),
    ]
    assert page.videos == [
        SitemapVideo(content_loc="http://h.example/kite.mp4", title="The video", duration=90)
    ]
    assert page.links == [PageLink("related", "http://other.example/kites")]
    assert page.declared["content_html"] == "<p>All about kites</p>"
    assert page.declared["tags"] == "kite"
    assert page.declared["authors@name"] == "Kim"
    assert "_private" not in page.declared


def file(name: str, title: str | None = None, **more: object) -> dict[str, object]:
    kinds = {"mp4": "video/mp4", "webm": "video/webm", "png": "image/png", "mp3": "audio/mpeg"}
    attachment = {"url": HOME + name, "mime_type": kinds[name.partition(".")[2]], **more}
    return attachment if title is None else attachment | {"title": title}


def video(name: str, *others: str, title: str | None = None, **more: Any) -> SitemapVideo:
    renditions = tuple(HOME + other for other in others)
    return SitemapVideo(content_loc=HOME + name, renditions=renditions, title=title, **more)


ATTACHED: list[tuple[str, list[dict[str, object]], list[SitemapVideo], list[SitemapImage]]] = [
    (
        "files with one title are one video",
        [file("a.mp4", "A"), file("a.webm", "A")],
        [video("a.mp4", "a.webm", title="A")],
        [],
    ),
    (
        "files with other titles are other videos, in document order",
        [file("a.mp4", "A"), file("b.mp4", "a"), file("a.webm", "A")],
        [video("a.mp4", "a.webm", title="A"), video("b.mp4", title="a")],
        [],
    ),
    (
        "files without a title are videos of their own",
        [file("a.mp4"), file("b.mp4"), file("c.mp4", ""), file("d.mp4", "")],
        [video("a.mp4"), video("b.mp4"), video("c.mp4"), video("d.mp4")],
        [],
    ),
    (
        "the duration of one rendition is that of the video",
        [file("a.mp4", "A"), file("a.webm", "A", duration_in_seconds=90.5)],
        [video("a.mp4", "a.webm", title="A", duration=90)],
        [],
    ),
    (
        "images have no renditions",
        [file("a.png", "A"), file("a.mp4", "A"), file("b.png", "A"), file("a.mp3", "A")],
        [video("a.mp4", title="A")],
        [SitemapImage(f"{HOME}a.png", title="A"), SitemapImage(f"{HOME}b.png", title="A")],
    ),
]


@pytest.mark.parametrize(
    ("what", "files", "videos", "images"), ATTACHED, ids=[row[0] for row in ATTACHED]
)
def test_attachments(
    what: str,
    files: list[dict[str, object]],
    videos: list[SitemapVideo],
    images: list[SitemapImage],
) -> None:
    page = only(**item("a", attachments=files))
    assert (page.videos or [], page.images or []) == (videos, images), what


PRIVATE = {
    "_shop": {"price": 12.5, "colours": ["red", "gr\u00fcn"], "sold": None},
    "two words": 'a "text"\x01',
    "attachments": [{"url": f"{HOME}a.mp4", "mime_type": "video/mp4", "_codec": "av1"}],
    "author": {"name": "Kim", "mood": True},
}


def test_unknown_keys_are_extensions_where_requested() -> None:
    document = feed(item("a", **PRIVATE), item("b"))
    page, plain = parse(document, extensions=True).pages
    found = {element.name: json.loads(element.text) for element in page.extensions or []}
    assert found == {
        "_shop": PRIVATE["_shop"],
        "two words": PRIVATE["two words"],
        "_codec": "av1",
        "mood": True,
    }
    assert "gr\u00fcn" in (page.extensions or [])[0].text
    assert [extension["name"] for extension in page.to_dict(extended=True)["extensions"]] == list(
        found
    )
    assert pickle.loads(pickle.dumps(page)) == page
    assert plain.extensions is None
    without, _ = parse(document).pages
    assert without.extensions is None
    assert (without.declared, without.videos) == (page.declared, page.videos)


def test_a_feed_has_its_own_sitemap_class_and_can_be_pickled() -> None:
    sitemap = read(feed(FULL, item("b")))
    again = pickle.loads(pickle.dumps(sitemap))
    assert again == sitemap
    assert again.pages == sitemap.pages
    assert type(sitemap_from_str(feed(item("a")))) is PagesJSONFeedSitemap


ITEMS = [
    ("url", {"url": "http://h/a", "title": "T"}, "http://h/a"),
    ("external_url", {"id": "1", "external_url": "http://x/a", "title": "T"}, "http://x/a"),
    ("an id that is a URL", {"id": "http://h/a", "title": "T"}, "http://h/a"),
    ("an id that is no URL", {"id": "1", "title": "T"}, None),
    ("a number for id", {"id": 1, "url": "http://h/a", "title": "T"}, "http://h/a"),
    ("content_text only", {"url": "http://h/a", "content_text": "words"}, "http://h/a"),
    ("content_html only", {"url": "http://h/a", "content_html": "<b>w</b>"}, "http://h/a"),
    ("an image only", {"url": "http://h/a", "content_html": "<img src='x'>"}, "http://h/a"),
    ("no text", {"id": "1", "url": "http://h/a"}, None),
    ("an empty url", {"id": "http://h/b", "url": "", "title": "T"}, "http://h/b"),
    ("a url that is null", {"id": "http://h/b", "url": None, "title": "T"}, "http://h/b"),
    ("a relative url", {"url": "/r", "title": "T"}, "http://h.example/r"),
    ("whitespace around", {"url": " \nhttp://h/a ", "title": "T"}, "http://h/a"),
    ("upper case", {"URL": "http://h/a", "Title": "T"}, "http://h/a"),
]


@pytest.mark.parametrize(("what", "written", "url"), ITEMS, ids=[row[0] for row in ITEMS])
def test_the_page_of_an_item(what: str, written: dict[str, object], url: str | None) -> None:
    found = [page.url for page in read(feed(item("a"), written, item("c"))).pages]
    assert found == [f"{HOME}a", *([url] if url else []), f"{HOME}c"], what


def test_a_text_replaces_the_title_in_the_story_only() -> None:
    page = only(url="http://h/a", content_html="<p>Some <b>words</b></p>")
    assert page.news_story is not None
    assert page.news_story.title == "Some words"
    assert page.title is None
    photo = only(url="http://h/a", title="", content_html="<img src='x'>")
    assert photo.news_story is not None
    assert (photo.title, photo.news_story.title) == (None, "<img src='x'>")


WRONG_TYPES = [
    ({"title": ["x"]}, {"SM407"}),
    ({"title": True}, {"SM407"}),
    ({"image": {"url": "x"}}, {"SM407"}),
    ({"tags": "kite"}, {"SM407"}),
    ({"attachments": "x"}, {"SM407"}),
    ({"attachments": [1, None]}, {"SM407"}),
    ({"attachments": {"url": "http://h/v.mp4", "mime_type": "video/mp4"}}, set()),
    ({"attachments": [{"mime_type": "video/mp4"}]}, {"SM507"}),
    ({"attachments": [{"url": "http://h/v", "duration_in_seconds": "long"}]}, {"SM405"}),
    ({"attachments": None, "tags": None, "title": None, "summary": "S"}, set()),
    ({"date_published": "yesterday"}, {"SM401"}),
    ({"date_published": 1714557600}, {"SM401"}),
    ({"author": {"name": "Kim", "mood": "good"}}, set()),
    ({"unknown": [[[[]]]]}, set()),
]


@pytest.mark.parametrize(("written", "expected"), WRONG_TYPES)
def test_a_value_of_the_wrong_type_is_skipped(
    written: dict[str, object], expected: set[str]
) -> None:
    document = feed(item("a"), item("b", summary="S") | written, item("c"))
    assert names(document) == ["a", "b", "c"]
    assert set(codes(document)) == expected


VERSIONS = [
    ({"version": "https://jsonfeed.org/version/1"}, []),
    ({"version": "http://www.JSONFeed.org/version/1.1/"}, []),
    ({"version": "1.1"}, ["SM232"]),
    ({}, ["SM232"]),
]


@pytest.mark.parametrize(("head", "expected"), VERSIONS)
def test_a_version(head: dict[str, str], expected: list[str]) -> None:
    document = json.dumps({**head, "items": [item("a", content_text="words")]})
    assert names(document) == ["a"]
    assert codes(document) == expected


def test_the_version_may_come_last() -> None:
    long = json.dumps({"items": [item("a", content_html="x" * 100_000)], "version": VERSION})
    assert names(long) == ["a"]
    assert codes(long) == []


OTHER_KEYS = [
    {"hubs": [{"type": "items", "url": "http://h/hub"}], "title": "items"},
    {"_own": {"items": [item("no")], "more": [["items"]]}},
    {"authors": [{"name": "items"}], "next_url": "http://h/2"},
]


@pytest.mark.parametrize("other", OTHER_KEYS)
def test_items_in_other_keys_are_not_read(other: dict[str, object]) -> None:
    assert names(feed(item("a"), **other)) == ["a"]
    assert codes(feed(item("a"), **other)) == []


OTHER_JSON = [
    "{}",
    '{"items": []}',
    '{"items": [{"id": 1, "url": "http://h/a", "title": "a response of an API"}]}',
    '[{"id": "1", "url": "http://h/a", "content_text": "x", "date_published": "2024"}]',
    '{"data": {"version": "https://jsonfeed.org/version/1.1", "items": []}}',
    '{"version": "1.0", "urls": ["http://h/a"]}',
    "{" * 100_000,
    '{"items": [' + "[" * 100_000,
]


@pytest.mark.parametrize("document", OTHER_JSON, ids=lambda text: text[:40])
def test_other_json_is_a_text_without_pages(document: str) -> None:
    sitemap = parse(document)
    assert isinstance(sitemap, PagesTextSitemap)
    assert sitemap.pages == []
    assert not sitemap.complete


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_encodings(encoding: str) -> None:
    document = feed(item("a", summary="caf\u00e9"), item("b")).encode(encoding)
    assert names(b"\n " + document if encoding == "utf-8" else document) == ["a", "b"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(list(FULL)), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_any_json_values_are_read_without_an_exception(value: object) -> None:
    sitemap = parse(json.dumps({"version": VERSION, "items": [value, item("z")]}))
    assert [page.to_dict() for page in sitemap.pages][-1]["url"] == f"{HOME}z"
    assert isinstance(sitemap.problems, tuple)
