"""Junk around URLs is removed; any other text stays as it is written."""

from __future__ import annotations

import html

import pytest

import usp
from tests.parse.reading import children, index, problems, rss, u, urls, urlset
from usp.objects.sitemap import PagesTextSitemap

A, B, C = "http://h/a", "http://h/b", "http://h/c"
MESSAGE = "Notice: Undefined index: x in /srv/x.php on line 3"
HTML_MESSAGE = "<br />\n<b>Warning</b>:  x in <b>/srv/x.php</b> on line <b>3</b><br />\n"

WITH_JUNK = [
    f"{MESSAGE} {B}",
    f"{MESSAGE}{B}",
    f"\n{MESSAGE}\n{MESSAGE}\n{B}",
    f"{B}\n{MESSAGE}",
    HTML_MESSAGE + B,
    HTML_MESSAGE + HTML_MESSAGE + B,
    B + HTML_MESSAGE,
    f"Warning: fopen(http://h/x): failed in /x.php on line 3 {B}",
    f"Deprecated: no more of this\n{B}",
    f"PHP Fatal error: x {B}",
    f"URL: {B}",
    f'"{B}"',
    f"'{B}'",
    f"`{B}`",
    f"({B})",
    f"[{B}]",
    f"&lt;{B}&gt;",
    f"\u201c{B}\u201d",
    f"\u201d{B}\u201d",
    f"\u201e{B}\u201c",
    f"\u00ab {B} \u00bb",
    f"&amp;quot;{B}&amp;quot;",
    f'"{B}',
    f">{B}",
    f"={B}",
    f"<![CDATA[<p>{B}</p>]]>",
    f"[CDATA[{B}]]",
    f"&lt;![CDATA[{B}]]&gt;",
    f"{B}&lt;/loc&gt;",
    f"{B}&lt;br /&gt;",
]
AS_WRITTEN = [
    "http://h/a b c",
    "http://h/a_(b)",
    "http://h/a'b'",
    'http://h/b"',
    "http://h/b)",
    "http://h/&lt;id&gt;",
    "http://h/?q=Notice: x",
    "http://h/on line 3",
    "http://web/2020/http://h/b",
    "my page.html",
    "(my page).html",
    "/go?to=http://h/b",
    "go to?u=http://h/b",
    "words http://h/b and more",
    "http://h/b is the page",
    "('words')",
]


@pytest.mark.parametrize("text", WITH_JUNK)
def test_junk_around_a_url_is_removed_and_reported(text: str) -> None:
    document = urlset(u(A), f"\n{u(text)}", u(C))
    assert urls(document) == [A, B, C]
    (problem,) = (problem for problem in problems(document) if problem.code == "SM311")
    assert (problem.line, problem.offset) == (2, document.index("\n") + 1)
    assert children(index(A, text, C)) == [A, B, C]
    item = f"<item><title>T</title><link>{text}</link></item>"
    assert urls(rss(item)) == [B]


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_what_may_be_part_of_the_url_stays_as_written(text: str) -> None:
    document = urlset(u(A), u(text), u(C))
    assert urls(document) == [A, html.unescape(text), C]
    assert "SM311" not in {problem.code for problem in problems(document)}


def test_a_text_longer_than_any_url_is_left_alone() -> None:
    text = f"{'x ' * 5000}{B}"
    assert urls(urlset(u(text))) == [text]


QUOTED_LINES = [f'"{B}"', f"'{B}'", f"<{B}>", f"({B})", f"`{B}`", f"\u2018{B}\u2019"]


@pytest.mark.parametrize("line", QUOTED_LINES)
def test_quotes_around_a_line_are_removed(line: str) -> None:
    text = usp.parse(f"{A}\n{line}\n{C}\n")
    assert [page.url for page in text.pages] == [A, B, C]
    assert [(problem.code, problem.line) for problem in text.problems] == [("SM311", 2)]
    robots = usp.parse(f"User-agent: *\nSitemap: {line}\n", url="http://h/robots.txt")
    assert [child.url for child in robots.sub_sitemaps] == [B]
    assert [(problem.code, problem.line) for problem in robots.problems] == [("SM607", 2)]


@pytest.mark.parametrize("line", [f'["{A}"]', f'"{A}","2020"', f"- {A}", f"see {A}", f"{A}<b>"])
def test_a_line_with_other_text_beside_the_url_is_skipped(line: str) -> None:
    text = usp.parse(f"{line}\n")
    assert isinstance(text, PagesTextSitemap)
    assert list(text.pages) == []
