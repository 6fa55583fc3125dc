"""The files of an export while they are written; they get their names when all are whole."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from usp._export.compression import CompressedSink, content, first_line
from usp._export.formats import FileFormat, Writer
from usp._export.options import WriteOptions
from usp._tables.batch import Batch
from usp._tables.schema import Table
from usp._whole_file import (
    FileState,
    flush_to_disk,
    is_special,
    last_byte,
    move_into_place,
    output_error,
    scratch_folder,
    writer_lock,
)
from usp.exceptions import SitemapException, StorageError, UsageError


@dataclass(frozen=True, slots=True)
class OutputFile:
    """One file of an export: where it goes, and which tables it has."""

    path: Path | None
    """None for standard output."""
    form: FileFormat
    tables: tuple[Table, ...]
    options: WriteOptions
    before: FileState | None = None
    """What is there, if it may only be replaced as it was; None if whatever is there may be."""

    ends_line: bool = True
    """Whether the last line of what is there is ended, so that rows can follow."""

    def checked_to_continue(self) -> Self:
        """Return the file, after a look at whether rows can follow those that are there.

        :raises UsageError: if it has other columns, is something else, or is damaged.
        """
        if self.path is None or not self.form.format.is_text:
            return self
        try:
            with closing(first_line(self.path, self.form.compression)) as line:
                continues = self.form.format.writer_class().continues(line, self.tables)
            ends_line = continues and self._has_ended_line(self.path)
        except ValueError as error:
            raise UsageError(f"Nothing can be appended to {self.path}: {error}.") from error
        if not continues:
            raise UsageError(
                f"{self.path} doesn't have the columns of the rows that are to be appended."
            )
        return replace(self, ends_line=ends_line)

    def _has_ended_line(self, path: Path) -> bool:
        """Tell whether the last line is ended.

        A compressed file is read to its end: only so a part that is missing or damaged shows. So is
        one with quotes: rows that follow an open one would be part of its cell.

        :raises ValueError: if the file is damaged like that.
        """
        compression, has_quotes = self.form.compression, self.form.format.has_quotes
        if not (compression or has_quotes):
            last = last_byte(path)
        else:
            last, quotes = b"\n", 0
            for chunk in content(path, compression):
                last = chunk[-1:] or last
                quotes += chunk.count(b'"')
            if has_quotes and quotes % 2:  # one within a cell is doubled
                raise ValueError("it ends inside of a cell, whose second quote is missing")
        is_ended = last in {b"", b"\n"}
        if not is_ended and self.form.format.row_end not in {b"", last}:
            raise ValueError("it ends inside of a row")
        return is_ended

    @property
    def is_in_place(self) -> bool:
        """Whether rows are added where the file is: SQLite undoes those that don't become whole."""
        return self.form.format.is_database and self.options.append


class Move(NamedTuple):
    """A file or folder that gets its name."""

    written: Path
    destination: Path
    is_database: bool = False


@dataclass(slots=True)
class Output:
    """An export that is being written."""

    path: Path | None
    """The file or folder, for messages; None for standard output."""
    writers: list[Writer] = field(default_factory=list)
    """Those of files that are not whole yet."""
    moves: list[Move] = field(default_factory=list)
    """What is renamed when everything is whole."""
    states: list[FileState] = field(default_factory=list)
    """What has to be as it was until then."""
    rows: dict[str, int] = field(default_factory=dict)
    """The rows of each table so far."""
    _by_table: dict[str, Writer] = field(default_factory=dict)

    def add(self, file: OutputFile, writer: Writer) -> None:
        """Add a file that is open."""
        self.writers.append(writer)
        for table in file.tables:
            self._by_table[table.name] = writer
            self.rows[table.name] = 0

    def write(self, batch: Batch) -> None:
        """Write some rows.

        :raises StorageError: if they can't be written.
        """
        with _writing(self.path):
            self._by_table[batch.table.name].write(batch)
        self.rows[batch.table.name] += batch.length

    def commit(self) -> None:
        """Make every file whole, and give it its name.

        :raises StorageError: if one can't be written.
        """
        with _writing(self.path):
            while self.writers:
                self.writers[0].close()
                del self.writers[0]
            for move in self.moves:
                flush_to_disk(move.written)
            if self.moves:
                with writer_lock(self.moves[0].destination.parent):
                    self._move_files()

    def _move_files(self) -> None:
        """Give each file its name, if nothing else was written in its place since."""
        for state in self.states:
            state.check()
        for written, destination, is_database in self.moves:
            if is_database:
                from usp._export.sqlite import end_transactions  # other formats need no SQLite

                end_transactions(destination)
            move_into_place(written, destination)

    def abort(self) -> None:
        """Write no more; after ``commit()`` there is nothing to do."""
        for writer in self.writers:
            writer.abort()


