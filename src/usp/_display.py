"""How URLs and texts from outside are shown: without credentials, and on one line.

Every way out uses these functions: ``without_credentials`` and ``shown_url`` for what is a URL as a
whole, ``redact`` and ``shown`` for texts that may quote some, ``without_typed_credentials`` for
errors that may quote a command line; after them ``in_markdown`` for Markdown. Ways out are messages
of exceptions, problems and failed fetches, reprs, log lines, and what the command prints. URLs
in a tree need none of them, since the user and password of a URL are kept apart from it
(``_crawl.url_credentials``).
"""

import re
from collections.abc import Iterable
from typing import Final

__all__ = [
    "CONTROLS",
    "excerpt",
    "in_markdown",
    "one_line",
    "redact",
    "redact_argument",
    "shown",
    "shown_url",
    "without_credentials",
    "without_typed_credentials",
]

_ENCODED: Final = r"%40|\uff20|%EF%BC%A0|\xef\xbc\xa0"
"""The sign after a password as software or people quote it: percent-encoded, in full width, and
that read as Latin-1, as the values of headers are. No host has one."""
_ENCODED_SIGNS: Final = ("%40", "\uff20", "\ufe6b", "%EF%BC%A0", "\xcf\xbc\xa0")
"""The same and the small one, in capitals."""
_AT: Final = f"(?:@|{_ENCODED})"
_NO_PORT: Final = r"[^/?#@:\[\]\\]*+:(?![0-9]*+(?:[/?#\\]|\Z))"
"""What looks like a host and its port, but the port is none: a user, and where a password begins
that has a ``/``, ``?`` or ``#`` in it. No port has other characters (RFC 3986 3.2.3). What
is a port stays: RFC 3986 and the URL standard of browsers read ``http://u:80/x@h`` as a path of
host ``u``, and so does whoever requests it."""
_URL_WITH_USERINFO: Final = re.compile(
    r"\A([\x00-\x20]*+(?:(?:[A-Za-z][A-Za-z0-9+.-]*+:)++//|//(?!@)))(?:[^/?#@]*+@)++"
)
"""The start of a URL, as far as its user and password (RFC 3986 3.2.1). The scheme may have others
before it (``feed:http://``). Without a scheme, an empty user is none: ``//@name`` is a path."""
_MALFORMED_URL_WITH_USERINFO: Final = re.compile(
    r"\A([\x00-\x20]*+(?:(?:https?:[\\/\x00-\x20]*+)++|[\\/]{2,}+))"
    r"(?:(?:https?:[\\/]*+)*+[^\\/?#@]++@)++"
    # A scheme that lost its colon, or a colon that lost its scheme, needs a user and a password to
    # be told from a path.
    r"|\A([\x00-\x20]*+(?:https?;?|:)//)[^\\/?#@:]*+:[^\\/?#@]*+@",
    re.IGNORECASE,
)
"""The same of what browsers read as one: with any number of slashes, also backwards, or with its
scheme twice. An empty user is none: ``http:/@name`` is a path."""
_URL_WITH_BROKEN_PASSWORD: Final = re.compile(
    r"\A([\x00-\x20]*+(?:(?:https?:[\\/]*+)++|(?:(?:[A-Za-z][A-Za-z0-9+.-]*+:)*+|https?;?|:)[\\/]{2}))"
    rf"{_NO_PORT}\S*{_AT}",
    re.IGNORECASE,
)
"""The start of a URL whose password has a character that ends the host, to the last ``@``."""
_URL_WITH_ENCODED_USERINFO: Final = re.compile(
    r"\A([\x00-\x20]*+(?:(?:https?:[\\/]*+)++|(?:[A-Za-z][A-Za-z0-9+.-]*+:)*+[\\/]{2}))"
    rf"[^\\/?#]*(?:{_ENCODED})",
    re.IGNORECASE,
)
"""The start of a URL whose user and password were encoded with the sign after them:
``http://user%3Apassword%40host/``."""
_USERINFO_OF_URL: Final = (
    _URL_WITH_USERINFO,
    _MALFORMED_URL_WITH_USERINFO,
    _URL_WITH_BROKEN_PASSWORD,
    _URL_WITH_ENCODED_USERINFO,
)
_START_IN_TEXT: Final = r"(://|(?:\A|(?<=[\s'\"`(<>\[{,]))(?:https?;?(?=//[^\s/?#@:]*+:))?//(?!@))"
"""What is before the user or host of a URL in a text. Two slashes elsewhere are in the path or
query of a URL: ``https://h//me@home``."""
_BROKEN_IN_TEXT: Final = r"[^\s\\/?#@:'\"\[\]]{0,256}+:(?![0-9]*+(?:\W|\Z))[^\s'\"<>]{1,256}" + _AT
_USERINFO_IN_TEXT: Final = re.compile(
    rf"{_START_IN_TEXT}(?:(?:[^\s/?#@]*+@)++"
    # With blanks, a password is told from the words after a URL: "http://h:80 of me@h".
    r"|[^\s/?#@:'\"]{0,256}+:(?!\s|[0-9]{1,5}+[^\w@])[^/?#@'\"\r\n]{1,256}+@"
    rf"|{_BROKEN_IN_TEXT})"
    rf"|(https?:(?:[\\/][\t\r\n]*+)*+)(?:(?:[^\s\\/?#@]{{1,256}}+@)++|{_BROKEN_IN_TEXT})",
    re.IGNORECASE,
)
_ENCODED_USERINFO_IN_TEXT: Final = re.compile(
    rf"{_START_IN_TEXT}[^\s\\/?#'\"<>]*(?:{_ENCODED})", re.IGNORECASE
)
_BARE_USERINFO_IN_TEXT: Final = re.compile(
    r"(?<![^\s'\"])([(<\[{]*+)"
    r"(?!(?:acct|cid|im|mailto|mid|news|pres|sips?|tag|urn|xmpp)(?::|%3A))"
    rf"(?>[^\s'\"\\/?#@:]+?(?::|%3A))[^\s'\"\\/]*{_AT}(?=[\w\[])",
    re.IGNORECASE,
)
"""A user and password without a scheme, as proxies and servers quote them: a word that begins with
``user:password@``. The schemes are those whose addresses have an ``@``: ``mailto:me@host``."""
_TYPED_USERINFO: Final = re.compile(
    r"(?:-\w|--[\w-]++=)?+"  # of an option that is written together with its value
    r"(?:[A-Za-z\s]{1,16}+[:;]*+[\\/][\\/\s]*+)?+"
    r"(?!mailto:)([^\\/?#@:=]++:[^\\/]*@)"
)
"""What a user and password look like at the start of an argument: ``user:password@``, after nothing
or after what may have been meant as a scheme (``http/``, ``htps//``)."""
_REMOVED_BY_BROWSERS: Final = str.maketrans("", "", "\t\r\n")
"""Tabs and line breaks mean nothing in a URL, wherever they are (the URL standard, 4.4)."""
_HIDDEN: Final = "***"
_AT_SIGN: Final = re.compile("[@\ufe6b\uff20]")
"""The at sign, and those that NFKC makes one of: a URL is rejected because it has them."""
CONTROLS: Final = (
    *range(0x20),  # C0: line breaks, the escape character of terminals
    *range(0x7F, 0xA0),  # DEL and C1, which some terminals obey, too
    0x061C,  # from here on: characters that change the direction of text (UAX #9)
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),  # with the separators of lines and paragraphs
    *range(0x2066, 0x206A),
)
"""Characters that break a line, control a terminal or reorder a line."""
_ESCAPED: Final = {
    code: "".join(f"%{byte:02X}" for byte in chr(code).encode()) for code in CONTROLS
}
_MARKUP: Final = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*[]{}|~!$"}
    | {mark: f"\\{mark}<!-- -->" for mark in "@#"}
    | {"<": "&lt;"}
)
"""Characters that mean something in Markdown. GitHub looks for mentions and references to issues in
the text that Markdown became, where a backslash is gone: an empty comment separates the sign from
the name (github/cmark-gfm#181)."""
_EDGE_UNDERSCORE: Final = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""Within a word, an underscore means nothing (CommonMark 6.2), and with a backslash before it the
link that is made of a URL would lead elsewhere."""

_LINK: Final = re.compile(
    r"(https?://[^\s<>|`$\\]*[^\s<>|`$\\?!.,:;*_~'\")\]])",
    re.IGNORECASE,
)
"""A URL in a text, without the punctuation after it, that an autolink may have (CommonMark 6.5) and
no table or formula of GitHub reads otherwise."""


def without_credentials(url: str) -> str:
    """Return a URL without its user and password.

    Nothing after its host is changed: a URL in its path or query is a part of it.
    """
    if not _may_have_userinfo(url):
        return url
    hidden = _without_userinfo(url)
    if hidden != url:
        return hidden
    read = url.translate(_REMOVED_BY_BROWSERS)
    hidden = _without_userinfo(read)
    return url if hidden == read else hidden


def _without_userinfo(url: str) -> str:
    for start in _USERINFO_OF_URL:
        url = start.sub(_start, url)
    return url


def _start(match: re.Match[str]) -> str:
    """Return what is before a user and password."""
    return next(filter(None, match.groups()), "")


def _may_have_userinfo(text: str) -> bool:
    """Tell quickly whether a text may have an ``@``, however it is written."""
    if "@" in text:
        return True
    if text.isascii() and "%" not in text:
        return False
    folded = text.translate(_REMOVED_BY_BROWSERS).upper()
    return any(sign in folded for sign in _ENCODED_SIGNS)


def redact(text: str) -> str:
    """Return a text in which no URL has a user or password, nor a host without a scheme.

    For texts that may contain URLs. What is a URL as a whole needs ``without_credentials``, since
    a URL may contain what looks like another one.
    """
    if not _may_have_userinfo(text):
        return text
    for userinfo in (_USERINFO_IN_TEXT, _ENCODED_USERINFO_IN_TEXT):
        text = userinfo.sub(_start, text)
    return _BARE_USERINFO_IN_TEXT.sub(rf"\1{_HIDDEN}@", text)


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
    *hidden, host = _AT_SIGN.split(rest)
    return f"{scheme}{slashes}{_HIDDEN}@{host}" if hidden else text


def without_typed_credentials(text: str, arguments: Iterable[str]) -> str:
    """Return a text without the users and passwords of the command line that it may quote.

    ``http/user:password@host`` is the name of a file, and a password may have blanks or quotes, so
    that no other text is changed because of them. One who typed them is shown neither again, also
    where the argument became a path (``http://`` is ``http:/`` then) or was quoted.
    """
    for argument in arguments:
        if typed := _TYPED_USERINFO.match(argument):
            for quoted in {typed[1], one_line(typed[1]), repr(typed[1])[1:-1]}:
                text = text.replace(quoted, f"{_HIDDEN}@")
    return text


def one_line(text: str) -> str:
    """Return a text on one line: what could control a terminal is percent-encoded."""
    return text if text.isprintable() else text.translate(_ESCAPED)


def shown(text: str) -> str:
    """Return a text as it may be printed or logged: without credentials, on one line."""
    return one_line(redact(text))


def shown_url(url: str) -> str:
    """Return a URL as it may be printed: without credentials, on one line, else unchanged."""
    return one_line(without_credentials(url))


def in_markdown(text: str) -> str:
    """Return a text as text of Markdown, on one line: no markup, no mention, no cell of a table.

    A URL that escapes would cut is in angle brackets: it stays one link, in which GitHub looks for
    neither mentions nor references.
    """
    parts = _LINK.split(one_line(text))  # every other one is a URL
    escaped = [_EDGE_UNDERSCORE.sub(r"\\_", part.translate(_MARKUP)) for part in parts]
    for at in range(1, len(parts), 2):
        if escaped[at] != parts[at]:
            escaped[at] = f"<{parts[at]}>"
    return "".join(escaped)
