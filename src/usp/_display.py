"""How URLs and texts from outside are shown: without credentials, and on one line.

Every way out uses these functions: messages of exceptions, problems and failed fetches, reprs, log
lines, and what the command prints. URLs in a tree need none of them, since the user and password
of a URL are kept apart from it (``_crawl.url_credentials``).
"""

import re
from typing import Final

__all__ = ["excerpt", "one_line", "redact", "redact_argument", "shown", "without_credentials"]

_URL_WITH_USERINFO: Final = re.compile(
    r"\A([\x00-\x20]*+(?:[A-Za-z][A-Za-z0-9+.-]*+:)?//)(?:[^/?#@]*+@)++"
)
"""The start of a URL, as far as its user and password (RFC 3986 3.2.1)."""
_MALFORMED_URL_WITH_USERINFO: Final = re.compile(
    r"\A([\x00-\x20]*+(?:(?:https?:[\\/\x00-\x20]*+)++|[\\/]{2,}+))"
    r"(?:(?:https?:[\\/]*+)*+[^\\/?#@]++@)++",
    re.IGNORECASE,
)
"""The same of what browsers read as one: with any number of slashes, also backwards, or with its
scheme twice. An empty user is none: ``http:/@name`` is a path."""
_USERINFO_IN_TEXT: Final = re.compile(
    r"(?<=//)(?:[^\s/?#@]*+@)++"
    # With blanks, a password is told from the words after a URL: "http://h:80 of me@h".
    r"|(?<=//)[^\s/?#@:'\"]{0,256}+:(?!\s|[0-9]{1,5}+[^\w@])[^/?#@'\"\r\n]{1,256}+@"
    r"|(https?:[\\/]*+)(?:[^\s\\/?#@]{1,256}+@)++",
    re.IGNORECASE,
)
_HIDDEN: Final = "***"
_AT: Final = re.compile("[@\ufe6b\uff20]")
"""The at sign, and those that NFKC makes one of: a URL is rejected because it has them."""
_ESCAPED: Final = {
    code: "".join(f"%{byte:02X}" for byte in chr(code).encode())
    for code in (
        *range(0x20),  # C0: line breaks, the escape character of terminals
        *range(0x7F, 0xA0),  # DEL and C1, which some terminals obey, too
        0x061C,  # from here on: characters that change the direction of text (UAX #9)
        *range(0x200E, 0x2010),
        *range(0x2028, 0x202F),  # with the separators of lines and paragraphs
        *range(0x2066, 0x206A),
    )
}
"""Characters that break a line, control a terminal or reorder a line, percent-encoded."""


def without_credentials(url: str) -> str:
    """Return a URL without its user and password."""
    if "@" not in url:
        return url
    return _MALFORMED_URL_WITH_USERINFO.sub(r"\1", _URL_WITH_USERINFO.sub(r"\1", url))


def redact(text: str) -> str:
    """Return a text in which no URL has a user or password."""
    return _USERINFO_IN_TEXT.sub(r"\1", text) if "@" in text else text


def excerpt(value: str, length: int) -> str:
    """Return the start of a value as a message quotes it: one that may be a URL, or contain some.

    What is cut off first would leave a password without the ``@`` after it.
    """
    return redact(without_credentials(value))[:length]


def redact_argument(text: str) -> str:
    """Return an argument that was rejected, without what may be a user and password.

    It may be a URL that is malformed because of its password (``http://user:pa/ss@host``), so
    everything from the scheme to the last ``@`` is hidden.
    """
    if text.startswith("mailto:"):
        return text
    scheme, slashes, rest = text.partition("//")
    if not slashes:
        scheme, rest = "", text
    *hidden, host = _AT.split(rest)
    return f"{scheme}{slashes}{_HIDDEN}@{host}" if hidden else text


def one_line(text: str) -> str:
    """Return a text on one line: what could control a terminal is percent-encoded."""
    return text if text.isprintable() else text.translate(_ESCAPED)


def shown(text: str) -> str:
    """Return a text as it may be printed or logged: without credentials, on one line."""
    return one_line(redact(text))
