"""``reference/tables.md`` is what ``table_page.py`` generates from the schema."""

from __future__ import annotations

import pytest

from tests.docs.table_page import PAGE, render
from usp._tables.schema import LISTED_SITES, TABLES


def test_the_page_is_generated_from_the_schema() -> None:
    hint = "run: python -m tests.docs.table_page"
    assert PAGE.read_text(encoding="utf-8") == render(), hint


@pytest.mark.parametrize("name", TABLES)
def test_every_column_of_a_table_has_one_row(name: str) -> None:
    section = render().split(f"\n## {name}\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| `")]
    table = LISTED_SITES if name == LISTED_SITES.name else TABLES[name]
    assert rows == [f"`{column}`" for column in table.names]
