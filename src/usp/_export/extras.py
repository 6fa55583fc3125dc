"""Libraries that aren't installed with ``usp``: imported when they are used."""

from importlib import import_module
from types import ModuleType

from usp.exceptions import MissingExtraError


def load(module: str, purpose: str, extra: str | None = "tables") -> ModuleType:
    """Import a module.

    :param purpose: what needs it, as the beginning of the message.
    :param extra: the extra of ``usp`` that has it; None if it has none.
    :raises MissingExtraError: if it isn't installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # it is installed, but something that it needs is not
        requirement = f"'usp[{extra}]'" if extra else package
        message = f"{purpose} needs {package}, which is not installed: pip install {requirement}"
        raise MissingExtraError(message) from error
