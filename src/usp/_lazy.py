"""Attributes that are computed when they are needed, and then kept."""

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, overload

__all__ = ["lazy_property"]

_T = TypeVar("_T")


class lazy_property(Generic[_T]):  # noqa: N801 -- used like ``property``
    """Like ``functools.cached_property``, which has a lock for all instances in Python 3.11.

    Threads would wait for one another there, and a process that is forked meanwhile for ever. Two
    threads may compute a value at the same time here: it should be the same.
    """

    def __init__(self, compute: Callable[[Any], _T]) -> None:
        self._compute: Final = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "lazy_property[_T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...
    def __get__(self, instance: object, owner: type) -> "_T | lazy_property[_T]":
        """Compute the value; from then on, the instance has it as a plain attribute."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
