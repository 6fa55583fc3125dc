"""Reads exports with the readers that users have, and returns rows of plain Python values."""

import csv
import gzip
import io
import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from usp._tables.schema import PAGE_PARTS, TABLES, Column, ColumnType, Table

Rows = list[dict[str, Any]]


def as_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def from_json(column: Column, value: Any) -> Any:
    """A value of JSON as a Python value."""
    if value is None:
        return None
    if column.type is ColumnType.TIMESTAMP:
        return as_time(value)
    if column.type is ColumnType.ROWS:
        return [row_from_json(column.fields, row) for row in value]
    return value


def row_from_json(columns: Iterable[Column], row: dict[str, Any]) -> dict[str, Any]:
    names = [column.name for column in columns]
    assert list(row) == names
    return {column.name: from_json(column, row[column.name]) for column in columns}


def json_lines(text: str, table: Table) -> Rows:
    assert text.endswith("\n") or not text
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    return [row_from_json(table, line) for line in lines]


def read_jsonl(path: Path, table: Table) -> Rows:
    return json_lines(text_of(path), table)


def text_of(path: Path) -> str:
    """The text of a file, decompressed by the library of its suffix."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix == ".zst":
        zstandard = pytest.importorskip("zstandard")
        reader = zstandard.ZstdDecompressor().stream_reader(
            io.BytesIO(data), read_across_frames=True
        )
        data = reader.read()
    return data.decode()


def read_csv(path: Path, delimiter: str = ",") -> list[list[str]]:
    """The cells of CSV or TSV, header first."""
    return list(csv.reader(io.StringIO(text_of(path), newline=""), delimiter=delimiter))


def read_sqlite(path: Path, table: Table) -> Rows:
    """The rows of a table; the child tables of a page become lists again."""
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        order = "id" if table.name == "pages" else "rowid"
        found = database.execute(f"SELECT * FROM {table.name} ORDER BY {order}")  # noqa: S608 -- names of the schema
        rows = [dict(row) for row in found]
    own = [column for column in table if column.name in (rows[0] if rows else ())]
    return [{column.name: from_sqlite(column, row[column.name]) for column in own} for row in rows]


def from_sqlite(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.type is ColumnType.BOOLEAN:
        return bool(value)
    if column.type in {ColumnType.TEXTS, ColumnType.ROWS}:
        value = json.loads(value)
    return from_json(column, value)


def read_pyarrow_parquet(path: Path, table: Table) -> Rows:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows: Rows = parquet.read_table(path).to_pylist()
    return rows


def read_pyarrow_ipc(path: Path, table: Table) -> Rows:
    ipc = pytest.importorskip("pyarrow.ipc")
    with ipc.open_file(path) as reader:
        rows: Rows = reader.read_all().to_pylist()
    return rows


def read_polars_parquet(path: Path, table: Table) -> Rows:
    polars = pytest.importorskip("polars")
    rows: Rows = polars.read_parquet(path).rows(named=True)
    return rows


def read_polars_ipc(path: Path, table: Table) -> Rows:
    polars = pytest.importorskip("polars")
    rows: Rows = polars.read_ipc(path).rows(named=True)
    return rows


def read_pandas_parquet(path: Path, table: Table) -> Rows:
    """Through pandas, with its nullable types."""
    pandas = pytest.importorskip("pandas")
    return pandas_rows(pandas.read_parquet(path, dtype_backend="pyarrow"), table)


def pandas_rows(frame: Any, table: Table) -> Rows:
    """The rows of a DataFrame; what pandas has for an absent value is None."""
    assert list(frame.columns) == list(table.names)
    columns = {
        column.name: [from_pandas(column, value) for value in frame[column.name]]
        for column in table
    }
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def from_pandas(column: Column, value: Any) -> Any:
    import pandas as pd

    if column.type in {ColumnType.TEXTS, ColumnType.ROWS}:
        if value is None or (not hasattr(value, "__len__") and pd.isna(value)):
            return None
        items = list(value)
        if column.type is ColumnType.TEXTS:
            return items
        return [
            {field.name: from_pandas(field, item[field.name]) for field in column.fields}
            for item in items
        ]
    if pd.isna(value):
        return None
    if column.type is ColumnType.TIMESTAMP:
        return pd.Timestamp(value).to_pydatetime().astimezone(UTC)
    kinds: dict[ColumnType, Callable[[Any], Any]] = {
        ColumnType.INTEGER: int,
        ColumnType.REAL: float,
        ColumnType.BOOLEAN: bool,
    }
    return kinds.get(column.type, str)(value)


def read_duckdb(path: Path, table: Table) -> Rows:
    """Through DuckDB; the result comes as Arrow, since its own times need one more library."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        found = connection.sql("SELECT * FROM read_parquet(?)", params=[str(path)])
        rows: Rows = found.to_arrow_table().to_pylist()
    return rows


READERS: dict[str, tuple[str, Callable[[Path, Table], Rows]]] = {
    "JSON lines, json": ("x.jsonl", read_jsonl),
    "JSON lines, gzip": ("x.jsonl.gz", read_jsonl),
    "JSON lines, zstandard": ("x.jsonl.zst", read_jsonl),
    "Parquet, pyarrow": ("x.parquet", read_pyarrow_parquet),
    "Parquet, polars": ("x.parquet", read_polars_parquet),
    "Parquet, pandas": ("x.parquet", read_pandas_parquet),
    "Parquet, DuckDB": ("x.parquet", read_duckdb),
    "Arrow, pyarrow": ("x.arrow", read_pyarrow_ipc),
    "Arrow, polars": ("x.arrow", read_polars_ipc),
    "SQLite, sqlite3": ("x.db", read_sqlite),
}
"""By what is read and who reads it: the name of the file, and the reader."""

NOT_PARTS = [name for name in TABLES if name not in PAGE_PARTS]