@contextmanager
def opened(files: Sequence[OutputFile], folder: Path | None = None) -> Iterator[Output]:
    """Open the files of an export inside of a ``with`` block; without ``commit()`` none is left.

    :param files: the files; a single one if it is a stream.
    :param folder: the folder that they make up, if any.
    :raises UsageError: if a file can't be made.
    :raises StorageError: if there is no room for it.
    """
    path = folder or files[0].path
    with ExitStack() as stack:
        with _opening(path):
            if path is None or is_special(path):
                output = _open_stream(stack, files[0])
            else:
                output = _open_files(stack, files, path, folder)
        yield output


def _open_stream(stack: ExitStack, file: OutputFile) -> Output:
    output = Output(file.path)
    stack.callback(output.abort)
    if file.path is None:
        sink = sys.stdout.buffer
    else:
        sink = stack.enter_context(_closed_quietly(file.path.open("wb")))
    output.add(file, _FileWriter(sink, file))
    return output


def _open_files(
    stack: ExitStack, files: Sequence[OutputFile], path: Path, folder: Path | None
) -> Output:
    output = Output(path)
    is_new_folder = folder is not None and not folder.exists()
    # A folder that is there may be on a disk of its own, so what it gets is written inside of it.
    within = folder if folder and not is_new_folder else path.parent
    scratch = stack.enter_context(scratch_folder(within, path.parent))
    stack.callback(output.abort)
    if is_new_folder:  # it gets its name as a whole
        scratch /= "folder"
        scratch.mkdir()
        output.moves.append(Move(scratch, path))
    for file in files:
        destination = file.path or path
        written = destination if file.is_in_place else scratch / destination.name
        output.add(file, _open_file(stack, file, written, destination))
        if not is_new_folder and not file.is_in_place:
            output.moves.append(Move(written, destination, file.form.format.is_database))
            output.states += [file.before] if file.before else []
    return output


def _open_file(stack: ExitStack, file: OutputFile, written: Path, destination: Path) -> Writer:
    if file.form.format.is_database:
        from usp._export.sqlite import check_companions  # other formats need no SQLite

        check_companions(destination)
        return file.form.format.open(written, file.tables, file.options)
    if file.options.append:
        shutil.copyfile(destination, written)
    sink = stack.enter_context(_closed_quietly(written.open("ab")))
    writer = _FileWriter(sink, file)
    if file.options.append and not file.ends_line:
        writer.end_line()
    return writer


@contextmanager
def _closed_quietly(file: BinaryIO) -> Iterator[BinaryIO]:
    """Close a file at the end: by then it is whole, or it is dropped."""
    try:
        yield file
    finally:
        with suppress(OSError):
            file.close()


class _FileWriter:
    """A writer, its compression, and the open file to which it writes."""

    def __init__(self, sink: BinaryIO, file: OutputFile) -> None:
        form = file.form
        self._sink = sink
        self._packed = CompressedSink(sink, form.compression) if form.compression else None
        self._writer = form.format.open(self._packed or sink, file.tables, file.options)

    def end_line(self) -> None:
        """End the last line of the rows before, which someone left open."""
        (self._packed or self._sink).write(b"\n")

    def write(self, batch: Batch) -> None:
        """Write some rows."""
        self._writer.write(batch)

    def close(self) -> None:
        """Write the rest; the file stays open."""
        self._writer.close()
        if self._packed:
            self._packed.finish()
        self._sink.flush()

    def abort(self) -> None:
        """Write no more."""
        self._writer.abort()


@contextmanager
def _opening(path: Path | None) -> Iterator[None]:
    """Raise what the system says when a file is made as an error of this library."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise output_error(_name(path), error) from error


@contextmanager
def _writing(path: Path | None) -> Iterator[None]:
    """Raise what the system says while a file is written as ``StorageError``.

    That the reader of a pipe has enough is not an error of ours.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError | SitemapException):
            raise
        raise StorageError(f"cannot write {_name(path)}: {error.strerror or error}") from error


def _name(path: Path | None) -> str:
    return "to standard output" if path is None else str(path)
