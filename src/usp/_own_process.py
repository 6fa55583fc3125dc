"""What suits a process that is ours alone: the command, and a worker of a crawl of many sites.

A program that uses the library has a process of its own, in which nothing of this is done.
"""

import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Final

__all__ = ["hide_unneeded", "killed_by_sigterm", "skip_last_collection", "tune_garbage_collection"]

_SHELL: Final = 128
"""What shells add to the number of a signal, for the exit code of what it killed."""


def hide_unneeded() -> None:
    """Keep libraries from being imported that nothing needs; before pyarrow is."""
    sys.meta_path.insert(0, _NotNeeded())


def tune_garbage_collection() -> None:
    """Choose what takes less time: measured, a sixth less in a worker. After the imports."""
    gc.freeze()  # the garbage collector need not look at modules again and again
    gc.set_threshold(20_000, 5, 4)  # but at crawls that are over, which refer to themselves


def skip_last_collection() -> None:
    """Leave the objects of the process to the system, which frees its memory; at the very end.

    Python would look at each of them: measured, an eighth of the time of a short command.
    """
    gc.freeze()


@contextmanager
def killed_by_sigterm() -> Iterator[None]:
    """Leave the block after SIGTERM, so that it can clean up, and die of the signal then.

    So whoever sent it sees that. A second one ends the cleaning up. A process that was started to
    ignore SIGTERM ignores it.
    """
    is_killed = False

    def leave(number: int, _: FrameType | None) -> None:
        nonlocal is_killed
        is_killed = True
        raise SystemExit(_SHELL + number)

    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if is_killed:
            os.kill(os.getpid(), signal.SIGTERM)


class _NotNeeded:
    """Hides what pyarrow imports where it is installed, to recognize what no row of ours has.

    Measured: pandas takes 45 MiB and half a second, numpy 11 MiB and a tenth of a second.
    """

    _names = frozenset({"numpy", "pandas"})

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Let others find a module, unless it is one of these."""
        del path, target
        if fullname in self._names:
            raise ModuleNotFoundError(f"usp itself needs no {fullname}", name=fullname)
