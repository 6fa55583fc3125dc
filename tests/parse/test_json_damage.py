"""JSON Feed: what is left of a feed that is cut off, broken or hostile.

Rules of this room: feeds are made with ``json`` and then damaged; work is counted, never timed.
"""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
from tests.parse.json_feeds import HOME, VERSION, codes, feed, item, names, read
from usp._parse.diagnostics import Diagnostics, ReadPosition
from usp._parse.formats.json_items import JsonItemReader
from usp.tree import parse


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
    ("a name for an item", '"words": 1', ["a", "c"], ["SM231"]),
    ("words for an item", "no quotes", ["a", "c"], ["SM231"]),
    ("the end of the list", "]", ["a", "c"], ["SM231"]),
    ("the end of the document", "]}", ["a", "c"], ["SM231"]),
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
    shown = {0: [], 1: ["an item is not an object"]}.get(count, [f"{count} items are not objects"])
    assert [problem.message for problem in told] == shown
    assert all(problem.line == 2 for problem in told)
    assert all(problem.offset == document.index(junk[0], document.index("[")) for problem in told)
    assert read(document).complete


def test_junk_that_is_cut_in_two_is_counted_once() -> None:
    for blanks in range(262_144 - 70, 262_144 - 50):
        document = f'{{"version": "{VERSION}", "items": [{" " * blanks}null, {A}]}}'
        assert [problem.message for problem in read(document).problems] == [
            "an item is not an object"
        ]


def test_items_that_are_an_object_are_its_values() -> None:
    document = f'{{"items": {{"0": {A}, "2": {C}}}, "version": "{VERSION}"}}'
    assert names(document) == ["a", "c"]
    assert [problem.message for problem in read(document).problems] == ["items is not a list"]
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
    "words": "x " * 500_000,
    "words and broken items": 'x {"id"} ' * 60_000,
    "lists that end": ']"x" [' * 50_000,
    "documents": ']}{"items": [' * 100_000,
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
    diagnostics = Diagnostics()
    reader = JsonItemReader(diagnostics)
    hostile = f'{{"version": "{VERSION}", "items": ['.encode() + b'{"id" ' * 1_000_000
    pieces = [hostile[at : at + 262_144] for at in range(0, len(hostile), 262_144)]
    assert list(reader.read(pieces)) == []
    unlisted = int(diagnostics.problems[-1].message.split()[0])
    assert 1_000 < unlisted < 20_000  # of a million, each of which looks like an item


def test_tiny_chunks_are_put_together_before_they_are_looked_at() -> None:
    looks = 0

    def length(data: bytes) -> int:
        nonlocal looks
        looks += 1
        return len(data)

    document = feed(item("a", content_text="x" * 500_000), item("b")).encode()
    reader = JsonItemReader(Diagnostics(), ReadPosition(length=length))
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
        diagnostics = Diagnostics()
        reader = JsonItemReader(diagnostics)
        items = [value for value, _ in reader.read(pieces)]
        return list(items), [(p.code, p.message, p.offset) for p in diagnostics.problems]

    assert found(chunks) == found([document])


@given(st.text(alphabet='{}[]",:\\ \nab0', max_size=200))
def test_nothing_raises(inside: str) -> None:
    sitemap = parse(f'{{"version": "{VERSION}", "items": [{inside}')
    assert isinstance(sitemap.pages, list)
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
