"""Files and folders that are there whole or not at all.

What is written goes to a scratch folder beside its destination, and is renamed when it is whole. A
scratch folder is locked as long as its process lives, so that the next export removes what a killed
one left, and nothing else.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = ".usp-export-"
"""How the name of a scratch folder begins."""


@contextmanager
def scratch_folder(within: Path, *elsewhere: Path) -> Iterator[Path]:
    """Yield a new folder, which is removed at the end; remove those that killed exports left.

    :param within: the folder in which it is made.
    :param elsewhere: other folders in which killed exports may have left some.
    """
    for place in (within, *elsewhere):
        _remove_leftovers(place)
    folder, lock = _locked_folder(within)
    try:
        yield folder
    finally:
        _remove(folder, lock)


def move_into_place(written: Path, destination: Path) -> None:
    """Give a whole file or folder its name.

    A file takes the place, and the permissions, of one that is there.
    """
    for file in written.iterdir() if written.is_dir() else [written]:
        with file.open("rb+") as opened:
            os.fsync(opened.fileno())  # else the name could survive a crash, and the rows not
    if destination.is_file():
        _settle(destination)
        shutil.copymode(destination, written)
    written.replace(destination)


def _settle(database: Path) -> None:
    """End what SQLite left beside a database, which would spoil the one that takes its place.

    :raises sqlite3.Error: if another program uses the database.
    """
    companions = [Path(f"{database}{suffix}") for suffix in ("-journal", "-wal", "-shm")]
    if not any(companion.exists() for companion in companions):
        return
    import sqlite3

    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("BEGIN EXCLUSIVE")  # undoes what a killed process began
        connection.execute("COMMIT")
    for companion in companions:
        companion.unlink(missing_ok=True)


def _locked_folder(within: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=within))
        try:
            lock = _open_lock(folder)
        except FileNotFoundError:
            continue  # another export took it for a leftover before it was locked
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
