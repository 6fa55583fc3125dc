"""What the HTML of a page says about itself, whatever the HTML is like."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cost import assert_linear
from usp._parse.checking import read_page_markup

URL: Final = "https://example.org/folder/page"
HOSTILE: Final = (
    "<script", "<script>", "<!--", "<meta ", '<meta name="', "<a href='", "<", "</", "<main>",
    "<title>", '"dateModified": "', "<link rel=canonical href=", "<textarea>", "&amp;", "<svg>",
)  # fmt: skip


@pytest.mark.parametrize(
    ("html", "canonicals"),
    [
        ('<link rel="canonical" href="/a">', ["https://example.org/a"]),
        ("<LINK HREF=b REL='nofollow Canonical'>", ["https://example.org/folder/b"]),
        (
            "<base href='https://example.net/'><link rel=canonical href=c>",
            ["https://example.net/c"],
        ),
        (
            '<link rel="canonical" href="/a"><link rel="canonical" href="/b">',
            ["https://example.org/a", "https://example.org/b"],
        ),
        ('<link rel="canonical" href="/a">' * 2, ["https://example.org/a"]),
        ('<body><link rel="canonical" href="/a">', []),
        ('<script>"<link rel=canonical href=/a>"</script>', []),
        ('<link rel="canonical" href="">', []),
        ('<link rel="canonical" href="javascript:alert(1)">', []),
        ('<link rel="canonical" href="/a', []),
    ],
)
def test_the_canonical_urls_are_those_of_the_head(html: str, canonicals: list[str]) -> None:
    assert read_page_markup(html, URL).canonicals == tuple(canonicals)


def test_text_is_compared_without_markup_and_space() -> None:
    one = read_page_markup("<title>A</title><body><p>One  two</p>\n<b>three</b></body>", URL)
    other = read_page_markup("<title>B</title><main class=x>One two <i>three</i></main>", URL)
    third = read_page_markup("<p>One two three four</p>", URL)
    assert one.text_digest == other.text_digest != third.text_digest
    assert read_page_markup("<script>text</script>", URL).text_digest == ""


@pytest.mark.parametrize(
    ("html", "modified"),
    [
        ('<meta property="article:modified_time" content="2026-01-02">', "2026-01-02"),
        ('<meta itemprop="dateModified" content="2026-01-03">', "2026-01-03"),
        ('<script type="application/ld+json">{"dateModified":"2026-01-04"}</script>', "2026-01-04"),
        ('<script>{"dateModified":"2026-01-05"}</script>', ""),
        ('<meta name="date" content="2026-01-06">', ""),
    ],
)
def test_the_date_of_the_last_change_is_found(html: str, modified: str) -> None:
    assert read_page_markup(html, URL).modified == modified


@given(st.lists(st.sampled_from([*HOSTILE, "text ", ">", '"', "'", "-->", "</script>"])))
def test_no_html_raises_an_exception(parts: list[str]) -> None:
    markup = read_page_markup("".join(parts), URL)
    assert all(url.startswith("http") for _, url in markup.alternates)


def read_repeated(size: int, part: str) -> None:
    read_page_markup(part * (size // len(part)), URL)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", HOSTILE)
def test_any_page_takes_linear_time(part: str) -> None:
    assert_linear(read_repeated, 100_000, part, memory_mib=512)
