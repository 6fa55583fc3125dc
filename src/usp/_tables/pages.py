"""The rows of pages, and of their parts: images, videos, alternates, links, news."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Final

from usp._parse import PageColumns
from usp._tables.batch import Batch, Values
from usp._tables.choice import TableChoice
from usp._tables.schema import PAGE_PARTS, TABLES, Table

_PART_OF_PAGE: Final = 3
"""The columns of a part that name its page and its position there; the others are its fields."""


@dataclass(frozen=True, slots=True)
class PageTables:
    """Makes the batches of pages and of their parts."""

    site: str | None
    """The source; None for a document that has no name."""
    choice: TableChoice
    batch_rows: int

    def batches(self, columns: PageColumns, sitemap_url: str | None) -> Iterator[Batch]:
        """Yield the batches of some pages of one sitemap, those of each table in turn."""
        if not columns["url"]:
            return
        for name, table in self.choice.tables.items():
            if name == "pages":
                yield from self._pages(table, columns, sitemap_url).cut(self.batch_rows)
            elif name in PAGE_PARTS:
                parts = _parts(table, columns["url"], columns[name], sitemap_url)
                yield from parts.cut(self.batch_rows)

    def _pages(self, table: Table, columns: PageColumns, sitemap_url: str | None) -> Batch:
        count = len(columns["url"])
        constant = {"site": self.site, "sitemap_url": sitemap_url}
        values: dict[str, Values] = {
            name: [constant[name]] * count if name in constant else columns[name]
            for name in table.names
        }
        return Batch(table, values, count)


def _parts(table: Table, urls: list[str], column: list[Any], sitemap_url: str | None) -> Batch:
    """Return the rows of what each page has several of, or one (its news story)."""
    # A story is a tuple, the others are lists of tuples.
    pages = [
        (url, parts if isinstance(parts, list) else [parts])
        for url, parts in zip(urls, column, strict=True)
        if parts
    ]
    rows = list(chain.from_iterable(parts for _, parts in pages))
    fields = list(zip(*rows, strict=True))
    values: dict[str, Values] = {}
    for column_of_table in table:
        name = column_of_table.name
        if name == "sitemap_url":
            values[name] = [sitemap_url] * len(rows)
        elif name == "page_url":
            values[name] = [*chain.from_iterable(repeat(url, len(parts)) for url, parts in pages)]
        elif name == "position":
            values[name] = [*chain.from_iterable(range(1, len(parts) + 1) for _, parts in pages)]
        else:
            at = TABLES[table.name].names.index(name) - _PART_OF_PAGE
            values[name] = fields[at] if rows else []
    return Batch(table, values, len(rows))
