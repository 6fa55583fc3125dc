"""What the pattern reader costs where there is little to gain, and what it leaves in memory.

work is counted, not timed. Hostile documents count as well as odd ones.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from types import BuiltinMethodType
from typing import Final

import pytest

from tests.parse.pattern.readers import WORTH_LEARNING, assert_readers_agree, entries
from tests.parse.pattern.test_readers_agree import calls
from tests.parse.reading import ALL, u
from usp._parse.document import Source, inspect
from usp._parse.pattern.pattern_reader import _UNSAFE

_CONTROL_CHARACTERS: Final = _UNSAFE[0][0]


def document(*listed: str) -> bytes:
    return f"<urlset {ALL}>{''.join(listed)}{WORTH_LEARNING}</urlset>".encode()


# Entries that expat has to read


def one_in(step: int, odd: str, *, count: int = 3000) -> bytes:
    """A document in which one entry in so many has something odd in its caption."""
    captions = ("a word", odd)
    return document(
        *(
            u(f"http://h.example/{n}", f"<image:caption>{captions[n % step == 0]}</image:caption>")
            for n in range(count)
        )
    )


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("odd", ["a&#13;b", "a]]&gt;b<!-- c -->", "<![CDATA[a]]>"])
def test_entries_that_expat_has_to_read_cost_hardly_more(step: int, odd: str) -> None:
    data = one_in(step, odd)
    assert calls(data, expat_only=False) < calls(data, expat_only=True) * 1.15
    assert_readers_agree([data])


def test_a_rare_odd_thing_is_not_looked_for_at_each_frequent_one() -> None:
    data = one_in(3, "a&#13;b").replace(WORTH_LEARNING.encode(), b"<x>\x01</x>")
    searches = 0

    def note(_frame: object, event: str, called: object) -> None:
        nonlocal searches
        if event == "c_call" and isinstance(called, BuiltinMethodType):
            searches += called.__self__ is _CONTROL_CHARACTERS

    sys.setprofile(note)
    try:
        found = entries(data)
    finally:
        sys.setprofile(None)
    assert found.learned > 1900
    assert searches == 1


def test_after_odd_entries_the_pattern_still_holds() -> None:
    odd, plain = one_in(1, "a&#13;b", count=4000), one_in(1, "a word", count=4000)
    data = odd.replace(b"</urlset>", plain[plain.index(b"<url>") :].replace(b"e/", b"e/x"))
    assert entries(data).learned > 1500  # from the next block on
    assert_readers_agree([data])


REFERENCES = ["&#20013;", "&#x4e2d;", "&#99999;", "&#128512;", "&#x1F600;", "&#xFFFFF;"]
UNSURE = ["&#50000;", "&#55296;", "&#57343;", "&#65533;", "&#65534;", "&#65535;", "&#65536;"]
NO_CHARACTERS = ["&#1114112;", "&#x110000;", "&#xD800;", "&#xdfff;", "&#xFFFE;", "&#xffff;"]


@pytest.mark.parametrize("reference", REFERENCES)
def test_references_to_any_writing_are_learned(reference: str) -> None:
    data = one_in(1, reference, count=60)
    assert entries(data).learned == 57
    assert_readers_agree([data])


@pytest.mark.parametrize("reference", [*UNSURE, *NO_CHARACTERS])
def test_references_at_the_edges_are_for_expat_to_judge(reference: str) -> None:
    assert_readers_agree([one_in(9, reference, count=60)])


# Patterns that would try the same thing again and again


def written_in(ways: int) -> dict[str, bytes]:
    """Documents in which an element, or what is in it, is written in so many ways."""
    kinds: dict[str, Callable[[int], str]] = {
        "attributes": lambda n: f"<x a='long' b{n % ways}=''/>",
        "end tags": lambda n: f"<x>long</x{' ' * (n % ways)}>",
        "an end tag inside another": lambda n: f"<y><x>long</x{' ' * (n % ways)}></y>",
        "slots": lambda n: "<x>long</x><y/>" * (n % ways + 1),
    }
    return {
        name: document(*(u(f"http://h.example/{n}", kind(n)) for n in range(200)))
        for name, kind in kinds.items()
    }


@pytest.mark.parametrize("what", written_in(1))
def test_what_is_written_in_few_ways_is_learned(what: str) -> None:
    data = written_in(6)[what]
    assert entries(data).learned > 150
    assert_readers_agree([data])


@pytest.mark.parametrize("what", written_in(1))
def test_what_is_written_in_many_ways_is_left_to_expat(what: str) -> None:
    data = written_in(20)[what]
    assert entries(data).learned == 0
    assert_readers_agree([data])


# Memory

LONG: Final = "9" * 20_000
FIELDS: Final = {
    "priority": "<priority>@</priority>",
    "last_modified": "<lastmod>@</lastmod>",
    "change_frequency": "<changefreq>@</changefreq>",
    "alternates": "<xhtml:link rel=' alternate ' hreflang='@' href='/'/>",
    "news_story": "<news:news><news:title> T</news:title><news:name>@</news:name></news:news>",
}


@pytest.mark.parametrize("expat_only", [False, True])
@pytest.mark.parametrize("field", FIELDS)
def test_long_values_leave_nothing_in_memory(field: str, expat_only: bool) -> None:
    fields = (FIELDS[field].replace("@", f"{expat_only:d}{n} {LONG}") for n in range(300))
    data = document(*(u(f"http://h.example/{n}", f) for n, f in enumerate(fields)))
    pages = inspect(Source([data], expat_only=expat_only)).pages
    tracemalloc.start()
    try:
        assert sum(getattr(page, field) is not page for page in pages) == 300
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
