"""A file that has its name only when it is whole, whatever ends the process before.

It is written beside its place under a temporary name and renamed at the end. What a killed process
left behind is removed when the same file is written again: a lock shows whether it is still in use.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from usp.exceptions import StorageError, UsageError

__all__ = ["PartialFile"]

_SUFFIX: Final = ".part"


class PartialFile:
    """A file that is being written."""

    def __init__(self, path: Path, *, replace: bool) -> None:
        """Create the temporary file.

        :raises UsageError: if the file exists and must not be replaced, or its folder is missing.
        """
        self.path = path
        if path.exists() and not replace:
            raise UsageError(f"{path} exists already; allow it to be replaced, or name another.")
        prefix = f".{path.name}."
        _remove_abandoned(path.parent, prefix)
        try:
            number, name = tempfile.mkstemp(_SUFFIX, prefix, path.parent)
        except OSError as error:
            raise UsageError(f"{path} can't be written: {error.strerror or error}.") from error
        self._temporary = Path(name)
        self.file: IO[bytes] = os.fdopen(number, "wb")
        _try_lock(self.file)

    def finish(self) -> None:
        """Give the file its name.

        :raises StorageError: if it can't be written to its end.
        """
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            umask = os.umask(0)
            os.umask(umask)
            self._temporary.chmod(0o666 & ~umask)  # mkstemp() makes files for the owner only
            self._temporary.replace(self.path)
        except OSError as error:
            self.discard()
            raise StorageError(f"{self.path} can't be written: {error}") from error

    def discard(self) -> None:
        """Remove what was written."""
        with suppress(OSError):
            self.file.close()
        self._temporary.unlink(missing_ok=True)


def _remove_abandoned(folder: Path, prefix: str) -> None:
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            if entry.name.startswith(prefix) and entry.name.endswith(_SUFFIX):
                _remove_if_unused(Path(entry.path))


def _remove_if_unused(path: Path) -> None:
    # Where there are no such locks (Windows), a file that is in use can't be removed anyway.
    with suppress(OSError), path.open("rb") as file:
        if not _try_lock(file):
            return
    with suppress(OSError):
        path.unlink()


def _try_lock(file: IO[bytes]) -> bool:
    """Lock a file until it is closed; False if another process has locked it."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
