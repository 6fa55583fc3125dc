"""A CDATA section whose end was cut off swallows the entries up to the end of the next one.

That is well-formed XML, so no parser can have them. But the document is not complete.
"""

import pytest

from tests.parse.pattern.readers import forget_all
from tests.parse.reading import ALL
from usp._parse.document import Pages, Source, inspect
from usp.tree import sitemap_from_str

H = "https://h.example/"
CONTENT = 'xmlns:content="http://purl.org/rss/1.0/modules/content/"'


def item(name: str, text: str, field: str = "description") -> str:
    return f"<item><title>{name}</title><link>{H}{name}</link><{field}>{text}</{field}></item>"


def page(name: str, text: str) -> str:
    image = f"<image:loc>{H}{name}.jpg</image:loc><image:caption>{text}</image:caption>"
    return f"<url><loc>{H}{name}</loc><image:image>{image}</image:image></url>"


def in_content(name: str, text: str) -> str:
    return item(name, text, "content:encoded")


RSS = (f'<rss version="2.0" {CONTENT}><channel>', "</channel></rss>")
KINDS = {
    "descriptions": (RSS, item),
    "contents, which are not read": (RSS, in_content),
    "captions": ((f"<urlset {ALL}>", "</urlset>"), page),
}


@pytest.mark.parametrize("others", [0, 300], ids=["small", "large"])
@pytest.mark.parametrize("length", [1, 500, 30_000], ids=["short", "long", "pieces"])
@pytest.mark.parametrize("kind", KINDS)
def test_entries_in_a_section_that_is_not_closed_are_missing(
    kind: str, length: int, others: int
) -> None:
    (begin, end), entry = KINDS[kind]
    text = "x\n" * length
    entries = [
        *(entry(f"{at}", "<![CDATA[t]]>") for at in range(others)),
        entry("a", f"<![CDATA[{text}]]>"),
        entry("b", f"<![CDATA[{text}, cut of"),
        entry("c", "C"),
        entry("d", f"<![CDATA[{text}]]>"),
        entry("e", "E"),
    ]
    forget_all()
    for _ in range(2):  # with what was learned from it, too
        sitemap = sitemap_from_str(begin + "".join(entries) + end)
        urls = [one.url.removeprefix(H) for one in sitemap.all_pages()]
        assert urls[others:] == ["a", "b", "e"]
        assert not sitemap.complete
        assert [problem.code for problem in sitemap.problems] == ["SM209"]


@pytest.mark.parametrize(
    "text",
    [
        "<![CDATA[ <![CDATA[ twice ]]>]]&gt;",
        "<![CDATA[an &lt;item> and a </item> in code]]>",
        "&lt;item&gt;&lt;![CDATA[ escaped ]]&gt;&lt;/item&gt;",
        "<![CDATA[" + "<p>" * 300 + "]]>",
    ],
)
@pytest.mark.parametrize("expat_only", [False, True])
def test_other_sections_are_no_problem(text: str, expat_only: bool) -> None:
    document = f"{RSS[0]}{item('a', text)}{item('b', text)}{RSS[1]}".encode()
    pages = inspect(Source([document], expat_only=expat_only)).pages
    assert isinstance(pages, Pages)
    assert [one.url for one in pages] == [f"{H}a", f"{H}b"]
    assert "SM209" not in {problem.code for problem in pages.problems}


@pytest.mark.parametrize(
    "entries",
    [
        f"{page('a', '<![CDATA[cut of')}<url><loc><![CDATA[{H}b]]></loc></url>",
        f"{page('a', '<![CDATA[cut of')}<url><loc>{H}b</loc><x><![CDATA[d]]></x></url>",
    ],
)
def test_what_is_read_again_after_a_fault_is_not_swallowed(entries: str) -> None:
    sitemap = sitemap_from_str(f"<urlset {ALL}>{entries}</urlset>")
    assert [one.url for one in sitemap.all_pages()] == [f"{H}a", f"{H}b"]
    assert sitemap.complete
    assert [problem.code for problem in sitemap.problems] == ["SM208"]


@pytest.mark.parametrize("expat_only", [False, True])
@pytest.mark.parametrize("between", ["", f"<url><loc>{H}x</loc></url>"])
@pytest.mark.parametrize("fault", ["?a&b", "</lco"])
def test_a_fault_in_a_later_entry_hides_nothing(fault: str, between: str, expat_only: bool) -> None:
    swallowing = f"<url><loc><![CDATA[{H}a</loc></url><url><loc><![CDATA[{H}lost]]></loc></url>"
    later = f"<url><loc>{H}c{fault}</loc></url>"
    document = f"<urlset {ALL}>{swallowing}{between}{later}</urlset>".encode()
    for chunks in ([document], [document[at : at + 9] for at in range(0, len(document), 9)]):
        pages = inspect(Source(chunks, expat_only=expat_only)).pages
        assert isinstance(pages, Pages)
        assert "SM209" in {problem.code for problem in pages.problems}
        assert not pages.complete


def test_a_fault_in_a_later_item_hides_nothing() -> None:
    items = f"{item('a', '<![CDATA[an exce')}{item('lost', '<![CDATA[d]]>')}{item('R & D', 'x')}"
    sitemap = sitemap_from_str(RSS[0] + items + RSS[1])
    assert [problem.code for problem in sitemap.problems if problem.code < "SM300"] == [
        *("SM209", "SM208")
    ]
