"""Generates ``reference/tables.md`` from the schema: ``python -m tests.docs.table_page``.

What the schema knows is taken from the schema; the sentences around it are here.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from usp._tables.schema import LISTED_SITES, PAGE_PARTS, SCHEMA_VERSION, TABLES, Column, Table

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "reference" / "tables.md"

_TAG: Final = re.compile(r"<[A-Za-z:_]+(?: [a-z_=]+)*>")

_INTRO: Final = f"""\
<!-- Generated from src/usp/_tables/schema.py. Don't edit this page: edit the schema or
     tests/docs/table_page.py, then run `python -m tests.docs.table_page`.
     tests/docs/test_table_page.py compares the two. -->
# Tables

A crawl as rows: the data dictionary of every table, the same for all formats. This is version
{SCHEMA_VERSION} of the schema (`schema_version`). A column never changes its name, type or meaning.

Tables are made without page objects, straight from the documents, and memory use does not grow
with the site. Rows come in [document order](../glossary.md#sitemaps), whatever order the responses
came in. In a stream, a sitemap that is declared several times gives its pages once; in a tree, it
has them at each position, as `all_pages()` does.

## Values

- **Absent is null.** Nothing is invented: a page without `<priority>` has no 0.5, an unknown
  frequency is null and not `always`, and a list without elements is null. What is not valid is
  null as well, and is in [`problems`](#problems). A price that is too large for a
  number of 64 bits, such as `1e999`, is null: JSON has no infinity.
- A **timestamp** is in UTC, in microseconds. A time without a zone is taken as UTC, a date without
  a time as midnight. In the first and last hours of the calendar, where UTC doesn't have the
  time (`0001-01-01T00:00:00+14:00`), the zone is dropped.
- A **list of rows** has rows of its own. Formats without nesting have those of a page in the tables
  {", ".join(f"[`{name}`](#{name})" for name in PAGE_PARTS if name != "news")},
  and CSV has their number beside the page. Those of a video, `prices`, `ids` and
  `content_segments`, are JSON in its row.
- URLs and messages have no user and no password.
- Of a repeated element, the first counts that is not blank. A news story needs a title and a
  readable date to be [`page.news_story`](formats.md); the columns have the elements of a story
  without them, too.
- A page that was built by hand has its own values. Its priority is null if it is the default.
- `unique` keeps the first row of each URL, over all sitemaps. It remembers 64-bit hashes, 12 to 24
  bytes each, so that different URLs are taken for equal with a probability of n² / 2⁶⁵: one in
  370,000 for ten million URLs.
"""


def render() -> str:
    """Return the page."""
    return _INTRO + "\n".join(line for table in TABLES.values() for line in _table(table)) + "\n"


def _table(table: Table) -> Iterator[str]:
    yield from ("", f"## {table.name}", "", _shown(table.meaning), "")
    yield from _columns(table.columns)
    if table.name == LISTED_SITES.name:
        yield from ("", "A [crawl of many sites](../how-to/bulk.md) has three columns more:", "")
        yield from _columns(LISTED_SITES.columns[len(table.columns) :])


def _columns(columns: Sequence[Column]) -> Iterator[str]:
    yield "| column | type | from | what it is |"
    yield "|---|---|---|---|"
    for column in columns:
        origin, meaning = _shown(column.origin), _shown(column.meaning)
        yield f"| `{column.name}` | {_type(column)} | {origin} | {meaning} |"
    for column in columns:
        # The rows of images, videos and so on have a table of their own.
        if column.fields and column.name not in TABLES:
            names = ", ".join(f"`{field.name}`" for field in column.fields)
            yield from ("", f"Each row of `{column.name}` has {names}.")


def _type(column: Column) -> str:
    if not column.fields or column.name not in TABLES:
        return str(column.type)
    return f"[{column.type}](#{column.name})"


def _shown(sentence: str) -> str:
    """Return a sentence as Markdown; a bare tag would not be displayed."""
    return _TAG.sub(r"`\g<0>`", sentence).replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
