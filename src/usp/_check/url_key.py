"""The key of a URL: equal for the spellings that usually lead to the same page."""

import re
from typing import Final

_PLAIN: Final = re.compile(r"https?://(?:www\.)?([a-z0-9.-]++(?:/[a-z0-9._~/-]*+)?)").fullmatch
"""A URL of which only the end may need a look."""
_URL: Final = re.compile(
    r"""https?:// (?:[^/?#@]*+@)? (?:www\.)? (?P<host>[^/?#:]*+) (?P<port>:\d*+)?
    (?P<path>[^?#]*+) (?:\?(?P<query>[^#]*+))? (?P<fragment>\#.*+)?""",
    re.VERBOSE | re.DOTALL,
).fullmatch
_INDEX_PAGE: Final = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)\Z")
_DEFAULT_PORTS: Final = frozenset({"", ":", ":80", ":443"})
_ESCAPES: Final = re.compile(r"(?:%[0-9a-f]{2})++")
_KEPT: Final = frozenset(b"!#$%&'()*+,/:;=?@[]")
"""Characters that mean something else if they are not escaped (RFC 3986 2.2)."""


def url_key(url: str) -> str:
    """Return a URL without what is spelled in several ways for the same page.

    That is: scheme, user, ``www.``, default port, case, needless escapes, a final slash, a default
    file name such as ``index.html``, and the order of parameters. A text that is no HTTP(S) URL is
    its own key.
    """
    lowered = url.lower()
    plain = _PLAIN(lowered)
    if plain:
        key = plain[1].removesuffix("/")
        return _INDEX_PAGE.sub("", key) if "/index." in key or "/default." in key else key
    match = _URL(lowered)
    if match is None:
        return url
    host, port, path, query, fragment = match.groups(default="")
    port = "" if port in _DEFAULT_PORTS else port
    path = _INDEX_PAGE.sub("", _decoded(path).removesuffix("/"))
    if query:
        query = "?" + "&".join(sorted(_decoded(query).split("&")))
    return f"{host}{port}{path}{query}{fragment}"


def _decoded(text: str) -> str:
    """Return a text without needless escapes."""
    if "%" not in text:
        return text
    return _ESCAPES.sub(_decode, text).lower()


def _decode(match: re.Match[str]) -> str:
    data = bytes.fromhex(match[0].replace("%", ""))
    kept = (f"%{byte:02x}".encode() if byte in _KEPT else bytes((byte,)) for byte in data)
    return b"".join(kept).decode("utf-8", "surrogateescape")
