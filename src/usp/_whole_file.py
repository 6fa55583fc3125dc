"""Files that are whole or absent: written in a scratch folder, and renamed at the end.

The scratch folder is hidden, beside the file. It is locked as long as its process lives, so that
the next one removes what a killed one left, and nothing else. Formats belong elsewhere: here are
only bytes.
"""

import errno
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Self

from usp.exceptions import SitemapException, StorageError, UsageError

_PREFIX: Final = ".usp-part-"
"""How the name of a scratch folder begins."""
_WRONG_PATH: Final = (
    *(FileNotFoundError, FileExistsError),
    *(NotADirectoryError, IsADirectoryError, PermissionError),
)
_WRONG_NAME: Final = frozenset({errno.ENAMETOOLONG, errno.ELOOP})
"""What the system says of a name that no file can have: it is too long, or links in a circle."""
_LOCK_SECONDS: Final = 5.0
_LOCK_PAUSE: Final = 0.002
"""How long, and how often, others are waited for that give files of the same folder their names."""


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file was like, to notice that another program has written it since."""

    path: Path
    identity: tuple[int, int, int] | None
    """Its inode, size and time; None if it was absent."""

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return what a file is like now."""
        try:
            found = path.stat()
        except FileNotFoundError:
            return cls(path, None)
        return cls(path, (found.st_ino, found.st_size, found.st_mtime_ns))

    def check(self) -> None:
        """Check that the file is as it was.

        :raises StorageError: if it isn't: what takes its place would lose what was written since.
        """
        if FileState.of(self.path) != self:
            raise StorageError(
                f"cannot write {self.path}: another program has written it meanwhile, and it is "
                "left as that made it"
            )


@contextmanager
def whole_file(
    path: str | os.PathLike[str],
    *,
    replace: bool = False,
    append: bool | None = None,
    is_kept: Callable[[], bool] = lambda: True,
) -> Iterator[BinaryIO]:
    """Open a file to write; it takes its name when the block ends without an exception.

    A device or a pipe is written directly.

    :param replace: whether an existing file is replaced.
    :param append: whether the content of an existing file comes first; None if it never can.
    :param is_kept: tells at the end whether the file takes its name; otherwise it is dropped.
    :raises UsageError: if it exists, or its folder doesn't.
    :raises StorageError: if it can't be written.
    """
    try:
        # A link stays a link; that of an open pipe, /dev/fd/3, leads to no path.
        target = Path(path) if is_special(Path(path)) else Path(os.path.realpath(path))
    except ValueError as error:  # a name that no system accepts
        raise UsageError(f"cannot write {os.fspath(path)!r}: {error}") from error
    try:
        if is_special(target):
            with target.open("wb") as file:
                yield file
            return
        check_file(target, os.fspath(path))
        if not (replace or append):
            check_new(target, os.fspath(path), can_append=append is not None)
        state = None if replace else FileState.of(target)
        with scratch_folder(target.parent) as folder:
            written = folder / target.name
            with _open_beside(written, target if append else None) as file:
                yield file
            if is_kept():
                flush_to_disk(written)
                with writer_lock(target.parent):
                    if state:
                        state.check()
                    move_into_place(written, target)
    except BrokenPipeError:
        raise
    except OSError as error:
        if _is_wrong_path(error) and error.filename is None:
            raise  # of something else than the file itself
        raise output_error(os.fspath(path), error) from error


@contextmanager
def _open_beside(written: Path, continued: Path | None) -> Iterator[BinaryIO]:
    """Open a file in a scratch folder; what it continues comes first, its last line ended."""
    if continued and continued.exists():
        shutil.copyfile(continued, written)
    with written.open("ab") as file:
        if continued and not ends_line(written):
            file.write(b"\n")
        yield file


def is_special(target: Path) -> bool:
    """Tell whether a path is a device or a pipe: it can't be replaced by a file."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_file(target: Path, name: str) -> None:
    """Check that a file can be at a path: nothing else is there, and the way to it can be walked.

    :raises UsageError: if it is a folder, or named like one.
    :raises OSError: if the system can't even look there.
    """
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise UsageError(f"cannot write {name}: it is a folder")
    if name.endswith(("/", os.sep)):
        raise UsageError(f"cannot write {name}: it is named like a folder, with a slash at its end")


def ends_line(path: Path) -> bool:
    """Tell whether the last line of a file is ended; that of an empty one is."""
    return last_byte(path) in {b"", b"\n"}


def last_byte(path: Path) -> bytes:
    """Return the last byte of a file; nothing of an empty one."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        return file.read()


