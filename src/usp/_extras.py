"""Libraries that aren't installed with ``usp``: imported when they are used."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Final

from usp.exceptions import MissingExtraError

_BROKEN: Final = (
    *(ImportError, OSError, AttributeError, NameError, LookupError),
    *(RuntimeError, SyntaxError, SystemError, TypeError, ValueError),
)
"""What the import of a package raises whose parts, or those of another one, don't fit together."""


def load(module: str, purpose: str, extra: str | None) -> ModuleType:
    """Import a module.

    :param purpose: what needs it, as the beginning of the message.
    :param extra: the extra of ``usp`` that installs it; None if none does.
    :raises MissingExtraError: if it isn't installed, or can't be imported.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == package:
            raise _missing(package, purpose, extra) from None
        raise _broken(package, purpose, error) from error
    except _BROKEN as error:
        raise _broken(package, purpose, error) from error


def check_installed(package: str, purpose: str, extra: str | None) -> None:
    """Check that a package can be imported, without the time that its import takes.

    :raises MissingExtraError: if it isn't installed.
    """
    try:
        is_there = find_spec(package) is not None
    except ModuleNotFoundError:  # a finder that hides it says so
        is_there = False
    if not is_there:
        raise _missing(package, purpose, extra)


def _missing(package: str, purpose: str, extra: str | None) -> MissingExtraError:
    return MissingExtraError(f"{purpose} needs {package}, {_remedy(package, extra)}")


def _broken(package: str, purpose: str, error: Exception) -> MissingExtraError:
    """Return the error of a package that is installed, but can't be imported."""
    return MissingExtraError(f"{purpose} needs {package}, which can't be imported: {error}")


def _remedy(package: str, extra: str | None) -> str:
    if extra is None:
        return f"which is not installed: pip install {package}"
    # usp is not on a package index: a project of that name there is another one.
    return f'which the extra {extra} installs: in a clone of usp, run pip install ".[{extra}]"'
