"""Locks in a forked process.

A thread of the parent may hold a lock at the moment of the fork. The child doesn't have the thread,
so nobody would ever release the lock there.
"""

import os
from typing import Any, Final, TypeVar
from weakref import WeakSet

__all__ = ["renewed_in_forks"]

_Lock = TypeVar("_Lock")
_LOCKS: Final[WeakSet[Any]] = WeakSet()


def renewed_in_forks(lock: _Lock) -> _Lock:
    """Return a lock, condition or event of ``threading`` that is free in a forked process.

    What it guards should be usable at any moment: another thread may be changing it.
    """
    _LOCKS.add(lock)
    return lock


def _renew() -> None:
    for lock in list(_LOCKS):
        lock._at_fork_reinit()  # as the standard library does with locks of its own


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew)
