"""The cost of the pattern reader on documents that it can hardly use, and what it leaves in memory.

Work is counted, not timed. The documents are odd or hostile.
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
from usp._parse.pattern.unsafe import _UNSAFE


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


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("odd", ["a&#13;b", "a]]&gt;b<!-- c -->", "<![CDATA[a]]>"])
def test_entries_that_only_expat_can_read_cost_little_more(step: int, odd: str) -> None:
    data = one_in(step, odd)
    assert calls(data, expat_only=False) < calls(data, expat_only=True) * 1.2
    assert_readers_agree([data])


def test_each_unsafe_pattern_is_searched_once_per_block() -> None:
    data = one_in(5, "a&#13;b").replace(WORTH_LEARNING.encode(), b"<x>\x01</x>")
    searches = 0

    def note(_frame: object, event: str, called: object) -> None:
        nonlocal searches
        if event == "c_call" and isinstance(called, BuiltinMethodType):
            searches += called.__self__ is _UNSAFE

    sys.setprofile(note)
    try:
        found = entries(data)
    finally:
        sys.setprofile(None)
    assert found.matched > 2200
    assert searches == 1


@pytest.mark.slow
def test_the_pattern_is_used_again_after_entries_that_expat_read() -> None:
    odd, plain = one_in(1, "a&#13;b", count=4000), one_in(1, "a word", count=4000)
    data = odd.replace(b"</urlset>", plain[plain.index(b"<url>") :].replace(b"e/", b"e/x"))
    assert entries(data).matched > 1500  # from the next block on
    assert_readers_agree([data])


REFERENCES = [
    *("&#20013;", "&#x4e2d;", "&#99999;", "&#128512;", "&#x1F600;", "&#xFFFFF;"),
    *("&#039;", "&#x01B0;", "&#0000020013;"),  # as PHP and .NET write them
]
UNSAFE_CODE_POINTS = [
    "&#50000;",
    "&#55296;",
    "&#57343;",
    "&#65533;",
    "&#65534;",
    "&#65535;",
    "&#65536;",
    "&#0013;",
    "&#x0009;",
]
INVALID_CODE_POINTS = ["&#1114112;", "&#x110000;", "&#xD800;", "&#xdfff;", "&#xFFFE;", "&#xffff;"]


@pytest.mark.parametrize("reference", REFERENCES)
def test_character_references_of_any_script_are_matched(reference: str) -> None:
    data = one_in(1, reference, count=60)
    assert entries(data).matched == 60
    assert_readers_agree([data])


@pytest.mark.parametrize("reference", [*UNSAFE_CODE_POINTS, *INVALID_CODE_POINTS])
def test_unsafe_and_invalid_character_references_are_left_to_expat(reference: str) -> None:
    assert_readers_agree([one_in(9, reference, count=60)])


# Shapes that are written in many ways


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
def test_values_with_few_alternatives_are_matched(what: str) -> None:
    data = written_in(6)[what]
    assert entries(data).matched > 150
    assert_readers_agree([data])


@pytest.mark.slow
@pytest.mark.parametrize(
    "what",
    [
        one if one == "slots" else pytest.param(one, marks=pytest.mark.thorough)
        for one in written_in(1)
    ],
)
def test_values_with_many_alternatives_cost_little_more(what: str) -> None:
    data = written_in(200)[what]
    assert calls(data, expat_only=False) < calls(data, expat_only=True) * 1.5
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
