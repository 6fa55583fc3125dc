"""Docstrings that have a part in common: what several functions take is explained once."""

from collections.abc import Callable
from inspect import cleandoc
from typing import TypeVar

__all__ = ["explains", "explains_fields"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def explains(text: str, before: str = "") -> Callable[[_Function], _Function]:
    """Return a decorator that adds lines to a docstring, so that ``help()`` shows them.

    From Python 3.13 on, docstrings have no indentation; here they have none on any Python.

    :param before: how the line starts before which they are added; by default, they come last.
    """

    def explain(function: _Function) -> _Function:
        if function.__doc__:  # python -OO has none
            written, added = cleandoc(function.__doc__), cleandoc(text)
            start, line, rest = written.partition(f"\n{before}") if before else ("", "", "")
            function.__doc__ = f"{start}\n{added}{line}{rest}" if line else f"{written}\n\n{added}"
        return function

    return explain


def explains_fields(described: type, introduction: str) -> Callable[[_Function], _Function]:
    """Return a decorator that adds the fields of a class, each of which is a keyword."""
    _, param, listed = cleandoc(described.__doc__ or "").partition(":param")
    return explains(f"{introduction}:\n\n{param}{listed}")
