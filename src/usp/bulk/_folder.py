"""Where the files of a crawl are: a local folder, or whatever an fsspec URL names.

A file is whole or absent. In a local folder it is written beside its place and renamed; elsewhere
it is written in a temporary folder of this machine and uploaded, which object stores do at once.
"""

import io
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from usp._crawl.urls import is_start_url
from usp._display import redact_argument
from usp._extras import load
from usp._validate import shown_argument
from usp._whole_file import exclusive, flush_to_disk, move_into_place, output_error, scratch_folder
from usp.exceptions import StorageError, UsageError

_HTTP: Final = re.compile(r"https?:", re.IGNORECASE)
_MISSING: Final = (FileNotFoundError, NotADirectoryError)


class CrawlFolder(Protocol):
    """The folder of a crawl; names in it have slashes."""

    name: str
    """What the user calls it."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it isn't there."""

    def open(self, name: str) -> BinaryIO:
        """Open a file to read at any offset."""

    def local_path(self, name: str) -> Path | None:
        """Return the path of a file on this machine; None if it is elsewhere."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder below this one, sorted."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file; one that is there is replaced."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    def scratch(self) -> AbstractContextManager[Path]:
        """Return a new local folder, which is removed at the end of the ``with`` block."""

    def place(self, written: Mapping[str, Path]) -> None:
        """Give files of a scratch folder their names; those that are there are replaced."""

    def committing(self) -> AbstractContextManager[None]:
        """Keep others from giving files their names, as far as that can be done here."""


def crawl_folder(out: str | os.PathLike[str]) -> CrawlFolder:
    """Return the folder at a path or an fsspec URL; it needn't be there yet."""
    name = os.fspath(out)
    return _RemoteFolder(name) if "://" in name else _LocalFolder(name)


class _LocalFolder:
    """A folder of this machine."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = Path(name).absolute()

    def read(self, name: str) -> bytes | None:
        try:
            return (self._path / name).read_bytes()
        except _MISSING:
            return None

    def open(self, name: str) -> BinaryIO:
        return (self._path / name).open("rb")

    def local_path(self, name: str) -> Path | None:
        return self._path / name

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(one.name for one in (self._path / folder).iterdir() if one.is_file())
        except _MISSING:
            return []

    def write(self, name: str, data: bytes) -> None:
        with self.scratch() as scratch:
            written = scratch / "file"
            with self._errors():
                written.write_bytes(data)
            self.place({name: written})

    def remove(self, name: str) -> None:
        with suppress(*_MISSING):
            (self._path / name).unlink()

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        with self._errors():
            self._path.mkdir(parents=True, exist_ok=True)
        with scratch_folder(self._path) as folder:
            yield folder

    def place(self, written: Mapping[str, Path]) -> None:
        with self._errors():
            for name, file in written.items():
                destination = self._path / name
                destination.parent.mkdir(exist_ok=True)
                flush_to_disk(file)
                move_into_place(file, destination)

    @contextmanager
    def committing(self) -> Iterator[None]:
        with exclusive(self._path):
            yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise output_error(self.name, error) from error


class _RemoteFolder:
    """A folder that fsspec reaches: an object store, memory, another machine."""

    def __init__(self, name: str) -> None:
        if _HTTP.match(name) and not is_start_url(name):  # its driver would find out at a request
            raise UsageError(f"{shown_argument(name)} is not a URL that can be requested.")
        self.name = name
        core = load("fsspec.core", f"Writing to {name}", "scale")
        self._files: Any
        try:
            self._files, self._path = core.url_to_fs(name)
        except (ImportError, TypeError, ValueError) as error:  # no driver, or it wants another URL
            reason = f": {error}" if redact_argument(name) == name else ""  # it may quote the URL
            raise UsageError(f"{shown_argument(name)} can't be reached{reason}") from error
        except Exception as error:
            raise self._error(error) from error
        self._path = self._path.rstrip("/")

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"

    def read(self, name: str) -> bytes | None:
        with self._errors():
            try:
                content: bytes = self._files.cat_file(self._at(name))
            except _MISSING:
                return None
            return content

    def open(self, name: str) -> BinaryIO:
        with self._errors():
            return io.BufferedReader(self._files.open(self._at(name), "rb"))

    def local_path(self, name: str) -> Path | None:  # noqa: ARG002 -- as of every folder
        return None

    def names(self, folder: str) -> list[str]:
        with self._errors():
            self._files.invalidate_cache()  # others write there, too
            try:
                found = self._files.ls(self._at(folder), detail=True)
            except _MISSING:
                return []
        return sorted(one["name"].rpartition("/")[2] for one in found if one["type"] == "file")

    def write(self, name: str, data: bytes) -> None:
        with self._errors():
            self._files.makedirs(self._at(name).rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(self._at(name), data)

    def remove(self, name: str) -> None:
        with self._errors(), suppress(*_MISSING):
            self._files.rm_file(self._at(name))

    def scratch(self) -> AbstractContextManager[Path]:
        return scratch_folder(Path(tempfile.gettempdir()))

    def place(self, written: Mapping[str, Path]) -> None:
        with self._errors():
            for name, file in written.items():
                self._files.makedirs(self._at(name).rpartition("/")[0], exist_ok=True)
                self._files.put_file(str(file), self._at(name))

    def committing(self) -> AbstractContextManager[None]:
        return nullcontext()  # an object store has no locks

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            raise self._error(error) from error

    def _error(self, error: Exception) -> StorageError:
        """Return what is raised for an exception of a driver: each has classes of its own."""
        return StorageError(f"{self.name}: {str(error) or type(error).__name__}")
