"""Objects that are closed at the end of a ``with`` block."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


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
