"""JSON Feed: its items, and what is left of one that is cut off, broken or hostile.

Rules of this room: feeds are made with ``json`` and then damaged; work is counted, never timed.
"""

from __future__ import annotations

import json
import pickle
import tracemalloc
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
from usp._parse.findings import Findings
from usp._parse.json_items import ItemReader
from usp.objects.page import PageLink, SitemapImage, SitemapPage, SitemapVideo
from usp.objects.sitemap import AbstractSitemap, PagesJSONFeedSitemap, PagesTextSitemap
from usp.tree import parse, sitemap_from_str

VERSION = "https://jsonfeed.org/version/1.1"
HOME = "http://h.example/"


def item(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "url": f"{HOME}{name}", "title": name.upper(), **more}


def feed(*items: object, **more: object) -> str:
    return json.dumps({"version": VERSION, "title": "F", **more, "items": items})


def read(document: str | bytes) -> AbstractSitemap:
    sitemap = parse(document, url=f"{HOME}feed.json")
    assert isinstance(sitemap, PagesJSONFeedSitemap)
    return sitemap


def names(document: str | bytes) -> list[str]:
    return [page.url.removeprefix(HOME) for page in read(document).pages]


def codes(document: str | bytes) -> list[str]:
    return [problem.code for problem in read(document).problems]


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
    said = {"url": HOME + name, "mime_type": kinds[name.partition(".")[2]], **more}
    return said if title is None else said | {"title": title}


def video(name: str, *others: str, title: str | None = None, **more: Any) -> SitemapVideo:
    renditions = tuple(HOME + other for other in others)
    return SitemapVideo(content_loc=HOME + name, renditions=renditions, title=title, **more)


