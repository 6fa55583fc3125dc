"""Hostile XML costs time in line with its size, and memory that its size doesn't change (issue 12).

Each document is read in a process of its own, with limits (see ``tests.cost``).
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import pairwise
from typing import Final

import pytest

from tests.cost import assert_linear, cost
from tests.parse.reading import SM
from tests.speed import Stopwatch
from usp._parse.diagnostics import Diagnostics
from usp._parse.document import Pages, Source
from usp._parse.input.sniff import Kind
from usp._parse.xml.grammar import GRAMMARS
from usp._parse.xml_reader import XmlReader

MB: Final = 1_000_000
ENTRY: Final = "<url><loc>http://h.example/@</loc></url>"

Unit = tuple[str, str]
UNITS: Final[dict[str, Unit]] = {
    # What stands once, and what is repeated: ``@`` becomes a number.
    "elements that are not closed": ("", "<a>"),
    "end tags of other elements": ("", "<a></b>"),
    "start tags of entries with a quote": ("", '<url "'),
    "end tags of elements that are not open": (ENTRY, "x</b>"),
    "control characters": ("", "\x0b<a/>"),
    "comments with hyphens": ("", "<!-- -- "),
    "comments that are not closed": ("", "<!-- <a> "),
    "comments that are not closed, with a root in each": ("</urlset><a/>", "<loc/><!--<urlset>"),
    "instructions that are not closed": ("", "<?a <b>"),
    "instructions that are not closed, after elements": ("", "<loc/><image:image><?a "),
    "instructions that are not closed, around entries": ("", f"<?a {ENTRY}"),
    "instructions without a name that are not closed": ("", "<?= <a>"),
    "instructions without a name, around entries": ("", f"<?= {ENTRY}"),
    "instructions without a name that are closed": ("", f"<?= {ENTRY}?>"),
    "CDATA that is not closed": ("", "<![CDATA[ <a> "),
    "start tags of entries": ("", "<url "),
    "start tags of entries with attributes": ("", "<url x=1 "),
    "start tags in entries": ("", "<url><a "),
    "start tags of entries after a blank": ("", "< url >"),
    "start tags of entries with blanks": ("", f"<url{' ' * 400}"),
    "start tags of entries, and of nothing": ("", "<url><"),
    "entries that are not closed": ("", "<url>"),
    "entries with end tags of other elements": ("", "<url></b>"),
    "entries in instructions": ("", "<?a <url>"),
    "start tags of URLs": ("", "<loc "),
    "URLs in no entry": ("", "<loc>/@</loc>"),
    "names, each its own": ("", "<a@/>"),
    "open names, each its own": ("", "<a@>"),
    "attributes, each its own": ("", "<a b@='' c@=''/>"),
    "prefixes, each its own": ("", "<p@:a/>"),
    "namespaces, each its own": ("", "<a xmlns:p@='u@'>"),
    "entries with a namespace of their own": ("", f"{ENTRY[:4]} xmlns:p@='u@'{ENTRY[4:]}"),
    "attributes of one tag": ("<a", " b@=''"),
    "children of one entry": ("<url>", "<a@>x</a@>"),
    "open children of one entry": ("<url>", "<b>"),
    "end tags of fields after a long text": (f"<url>&{'x' * 60_000}>y", "</loc></title>"),
    "children with namespaces in one entry": ("<url>", "<b xmlns:p@='u@'>"),
    "long names of open elements": (f"<{'n' * 60_000}>", "<a></b>"),
    "open elements and text around entries": ("", f"<a>{ENTRY}x"),
    "elements and text around each entry": ("", f"<a@>{ENTRY}x</a@>"),
    "odd entries among plain ones, with an undeclared prefix each": (
        "", ENTRY * 4 + ENTRY.replace("</url>", "<p@:a>x</p@:a></url>"),
    ),
    "odd entries among plain ones, with an unknown child each": (
        "", ENTRY * 4 + ENTRY.replace("</url>", "<a@>x</a@></url>"),
    ),
    "children written in many ways": (
        "", f"{ENTRY * 4}<url>{''.join(f'<x b{n}=%s/>' % repr('') for n in range(90))}</url>",
    ),
    "roots after the root": ("</urlset>", "<urlset></urlset>"),
    "roots whose tags are malformed": ("", "<urlset a=b>"),
    "roots whose tags are not closed": ("", "<urlset a='"),
    "entries with a child that is not closed": ("", "<url><a>"),
    "entries with a child that is not closed, and others": ("", f"<url><a>{ENTRY}"),
    "entries with a child that is not closed among plain ones": ("", f"<url><a>{ENTRY * 5}"),
    "pages in a URL": ("<url><loc>", "<html><b>"),
    "pages in URLs": ("", "<url><loc>/@<h1>x</h1></loc></url>"),
    "tags of entries that are cut off": ("", f"<ur{ENTRY}"),
    "values that are not whole": ("", '<url><link href="a="b" href="c"/></url>'),
    "values that are not whole, in one tag": ("<url><link", ' href="a="b"'),
    "URLs that are not closed, with a root in each": ("", "<loc/>/<loc><sm:urlset>"),
    "URLs that are not closed among plain entries": ("", f"{'<loc>' * 9}{ENTRY * 5}"),
    "children of two kinds in turn": ("", f"{ENTRY * 4}<url>{'<x>1</x><y/>' * 90}</url>"),
}  # fmt: skip


class Repeated:
    """The chunks of a document of any size, which is never whole in memory."""

    def __init__(self, what: str, size: int) -> None:
        self._once, self._unit = UNITS[what]
        self._size = size

    def __iter__(self) -> Iterator[bytes]:
        yield f"<urlset {SM}>{self._once}".encode()
        written = number = 0
        while written < self._size:
            units = []
            length = 0
            while length < min(100_000, self._size - written):
                units.append(self._unit.replace("@", str(number)))
                length += len(units[-1])
                number += 1
            written += length
            yield "".join(units).encode()


def read(size: int, what: str) -> None:
    """Read the pages of a document, with all of their fields, and its problems."""
    pages = Pages(Source(Repeated(what, size), "http://h.example/sitemap.xml"))
    for page in pages:
        page.to_dict(extended=True)
    assert len(pages.problems) <= 301


@pytest.mark.sampled(9)
@pytest.mark.parametrize("what", UNITS)
def test_twice_the_document_takes_twice_the_time(what: str) -> None:
    assert assert_linear(read, 80_000, what).seconds < 3


@pytest.mark.slow
@pytest.mark.parametrize("what", ["start tags of entries", "start tags of entries, and of nothing"])
def test_an_entry_whose_tag_is_interrupted_costs_less_than_one_in_which_expat_finds_a_fault(
    what: str,
) -> None:
    """It did cost as much: a document of 160 kB has up to 32,000 of them."""
    entries, other = 6_000, "start tags of entries with attributes"
    for _ in range(3):  # anything may disturb it
        interrupted = cost(read, entries * len(UNITS[what][1]), what).seconds
        if interrupted < 0.75 * cost(read, entries * len(UNITS[other][1]), other).seconds:
            return
    pytest.fail(f"{interrupted:.2f} s")


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "what",
    [
        "names, each its own",
        "namespaces, each its own",
        "open children of one entry",
        *(
            pytest.param(unit, marks=pytest.mark.thorough)
            for unit in (
                "entries that are not closed",
                "elements that are not closed",
                "open names, each its own",
                "attributes, each its own",
                "prefixes, each its own",
                "children of one entry",
                "children with namespaces in one entry",
            )
        ),
    ],
)
def test_what_a_parser_would_keep_takes_little_memory(what: str) -> None:
    # So large that the buffers are full, and that everything kept would take some 200 MB.
    assert cost(read, 4 * MB, what, seconds=60).memory < 70 * MB


UNCLOSED: Final[dict[str, tuple[str, str, str]]] = {
    # What an entry begins with, what is repeated in it, and what it ends with.
    "URLs in an extension": ("<image:image>", "<loc>/@</loc>", ""),
    "URLs in an extension that is closed": ("<image:image>", "<loc>/@</loc>", "</image:image>"),
    "URLs in extensions": ("", "<image:image><loc>/@</loc>", ""),
    "URLs in extensions with a prefix each": (
        "",
        "<p@:image xmlns:p@='http://www.google.com/schemas/sitemap-image/1.1'><loc>/@</loc>",
        "",
    ),
    "elements in an extension": ("<image:image>", "<a@>", "<loc>/@</loc>"),
}


def read_malformed_entry(size: int, what: str) -> None:
    begin, repeated, end = UNCLOSED[what]
    inside = "".join(repeated.replace("@", str(at)) for at in range(size // len(repeated)))
    document = f"<urlset {SM}><url>&{begin}{inside}{end}</url></urlset>"
    pages = Pages(Source([document.encode()], "http://h.example/sitemap.xml"))
    _ = [page.url for page in pages], pages.problems


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", UNCLOSED)
def test_fields_in_what_is_not_closed_take_linear_time(what: str) -> None:
    assert assert_linear(read_malformed_entry, 80_000, what).seconds < 1.5


def read_bomb(size: int) -> None:
    packed = BytesIO()
    with gzip.open(packed, "wb") as file:
        file.write(b"<urlset>")
        for _ in range(size // 300_000):
            file.write(b"<a>" * 100_000)
    assert len(packed.getvalue()) < size // 900
    pages = Pages(Source([packed.getvalue()]))
    assert list(pages) == []
    assert "elements are nested more than 500 deep" in {one.message for one in pages.problems}


@pytest.mark.slow
def test_a_few_kilobytes_of_gzip_with_millions_of_open_elements() -> None:
    assert cost(read_bomb, 9 * MB, seconds=30).memory < 60 * MB  # it was 1 GB for 24 MB


# A reading can be ended


def longest_step(data: bytes) -> float:
    """Return the longest CPU time between two questions whether reading should end."""
    times = [time.process_time()]

    def ended() -> bool:
        times.append(time.process_time())
        return False

    reader = XmlReader(GRAMMARS[Kind.URLSET], Diagnostics(ended=ended))
    with Stopwatch() as watch:
        # Whoever takes the entries may end the reading as well.
        times.extend(time.process_time() for _ in reader.read([data]))
    return max(later - sooner for sooner, later in pairwise(times)) / watch.slowness


@pytest.mark.sampled(9)
@pytest.mark.parametrize("what", UNITS)
def test_a_reading_is_never_long_without_a_question(what: str) -> None:
    data = b"".join(Repeated(what, 300_000))
    assert longest_step(data) < 0.5 or longest_step(data) < 0.5


ENDS: Final[dict[str, Callable[[int], bool]]] = {
    "at once": lambda _: True,
    "later": lambda asked: asked > 3,
}


@pytest.mark.parametrize("when", ENDS)
def test_a_reading_ends_when_it_should(when: str) -> None:
    asked = 0

    def ended() -> bool:
        nonlocal asked
        asked += 1
        return ENDS[when](asked)

    reader = XmlReader(GRAMMARS[Kind.URLSET], Diagnostics(ended=ended))
    with pytest.raises(TimeoutError, match="not read to its end"):
        list(reader.read(Repeated("elements that are not closed", MB)))
