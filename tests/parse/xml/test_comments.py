"""Comments and processing instructions: what is in them is no entry, however long they are.

A comment with ``--`` in it is malformed, and a comment all the same: sites comment entries out
whose URLs have two hyphens. Only one that is never closed is read as if it weren't there.
"""

import random
import re

import pytest

from tests.cost import assert_linear
from tests.parse.reading import SM
from usp._parse.input.chunks import CHUNK_SIZE, ChunksAhead
from usp._parse.xml.faults import MAX_ENTRY
from usp.tree import sitemap_from_str

BEGIN = f"<urlset {SM}>\n"
END = "</urlset>"


def entries(name: str, size: int) -> str:
    """Return as many entries as fit into a size."""
    found: list[str] = []
    length = 0
    while length < size:
        found.append(f"<url><loc>https://h.example/{name}{len(found)}</loc></url>\n")
        length += len(found[-1])
    return "".join(found)


def read(document: str) -> tuple[set[str], int, bool, list[str]]:
    """Return the beginnings of the URLs, their number, completeness, and the problems' codes."""
    sitemap = sitemap_from_str(document)
    urls = [page.url for page in sitemap.all_pages()]
    names = {re.sub(r"\d*$", "", url.rpartition("/")[2]) for url in urls}
    return names, len(urls), sitemap.complete, [problem.code for problem in sitemap.problems]


