"""Every row of ``docs/explanation/what-counts.md`` is true.

A row has an input, its result, the recorded problems, and the reason. Quoted text in the "input"
column is parsed, or is part of the document that is parsed (``input_documents.py``). Quoted text in
the "result" column is the whole result, in order. The "problem" column has all recorded problems. A
row that is changed, added or removed only here or only there fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.input_documents import DOCUMENTS
from tests.docs.inputs import TEMPLATES, Document, View, listed, parse, text_of
from usp.objects.problem import CODES, Severity

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "what-counts.md"
COLUMNS = ["input", "result", "problem", "why"]
QUOTED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Row:
    section: str
    input: str
    result: str
    problem: str
    why: str

    @property
    def codes(self) -> list[str]:
        return [] if self.problem == "none" else self.problem.split(", ")

    def cases(self) -> Iterator[tuple[Document, View, list[str]]]:
        """The documents to parse, what to compare of each, and the expected result."""
        expected = QUOTED.findall(self.result)
        if self.input in DOCUMENTS:
            entry = DOCUMENTS[self.input]
            document, view = entry if isinstance(entry, tuple) else (entry, listed)
            yield document, view, expected
            return
        template, view = TEMPLATES[self.section]
        texts = QUOTED.findall(self.input)
        each = len(texts) > 1 and len(texts) == len(expected)
        for number, text in enumerate(texts):
            yield template(text), view, [expected[number]] if each else expected


def rows() -> Iterator[Row]:
    section = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells != COLUMNS:
            yield Row(section, *cells)


ROWS = list(rows())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.section}: {row.input}")
def test_row(row: Row) -> None:
    cases = list(row.cases())
    assert cases, "the row has no input"
    for document, view, expected in cases:
        sitemap = parse(document)
        codes = sorted({problem.code for problem in sitemap.problems})
        assert (view(sitemap), codes) == (expected, row.codes)
        assert sitemap.complete == all(CODES[code].severity is not Severity.ERROR for code in codes)


@pytest.mark.parametrize("words", DOCUMENTS)
def test_quotes_of_a_row_occur_in_its_document(words: str) -> None:
    entry = DOCUMENTS[words]
    text = text_of(entry[0] if isinstance(entry, tuple) else entry)
    quoted = [quote.removesuffix(">") for quote in QUOTED.findall(words)]  # tags have attributes
    assert [quote for quote in quoted if quote not in text] == []


def test_every_document_has_its_row_and_every_row_a_reason() -> None:
    inputs = [row.input for row in ROWS]
    assert [words for words in DOCUMENTS if words not in inputs] == []
    assert [words for words in inputs if inputs.count(words) > 1] == []
    assert [row.input for row in ROWS if not row.why] == []
