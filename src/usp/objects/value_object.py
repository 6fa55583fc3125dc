"""Base class of small value objects: comparing, hashing, printing, pickling.

A value lists its fields once, in ``_fields``; a field ``x`` is stored in the slot ``_x`` and is
read through a property of its own. Pickles have the form of 1.8.1 (``_Class__field`` names), so old
and new programs can load each other's pickles.
"""

from typing import Any, ClassVar

from usp._display import shown

__all__: list[str] = []  # an implementation detail of pages, stories and images


def _hashable(value: object) -> object:
    """Turn lists into tuples, so that a story with keywords can be a dictionary's key."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


class ValueObject:
    """An object that is equal to another if their fields are."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ValueObject) or other._fields != self._fields:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._fields)

    def __hash__(self) -> int:
        return hash(tuple(_hashable(getattr(self, name)) for name in self._fields))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)}" for name in self._fields)
        return shown(f"{type(self).__name__}({fields})")

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary of plain values."""
        return {name: getattr(self, name) for name in self._fields}

    @classmethod
    def _pickled_name(cls, field: str) -> str:
        return f"_{cls._pickled_class()}__{field}"

    @classmethod
    def _pickled_class(cls) -> str:
        """Return the name of the class that declares the fields: subclasses keep its names."""
        return next(base.__name__ for base in cls.__mro__ if "_fields" in vars(base))

    def __getstate__(self) -> tuple[dict[str, Any] | None, dict[str, Any]]:
        state = {self._pickled_name(name): getattr(self, name) for name in self._fields}
        return getattr(self, "__dict__", None), state

    def __setstate__(self, state: tuple[dict[str, Any] | None, dict[str, Any]]) -> None:
        attributes, fields = state
        for name in self._fields:
            setattr(self, f"_{name}", fields.get(self._pickled_name(name)))
        for name, value in (attributes or {}).items():
            setattr(self, name, value)
