"""Checks of arguments: each returns the value or raises one clear line that names the parameter.

Nothing here knows who calls it, and nothing here judges what came from the web. The checks of URLs
that a crawl can start from are in ``_crawl.urls``, those of a client's settings in
``web_client._http.settings``.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

from usp._display import redact_argument
from usp.exceptions import UsageError

_T = TypeVar("_T")

_MAX_SHOWN: Final = 80
"""The number of characters of a wrong value that an error message shows."""
_MAX_FLOAT: Final = sys.float_info.max


def argument_error(name: str, accepted: str, given: object) -> UsageError:
    """Return the error for a parameter that must be something else."""
    return UsageError(f"{name} must be {accepted}, not {shown_argument(given)}.")


def shown_argument(given: object) -> str:
    """Return a wrong value as an error message shows it: shortened, and without credentials."""
    safe = repr(redact_argument(given)) if isinstance(given, str) else redact_argument(repr(given))
    shown = " ".join(safe.split())
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"


def hint(value: object, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for a mistyped word; empty if nothing known is close."""
    from difflib import get_close_matches  # loaded for an error only

    close = get_close_matches(str(value), list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def check_int(name: str, given: object, least: int) -> int:
    """Return an integer that is large enough; True and False are not integers here."""
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise argument_error(name, f"an integer, at least {least}", given)
    return given


def check_number(
    name: str, given: object, least: float = -_MAX_FLOAT, most: float = _MAX_FLOAT
) -> float:
    """Return a number within bounds; by default, any finite number."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not least <= given <= most:
        bounds = "finite" if (least, most) == (-_MAX_FLOAT, _MAX_FLOAT) else f"at least {least}"
        bounds += f" and at most {most}" if most < _MAX_FLOAT else ""
        raise argument_error(name, f"a number, {bounds}", given)
    return given


def check_bool(name: str, given: object) -> None:
    """Reject anything but True and False."""
    if not isinstance(given, bool):
        raise argument_error(name, "True or False", given)


def check_flags(**given: object) -> None:
    """Reject anything that is not true or false; 0 and 1 pass, as programs for 1.8.1 have them."""
    for name, value in given.items():
        if not isinstance(value, int) or value not in (0, 1):
            raise argument_error(name, "True or False", value)


def check_instance(name: str, given: _T, kind: type[Any]) -> _T:
    """Return an instance of a class."""
    if not isinstance(given, kind):
        what = f"the class {given.__name__}" if isinstance(given, type) else _with_article(given)
        raise UsageError(f"{name} must be an instance of {kind.__name__}, not {what}.")
    return given


def check_optional_instance(name: str, given: _T, kind: type[Any]) -> _T:
    """Return an instance of a class, or None."""
    return given if given is None else check_instance(name, given, kind)


def check_callables(**given: object) -> None:
    """Reject anything that is neither callable nor None."""
    for name, value in given.items():
        if value is not None and not callable(value):
            raise argument_error(name, "a function", value)


def check_iterable(name: str, given: object, kind: type[Any]) -> Iterator[Any]:
    """Yield instances of a class; a string is rejected, since it iterates over its letters."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise argument_error(name, "an iterable, such as a list", given)
    for each in given:
        yield check_instance(f"each item of {name}", each, kind)


def check_strings(name: str, given: object) -> list[str]:
    """Return an iterable of strings as a list."""
    return list(check_iterable(name, given, str))


def check_choices(name: str, given: object, choices: Iterable[str]) -> list[str]:
    """Return an iterable of some of these names as a list."""
    accepted = list(choices)
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise argument_error(name, f"some of {', '.join(accepted)}", given)
    chosen = list(given)
    for one in chosen:
        if one not in accepted:
            raise argument_error(name, f"some of {', '.join(accepted)}", one)
    return chosen


def _with_article(given: object) -> str:
    name = type(given).__name__
    article = "an" if name[0] in "AEIOaeio" else "a"
    return "None" if given is None else f"{article} {name}"
