"""Every regular expression of the package takes linear time, whatever text it is used on.

The patterns are collected from the package itself (``tests/patterns.py``): a new one is checked as
soon as it is written.
"""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.cost import cost
from tests.patterns import USES, check, superlinear
from tests.warm import WarmPython

PARTS: Final = 8
"""In how many processes the patterns are checked."""
WITHOUT_USP: Final = WarmPython(("pytest",))
"""The patterns are found when the package is imported."""
BUILT_FROM_INPUT: Final = {
    "_crawl/selection.py",  # the caller's own pattern
    "_parse/pattern/exact.py",  # made of an entry: tests/parse/pattern/test_exact.py
}
"""Files in which a pattern is compiled that no import makes."""

SLOW: Final = (
    ("search", re.compile(r"\s++x")),
    ("finditer", re.compile(r"(?:\\[rn])++(?=[a-z]++:|\Z)")),
    ("search", re.compile(rb"^\s*x", re.MULTILINE)),
    ("match", re.compile(r"(?:a|b|ab)*c")),
    ("fullmatch", re.compile(r"\s*(?:[a-z]+\s*)*")),
    ("match", re.compile(r"a*[a-z]*!")),
    ("search", re.compile(r"<!--.*?-->", re.DOTALL)),
    ("finditer", re.compile(rb'("(?:[^"\\]++|\\["\\])*+")|x')),
    ("search", re.compile(r"""\(by .*?(["'])(?P<words>.+)\1\)+$""")),
)
LINEAR: Final = (
    ("search", re.compile(r"(?<!\s)\s++x")),
    ("search", re.compile(rb"^[^\S\n]*+x", re.MULTILINE)),
    ("match", re.compile(r"\s*+x")),
    ("search", re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)),
    ("finditer", re.compile(rb'("(?:[^"\\]++|\\.)*+"?)|x', re.DOTALL)),
    ("fullmatch", re.compile(r"[A-Z]++(?: ++[A-Z]++)*+")),
)


def check_patterns(part: int) -> None:
    found = check(part, PARTS)
    assert not found.slow, "\n".join(found.slow)
    assert found.checked > 10
    assert set(found.unseen) == BUILT_FROM_INPUT, found.unseen


@pytest.mark.slow
@pytest.mark.sampled(8)  # .ci/run has the others
@pytest.mark.parametrize("part", range(PARTS))
def test_every_pattern_takes_linear_time(part: int) -> None:
    cost(check_patterns, part, seconds=115, python=WITHOUT_USP)


def check_examples() -> None:
    missed = [pattern for use, pattern in SLOW if not superlinear(pattern, [use])]
    assert not missed, missed
    assert [superlinear(pattern, [use]) for use, pattern in LINEAR] == [None] * len(LINEAR)


@pytest.mark.thorough
def test_slow_patterns_are_found_and_others_are_not() -> None:
    assert {use for use, _ in (*SLOW, *LINEAR)} == USES.keys()
    cost(check_examples, seconds=60)
