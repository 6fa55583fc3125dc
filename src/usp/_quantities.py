"""Quantities in words: how many of something, how many bytes, how long."""

from typing import Final

__all__ = ["count", "duration", "size"]

_SHORT: Final = 10
"""Seconds below which a fraction matters."""
_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 page``, ``2 pages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def duration(seconds: float) -> str:
    """Return a time for people: ``0.3 s``, ``41 s``, ``3 min 20 s``."""
    if seconds < _SHORT:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if minutes else f"{rest} s"


def size(number: float) -> str:
    """Return a number of bytes for people: ``12.3 kB``."""
    unit = 0
    while number >= 1000 and unit < len(_UNITS) - 1:  # noqa: PLR2004 -- a thousand, as in SI
        number /= 1000
        unit += 1
    return f"{number:.0f} {_UNITS[unit]}" if unit == 0 else f"{number:.1f} {_UNITS[unit]}"
