"""Every row of ``docs/what-counts.md`` is true.

A row says what is given, what comes out, which problems are recorded, and why. What stands in code
marks under "given" is read, or is part of the document that is read (``given_documents.py``); what
stands in code marks under "comes out" is all that came out, in order; and "problem" names all that
was recorded. So a row that is changed, added or removed on one side only fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.given import PLACES, Document, View, listed, read, written
from tests.docs.given_documents import DOCUMENTS
from usp.objects.problem import CODES, Severity

PAGE = Path(__file__).resolve().parents[2] / "docs" / "what-counts.md"
COLUMNS = ["given", "comes out", "problem", "why"]
QUOTED = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Row:
    section: str
    given: str
    comes_out: str
    problem: str
    why: str

    @property
    def codes(self) -> list[str]:
        return [] if self.problem == "none" else self.problem.split(", ")

    def readings(self) -> Iterator[tuple[Document, View, list[str]]]:
        """What is read, how it is looked at, and what must come out."""
        out = QUOTED.findall(self.comes_out)
        if self.given in DOCUMENTS:
            given = DOCUMENTS[self.given]
            document, view = given if isinstance(given, tuple) else (given, listed)
            yield document, view, out
            return
        place, view = PLACES[self.section]
        texts = QUOTED.findall(self.given)
        each = len(texts) > 1 and len(texts) == len(out)
        for number, text in enumerate(texts):
            yield place(text), view, [out[number]] if each else out


def rows() -> Iterator[Row]:
    section = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells != COLUMNS:
            yield Row(section, *cells)


ROWS = list(rows())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.section}: {row.given}")
def test_row(row: Row) -> None:
    readings = list(row.readings())
    assert readings, "nothing is given"
    for document, view, expected in readings:
        sitemap = read(document)
        codes = sorted({problem.code for problem in sitemap.problems})
        assert (view(sitemap), codes) == (expected, row.codes)
        assert sitemap.complete == all(CODES[code].severity is not Severity.ERROR for code in codes)


@pytest.mark.parametrize("given", DOCUMENTS)
def test_what_a_row_quotes_stands_in_its_document(given: str) -> None:
    entry = DOCUMENTS[given]
    text = written(entry[0] if isinstance(entry, tuple) else entry)
    quoted = [words.removesuffix(">") for words in QUOTED.findall(given)]  # tags have attributes
    assert [words for words in quoted if words not in text] == []


def test_every_document_has_its_row_and_every_row_a_reason() -> None:
    given = [row.given for row in ROWS]
    assert [words for words in DOCUMENTS if words not in given] == []
    assert [words for words in given if given.count(words) > 1] == []
    assert [row.given for row in ROWS if not row.why] == []
