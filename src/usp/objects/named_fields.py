"""Pickles of frozen dataclasses: by the names of their fields, and not by their positions.

Without this, ``dataclass(frozen=True, slots=True)`` pickles a list of values, which a version with
another field reads wrongly.
"""

from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

from usp.exceptions import SitemapException

__all__: list[str] = []  # an implementation detail of the classes that use it

_T = TypeVar("_T")


def pickled_by_name(cls: type[_T]) -> type[_T]:
    """Have a frozen dataclass with slots pickled as a dictionary of its fields.

    A field that a pickle of an earlier version lacks has its default; one that only a later version
    has is dropped.
    """
    named: Any = cls
    named.__getstate__, named.__setstate__ = _state, _set_state
    return cls


def _state(self: Any) -> dict[str, Any]:  # noqa: ANN401 -- any dataclass
    return {field.name: getattr(self, field.name) for field in fields(self)}


def _set_state(self: Any, state: dict[str, Any]) -> None:  # noqa: ANN401 -- any dataclass
    for field in fields(self):
        value = state[field.name] if field.name in state else _default(self, field)
        object.__setattr__(self, field.name, value)


def _default(owner: object, field: Field[Any]) -> Any:  # noqa: ANN401 -- any field
    if field.default_factory is not MISSING:
        return field.default_factory()
    if field.default is MISSING:
        raise SitemapException(
            f"{type(owner).__name__} was pickled by another version: it has no {field.name}."
        )
    return field.default
