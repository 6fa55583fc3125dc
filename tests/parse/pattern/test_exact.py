"""Entries that are written alike to the last blank are split at once, as expat reads them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cost import cost
from tests.parse.pattern.readers import assert_readers_agree, entries
from tests.parse.pattern.test_shapes import ALMOST, LINK, USUAL
from tests.parse.reading import ALL, u
from tests.patterns import superlinear
from usp._parse.diagnostics import Diagnostics
from usp._parse.input.sniff import Kind
from usp._parse.pattern.exact import _repetitions
from usp._parse.pattern.forget import forget_patterns
from usp._parse.pattern.layout import EntryRun
from usp._parse.xml.grammar import GRAMMARS
from usp._parse.xml_reader import XmlReader

NEWS = (
    "<news:news><news:publication><news:name>P</news:name><news:language>en</news:language>"
    "</news:publication><news:publication_date>2020-05-06</news:publication_date>"
    "<news:title>A &amp; B</news:title></news:news>"
)
PAGE_MAP = (
    '<PageMap xmlns="http://www.google.com/schemas/sitemap-pagemap/1.0"><DataObject type="image">'
    '<Attribute name="name" value="a&#x20;b"/></DataObject></PageMap>'
)
"""As Magento writes it into each entry."""
KINDS = {
    "plain": "<lastmod>2020-05-06</lastmod>\n  <priority>0.5</priority>",
    "links": f"{LINK}\r\n{LINK}",
    "story": NEWS,
    "a namespace": PAGE_MAP,
    "unknown": "<odd>text</odd><odd kind='1'/><lastmod>2020</lastmod>",
    "empty": "<lastmod/><priority></priority>",
    "nothing": "",
}
WITH_SECTIONS = {
    "comments": "<lastmod>2020-05-06<!-- a --><!-- b --></lastmod><priority>0.5</priority>",
    "a comment": "<!-- a --><lastmod>2020-05-06</lastmod>",
    "CDATA": "<lastmod><![CDATA[2020-05-06]]></lastmod><priority>0.5</priority>",
    "an unknown element": "<odd>x<!-- y --></odd><lastmod>2020-05-06</lastmod>",
}
"""What is no tag, though it begins like one."""
TOKENS = [
    *(
        "<",
        ">",
        "]]>",
        "&",
        "&amp;",
        "&#10;",
        "&#x41;",
        "&bad;",
        "\r",
        "\n",
        " ",
        "\x01",
        "é",
        "字",
    ),
    *("<!-- x -->", "<![CDATA[a]]>", "'", '"', "</url>", "<url>", "<loc>", "/", "\ufffe", "="),
]


def document(listed: list[str]) -> bytes:
    body = "\n".join(listed)
    return f"<urlset {ALL}>\n{body}\n</urlset>".encode()


def alike(kind: str, numbers: range) -> list[str]:
    inside = (KINDS | WITH_SECTIONS)[kind]
    return [u(f"http://h.example/{number}?a&amp;b", inside) for number in numbers]


def split_at_once(data: bytes, kind: Kind = Kind.URLSET, *, forgetting: bool = True) -> int:
    """Return how many entries of a document an exact pattern has split."""
    if forgetting:
        forget_patterns()
    reader = XmlReader(GRAMMARS[kind], Diagnostics())
    runs = [piece for piece in reader.read([data]) if isinstance(piece, EntryRun)]
    return sum(len(run) for run in runs if not run._rows)


@pytest.mark.parametrize("kind", KINDS)
def test_entries_that_are_alike_are_split_at_once(kind: str) -> None:
    data = document(alike(kind, range(800)))
    assert_readers_agree([data])
    assert entries(data).matched == 800
    # Single quotes have other values; that is seldom.
    assert split_at_once(data) >= (0 if "'" in KINDS[kind] else 200)


@pytest.mark.parametrize("kind", WITH_SECTIONS)
def test_entries_with_comments_or_cdata_are_never_split_at_once(kind: str) -> None:
    data = document(alike(kind, range(600)))
    assert_readers_agree([data])
    assert split_at_once(data) == 0


@pytest.mark.parametrize("kind", WITH_SECTIONS)
def test_a_url_with_a_comment_is_read_as_expat_reads_it(kind: str) -> None:
    listed = [
        f"<url>{WITH_SECTIONS[kind]}<loc>http://h.example/{number}<!-- c --></loc></url>"
        for number in range(600)
    ]
    assert_readers_agree([document(listed)])


def test_entries_of_an_index_are_split_at_once() -> None:
    listed = "".join(
        f"<sitemap><loc>http://h.example/{number}.xml</loc></sitemap>" for number in range(800)
    )
    data = f"<sitemapindex {ALL}>{listed}</sitemapindex>".encode()
    assert_readers_agree([data])
    assert split_at_once(data, Kind.INDEX) >= 250


def test_what_an_earlier_document_taught_is_used_by_the_next_one() -> None:
    forget_patterns()
    taught = document(alike("plain", range(600)))
    small = document(alike("plain", range(60)))

    assert split_at_once(small, forgetting=False) == 0
    split_at_once(taught, forgetting=False)
    assert split_at_once(small, forgetting=False) > 0


def check_exact_patterns() -> None:
    forget_patterns()
    for kind in ("plain", "links", "story"):
        split_at_once(document(alike(kind, range(400))), forgetting=False)
    found = [known.pattern for known in _repetitions.values() if known.pattern]
    assert len(found) == 3
    patterns = [pattern.split.__self__ for pattern in found]  # type: ignore[attr-defined]
    assert [superlinear(pattern, ["finditer"]) for pattern in patterns] == [None] * len(patterns)


@pytest.mark.slow
def test_an_exact_pattern_takes_linear_time() -> None:
    cost(check_exact_patterns, seconds=60)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("usual", [USUAL, "<lastmod>2020-05-06</lastmod>", ""])
@pytest.mark.parametrize("what", ALMOST)
def test_an_odd_entry_after_many_alike_is_read_as_expat_reads_it(what: str, usual: str) -> None:
    listed = [u(f"http://h.example/{number}", usual) for number in range(500)]
    listed[450] = u("http://h.example/450", ALMOST[what])
    assert_readers_agree([f"<urlset {ALL}>{''.join(listed)}</urlset>".encode()])


@st.composite
def nearly_alike(draw: st.DrawFn) -> bytes:
    """Entries that are written alike, with something inserted into or cut out of a few."""
    kind = draw(st.sampled_from([*KINDS, *WITH_SECTIONS]))
    listed = alike(kind, range(460))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(300, len(listed) - 1))
        start = draw(st.integers(0, len(listed[at])))
        end = start + draw(st.integers(0, 8))
        token = draw(st.sampled_from(["", *TOKENS]))
        listed[at] = listed[at][:start] + token + listed[at][end:]
    return document(listed)


@given(nearly_alike())
def test_readers_agree_on_entries_that_are_nearly_alike(data: bytes) -> None:
    whole = entries(data)
    assert replace(whole, matched=0) == replace(entries(data, expat_only=True), matched=0)


@pytest.mark.parametrize("blank", ["\t", "\r\n", "  "])
def test_blanks_that_change_in_the_middle_change_nothing(blank: str) -> None:
    changed = [entry.replace("><", f">{blank}<") for entry in alike("story", range(450, 900))]
    data = document([*alike("story", range(450)), *changed])
    assert_readers_agree([data])
    assert entries(data).matched == 900


@pytest.mark.parametrize(
    "other", [PAGE_MAP.replace("pagemap", "other"), PAGE_MAP.replace("1.0", "")]
)
def test_another_namespace_makes_another_pattern(other: str) -> None:
    usual = alike("a namespace", range(800))
    odd = [u(f"http://h.example/odd/{number}?a&amp;b", other) for number in range(3)]
    data = document([*usual[:400], *odd, *usual[400:]])
    assert split_at_once(data) >= 200
    assert_readers_agree([data])
