"""What suits a process that is ours alone: the command, and a worker of a crawl of many sites.

A program that uses the library has a process of its own, in which nothing of this is done.
"""

import gc
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Final

__all__ = [
    "killed_by_sigterm",
    "prepare_libraries",
    "skip_last_collection",
    "tune_garbage_collection",
]

_SHELL: Final = 128
"""What shells add to the number of a signal, for the exit code of what it killed."""


def prepare_libraries() -> None:
    """Choose what other libraries import and use; before pyarrow and requests are imported."""
    sys.meta_path.insert(0, _NotNeeded())
    if sys.platform == "linux":
        # pyarrow's own allocator keeps what was freed: measured on an export to Parquet, a third
        # less memory and a twentieth less time without it. What the user has set counts.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # requests says that it can't guess charsets.
    warnings.filterwarnings("ignore", "Unable to find acceptable character detection")


def tune_garbage_collection() -> None:
    """Choose what takes less time: measured, a sixth less in a worker. After the imports."""
    gc.freeze()  # the garbage collector need not look at modules again and again
    # But at crawls that are over, which refer to themselves. What a command still has to import
    # is fewer objects than that: to look at these as well took a tenth of its start.
    gc.set_threshold(100_000, 5, 4)


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
    """Hides what other libraries import where it is installed, and what nothing of ours uses.

    pyarrow recognizes values by it that no row has, or opens files by it that aren't local, which
    we do by fsspec; requests guesses a charset with it, which we decide ourselves. Measured: pandas
    takes 45 MiB and half a second, numpy 11 MiB and a tenth of a second, the others together a
    tenth of the start of a command.
    """

    _names = frozenset(
        {
            *("numpy", "pandas"),
            *("pyarrow._azurefs", "pyarrow._gcsfs", "pyarrow._hdfs", "pyarrow._s3fs"),
            *("chardet", "charset_normalizer"),
        }
    )

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        """Let others find a module, unless it is one of these."""
        del path, target
        if fullname in self._names:
            raise ModuleNotFoundError(f"usp itself needs no {fullname}", name=fullname)
