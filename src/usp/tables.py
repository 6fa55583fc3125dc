"""Tables of a site: its pages, sitemaps, problems … as a file, a DataFrame, or Arrow.

Every function takes a source (a homepage, a domain, the URL of a sitemap, a file, ``-``), several
of them, or a tree that is there already. Batches are written while they arrive, so memory doesn't
grow with the site, unless the result itself does. The columns of each table are in ``_tables``.
pyarrow, pandas and polars are imported when they are used.
"""

import os
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from usp._crawl.source_result import SourceResult, is_worth_keeping
from usp._crawl.unique_urls import UniqueUrls
from usp._export.plan import ExportPlan, overall
from usp._extras import load
from usp._source import SourceName, check_source
from usp._tables.batch import Batch
from usp._tables.choice import explains_table, wanted_table
from usp._tables.read import ReadFields, read_tables, settled
from usp._tables.schema import Table
from usp._tables.tree import tables_of
from usp._tables.tree_outcome import tree_result
from usp._validate import argument_error, check_flags
from usp.exceptions import UsageError
from usp.objects.outcome import Outcome
from usp.objects.sitemap import AbstractSitemap

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = [
    "ExportResult",
    "ReadFields",
    "export",
    "record_batches",
    "to_arrow",
    "to_pandas",
    "to_polars",
]

TableSource = SourceName | AbstractSitemap
"""A homepage, a bare domain, the URL of a sitemap, a file, ``-``; or a tree."""
TableSources = TableSource | Iterable[TableSource]


