"""What docstrings say of parameters: the texts of ``:param name: ...``."""

import inspect
import re
from typing import Final

_PARAMETER: Final = re.compile(r"^:param (\w+):(.*?)(?=^:|^\S|\Z)", re.MULTILINE | re.DOTALL)
_LITERAL: Final = re.compile(r"``(.+?)``", re.DOTALL)


def parameters_of(documented: object) -> dict[str, str]:
    """Return what the docstring of a class or function says of each parameter, as Markdown."""
    text = inspect.getdoc(documented) or ""
    return {name: as_markdown(" ".join(said.split())) for name, said in _PARAMETER.findall(text)}


def as_markdown(text: str) -> str:
    """Return a sentence of a docstring as Markdown in a cell of a table."""
    return _LITERAL.sub(r"`\1`", text).replace("|", r"\|")
