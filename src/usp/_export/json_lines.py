"""JSON lines: an object a row, with every column; an absent value is null.

A file of several tables begins with a line that has ``schema_version``; each of its rows has the
name of its table as ``table``.
"""

from collections.abc import Iterable, Sequence

from usp._export.compression import Sink
from usp._export.json_outline import outline
from usp._export.lines import join_lines
from usp._export.options import WriteOptions
from usp._export.times import with_time_texts
from usp._export.values import json_text, json_values
from usp._json import parse_json
from usp._tables.batch import Batch
from usp._tables.schema import SCHEMA_VERSION, Table
from usp._version import __version__


class JsonLinesWriter:
    """Writes tables as JSON lines."""

    def __init__(self, sink: Sink, tables: Sequence[Table], options: WriteOptions) -> None:
        self._sink = sink
        self._names_table = len(tables) > 1
        if self._names_table and not options.append:
            self._write(json_text({"schema_version": SCHEMA_VERSION, "usp": __version__}) + "\n")

    @classmethod
    def continues(cls, first_line: Iterable[bytes], tables: Sequence[Table]) -> bool:
        """Tell whether a file that begins with this line has the columns of the tables."""
        try:
            found = parse_json(outline(first_line))
        except ValueError:
            return False
        if not isinstance(found, dict):
            return False
        if len(tables) > 1:
            return found.get("schema_version") == SCHEMA_VERSION
        return tuple(found) == tables[0].names

    def write(self, batch: Batch) -> None:
        """Write some rows."""
        if not batch.length:
            return
        before = f'{{"table":{json_text(batch.table.name)},' if self._names_table else "{"
        columns = []
        for column, values in with_time_texts(batch).values():
            columns.append((f"{before}{json_text(column.name)}:", json_values(column, values)))
            before = ","
        self._write(join_lines(columns, "}\n", batch.length))

    def close(self) -> None:
        """Do nothing: every line is written."""

    def abort(self) -> None:
        """Do nothing: the file is dropped."""

    def _write(self, text: str) -> None:
        # A half of a surrogate pair, which UTF-8 can't have, is an escape of JSON: \udxxx.
        self._sink.write(text.encode("utf-8", "backslashreplace"))
