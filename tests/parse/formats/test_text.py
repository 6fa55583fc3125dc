"""Plain text sitemaps: lines that are URLs, in order, without duplicates."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
from tests.parse.reading import urls
from tests.server import LoopbackServer
from usp._parse.diagnostics import Diagnostics
from usp._parse.formats.text import urls_in_text
from usp.objects.sitemap import PagesTextSitemap
from usp.tree import sitemap_from_str, sitemap_tree_for_homepage

A, B = "http://h.example/a.xml", "http://h.example/b.xml"

TEXTS = [
    ("one URL per line", f"{A}\n{B}\n", [A, B]),
    ("no newline at the end", f"{A}\n{B}", [A, B]),
    ("lines that end in CR", f"{A}\r{B}\r", [A, B]),
    ("lines that end in CR LF", f"{A}\r\n{B}\r\n", [A, B]),
    ("whitespace around", f"  {A}\t\n\n\n {B} ", [A, B]),
    ("a byte order mark", f"\ufeff{A}\n{B}", [A, B]),
    ("duplicates", f"{B}\n{A}\n {B}\n{A}", [B, A]),
    ("words between", f"Hello.\n{A}\nand then\n{B}\nBye.", [A, B]),
    ("other schemes", f"ftp://h.example/\n{A}\nmailto:x@y\njavascript:void(0)", [A]),
    ("no host", f"http://\nhttps:///x\n{A}\nhttp:x", [A]),
    ("upper case", "HTTP://H.EXAMPLE/X", ["HTTP://H.EXAMPLE/X"]),
    ("ampersands as they are", "http://h/?a=1&b=2&copy=3", ["http://h/?a=1&b=2&copy=3"]),
    ("letters beyond ASCII", "http://h/日本\nhttp://b\u00fccher.example/", None),
]


@pytest.mark.parametrize(("what", "text", "expected"), TEXTS, ids=[row[0] for row in TEXTS])
def test_urls_in_lines(what: str, text: str, expected: list[str] | None) -> None:
    sitemap = sitemap_from_str(text)
    assert isinstance(sitemap, PagesTextSitemap), what
    assert urls(text) == (text.split("\n") if expected is None else expected)


@pytest.mark.parametrize(
    "line", ["http://[::1/x", "http://[bad]/", "http://h:port/", "http://\ud800/"]
)
def test_a_line_that_url_parsers_reject_does_not_affect_others(line: str) -> None:
    found = urls(f"{A}\n{line}\n{B}")
    assert found[0] == A
    assert found[-1] == B


def test_a_control_character_in_a_line_is_removed_and_reported() -> None:
    sitemap = sitemap_from_str(f"{A}\n\x00 {B}\nhttp://h.example/c\x08\n")
    assert [page.url for page in sitemap.pages] == [A, B, "http://h.example/c"]
    assert [(problem.code, problem.line) for problem in sitemap.problems] == [
        ("SM307", 2),
        ("SM307", 3),
    ]


C = "http://h.example/ж"
OTHER_LINE_BREAKS = [
    rf"{A}\n{B}",
    rf"{A}\r\n{B}\r\n",
    rf"{A}\n {B} \n",
    rf"{A}\n\n{B}\n\n",
    f"{A}\\n\n{B}\\n\n",
    rf"'{A}\n{B}\n'",
    rf'"{A}\n{B}"',
    f"{A}<br>{B}<br/>",
    f"{A}<BR />{B}<br>\n",
    f"{A}\0{B}",
    f"{A}\0{B}\n",
    f"{A}\v{B}\n",
    f"{A}\f{B}\n",
]


@pytest.mark.parametrize("text", OTHER_LINE_BREAKS)
def test_line_breaks_that_are_written_in_another_way_separate_urls(text: str) -> None:
    for document, listed in (
        (text, [A, B]),
        (text.replace(B, C), [A, C]),
        (f"{B}x\n" * 3 + text, [f"{B}x", A, B]),
    ):
        found = sitemap_from_str(document)
        assert [page.url for page in found.pages] == listed
        assert {problem.code for problem in found.problems} - {"SM305"} == {"SM311"}
        assert found.complete


@pytest.mark.parametrize(
    "line", [rf"{A}\new", rf"{A}\n{{x}}", rf"{A}?a=\n&b=1", rf"{A}\net:http", f"{A}\x01x"]
)
def test_a_url_that_contains_something_like_a_line_break_is_one(line: str) -> None:
    assert urls(f"{line}\n{B}\n") == [line.replace("\x01", ""), B]


def test_a_message_with_an_escape_sequence_lists_nothing() -> None:
    assert urls(rf"Not found.\n{A}") == []
    assert urls(rf'{{"error": "see\n{A}"}}') == []


@pytest.mark.parametrize("text", ["", " \n ", "no address here", '{"urls": []}'])
def test_text_without_a_url_has_no_pages_and_an_error(text: str) -> None:
    sitemap = sitemap_from_str(text)
    assert isinstance(sitemap, PagesTextSitemap)
    assert sitemap.pages == []
    assert not sitemap.complete
    assert [problem.severity for problem in sitemap.problems] == ["error"]


@pytest.mark.parametrize("text", ["", "no address here", '{"error": "not found"}'])
def test_text_without_a_url_at_a_known_path_is_not_found(server: LoopbackServer, text: str) -> None:
    server.site["/sitemap.xml"] = text
    tree = sitemap_tree_for_homepage(server.url)
    assert tree.sub_sitemaps == []


TABLES = {
    "a table": f"url,lastmod\n{A},2024-05-06\n",
    "a table that is cut off": f"url,lastmod\n{A},2024-05-06\nhttp://h.exa",
    "tabs": f"Page URL\tclicks\n{A}\t7\nhttp://h.exa",
    "for Excel": f"sep=;\nurl;lastmod\n{A};2024-05-06\n",
    "after blank lines, quoted": f'\n\n"lastmod";"Loc"\n"2024-05-06";"{A}"\n{B}',
}


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
def test_a_table_is_no_text_sitemap(text: str) -> None:
    sitemap = sitemap_from_str(text)
    assert [page.url for page in sitemap.pages] == []
    (problem,) = sitemap.problems
    assert (problem.code, problem.message[:23]) == ("SM204", "the document is a table")


@pytest.mark.parametrize("header", ["url", "Our pages, and more:", "loc " * 4000 + ",url"])
def test_lines_before_urls_are_not_taken_for_the_header_of_a_table(header: str) -> None:
    assert urls(f"{header}\n{A}\n{B}") == [A, B]


@pytest.mark.parametrize("end", ["a,url", "?fields=loc,url", "a;url", "a,page"])
def test_a_url_is_not_taken_for_the_header_of_a_table(end: str) -> None:
    assert urls(f"http://h.example/{end}\n{A}\n") == [f"http://h.example/{end}", A]


LINES = st.lists(
    st.sampled_from([A, B, "http://h.example/c d", "", " ", f"\0{A}", f'"{B}"', "word", "ÿ" * 5000])
    | st.integers(0, 400).map("https://h.example/{}".format),
    max_size=300,
)


@given(lines=LINES, ends=st.sampled_from(["\n", "\r\n", "\r"]), size=st.integers(1, 9000))
def test_lines_that_are_read_together_are_read_like_single_ones(
    lines: list[str], ends: str, size: int
) -> None:
    document = ends.join(lines).encode()

    def read(size: int) -> tuple[list[str], object]:
        diagnostics = Diagnostics()
        chunks = [document[at : at + size] for at in range(0, len(document), size)]
        return list(urls_in_text(chunks, diagnostics)), diagnostics.problems

    assert read(size) == read(1)  # of single bytes, no two lines are read together


@pytest.mark.parametrize("line_break", ["<br>\n", "<br />\r\n", "<BR/>\n"])
def test_a_line_break_in_markup_at_the_end_of_a_line(line_break: str) -> None:
    found = usp.parse(f"{A}{line_break}{B}{line_break}")
    assert [page.url for page in found.pages] == [A, B]
    assert found.complete
    assert {problem.code for problem in found.problems} == {"SM311"}


@pytest.mark.parametrize("cut", [0, 7])
def test_a_compressed_document_that_is_appended_is_lost(cut: int) -> None:
    lines = "".join(f"{A}/{number}\n" for number in range(500)).encode()
    found = usp.parse(lines[: len(lines) - cut] + gzip.compress(lines))
    assert 499 <= len(list(found.pages)) <= 500
    assert not found.complete
    assert "SM223" in {problem.code for problem in found.problems}


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_bytes_of_utf_16_are_no_compressed_document(codec: str) -> None:
    lines = f"\ufeff{A}\n{B}/\u8b1f\u6708\u1f8b\u0860\n"
    assert usp.parse(lines.encode(codec)).complete
