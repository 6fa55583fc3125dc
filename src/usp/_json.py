"""Reading JSON that comes from outside: files, recordings, folders that anyone may have written.

The parser of JSON feeds (``_parse``) has a reader of its own, which repairs; it is not used here.
"""

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401 -- any JSON
    """Return what a JSON text says.

    :raises ValueError: if it is no JSON, or nested more deeply than Python can read: that raises
        ``RecursionError`` in the standard library, which nobody expects of a text.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
