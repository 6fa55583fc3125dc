"""Objects that are closed at the end of a ``with`` block, or by another thread."""

from abc import ABC, abstractmethod
from collections.abc import Generator
from types import TracebackType
from typing import Any, Final, Self

_IS_READ: Final = "generator already executing"
"""What Python says of a generator that is closed while another thread, or itself, is in it."""


def is_being_read(error: ValueError) -> bool:
    """Tell whether an error says that a thread is in a generator."""
    return str(error) == _IS_READ


def close_unless_read(generator: Generator[Any]) -> bool:
    """Close a generator; False if a thread is in it: another one, or this one in a callback.

    Only that thread may touch what the generator has opened, so it is the one that has to end it.
    """
    try:
        generator.close()
    except ValueError as error:
        if not is_being_read(error):
            raise
        return False
    return True


class ClosesAtExit(ABC):
    """A context manager that is the object itself, and closes it."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Release what it holds; a second call has no effect."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
