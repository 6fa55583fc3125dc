"""A batch: some rows of one table, column by column.

A value is a plain Python value, the same for every format: None where it is absent, a time as the
number of microseconds since 1970 in UTC, a list of rows as a list of tuples.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from usp._tables.schema import Column, Table

Values = Sequence[Any]
"""The values of one column."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a table."""

    table: Table
    """The table with the columns that the batch has, in its order."""
    columns: Mapping[str, Values]
    """The values of each column of the table; all have the same length."""
    length: int
    """The number of rows."""

    @classmethod
    def of_rows(cls, table: Table, rows: Iterable[Mapping[str, Any]]) -> Self:
        """Return the batch of some rows; what a row doesn't have is None."""
        listed = list(rows)
        columns = {column.name: [row.get(column.name) for row in listed] for column in table}
        return cls(table, columns, len(listed))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows."""
        if not self.columns:
            return iter([()] * self.length)
        return zip(*(self.columns[column.name] for column in self.table), strict=True)

    def values(self) -> Iterator[tuple[Column, Values]]:
        """Yield each column of the table with its values."""
        for column in self.table:
            yield column, self.columns[column.name]

    def cut(self, rows: int) -> Iterator[Self]:
        """Yield the batch in parts that have at most so many rows; nothing, if it is empty."""
        if 0 < self.length <= rows:
            yield self
            return
        for start in range(0, self.length, rows):
            end = min(start + rows, self.length)
            columns = {name: values[start:end] for name, values in self.columns.items()}
            yield type(self)(self.table, columns, end - start)
