"""Files that are whole or absent: written under a temporary name, and renamed at the end.

The temporary file stands beside the file, hidden, under a fixed name, so that the next run replaces
one that a killed process has left. It is locked while it is written. Formats belong elsewhere: here
are only bytes.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from usp.exceptions import StorageError, UsageError

_SUFFIX: Final = ".usp-part"
_WRONG_PATH: Final = (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError)


@contextmanager
def whole_file(
    path: str | os.PathLike[str], *, replace: bool = False, append: bool = False
) -> Iterator[BinaryIO]:
    """Open a file to write; it takes its name when the block ends without an exception.

    A device or a pipe is written directly.

    :param replace: whether an existing file is replaced.
    :param append: whether the content of an existing file comes first.
    :raises UsageError: if it exists, or its folder doesn't, or it is being written.
    :raises StorageError: if it can't be written.
    """
    target = Path(path).resolve()  # a link stays a link
    try:
        if _is_special(target):
            with target.open("wb") as file:
                yield file
            return
        _check_new(path, target, allowed=replace or append)
        with _temporary(target) as (file, name):
            if append and target.exists():
                with target.open("rb") as old:
                    shutil.copyfileobj(old, file)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, name)
            name.replace(target)
    except _WRONG_PATH as error:
        if error.filename is None:  # of something else than the file itself
            raise
        raise UsageError(f"cannot write {os.fspath(path)}: {error.strerror}") from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"cannot write {os.fspath(path)}: {error.strerror or error}") from error


def _is_special(target: Path) -> bool:
    """Tell whether a path exists and is neither a file nor a folder."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _check_new(path: str | os.PathLike[str], target: Path, *, allowed: bool) -> None:
    if target.is_dir():
        raise UsageError(f"cannot write {os.fspath(path)}: it is a folder")
    if target.exists() and not allowed:
        raise UsageError(f"{os.fspath(path)} exists already; replace it or append to it")


@contextmanager
def _temporary(target: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Open the temporary file of a target, empty and locked; what is left of it is removed."""
    name = target.with_name(f".{target.name}{_SUFFIX}")
    with _locked(name, target) as file:
        file.truncate(0)
        renamed = False
        try:
            yield file, name
            renamed = True
        finally:
            if not renamed:
                with suppress(OSError):
                    name.unlink()


def _locked(name: Path, target: Path) -> BinaryIO:
    while True:
        file = name.open("ab")
        if not _lock(file):
            file.close()
            raise UsageError(f"{target} is being written by another process")
        # The process that had it may have renamed it in the meantime.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), name.stat()):
                return file
        file.close()


def _lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed; False if another process has locked it."""
    try:
        import fcntl
    except ImportError:  # Windows: there, an open file can't be renamed by another process
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
