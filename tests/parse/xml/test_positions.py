"""The position of a problem is the same whichever reader finds it, however much it is fed."""

from __future__ import annotations

from typing import Final

import pytest

from tests.parse.reading import SM, u
from usp._parse.document import Source, inspect
from usp.objects.abstract_sitemap import HasProblems

A: Final = u("http://h/a")
C: Final = u("http://h/c")
FAULT: Final = u("http://h/x & y")
ROOT: Final = f"<urlset {SM}>"


def found(document: str, *, expat_only: bool) -> list[tuple[str, int | None, int | None]]:
    pages = inspect(Source([document.encode()], "http://h/s.xml", expat_only=expat_only)).pages
    assert isinstance(pages, HasProblems)
    return [(problem.code, problem.line, problem.offset) for problem in pages.problems]


@pytest.mark.parametrize("expat_only", [False, True])
@pytest.mark.parametrize("before", ["", f"{FAULT}\n"])
@pytest.mark.parametrize("inside", [f"\n{A}\n", f"\n\n{A}\n{A}\n{A}"])
def test_a_text_in_cdata_is_where_the_section_begins(
    before: str, inside: str, *, expat_only: bool
) -> None:
    document = f"{ROOT}\n{A}\n{before}<![CDATA[{inside}{C}</urlset>"
    at = document.index("<![CDATA[")
    position = document[:at].count("\n") + 1, at
    codes = ("SM209", "SM211", "SM223")
    problems = found(document, expat_only=expat_only)
    assert {one for one in problems if one[0] in codes} == {(code, *position) for code in codes}


@pytest.mark.parametrize("expat_only", [False, True])
@pytest.mark.parametrize("before", ["", FAULT])
@pytest.mark.parametrize(
    "entry",
    [
        "<url><loc>http://h/b@<lastmod>2020 & 1</lastmod></url>",
        "<url><loc>http://h/b@<lastmod>2020</lastmod></url>",
        "<url><loc>http://h/b & c@<lastmod>2020</lastmod></url>",
        "<url><loc>http://h/b@<b>c & d</b></loc></url>",
        "<url><loc>http://h/b@<loc></url>",
    ],
)
def test_markup_in_a_text_is_told_where_it_is(before: str, entry: str, *, expat_only: bool) -> None:
    document = f"{ROOT}{A}{before}{entry}{C}</urlset>"
    at = document.index("@")
    problems = found(document.replace("@", ""), expat_only=expat_only)
    assert ("SM211", 1, at) in problems


@pytest.mark.parametrize("end", ["<ur</urlset>", "<u</urlset>", "</ur\n</urlset>"])
def test_the_tag_of_an_entry_that_is_cut_off_at_the_end_is_an_error(end: str) -> None:
    document = f"{ROOT}{A}{end}"
    assert ("SM209", *(document.count("\n") + 1, document.index("</urlset>"))) in found(
        document, expat_only=False
    )
