"""JSON Feeds that are truncated, malformed or hostile.

Work is counted, never timed.
"""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
from tests.parse.json_feeds import HOME, VERSION, codes, feed, item, names, read
from tests.server import LoopbackServer
from usp._parse.diagnostics import Diagnostics, ReadPosition
from usp._parse.formats.json_items import JsonItemReader
from usp.tree import parse


@pytest.mark.parametrize("indent", [None, 2])
def test_a_truncated_feed_gives_every_complete_item(indent: int | None) -> None:
    items = [item(name, content_text='words, {brackets} and \\ "quotes"') for name in "abcd"]
    document = json.dumps({"version": VERSION, "items": items}, indent=indent)
    ends = [document.index(json.dumps(f"{HOME}{name}")) for name in "abcd"]
    start = document.index("items")
    for length in range(start + 10, len(document)):
        sitemap = read(document[:length])
        count = sum(
            length > end + document[end:].index("}", document[end:].index("quotes")) for end in ends
        )
        assert [page.url for page in sitemap.pages] == [f"{HOME}{name}" for name in "abcd"[:count]]
        assert not sitemap.complete


A, B, C = (json.dumps(item(name)) for name in "abc")
MALFORMED = [
    ("one comma too many", B.replace("}", ",}"), ["a", "b", "c"], ["SM233"]),
    ("an escape that JSON doesn't have", B.replace('"B"', '"\\B\\\'"'), ["a", "b", "c"], ["SM233"]),
    ("a line break in a text", B.replace('"B"', '"B\nB"'), ["a", "b", "c"], []),
    ("a bare word", B.replace('"B"', "B"), ["a", "c"], ["SM231"]),
    ("a quote in a text", B.replace('"B"', '"5" kites"'), ["a", "c"], ["SM231"]),
    ("two quotes in a text", B.replace('"B"', '"5" kites""'), ["a", "c"], ["SM231"]),
    ("one bracket too few", B[:-1], ["a", "c"], ["SM231"]),
    ("one bracket too many", B.replace('"B"', '["B"]]'), ["a", "c"], ["SM231"]),
    ("no comma between items", f"{B} {B.replace('b', 'x')}", ["a", "b", "x", "c"], []),
    ("a number of 10,000 digits", B.replace('"B"', "9" * 10_000), ["a", "c"], ["SM231"]),
    ("100 levels", B.replace('"B"', "[" * 100 + "]" * 100), ["a", "c"], ["SM231"]),
    ("50 levels", B.replace('"B"', '"B", "x": ' + "[" * 50 + "]" * 50), ["a", "b", "c"], []),
    ("NaN", B.replace('"B"', '"B", "x": NaN'), ["a", "b", "c"], []),
    ("a text for an item", '"words, {and} \\" more"', ["a", "c"], ["SM407"]),
    ("a list for an item", "[1, [2]]", ["a", "c"], ["SM407"]),
    ("null for an item", "null", ["a", "c"], ["SM407"]),
    ("a number for an item", "-1.5e3", ["a", "c"], ["SM407"]),
    ("a name for an item", '"words": 1', ["a", "c"], ["SM231"]),
    ("words for an item", "no quotes", ["a", "c"], ["SM231"]),
    ("the end of the list", "]", ["a", "c"], ["SM231"]),
    ("the end of the document", "]}", ["a", "c"], ["SM231"]),
    ("more than 1 MiB", B.replace('"B"', f'"{"x" * 1_100_000}"'), ["a", "c"], ["SM217"]),
]


@pytest.mark.parametrize(
    ("what", "malformed", "kept", "reported"), MALFORMED, ids=[row[0] for row in MALFORMED]
)
def test_a_malformed_item_does_not_affect_the_others(
    what: str, malformed: str, kept: list[str], reported: list[str]
) -> None:
    document = f'{{"version": "{VERSION}", "items": [{A}, {malformed}, {C}]}}'
    assert names(document) == kept, what
    found = [code for code in dict.fromkeys(codes(document)) if code in {*reported, "SM217"}]
    assert found == reported
    assert read(document).complete == (not {"SM231", "SM217"} & set(codes(document)))


SCALARS = [
    (["null"], 1),
    (["null", "1", '"words"'], 3),
    (['""'], 1),
    ([], 0),
    (["", ""], 0),  # too many commas
]


@pytest.mark.parametrize(("scalars", "count"), SCALARS)
@pytest.mark.parametrize("index", range(3))
def test_scalars_among_the_items_are_counted(scalars: list[str], count: int, index: int) -> None:
    items = [A, C]
    items[index:index] = scalars
    document = f'{{"version": "{VERSION}",\n"items": [{", ".join(items)}]}}'
    assert names(document) == ["a", "c"]
    problems = read(document).problems
    one, many = "an item is not an object", f"{count} items are not objects"
    assert [problem.message for problem in problems] == {0: [], 1: [one]}.get(count, [many])
    for problem in problems:
        assert problem.line == 2
        assert problem.offset == document.index(scalars[0], document.index("["))
    assert read(document).complete


