"""``problems.md`` is what ``problem_page.py`` generates, and the table of codes is valid."""

from __future__ import annotations

import re

import pytest

from tests.docs.problem_page import BLOCKS, PAGE, render
from usp.objects.problem import CODES


def test_the_page_is_generated_from_the_table() -> None:
    hint = "run: python -m tests.docs.problem_page"
    assert PAGE.read_text(encoding="utf-8") == render(), hint


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_one_row(code: str) -> None:
    row = CODES[code]
    start = f"| {code} | `{row.name}` | {row.severity} |"
    assert [line.startswith(start) for line in render().splitlines()].count(True) == 1


def test_codes_and_names_are_well_formed_and_unique() -> None:
    assert [code for code in CODES if not re.fullmatch(r"SM[1-7]\d\d", code)] == []
    assert list(CODES) == sorted(CODES)
    assert {code[:3] for code in CODES} <= BLOCKS.keys()
    names = [row.name for row in CODES.values()]
    assert [name for name in names if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name)] == []
    assert len(set(names)) == len(names)


def test_no_cell_is_empty() -> None:
    cells = [(row.meaning, row.rule, row.fix) for row in CODES.values()]
    assert [row for row in cells if not all(cell.strip() for cell in row)] == []
