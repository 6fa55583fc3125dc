"""JSON with texts from outside: of files that anyone may have written, and as output.

The parser of JSON feeds (``_parse``) has a reader of its own, which repairs; it is not used here.
"""

import json
from typing import Any, Final

from usp._display import CONTROLS

_ESCAPED: Final = {code: f"\\u{code:04x}" for code in CONTROLS if code > ord("~")}
"""Those that ``json`` leaves as they are, if it may write more than ASCII."""


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401 -- any JSON
    """Return what a JSON text says.

    :raises JSONDecodeError: if it is no JSON.
    :raises ValueError: if it is more than Python can read, which the message says. Nesting raises
        ``RecursionError`` in the standard library, which nobody expects of a text.
    """
    try:
        return json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:  # sys.get_int_max_str_digits()
        raise ValueError("it has a number that is too long") from None


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON that controls no terminal; what it means is the same."""
    return json.dumps(value, indent=indent, ensure_ascii=False).translate(_ESCAPED)
