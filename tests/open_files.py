"""The files that a process has open, read from ``/proc``.

A test that calls these functions is skipped where the system has no ``/proc``. A test that reads
``/proc`` otherwise, in a process of its own, is marked with ``requires_proc``.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

_REASON: Final = "this system has no /proc that lists open files"

requires_proc: Final = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason=_REASON)


def open_files(pid: int | None = None) -> list[str]:
    """Return what the file descriptors of a process refer to; by default, those of this process.

    A file has its path, and `` (deleted)`` if it has no name any more. A socket has its inode:
    ``socket:[1234]``.
    """
    folder = Path(f"/proc/{'self' if pid is None else pid}/fd")
    if not folder.is_dir():
        pytest.skip(_REASON)
    found = []
    for descriptor in folder.iterdir():
        with suppress(FileNotFoundError):  # closed since
            found.append(str(descriptor.readlink()))
    return found