NO_OBJECTS = [
    ('["http://h/a"]', ["SM209"]),
    ('["http:\\/\\/h\\/a", "http://h/b"]', ["SM209"]),
    ('{"a": "http://h/a"}', ["SM407", "SM209"]),
    (f"[[{A}, {B}]]", ["SM209"]),
    ("[[[]]]", ["SM204", "SM407"]),
    ("[1, null]", ["SM204", "SM407"]),
    ('["words", "more"]', ["SM204", "SM407"]),
    ("[]", []),
    ("{}", ["SM407"]),
]


@pytest.mark.parametrize(("items", "reported"), NO_OBJECTS)
def test_a_feed_none_of_whose_items_can_be_read_is_not_complete(
    items: str, reported: list[str]
) -> None:
    document = f'{{"version": "{VERSION}", "items": {items}}}'
    assert names(document) == []
    assert codes(document) == reported
    assert read(document).complete == ({"SM204", "SM209"}.isdisjoint(reported))


@pytest.mark.parametrize("lost", ['"http://h/b"', '["http://h/b"]', f"[{B}]", '"HTTPS:\\/\\/h"'])
@pytest.mark.parametrize("index", range(3))
def test_an_item_that_is_no_object_and_has_a_url_is_a_lost_page(lost: str, index: int) -> None:
    items = [A, C]
    items[index:index] = [lost]
    document = f'{{"version": "{VERSION}", "items": [{", ".join(items)}]}}'
    assert names(document) == ["a", "c"]
    assert codes(document) == ["SM209"]
    assert not read(document).complete
    (problem,) = read(document).problems
    assert problem.offset == document.index(lost, document.index("["))


def test_a_crawl_of_a_feed_without_objects_is_partial(server: LoopbackServer) -> None:
    server.robots("/feed.json")
    for items in ('["http://h/a"]', "[[]]"):
        server.site["/feed.json"] = f'{{"version": "{VERSION}", "items": {items}}}'
        stream = usp.iter_pages(server.url, use_known_paths=False)
        assert list(stream) == []
        assert stream.outcome is usp.Outcome.PARTIAL
        assert [problem.code for problem in stream.problems] in (["SM209"], ["SM204"])


def test_a_scalar_split_over_two_chunks_is_counted_once() -> None:
    for blanks in range(262_144 - 70, 262_144 - 50):
        document = f'{{"version": "{VERSION}", "items": [{" " * blanks}null, {A}]}}'
        assert [problem.message for problem in read(document).problems] == [
            "an item is not an object"
        ]


def test_if_items_is_an_object_its_values_are_the_items() -> None:
    document = f'{{"items": {{"0": {A}, "2": {C}}}, "version": "{VERSION}"}}'
    assert names(document) == ["a", "c"]
    assert [problem.message for problem in read(document).problems] == ["items is not a list"]
    assert read(document).complete


def test_parts_of_a_malformed_item_are_no_items() -> None:
    attached = json.dumps([{"url": "http://h/no", "title": "No", "mime_type": "x/y"}] * 2)
    malformed = '{"url": "http://h/b", "title": "5" kites", "attachments": ' + attached + "}"
    whole = '{"url": "http://h.example/c", "title": "C", "id": "c"}'
    document = f'{{"version": "{VERSION}", "items": [{malformed}, {whole}]}}'
    assert names(document) == ["c"]


def test_problems_have_line_and_offset() -> None:
    document = f'{{"version": "{VERSION}",\n"items": [\n{A},\n{{"id": x}},\n{C}\n]}}'
    (problem,) = read(document).problems
    assert (problem.code, problem.line, problem.offset) == ("SM231", 4, document.index('{"id": x}'))


HOSTILE = {
    "nested lists": "[" * 1_500_000,
    "nested objects": '{"x":' * 250_000,
    "one endless string": '{"id": "' + "x" * 1_500_000,
    "escapes": '{"id": "' + "\\" * 1_500_001,
    "item starts": '{"id" ' * 250_000,
    "quotes": '"' * 200_001,
    "words": "x " * 500_000,
    "words and malformed items": 'x {"id"} ' * 60_000,
    "lists that end": ']"x" [' * 50_000,
    "documents": ']}{"items": [' * 100_000,
    "spaces": " " * 1_500_000,
}