ReadFields.__module__ = __name__  # this is its public module


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What came of an export."""

    rows: Mapping[str, int]
    """The number of rows of each table."""
    outcome: Outcome
    """What came of the crawl; of several, of all together."""
    files: tuple[Path, ...]
    """The files that were written: none if no site could be read, or to standard output."""


def export(
    source: TableSources,
    path: str | os.PathLike[str],
    *,
    table: str | Iterable[str] | None = None,
    columns: Iterable[str] | None = None,
    unique: bool = False,
    format: str | None = None,
    replace: bool = False,
    append: bool = False,
    bom: bool = False,
    escape_formulas: bool = False,
    **reading: Unpack[ReadFields],
) -> ExportResult:
    """Write tables of a site to a file, which is there whole or not at all.

    The suffix says the format: ``.csv``, ``.tsv``, ``.jsonl`` (each also with ``.gz`` or ``.zst``),
    ``.parquet``, ``.arrow``, ``.db`` (SQLite). If no source could be read, nothing is written, and
    a file that is there stays.

    :param source: a homepage, a bare domain (which means https), the URL of a sitemap, a file, or
        ``-``; several of them; or a tree that is there already. Several may come from any iterable,
        such as a generator: it is read to its end, and all are checked, before anything is fetched.
    :param path: the file; a folder (with a slash at its end) for a file of each table; ``-`` for
        standard output.
    :param table: the name of a table, several, or ``all``; by default ``pages``, and all tables in
        a folder or a database.
    :param columns: the columns of the table, in this order; by default all.
    :param unique: whether a page that several sitemaps list, of whatever source, comes once, at its
        first one.
    :param format: the format, such as ``csv`` or ``jsonl.gz``, if the name of the file doesn't say
        it; for a folder by default ``parquet``.
    :param replace: whether a file that is there is replaced.
    :param append: whether rows are added to a file that is there (text and SQLite).
    :param bom: whether CSV begins with a byte order mark, so that Excel takes it as UTF-8.
    :param escape_formulas: whether a cell of CSV that a spreadsheet would run as a formula begins
        with an apostrophe.
    :param reading: how the source is read: the keywords of ``usp.iter_pages``, such as
        ``since="48h"`` or ``web_client``. Trees take none.
    :return: the number of rows of each table, the outcome, and the files.
    :raises UsageError: if an argument is wrong, or a file is there already.
    :raises MissingExtraError: if a library is missing; the extra ``tables`` installs it.
    :raises StorageError: if there is no room.
    """
    plan = ExportPlan.of(
        path,
        table=table,
        columns=columns,
        format=format,
        replace=replace,
        append=append,
        bom=bom,
        escape_formulas=escape_formulas,
    )
    return _write(plan, _Reading(source, plan.tables, unique, reading))


@explains_table
def record_batches(
    source: TableSources,
    table: str = "pages",
    *,
    columns: Iterable[str] | None = None,
    unique: bool = False,
    **reading: Unpack[ReadFields],
) -> Iterator["pa.RecordBatch"]:
    """Iterate over a table as record batches of Arrow, while it is read.

    :raises MissingExtraError: if pyarrow is missing; the extra ``tables`` installs it.
    """
    wanted = wanted_table(table, columns)
    types = _arrow_types("record_batches()")
    schema = types.schema(wanted)
    read = _Reading(source, [wanted], unique, reading)
    return (types.record_batch(batch, schema) for batch in read.batches())


@explains_table
def to_arrow(
    source: TableSources,
    table: str = "pages",
    *,
    columns: Iterable[str] | None = None,
    unique: bool = False,
    **reading: Unpack[ReadFields],
) -> "pa.Table":
    """Return a table of a site as a table of pyarrow.

    The metadata of its schema has the ``outcome`` of the crawl, and whether it is ``complete``: a
    site that refuses requests has a table without rows, and so has one without pages.

    :raises MissingExtraError: if pyarrow is missing; the extra ``tables`` installs it.
    """
    wanted = wanted_table(table, columns)
    return _arrow_table(_Reading(source, [wanted], unique, reading), "to_arrow()")


@explains_table
def to_pandas(
    source: TableSources,
    table: str = "pages",
    *,
    columns: Iterable[str] | None = None,
    unique: bool = False,
    **reading: Unpack[ReadFields],
) -> "pd.DataFrame":
    """Return a table of a site as a DataFrame of pandas.

    Times are ``datetime64[us, UTC]``, integers ``Int64`` and booleans ``boolean``: the types that
    have a value for what is absent. ``attrs`` has the ``outcome`` of the crawl, and whether it is
    ``complete``.

    :raises MissingExtraError: if pandas or pyarrow is missing.
    """
    pandas = load("pandas", "to_pandas()", None)
    pa = load("pyarrow", "to_pandas()", "tables")
    read = _Reading(source, [wanted_table(table, columns)], unique, reading)
    found = _arrow_table(read, "to_pandas()")
    types = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    frame: pd.DataFrame = found.to_pandas(
        types_mapper=types.get, self_destruct=True, split_blocks=True
    )
    frame.attrs |= {"outcome": str(read.outcome), "complete": read.is_complete}
    return frame


@explains_table
def to_polars(
    source: TableSources,
    table: str = "pages",
    *,
    columns: Iterable[str] | None = None,
    unique: bool = False,
    **reading: Unpack[ReadFields],
) -> "pl.DataFrame":
    """Return a table of a site as a DataFrame of polars.

    It has no place for the outcome of the crawl: that is in the table ``sites``, in the result of
    ``usp.export``, and in the metadata of ``usp.to_arrow``.

    :raises MissingExtraError: if polars or pyarrow is missing.
    """
    polars = load("polars", "to_polars()", None)
    load("pyarrow", "to_polars()", "tables")
    read = _Reading(source, [wanted_table(table, columns)], unique, reading)
    frame: pl.DataFrame = polars.from_arrow(_arrow_table(read, "to_polars()"))
    return frame


def _arrow_table(read: "_Reading", purpose: str) -> "pa.Table":
    """Return the only table of what is read, with what came of it in its metadata.

    :param purpose: what needs pyarrow, for the error if it is missing.
    """
    types = _arrow_types(purpose)
    (wanted,) = read.tables
    schema = types.schema(wanted)
    batches = (types.record_batch(batch, schema) for batch in read.batches())
    found = types.pa.Table.from_batches(batches, schema)
    facts = {"outcome": str(read.outcome), "complete": str(read.is_complete).lower()}
    return found.replace_schema_metadata({**schema.metadata, **facts})


def _arrow_types(purpose: str) -> Any:  # noqa: ANN401 -- of a module that is imported here
    from usp._export.arrow import ArrowTypes

    return ArrowTypes(purpose)


def _write(plan: ExportPlan, read: "_Reading") -> ExportResult:
    """Write what is read."""
    with plan.opened() as output, closing(read.batches()) as batches:
        for batch in batches:
            output.write(batch)
        is_kept = is_worth_keeping(read.results, output.rows.get("pages"))
        if is_kept:
            output.commit()
    files = tuple(file.path for file in plan.files if is_kept and file.path)
    return ExportResult(dict(output.rows), read.outcome, files)


class _Reading:
    """Reads tables of one source after the other."""

    def __init__(
        self, source: TableSources, tables: Iterable[Table], unique: bool, fields: ReadFields
    ) -> None:
        self._sources = _several(source)
        for one in self._sources:
            if not isinstance(one, AbstractSitemap):
                check_source(one)
        if fields and any(isinstance(one, AbstractSitemap) for one in self._sources):
            raise UsageError(f"{next(iter(fields))} is no keyword for a tree: it is read already.")
        self.tables = tuple(tables)
        self._columns = {table.name: table.names for table in self.tables}
        check_flags(unique=unique)
        self._unique = UniqueUrls() if unique else None
        only = self._sources[0] if len(self._sources) == 1 else None
        self._fields, self._client = settled(fields, only)
        self.results: list[SourceResult] = []
        """What came of each source that was read to its end."""

    @property
    def outcome(self) -> Outcome:
        """What came of all sources together, at the end."""
        return overall([one.outcome for one in self.results])

    @property
    def is_complete(self) -> bool:
        """Whether nothing is known to be missing, as in the table ``sites``."""
        return all(one.is_complete for one in self.results)

    def batches(self) -> Generator[Batch]:
        """Yield the batches of all sources, which share a client."""
        with closing(self._client):
            for source in self._sources:
                yield from self._batches_of(source)

    def _batches_of(self, source: TableSource) -> Generator[Batch]:
        names = list(self._columns)
        if isinstance(source, AbstractSitemap):
            yield from tables_of(source, names, columns=self._columns, unique=self._unique)
            self.results.append(tree_result(source))
            return
        with read_tables(
            source, names, columns=self._columns, unique=self._unique, **self._fields
        ) as stream:
            yield from stream
            skipped = bool(stream.skipped)
            self.results.append(SourceResult(stream.outcome, stream.sitemaps_failed, skipped))


def _several(source: TableSources) -> list[TableSource]:
    if isinstance(source, str | os.PathLike | AbstractSitemap):
        return [source]
    if not isinstance(source, Iterable):
        raise argument_error("source", "a source or several", source)
    sources: list[TableSource] = list(source)
    if isinstance(next(iter(sources), None), int):  # of bytes
        raise argument_error("source", "a source or several", source)
    if not sources:
        raise UsageError("There is no source.")
    return sources
