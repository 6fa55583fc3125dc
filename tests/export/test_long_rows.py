"""Rows that are appended to JSON lines whose first row is long, or that are no rows at all."""

import json
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import usp
from tests.export.readers import read_jsonl
from tests.parse.strategies import examples
from usp._export.json_outline import outline
from usp._tables.schema import TABLES
from usp.exceptions import UsageError


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_rows_follow_a_first_row_of_any_length(name: str, tmp_path: Path) -> None:
    images = "".join(
        f"<image:image><image:loc>http://h.example/{at}.png</image:loc></image:image>"
        for at in range(1000)
    )
    title = "<news:news><news:title>" + "T" * 70_000 + "</news:title></news:news>"
    (tmp_path / "s.xml").write_text(
        f"<urlset><url><loc>http://h.example/</loc>{images}{title}</url></urlset>"
    )
    for _ in range(2):
        usp.export(tmp_path / "s.xml", tmp_path / name, append=True)
    first, second = read_jsonl(tmp_path / name, TABLES["pages"])
    assert first == second
    assert len(first["images"]) == 1000
    with pytest.raises(UsageError, match="columns"):
        usp.export(tmp_path / "s.xml", tmp_path / name, append=True, columns=["url", "images"])


@pytest.mark.parametrize(
    "line",
    [
        '{"site": "' + "x" * 8_000_000 + '"}',
        "[" * 100_000,
        '{"' + "x" * 8_000_000 + '": 1}',
        '{"site": ' + "9" * 8_000_000 + "}",
    ],
    ids=["text", "nesting", "key", "number"],
)
def test_a_line_of_something_else_takes_no_memory(line: str, tmp_path: Path) -> None:
    source = usp.parse("<urlset><url><loc>http://h.example/</loc></url></urlset>")
    (tmp_path / "x.jsonl").write_text(line)
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match="columns"):
            usp.export(source, tmp_path / "x.jsonl", append=True)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@examples(200)
@given(st.dictionaries(st.text(), VALUES), st.booleans(), st.lists(st.integers(0, 300)))
def test_the_outline_of_a_row_has_its_keys_and_nothing_of_its_values(
    row: dict[str, Any], ascii_only: bool, cuts: list[int]
) -> None:
    line = json.dumps(row, ensure_ascii=ascii_only).encode("utf-8", "backslashreplace")
    ends = [0, *sorted(cuts), len(line)]
    parts = [line[start:end] for start, end in pairwise(ends)]
    found = json.loads(outline(parts))
    empty: dict[type, Any] = {str: "", list: [], dict: {}}
    assert found == {name: empty.get(type(value), value) for name, value in row.items()}
    assert list(found) == list(row)