ATTACHED: list[tuple[str, list[dict[str, object]], list[SitemapVideo], list[SitemapImage]]] = [
    (
        "one title is one video",
        [file("a.mp4", "A"), file("a.webm", "A")],
        [video("a.mp4", "a.webm", title="A")],
        [],
    ),
    (
        "other titles are other videos, each where it stands first",
        [file("a.mp4", "A"), file("b.mp4", "a"), file("a.webm", "A")],
        [video("a.mp4", "a.webm", title="A"), video("b.mp4", title="a")],
        [],
    ),
    (
        "no title is nobody's",
        [file("a.mp4"), file("b.mp4"), file("c.mp4", ""), file("d.mp4", "")],
        [video("a.mp4"), video("b.mp4"), video("c.mp4"), video("d.mp4")],
        [],
    ),
    (
        "the length of one form is that of the video",
        [file("a.mp4", "A"), file("a.webm", "A", duration_in_seconds=90.5)],
        [video("a.mp4", "a.webm", title="A", duration=90)],
        [],
    ),
    (
        "images have no forms",
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


def test_keys_that_mean_nothing_are_there_for_who_asks() -> None:
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
    assert [extension["name"] for extension in page.to_dict()["extensions"]] == list(found)
    assert pickle.loads(pickle.dumps(page)) == page
    assert plain.extensions is None
    unasked, _ = parse(document).pages
    assert unasked.extensions is None
    assert (unasked.declared, unasked.videos) == (page.declared, page.videos)


def test_a_feed_is_a_sitemap_of_its_own_kind_and_can_be_pickled() -> None:
    sitemap = read(feed(FULL, item("b")))
    again = pickle.loads(pickle.dumps(sitemap))
    assert again == sitemap
    assert again.pages == sitemap.pages
    assert type(sitemap_from_str(feed(item("a")))) is PagesJSONFeedSitemap


ITEMS = [
    ("url", {"url": "http://h/a", "title": "T"}, "http://h/a"),
    ("external_url", {"id": "1", "external_url": "http://x/a", "title": "T"}, "http://x/a"),
    ("an id that is a URL", {"id": "http://h/a", "title": "T"}, "http://h/a"),
    ("an id that is none", {"id": "1", "title": "T"}, None),
    ("a number for id", {"id": 1, "url": "http://h/a", "title": "T"}, "http://h/a"),
    ("content_text alone", {"url": "http://h/a", "content_text": "words"}, "http://h/a"),
    ("content_html alone", {"url": "http://h/a", "content_html": "<b>w</b>"}, "http://h/a"),
    ("no text at all", {"id": "1", "url": "http://h/a"}, None),
    ("an empty url", {"id": "http://h/b", "url": "", "title": "T"}, "http://h/b"),
    ("a url that is null", {"id": "http://h/b", "url": None, "title": "T"}, "http://h/b"),
    ("a relative url", {"url": "/r", "title": "T"}, "http://h.example/r"),
    ("blanks around", {"url": " \nhttp://h/a ", "title": "T"}, "http://h/a"),
    ("capitals", {"URL": "http://h/a", "Title": "T"}, "http://h/a"),
]


@pytest.mark.parametrize(("what", "written", "url"), ITEMS, ids=[row[0] for row in ITEMS])
def test_the_page_of_an_item(what: str, written: dict[str, object], url: str | None) -> None:
    found = [page.url for page in read(feed(item("a"), written, item("c"))).pages]
    assert found == [f"{HOME}a", *([url] if url else []), f"{HOME}c"], what


def test_a_text_stands_for_a_title_only_in_the_story() -> None:
    page = only(url="http://h/a", content_html="<p>Some <b>words</b></p>")
    assert page.news_story is not None
    assert page.news_story.title == "Some words"
    assert page.title is None


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


@pytest.mark.parametrize(("written", "told"), WRONG_TYPES)
def test_a_wrong_type_costs_itself(written: dict[str, object], told: set[str]) -> None:
    document = feed(item("a"), item("b", summary="S") | written, item("c"))
    assert names(document) == ["a", "b", "c"]
    assert set(codes(document)) == told


VERSIONS = [
    ({"version": "https://jsonfeed.org/version/1"}, []),
    ({"version": "http://www.JSONFeed.org/version/1.1/"}, []),
    ({"version": "1.1"}, ["SM232"]),
    ({}, ["SM232"]),
]


@pytest.mark.parametrize(("head", "told"), VERSIONS)
def test_a_version(head: dict[str, str], told: list[str]) -> None:
    document = json.dumps({**head, "items": [item("a", content_text="words")]})
    assert names(document) == ["a"]
    assert codes(document) == told


def test_the_version_may_come_last() -> None:
    long = json.dumps({"items": [item("a", content_html="x" * 100_000)], "version": VERSION})
    assert names(long) == ["a"]
    assert codes(long) == []


NO_FEEDS = [
    "{}",
    '{"items": []}',
    '{"items": [{"id": 1, "url": "http://h/a", "title": "an answer of some API"}]}',
    '[{"id": "1", "url": "http://h/a", "content_text": "x", "date_published": "2024"}]',
    '{"data": {"version": "https://jsonfeed.org/version/1.1", "items": []}}',
    '{"version": "1.0", "urls": ["http://h/a"]}',
    "{" * 100_000,
    '{"items": [' + "[" * 100_000,
]


@pytest.mark.parametrize("document", NO_FEEDS, ids=lambda text: text[:40])
def test_json_that_is_no_feed_is_a_text_without_pages(document: str) -> None:
    sitemap = parse(document)
    assert isinstance(sitemap, PagesTextSitemap)
    assert sitemap.pages == []
    assert not sitemap.complete


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_encodings(encoding: str) -> None:
    document = feed(item("a", summary="caf\u00e9"), item("b")).encode(encoding)
    assert names(b"\n " + document if encoding == "utf-8" else document) == ["a", "b"]


@pytest.mark.parametrize("indent", [None, 2])
def test_cut_anywhere_all_whole_items_are_kept(indent: int | None) -> None:
    items = [item(name, content_text='words, {brackets} and \\ "quotes"') for name in "abcd"]
    document = json.dumps({"version": VERSION, "items": items}, indent=indent)
    ends = [document.index(json.dumps(f"{HOME}{name}")) for name in "abcd"]
    begin = document.index("items")
    for at in range(begin + 10, len(document)):
        sitemap = read(document[:at])
        whole = sum(
            at > end + document[end:].index("}", document[end:].index("quotes")) for end in ends
        )
        assert [page.url for page in sitemap.pages] == [f"{HOME}{name}" for name in "abcd"[:whole]]
        assert not sitemap.complete


A, B, C = (json.dumps(item(name)) for name in "abc")
DAMAGE = [
    ("a comma too many", B.replace("}", ",}"), ["a", "b", "c"], ["SM233"]),
    ("an escape that JSON doesn't have", B.replace('"B"', '"\\B\\\'"'), ["a", "b", "c"], ["SM233"]),
    ("a line break in a text", B.replace('"B"', '"B\nB"'), ["a", "b", "c"], []),
    ("a bare word", B.replace('"B"', "B"), ["a", "c"], ["SM231"]),
    ("a quote in a text", B.replace('"B"', '"5" kites"'), ["a", "c"], ["SM231"]),
    ("two quotes in a text", B.replace('"B"', '"5" kites""'), ["a", "c"], ["SM231"]),
    ("a bracket too few", B[:-1], ["a", "c"], ["SM231"]),
    ("a bracket too many", B.replace('"B"', '["B"]]'), ["a", "c"], ["SM231"]),
    ("no comma between items", f"{B} {B.replace('b', 'x')}", ["a", "b", "x", "c"], []),
    ("a number of 10,000 digits", B.replace('"B"', "9" * 10_000), ["a", "c"], ["SM231"]),
    ("100 levels", B.replace('"B"', "[" * 100 + "]" * 100), ["a", "c"], ["SM231"]),
    ("50 levels", B.replace('"B"', '"B", "x": ' + "[" * 50 + "]" * 50), ["a", "b", "c"], []),
    ("NaN", B.replace('"B"', '"B", "x": NaN'), ["a", "b", "c"], []),
    ("a text for an item", '"words, {and} \\" more"', ["a", "c"], ["SM407"]),
    ("a list for an item", "[1, [2]]", ["a", "c"], ["SM407"]),
    ("null for an item", "null", ["a", "c"], ["SM407"]),
    ("a number for an item", "-1.5e3", ["a", "c"], ["SM407"]),
    ("more than 1 MiB", B.replace('"B"', f'"{"x" * 1_100_000}"'), ["a", "c"], ["SM217"]),
]


@pytest.mark.parametrize(("what", "damaged", "kept", "told"), DAMAGE, ids=[r[0] for r in DAMAGE])
def test_damage_costs_itself_at_most(
    what: str, damaged: str, kept: list[str], told: list[str]
) -> None:
    document = f'{{"version": "{VERSION}", "items": [{A}, {damaged}, {C}]}}'
    assert names(document) == kept, what
    assert [code for code in dict.fromkeys(codes(document)) if code in {*told, "SM217"}] == told
    assert read(document).complete == (not {"SM231", "SM217"} & set(codes(document)))


JUNK = [
    (["null"], 1),
    (["null", "1", '"words"'], 3),
    (['""'], 1),
    ([], 0),
    (["", ""], 0),  # commas too many
]


@pytest.mark.parametrize(("junk", "count"), JUNK)
@pytest.mark.parametrize("where", range(3))
def test_junk_in_the_place_of_items_is_counted(junk: list[str], count: int, where: int) -> None:
    items = [A, C]
    items[where:where] = junk
    document = f'{{"version": "{VERSION}",\n"items": [{", ".join(items)}]}}'
    assert names(document) == ["a", "c"]
    told = read(document).problems
    shown = {0: [], 1: ["an item is no object"]}.get(count, [f"{count} items are no objects"])
    assert [problem.message for problem in told] == shown
    assert all(problem.line == 2 for problem in told)
    assert all(problem.offset == document.index(junk[0], document.index("[")) for problem in told)
    assert read(document).complete


def test_junk_that_is_cut_in_two_is_counted_once() -> None:
    for blanks in range(262_144 - 70, 262_144 - 50):
        document = f'{{"version": "{VERSION}", "items": [{" " * blanks}null, {A}]}}'
        assert [problem.message for problem in read(document).problems] == ["an item is no object"]


def test_items_that_are_an_object_are_its_values() -> None:
    document = f'{{"items": {{"0": {A}, "2": {C}}}, "version": "{VERSION}"}}'
    assert names(document) == ["a", "c"]
    assert [problem.message for problem in read(document).problems] == ["items is no list"]
    assert read(document).complete


def test_parts_of_a_broken_item_are_no_items() -> None:
    attached = json.dumps([{"url": "http://h/no", "title": "No", "mime_type": "x/y"}] * 2)
    broken = '{"url": "http://h/b", "title": "5" kites", "attachments": ' + attached + "}"
    whole = '{"url": "http://h.example/c", "title": "C", "id": "c"}'
    document = f'{{"version": "{VERSION}", "items": [{broken}, {whole}]}}'
    assert names(document) == ["c"]


def test_problems_have_their_place() -> None:
    document = f'{{"version": "{VERSION}",\n"items": [\n{A},\n{{"id": x}},\n{C}\n]}}'
    (told,) = read(document).problems
    assert (told.code, told.line, told.offset) == ("SM231", 4, document.index('{"id": x}'))


HOSTILE = {
    "nested lists": "[" * 1_500_000,
    "nested objects": '{"x":' * 250_000,
    "one endless text": '{"id": "' + "x" * 1_500_000,
    "escapes": '{"id": "' + "\\" * 1_500_001,
    "openings": '{"id" ' * 250_000,
    "quotes": '"' * 200_001,
    "blanks": " " * 1_500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_take_little_memory(name: str) -> None:
    document = f'{{"version": "{VERSION}", "items": [{A}, {HOSTILE[name]}'.encode()
    sitemap = read(document)
    tracemalloc.start()
    assert [page.url for page in sitemap.all_pages()] == [f"{HOME}a"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 1024 * 1024
    assert not sitemap.complete


OUTER = {
    "nested lists": "[" * 1_000_000,
    "an endless text": '"' + "x" * 3_000_000,
    "an endless text in pieces": '"' + "\\\\" * 1_500_000,
}


@pytest.mark.parametrize("name", OUTER)
def test_hostility_before_the_items(name: str) -> None:
    document = f'{{"version": "{VERSION}", "x": {OUTER[name]}'
    sitemap = read(document)
    assert sitemap.pages == []
    assert not sitemap.complete


def test_when_too_much_was_read_again_broken_items_are_passed_over_whole() -> None:
    broken = '{"id": "b", "title": ' + "b" * 1_000_000 + "}"
    middle = ", ".join([broken] * 6)
    assert names(f'{{"version": "{VERSION}", "items": [{A}, {middle}, {C}]}}') == ["a", "c"]


def test_what_is_read_again_is_bounded() -> None:
    findings = Findings()
    reader = ItemReader(findings, offset=0, line=1, length=len)
    hostile = f'{{"version": "{VERSION}", "items": ['.encode() + b'{"id" ' * 1_000_000
    pieces = [hostile[at : at + 262_144] for at in range(0, len(hostile), 262_144)]
    assert list(reader.read(pieces)) == []
    unlisted = int(findings.problems[-1].message.split()[0])
    assert 1_000 < unlisted < 20_000  # of a million, each of which looks like an item


def test_tiny_chunks_are_put_together_before_they_are_looked_at() -> None:
    looks = 0

    def length(data: bytes) -> int:
        nonlocal looks
        looks += 1
        return len(data)

    document = feed(item("a", content_text="x" * 500_000), item("b")).encode()
    reader = ItemReader(Findings(), offset=0, line=1, length=length)
    assert len(list(reader.read(bytes([byte]) for byte in document))) == 2
    assert looks <= 4  # of half a million chunks


@given(st.lists(st.integers(1, 400), max_size=40), st.integers(0, 3))
def test_any_chunking_gives_the_same(sizes: list[int], damage: int) -> None:
    document = feed(*(item(name, content_text='x \\ " {') for name in "abcdefgh")).encode()
    document = [document, document[:-40], document.replace(b'"C"', b'C"', 1), document + b"}}"][
        damage
    ]
    chunks, at = [], 0
    for size in sizes:
        chunks.append(document[at : at + size])
        at += size
    chunks.append(document[at:])

    def found(pieces: list[bytes]) -> tuple[list[object], list[object]]:
        findings = Findings()
        reader = ItemReader(findings, offset=0, line=1, length=len)
        items = [value for value, _ in reader.read(pieces)]
        return list(items), [(p.code, p.message, p.offset) for p in findings.problems]

    assert found(chunks) == found([document])


@given(st.text(alphabet='{}[]",:\\ \nab0', max_size=200))
def test_nothing_raises(inside: str) -> None:
    sitemap = parse(f'{{"version": "{VERSION}", "items": [{inside}')
    assert isinstance(sitemap.pages, list)
    assert isinstance(sitemap.problems, tuple)


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
def test_nothing_raises_on_any_values(value: object) -> None:
    sitemap = parse(json.dumps({"version": VERSION, "items": [value, item("z")]}))
    assert [page.to_dict() for page in sitemap.pages][-1]["url"] == f"{HOME}z"
    assert isinstance(sitemap.problems, tuple)


@pytest.mark.parametrize(
    ("whole", "damaged", "lost"),
    [("}", "}}", 0), ("}", "}}}", 0), ('{"id"', '"id"', 1), ("{", "", 1)],
)
def test_brackets_that_do_not_match_cost_their_own_item(
    whole: str, damaged: str, lost: int
) -> None:
    items = [f'{{"id": "http://h/{at}", "title": "t"}}' for at in range(100)]
    items[60] = items[60].replace(whole, damaged, 1)
    version = '"version": "https://jsonfeed.org/version/1.1"'
    sitemap = usp.parse(f'{{{version}, "items": [{", ".join(items)}]}}')
    expected = [f"http://h/{at}" for at in range(100) if not (lost and at == 60)]
    assert [page.url for page in sitemap.pages] == expected
    assert "SM231" in {problem.code for problem in sitemap.problems}
    assert not sitemap.complete
