"""Reading JSON that comes from outside: files, recordings, folders that anyone may have written.

The parser of JSON feeds (``_parse``) has a reader of its own, which repairs; it is not used here.
"""

import json
from typing import Any


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
