"""Rows of every table with values that are hard to write, and the same rows as Python values."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from usp._export.target import ExportTarget
from usp._tables.batch import Batch
from usp._tables.schema import Column, ColumnType, Table

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TEXTS = (
    "https://example.org/a?b=1&c=%20%s",
    "plain",
    'a "quoted" word, and a comma',
    "two\nlines",
    "carriage\r\nreturn",
    "tab\there",
    "=1+1",
    "+49",
    "-7",
    "@home",
    "|pipe|",
    "back\\slash\\|",
    "naïve 😀 \u2028 日本",
    " spaces ",
    "NULL",
    "nan",
    "0012",
    "true",
    "'",
)
TIMES = (0, 1, -1, 1_793_491_200_000_000, 1_793_491_200_500_000, -62_135_596_800_000_000)
"""Microseconds since 1970, the first day of the calendar among them."""


class Drawing:
    """Draws values from a seed: always the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 -- not for secrets

    def batch(self, table: Table, length: int) -> Batch:
        """Draw some rows; one column in four has the same value in all of them."""
        columns: dict[str, list[Any]] = {}
        for column in table:
            if self._random.random() < 0.25:
                columns[column.name] = [self._value(column)] * length
            else:
                columns[column.name] = [self._value(column) for _ in range(length)]
        return Batch(table, columns, length)

    def site(self, length: int, target: ExportTarget) -> list[Batch]:
        """Draw rows of all tables of a target, those of a page's parts after their pages."""
        tables = {table.name: table for table in target.tables(["all"], None)}
        pages = self.batch(tables["pages"], length)
        urls = [f"https://example.org/{at}" for at in range(length)]
        sitemaps = [f"https://example.org/{at % 2}.xml" for at in range(length)]
        pages = Batch(pages.table, {**pages.columns, "url": urls, "sitemap_url": sitemaps}, length)
        batches = [pages]
        for name, table in tables.items():
            if name == "pages":
                continue
            batch = self.batch(table, length)
            if "page_url" in table and "sitemap_url" in table and name != "problems":
                own = {"page_url": urls, "sitemap_url": sitemaps}
                batch = Batch(table, {**batch.columns, **own}, length)
            batches.append(batch)
        return batches

    def _value(self, column: Column) -> Any:
        if self._random.random() < 0.2:
            return None
        if column.type is ColumnType.ROWS:
            count = self._random.randrange(3)
            return [tuple(map(self._value, column.fields)) for _ in range(count)]
        if column.type is ColumnType.TEXTS:
            return self._random.choices(TEXTS, k=self._random.randrange(4))
        return self._random.choice(
            {
                ColumnType.TEXT: TEXTS,
                ColumnType.INTEGER: (0, 1, -1, 2**53 + 1, 404),
                ColumnType.REAL: (0.0, 0.1, 1.0, 1e-7, 123456.789),
                ColumnType.BOOLEAN: (True, False),
                ColumnType.TIMESTAMP: TIMES,
            }[column.type]
        )


def python_value(column: Column, value: Any) -> Any:
    """A value as a reader of the file should give it."""
    if value is None:
        return None
    if column.type is ColumnType.TIMESTAMP:
        return EPOCH + timedelta(microseconds=value)
    if column.type is ColumnType.TEXTS:
        return list(value)
    if column.type is ColumnType.ROWS:
        return [
            {
                field.name: python_value(field, part)
                for field, part in zip(column.fields, row, strict=True)
            }
            for row in value
        ]
    return value


def python_rows(batch: Batch) -> list[dict[str, Any]]:
    """The rows of a batch as a reader of the file should give them."""
    return [
        {
            column.name: python_value(column, value)
            for column, value in zip(batch.table, row, strict=True)
        }
        for row in batch
    ]