SIZES = [1_000, CHUNK_SIZE - 2_000, 3 * CHUNK_SIZE, 5 * CHUNK_SIZE, 9 * CHUNK_SIZE]
"""Within a chunk, across several, and longer than what is ever buffered."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("begin", "end", "problems"),
    [
        ("<!-- ", " -->", []),
        ("<!-- a -- b ", " -->", ["SM211"]),
        ("<!-- ", " a -- b -->", ["SM211"]),
        ("<!--", "--->", ["SM211"]),
        ("<?x ", "?>", []),
        ("<?= ", "?>", ["SM211"]),
        ("<?php& ", "?>", ["SM211"]),
    ],
)
def test_what_is_commented_out_is_no_page(
    begin: str, end: str, problems: list[str], size: int
) -> None:
    before, after = entries("before", 2_000), entries("after", 2_000)
    hidden = entries("hidden", size)
    found = read(f"{BEGIN}{before}{begin}{hidden}{end}{after}{END}")
    expected = before.count("<url>") + after.count("<url>")
    assert found[:3] == ({"before", "after"}, expected, True)
    # In what is too long to be buffered, nobody looks for hyphens.
    assert found[3] == problems or (found[3] == [] and size > MAX_ENTRY)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shift", range(-6, 2))
@pytest.mark.parametrize("begin", ["<!-- ", "<!-- a -- b ", "<?x "])
def test_the_end_may_be_cut_in_two_by_a_chunk(begin: str, shift: int) -> None:
    end = "?>" if begin.startswith("<?") else "-->"
    for size in (CHUNK_SIZE, 5 * CHUNK_SIZE):
        start = f"{BEGIN}{begin}"
        hidden = entries("hidden", size - 200)
        hidden += " " * (size + shift - len(start) - len(hidden))
        names, *_ = read(f"{start}{hidden}{end}{entries('after', 2_000)}{END}")
        assert names == {"after"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "commented",
    [
        "<!-- {}/hidden--1{} -->",
        "<!-- {}/hidden1{}{}/hidden--2{}{}/hidden3{} -->",
        "<!-- old: {}/hidden1{} -- new: see below -->",
        "<!-- old --{}/hidden1{} -->",
        "<!--<!--{}/hidden1{} -->",
        "<!-- <!-- <!-- {}/hidden1{} -->",
        "<!-- {}/hidden--{}{}/hidden2{} -->",
        "<!-- x --</urlset>{}/hidden1{} -->",
        "<!-------- {}/hidden1{}------>",
        '<?php echo "{}/hidden1{}"; ?>',
        "<!-- {}/hidden1{} --><?x {}/hidden--2{} ?>",
    ],
)
@pytest.mark.parametrize(
    "junk", ["", "<!-- pages -->\n", "<!-- a -- b -->", "&nbsp;", "<p class=x>", "a < b", "\x01"]
)
@pytest.mark.parametrize("times", [1, 2, 40])
def test_a_commented_entry_may_have_hyphens_in_its_url(
    commented: str, junk: str, times: int
) -> None:
    tags = ["<url><loc>https://h.example", "</loc></url>"] * 3
    hidden = f"{junk}{commented.format(*tags)}\n" * times
    before, after = entries("before", 100), entries("after", 100)
    names, count, complete, problems = read(f"{BEGIN}{before}{hidden}{after}{END}")
    assert (names, complete) == ({"before", "after"}, True)
    assert count == before.count("<url>") + after.count("<url>")
    assert set(problems) <= {"SM211", "SM206"}


@pytest.mark.parametrize("end", ["<!--</urlset>", " --</urlset>", "</urlset>"])
def test_entries_in_a_comment_that_is_cut_off_are_read(end: str) -> None:
    kept = entries("kept", 100)
    names, count, _, problems = read(f"{BEGIN}<!-- {kept}{end}")
    assert (names, count) == ({"kept"}, kept.count("<url>"))
    assert problems


@pytest.mark.slow
def test_a_long_comment_in_an_entry_or_after_many_names_has_no_pages() -> None:
    comment = f"<!-- {entries('hidden', 5 * CHUNK_SIZE)} -->"
    after = f"{entries('after', 100)}{END}"
    names, *_ = read(f"{BEGIN}<url><loc>https://h.example/a</loc>{comment}</url>{after}")
    assert "hidden" not in names
    assert "after" in names
    many = "".join(f"<x{number}/>" for number in range(5000))
    names, *_ = read(f"{BEGIN}{many}{comment}{after}")
    assert names == {"after"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("begin", ["<!-- ", "<!-- a -- b ", "<?x "])
def test_one_that_is_never_closed_hides_nothing(begin: str, size: int) -> None:
    before, after = entries("before", 2_000), entries("after", size)
    names, count, _, problems = read(f"{BEGIN}{before}{begin}{after}{END}")
    assert names == {"before", "after"}
    assert count == before.count("<url>") + after.count("<url>")
    assert "SM211" in problems or "SM207" in problems


@pytest.mark.parametrize("size", SIZES)
def test_another_comment_shows_that_one_is_not_closed(size: int) -> None:
    document = f"{BEGIN}<!-- a ->{entries('kept', size)}<!-- b -->{entries('after', 100)}{END}"
    assert read(document)[0] == {"kept", "after"}


@pytest.mark.parametrize(
    "between",
    [
        "<x><![CDATA[ <!-- ]]></x>& {} --> ",
        "&<x><![CDATA[ <!-- ]]></x> {} --> ",
        "&<x><![CDATA[ <!-- <!-- ]]></x> {} --> ",
        "&<?x <!-- ?>{} --> ",
    ],
)
def test_the_start_of_a_comment_in_cdata_is_none(between: str) -> None:
    kept = entries("kept", 100)
    assert read(f"{BEGIN}{between.format(kept)}{END}")[:2] == ({"kept"}, kept.count("<url>"))


def test_entries_in_cdata_that_is_cut_off_in_a_comment_are_read() -> None:
    kept = entries("kept", 100)
    assert read(f"{kept}<![CDATA[{entries('after', 100)}<!-- x")[0] == {"kept", "after"}


def test_what_is_not_found_ahead_is_searched_for_once() -> None:
    pattern, chunks = re.compile(b"-->"), [b"a" * CHUNK_SIZE] * 4
    ahead = ChunksAhead(chunks)
    assert ahead.take(CHUNK_SIZE) == (chunks[0], False)
    assert ahead.find(pattern, chunks[0], 3) is None
    assert ahead.find(pattern, b"--", 3) is None
    assert [ahead.take(CHUNK_SIZE)[0] for _ in range(4)] == [*chunks[1:], b""]


def test_beyond_what_is_kept_nothing_is_found_until_it_is_near() -> None:
    pattern = re.compile(b"-->")
    drawn = (random.Random(at).randbytes(CHUNK_SIZE) for at in range(80))  # noqa: S311
    chunks = [chunk.replace(b">", b"<") for chunk in drawn]
    ahead = ChunksAhead([*chunks, b"-->"])
    assert ahead.take(CHUNK_SIZE) == (chunks[0], False)
    assert ahead.find(pattern, b"", 3) is None  # 16 MiB are kept
    for chunk in chunks[1:40]:
        assert ahead.take(CHUNK_SIZE) == (chunk, False)
    assert ahead.find(pattern, b"", 3) == b"-->"


def test_what_was_searched_is_read_again() -> None:
    chunks = [b"x" * (CHUNK_SIZE - 1) + b"-", b"->" + b"y" * (CHUNK_SIZE - 2), b"<!-- -->"]
    ahead = ChunksAhead(chunks)
    pattern = re.compile(b"-->|<!--")
    first, _ = ahead.take(CHUNK_SIZE)
    assert ahead.find(pattern, first, 4) == b"-->"
    second = ahead.take(1)[0] + ahead.take(CHUNK_SIZE)[0]
    assert ahead.find(pattern, second, 4) == b"<!--"
    assert ahead.take(5) == (b"<!-- ", False)
    assert ahead.find(pattern, b"<!-- ", 4) == b"-->"
    assert ahead.take(5) == (b"-->", True)
    assert first + second == b"".join(chunks[:2])


def read_unclosed(count: int, begin: str) -> None:
    """Read as many comments that are not closed, each half as long as a chunk."""
    part = f"{begin}{entries('a', CHUNK_SIZE // 2)}"
    list(sitemap_from_str(f"{BEGIN}{part * count}{END}").all_pages())


@pytest.mark.slow
@pytest.mark.parametrize("begin", ["<!-- -- ", "<?x ", "<!-- "])
def test_many_that_are_not_closed_cost_in_line_with_their_number(begin: str) -> None:
    assert assert_linear(read_unclosed, 8, begin).memory < 40_000_000