def check_new(target: Path, name: str, *, can_append: bool) -> None:
    """Check that a file doesn't exist.

    :param can_append: whether it could be appended to, for the message.
    :raises UsageError: if it does.
    """
    if target.exists():
        raise UsageError(f"{name} exists already: use replace=True{' or append=True' * can_append}")


def output_error(name: str, error: OSError) -> SitemapException:
    """Return what the system says about a file that can't be made as an error of this library."""
    if isinstance(error, SitemapException):
        return error
    kind = UsageError if _is_wrong_path(error) else StorageError
    return kind(f"cannot write {name}: {error.strerror or error}")


def _is_wrong_path(error: OSError) -> bool:
    return isinstance(error, _WRONG_PATH) or error.errno in _WRONG_NAME


@contextmanager
def told_as_output_error(name: str) -> Iterator[None]:
    """Raise what the system says about a file that can't be made as an error of this library."""
    try:
        yield
    except OSError as error:
        raise output_error(name, error) from error


@contextmanager
def scratch_folder(within: Path, *elsewhere: Path) -> Iterator[Path]:
    """Yield a new folder, which is removed at the end; remove those that killed processes left.

    :param within: the folder in which it is made.
    :param elsewhere: other folders in which they may have left some.
    """
    for place in (within, *elsewhere):
        _remove_leftovers(place)
    folder, lock = _locked_folder(within)
    try:
        yield folder
    finally:
        _remove(folder, lock)


def move_into_place(written: Path, destination: Path) -> None:
    """Give a whole file or folder its name, after ``flush_to_disk``.

    A file takes the place, and the permissions, of one that is there.
    """
    if destination.is_file():
        shutil.copymode(destination, written)
    written.replace(destination)


def flush_to_disk(written: Path) -> None:
    """Have the system write a file, or those of a folder: else a name could outlive its rows."""
    for file in written.iterdir() if written.is_dir() else [written]:
        with file.open("rb+") as opened:
            os.fsync(opened.fileno())


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Wait for other processes and threads in such a block for the same folder, up to 5 seconds.

    So a file doesn't change between a look at it and its replacement. The block takes
    milliseconds: who holds the lock longer has it for another reason (``flock DIR usp …``), and the
    block is entered without it. On Windows, which has no locks of folders, nothing is locked.
    """
    lock: int | None = None
    try:
        if sys.platform != "win32":
            with suppress(OSError):  # a folder that can't be read, a file system without locks
                lock = _open_lock(folder)
                until = time.monotonic() + _LOCK_SECONDS
                while not _try_lock(lock) and time.monotonic() < until:
                    time.sleep(_LOCK_PAUSE)
        yield
    finally:
        if lock is not None:
            os.close(lock)


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Wait until no other process is in such a block for the same folder."""
    lock = _open_lock(folder)
    try:
        with suppress(OSError):  # a file system without locks
            _lock(lock)
        yield
    finally:
        os.close(lock)


def _locked_folder(within: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=within))
        try:
            lock = _open_lock(folder)
        except FileNotFoundError:
            continue  # another process took it for a leftover before it was locked
        with suppress(OSError):  # a file system without locks: then nobody removes it, either
            if not _try_lock(lock) or not folder.exists():
                os.close(lock)
                continue
        return folder, lock


def _remove_leftovers(place: Path) -> None:
    for folder in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # it is someone else's, or gone
            lock = _open_lock(folder)
            try:
                is_left = _try_lock(lock)
            except OSError:
                is_left = False
            if is_left:
                _remove(folder, lock)
            else:
                os.close(lock)


def _remove(folder: Path, lock: int) -> None:
    """Remove a folder while it is locked, so that nobody begins to write to it."""
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
    if sys.platform == "win32":  # where the lock is a file, which can't be removed while it is open
        shutil.rmtree(folder, ignore_errors=True)


def _open_lock(folder: Path) -> int:
    if sys.platform == "win32":
        return os.open(folder / "lock", os.O_CREAT | os.O_RDWR)
    return os.open(folder, os.O_RDONLY)


def _lock(lock: int) -> None:
    """Lock until it is closed, or the process ends."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(lock, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)


def _try_lock(lock: int) -> bool:
    """Lock until it is closed, or the process ends; tell whether it was free.

    :raises OSError: if the file system has no locks.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
