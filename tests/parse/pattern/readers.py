"""Documents for the XML readers, and what each reader makes of them.

A document consists of a few kinds of entries that repeat, as generators write them, so that the
pattern reader has something to learn; their contents are as odd as possible. The expat reader, with
a full check of every entry, is the reference.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from hypothesis import strategies as st

from tests.parse.reading import ALL, SM
from usp._parse import Pages
from usp._parse.checking import Audit, AuditEntry
from usp._parse.children import Child
from usp._parse.diagnostics import Diagnostics
from usp._parse.document import Source, inspect
from usp._parse.input.sniff import Kind
from usp._parse.pattern.forget import forget_patterns
from usp._parse.pattern.layout import EntryRun, iter_entries
from usp._parse.tree.names import forget_tree_names
from usp._parse.xml.grammar import GRAMMARS
from usp._parse.xml_reader import XmlReader
from usp.objects.abstract_sitemap import HasProblems
from usp.objects.problem import Problem

WORTH_LEARNING: Final = f"<!--{'x' * 100_000}-->"
"""Enough bytes that a pattern is worth its cost."""


@dataclass(frozen=True, slots=True)
class ReaderResult:
    """What one reader makes of a document."""

    children: tuple[Child, ...]
    pages: list[dict[str, Any]]
    problems: tuple[Problem, ...]
    complete: bool


def read(chunks: list[bytes], *, expat_only: bool) -> ReaderResult:
    """Read a document with what earlier documents taught, and without: the result is the same."""
    warm = _read(chunks, expat_only=expat_only)
    if not expat_only:
        forget_all()
        assert _read(chunks, expat_only=False) == warm
    return warm


def forget_all() -> None:
    """Forget what earlier documents taught."""
    forget_patterns()
    forget_tree_names()


def _read(chunks: list[bytes], *, expat_only: bool) -> ReaderResult:
    source = Source(chunks, "http://h.example/a/sitemap.xml", expat_only=expat_only)
    document = inspect(source)
    pages = document.pages
    assert isinstance(pages, HasProblems)
    asked_first = inspect(replace(source)).pages
    assert isinstance(asked_first, HasProblems)
    alone = asked_first.problems, asked_first.complete
    listed = [page.to_dict(extended=True) for page in pages]
    assert (pages.problems, pages.complete) == alone, "iterated before or not"
    return ReaderResult(document.children, listed, pages.problems, pages.complete)


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a document, with all texts."""

    records: list[tuple[str, list[tuple[str, str]], int]]
    problems: tuple[Problem, ...]
    matched: int
    """How many of them the pattern reader has matched."""


def entries(data: bytes, kind: Kind = Kind.URLSET, *, expat_only: bool = False) -> Entries:
    """Read the entries of a document without anything that earlier documents taught."""
    forget_patterns()
    diagnostics = Diagnostics()
    reader = XmlReader(GRAMMARS[kind], diagnostics, expat_only=expat_only)
    pieces = list(reader.read([data]))
    records = [(name, list(record), at) for name, record, at in iter_entries(pieces)]
    matched = sum(len(piece.rows) for piece in pieces if isinstance(piece, EntryRun))
    return Entries(records, diagnostics.problems, matched)


def assert_readers_agree(chunks: Iterable[bytes]) -> None:
    held = list(chunks)
    assert read(held, expat_only=False) == read(held, expat_only=True)
    forget_all()
    assert audited(held) == audited(held, expat_only=True) == audited(held)


def audited(
    chunks: list[bytes], *, expat_only: bool = False
) -> tuple[list[AuditEntry], list[Problem]]:
    """Return the entries and the sorted problems of an audit: a reader may be far ahead."""
    items = list(Audit(Pages(Source(chunks, "http://h.example/a/s.xml", expat_only=expat_only))))
    problems = [item for item in items if isinstance(item, Problem)]
    return (
        [item for item in items if isinstance(item, AuditEntry)],
        sorted(problems, key=lambda found: (found.offset or 0, found.code, found.message)),
    )


# What Hypothesis draws

