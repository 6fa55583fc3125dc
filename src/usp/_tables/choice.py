"""Which tables and columns are wanted, and what of each entry has to be read for them.

Every document is read to its end, whatever is wanted: what came of a crawl depends on it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

from usp._crawl.policy import Policy
from usp._docstrings import explains
from usp._tables.schema import PAGE_PARTS, Table, table_named
from usp._validate import argument_error, check_strings
from usp.exceptions import UsageError

TableNames = str | Iterable[str]
"""The name of a table, or several."""
ColumnNames = Iterable[str] | Mapping[str, Iterable[str]]
"""The names of columns of the only table, or those of each table."""

_PAGES: Final = "pages"
_OWN: Final = frozenset({"site", "url", "sitemap_url"})
"""The columns of pages that don't come from the entry."""


@dataclass(frozen=True, slots=True)
class TableChoice:
    """The wanted tables, each with its wanted columns, in the order in which they were named."""

    tables: Mapping[str, Table]

    @classmethod
    def of(cls, tables: TableNames, columns: ColumnNames | None = None) -> Self:
        """Return the choice of a caller.

        :raises UsageError: if there is no such table or column.
        """
        names = [tables] if isinstance(tables, str) else check_strings("tables", tables)
        if not names or len(set(names)) < len(names):
            raise argument_error("tables", "names of tables, each once", names)
        chosen = {name: table_named(name) for name in names}
        if columns is None:
            return cls(chosen)
        if not isinstance(columns, Mapping):
            if len(chosen) > 1:
                raise UsageError("For several tables, columns must be a dict from table to names.")
            columns = dict.fromkeys(chosen, columns)
        for name, wanted in columns.items():
            if name not in chosen:
                raise UsageError(f"columns names {name!r}, which is none of the wanted tables.")
            chosen[name] = chosen[name].only(check_strings("columns", wanted))
        return cls(chosen)

    def __contains__(self, name: str) -> bool:
        return name in self.tables

    def columns(self, table: str) -> tuple[str, ...]:
        """The wanted columns of a table; none if it isn't wanted itself."""
        return self.tables[table].names if table in self.tables else ()

    @property
    def page_columns(self) -> frozenset[str]:
        """The columns that have to be read from the entries of documents."""
        return frozenset(self.columns(_PAGES)) - _OWN | self.tables.keys() & set(PAGE_PARTS)

    def policy(self, policy: Policy) -> Policy:
        """Return a policy with what the wanted columns need: bodies are hashed for one of them."""
        wants_hashes = "sha256" in self.columns("sitemaps")
        return replace(policy, hash_bodies=True) if wants_hashes else policy


def wanted_table(name: str, columns: Iterable[str] | None) -> Table:
    """Return a table with the columns that the caller named.

    :raises UsageError: if there is no such table or column.
    """
    return table_named(name).only(None if columns is None else check_strings("columns", columns))


_TABLE_PARAMETERS: Final = """
    :param source: as in ``usp.export``.
    :param table: the name of the table.
    :param columns: its columns, in this order; by default all.
    :param unique: whether a page comes once, over all sitemaps and sources.
    :param reading: how the source is read, as in ``usp.export``.
    :raises UsageError: if an argument is wrong.
"""
"""What all functions with one table as their result take."""

explains_table = explains(_TABLE_PARAMETERS, ":raises")
