"""Rows of the table of pages as the output of a command, in a format of exports.

Imported for such a format alone: the others need none of what makes tables.
"""

import argparse
from pathlib import Path
from typing import Any, TextIO

from usp._display import one_line
from usp._export.compression import Sink
from usp._export.formats import FORMATS, FileFormat
from usp._export.options import WriteOptions
from usp._export.output import OutputFile
from usp._tables.read import read_tables
from usp._tables.schema import TABLES
from usp.cli._outcome import Summary
from usp.cli._progress import Progress
from usp.objects.events import Observer


def list_rows(
    args: argparse.Namespace,
    source: str,
    crawl_options: dict[str, Any],
    progress: Progress,
    observer: Observer,
    out: TextIO,
) -> Summary:
    """Write a row for each page while they arrive.

    :param crawl_options: keywords of ``read_tables``.
    :raises UsageError: if rows are to follow those of a file with other columns, or a damaged one.
    """
    table = TABLES["pages"]
    options = _write_options(args)
    with read_tables(source, observer=observer, **crawl_options) as stream:
        writer = FORMATS[args.format].open(_sink(out), [table], options)
        for batch in stream:
            progress.tally.pages += batch.length
            writer.write(batch)
        writer.close()
        return Summary.of_stream(stream, progress.tally.pages, progress.seconds)


def _write_options(args: argparse.Namespace) -> WriteOptions:
    """Return how rows are written: those that follow others in a file get no second header."""
    existing = Path(args.output) if args.append and args.output else None
    continues = existing is not None and existing.is_file() and existing.stat().st_size > 0
    options = WriteOptions(append=continues)
    if continues:
        form = FileFormat(FORMATS[args.format], "")
        OutputFile(existing, form, (TABLES["pages"],), options).checked_to_continue()
    return options


def _sink(out: TextIO) -> Sink:
    """Return what takes the bytes of rows: the file below a text stream, if it has one."""
    out.flush()
    buffer: Sink | None = getattr(out, "buffer", None)
    return _TextSink(out) if buffer is None or out.isatty() else buffer


class _TextSink:
    """Writes bytes to a terminal, which no value may control, or to what replaces stdout."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()

    def write(self, data: bytes, /) -> None:
        """Write some bytes."""
        text = data.decode()
        if self._is_terminal:
            text = "\n".join(map(one_line, text.replace("\r\n", "\n").split("\n")))
        self._out.write(text)
