"""Why a request failed, in the words of the system: what is inside of a message of urllib3."""

import re
from typing import Final

_CAUSED_BY: Final = "(Caused by "
_BY_PROXY: Final = "ProxyError('Unable to connect to proxy', "
_QUOTE: Final = re.compile(r"[\"']")
_CONNECTION: Final = re.compile(r"\w++\(host=")


def cause(detail: str) -> str:
    """Return the message of the operating system inside of one of urllib3; any other as it is."""
    return _cause(detail) or detail


def _cause(detail: str) -> str:
    """Return the message of the operating system inside of a message of urllib3, if it is one.

    Such a message is ``... (Caused by Error("HTTPConnection(host='h', port=80): words"))``, and
    something may follow it. The server may have written any part of it.
    """
    _, is_caused, error = detail.partition(_CAUSED_BY)
    by_proxy = error.startswith(_BY_PROXY)
    error = error.removeprefix(_BY_PROXY)
    opening = _QUOTE.search(error)
    end = error.rfind(")") + 1
    quoted, more = error[:end].rstrip(")"), error[end:]
    if not is_caused or opening is None or (more and not (more[0] == ":" and "(" not in more)):
        return ""
    if not quoted.endswith(opening[0]) or len(quoted) - 1 <= opening.end():
        return ""
    words = quoted[opening.end() : -1]
    if _CONNECTION.match(words):
        _, is_closed, rest = words.partition("): ")
        words = rest if is_closed and rest else words
    return f"{'proxy: ' * by_proxy}{words}{more}"