LONG = {"quotes", "words and malformed items", "lists that end"}
"""Those that take some seconds; the others show most of it."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.thorough) if one in LONG else one for one in HOSTILE],
)
def test_hostile_documents_take_little_memory(name: str) -> None:
    document = f'{{"version": "{VERSION}", "items": [{A}, {HOSTILE[name]}'.encode()
    sitemap = read(document)
    tracemalloc.start()
    assert [page.url for page in sitemap.all_pages()] == [f"{HOME}a"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 1024 * 1024
    assert not sitemap.complete


BEFORE_ITEMS = {
    "nested lists": "[" * 1_000_000,
    "an endless string": '"' + "x" * 3_000_000,
    "an endless string of escapes": '"' + "\\\\" * 1_500_000,
}


@pytest.mark.parametrize("name", BEFORE_ITEMS)
def test_hostile_input_before_the_items(name: str) -> None:
    document = f'{{"version": "{VERSION}", "x": {BEFORE_ITEMS[name]}'
    sitemap = read(document)
    assert sitemap.pages == []
    assert not sitemap.complete


def test_malformed_items_are_skipped_whole_once_too_much_was_rescanned() -> None:
    malformed = '{"id": "b", "title": ' + "b" * 1_000_000 + "}"
    middle = ", ".join([malformed] * 6)
    assert names(f'{{"version": "{VERSION}", "items": [{A}, {middle}, {C}]}}') == ["a", "c"]


def test_rescanning_is_bounded() -> None:
    diagnostics = Diagnostics()
    reader = JsonItemReader(diagnostics)
    hostile = f'{{"version": "{VERSION}", "items": ['.encode() + b'{"id" ' * 1_000_000
    chunks = [hostile[at : at + 262_144] for at in range(0, len(hostile), 262_144)]
    assert list(reader.read(chunks)) == []
    unlisted = int(diagnostics.problems[-1].message.split()[0])
    assert 1_000 < unlisted < 20_000  # of a million that look like items


def test_tiny_chunks_are_joined_before_they_are_read() -> None:
    calls = 0

    def length(data: bytes) -> int:
        nonlocal calls
        calls += 1
        return len(data)

    document = feed(item("a", content_text="x" * 500_000), item("b")).encode()
    reader = JsonItemReader(Diagnostics(), ReadPosition(length=length))
    assert len(list(reader.read(bytes([byte]) for byte in document))) == 2
    assert calls <= 4  # of half a million chunks


@given(st.lists(st.integers(1, 400), max_size=40), st.integers(0, 3))
def test_any_chunking_gives_the_same_result(sizes: list[int], damage: int) -> None:
    document = feed(*(item(name, content_text='x \\ " {') for name in "abcdefgh")).encode()
    document = [document, document[:-40], document.replace(b'"C"', b'C"', 1), document + b"}}"][
        damage
    ]
    chunks, at = [], 0
    for size in sizes:
        chunks.append(document[at : at + size])
        at += size
    chunks.append(document[at:])

    def found(chunks: list[bytes]) -> tuple[list[object], list[object]]:
        diagnostics = Diagnostics()
        reader = JsonItemReader(diagnostics)
        items = [value for value, _ in reader.read(chunks)]
        return list(items), [(p.code, p.message, p.offset) for p in diagnostics.problems]

    assert found(chunks) == found([document])


@given(st.text(alphabet='{}[]",:\\ \nab0', max_size=200))
def test_any_text_is_read_without_an_exception(inside: str) -> None:
    sitemap = parse(f'{{"version": "{VERSION}", "items": [{inside}')
    assert isinstance(sitemap.pages, list)
    assert isinstance(sitemap.problems, tuple)


@pytest.mark.parametrize(
    ("valid", "malformed", "skipped"),
    [("}", "}}", 0), ("}", "}}}", 0), ('{"id"', '"id"', 1), ("{", "", 1)],
)
def test_unmatched_brackets_do_not_affect_other_items(
    valid: str, malformed: str, skipped: int
) -> None:
    items = [f'{{"id": "http://h/{at}", "title": "t"}}' for at in range(100)]
    items[60] = items[60].replace(valid, malformed, 1)
    version = '"version": "https://jsonfeed.org/version/1.1"'
    sitemap = usp.parse(f'{{{version}, "items": [{", ".join(items)}]}}')
    expected = [f"http://h/{at}" for at in range(100) if not (skipped and at == 60)]
    assert [page.url for page in sitemap.pages] == expected
    assert "SM231" in {problem.code for problem in sitemap.problems}
    assert not sitemap.complete


def test_escape_sequences_and_commas_of_one_item_are_repaired() -> None:
    item = r'{"id": "http://h/a", "title": "a\x41\"\\", "tags": ["b",],}'
    sitemap = usp.parse(f'{{"version": "{VERSION}", "items": [{item}]}}')
    (page,) = sitemap.pages
    assert page.title == r'ax41"' + "\\"
    assert [problem.code for problem in sitemap.problems] == ["SM233"]