_TEXTS: Final = [
    "2020-05-06", "2020-05-06T07:08:09Z", "daily", "0.8", "", " ", "\n\t", "a\r\nb\rc", "é", "日本",
    "&amp;", "&amp;amp;", "&#38;lt;", "&#xe9;", "&#233;", "&#13;", "&#1;", "&#xD800;", "&nbsp;",
    "a&b", "&", "]]>", "]]", "\x01", "\x7f", "\x85", "\u2028", "\ufeff", "\ufffe", "a > b", "'\"",
    "<![CDATA[x & y]]>", "<!-- c -->", "a<b/>c", "<?x y?>", "<!-- </url> -->", "http://h.example/",
    "<![CDATA[<sitemap><loc>/s</loc></sitemap>]]>",
]  # fmt: skip
_usual: Final = st.sampled_from(_TEXTS[:4])
_texts: Final = st.one_of(_usual, _usual, _usual, st.sampled_from(_TEXTS), st.text(max_size=6))
_LEAVES: Final = [
    "lastmod", "lastmod", "changefreq", "changefreq", "priority", "priority", "image:caption",
    "odd",
    "loc", "LASTMOD", "sm:lastmod",
    "news:title", "o:odd", "x:deep", "url", "image:url", "link", "sitemap",
]  # fmt: skip
_BLANKS: Final = ["", "", "", "", "\n  ", "\n  ", "\r\n", " ", "\xa0", "text"]
_blanks: Final = st.sampled_from(_BLANKS)
_ATTRIBUTES: Final = [
    ' rel="alternate"', " rel='alternate'", ' hreflang="de"', ' href="http://h.example/de"',
    ' href="/a&amp;b"', ' href="a\tb\nc"', ' href="a<b"', ' href="é"', ' a="&"', ' a="b"',
    "  href = 'x'", ' xmlns:x="urn:x"', ' xmlns="http://www.w3.org/1999/xhtml"', ' xml:base="/b/"',
    ' HREF="http://h.example/fr"', " broken", ' a="\x02"',
]  # fmt: skip
_attributes: Final = st.lists(st.sampled_from(_ATTRIBUTES), max_size=4).map("".join)


@st.composite
def _leaf(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(_LEAVES))
    attributes = draw(st.just("") | st.just("") | _attributes)
    if draw(st.integers(0, 5)) == 0:
        return f"<{name}{attributes}/>"
    return f"<{name}{attributes}>{draw(_texts)}</{name}{draw(st.sampled_from(['', '', ' ']))}>"


@st.composite
def _link(draw: st.DrawFn) -> str:
    return f"<xhtml:link{draw(_attributes)}/>"


@st.composite
def _group(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(["image:image", "news:news", "news:publication", "odd", "xhtml:p"]))
    prefix = name.partition(":")[0] + ":"
    inner = st.sampled_from(["loc", "caption", "title", "name", "publication_date", "genres"])
    leaf = st.builds(
        lambda known, text: f"<{prefix}{known}>{text}</{prefix}{known}>", inner, _texts
    )
    held = draw(st.lists(leaf | _leaf(), max_size=4))
    gap = draw(_blanks)
    return f"<{name}>{gap}{gap.join(held)}{gap}</{name}>"


@st.composite
def _template(draw: st.DrawFn) -> str:
    """One kind of entry, with ``@`` where the number stands that makes its URL its own."""
    name = draw(st.sampled_from(["url", "url", "url", "url", "sitemap", "sm:url", "URL"]))
    loc = draw(st.sampled_from(["http://h.example/@", "/@", " http://h.example/@?a=1&amp;b ", "@"]))
    field = _leaf() | _leaf() | _link() | _group()
    before, after = draw(st.lists(field, max_size=1)), draw(st.lists(field, max_size=4))
    gap = draw(_blanks)
    fields = gap.join([*before, f"<loc>{loc}</loc>", *after])
    attributes = draw(st.sampled_from(["", "", "", "", ' a="b"', ' xml:base="/c/"', f" {SM}"]))
    return f"<{name}{attributes}>{gap}{fields}{gap}</{name}>"


_BETWEEN: Final = [
    "", "", "", "", "\n  ", "\r\n", "<!-- c -->", "<odd/>", "text", "<x xmlns='urn:x'>", "</x>",
    "<![CDATA[ ]]>", "</url>", "<!-- ", "&", "<loc>http://h.example/x</loc>", "<url>",
    "</urlset>", f"</urlset><urlset {SM}>", '<urlset a=b xml:base="/d/">',
]  # fmt: skip
_HEADS: Final = [
    f"<urlset {ALL}>", f"<urlset {ALL}>", f"<urlset {SM}>", "<urlset>", f"<sm:urlset {ALL}>",
    f'<urlset {ALL} xmlns:sm="http://www.sitemaps.org/schemas/sitemap/0.9">',
    f"<sitemapindex {ALL}>", f'<urlset {ALL} xml:base="http://b.example/">',
]  # fmt: skip


@st.composite
def documents(draw: st.DrawFn, *, padding: str = WORTH_LEARNING) -> bytes:
    """A document of a few kinds of entries, sound or not."""
    templates = draw(st.lists(_template(), min_size=1, max_size=3))
    order = draw(st.lists(st.integers(0, len(templates) - 1), min_size=8, max_size=24))
    plain = draw(st.booleans())
    body = []
    for number, which in enumerate(order):
        body.append("\n" if plain else draw(st.sampled_from(_BETWEEN)))
        # Now and then the same URL again.
        body.append(templates[which].replace("@", str(number - (number % 7 == 6))))
    head = draw(st.sampled_from(_HEADS))
    tail = draw(st.sampled_from(["</urlset>", "</sitemapindex>", "", "</sm:urlset>"]))
    return f"{head}{''.join(body)}{padding}{tail}".encode("utf-8", "replace")
