"""Removing what surrounds a URL: quotes, brackets, CDATA markers, output of a script.

It is removed only where an http(s) URL, or a quoted path, remains; any other text stays as written.
So a URL that contains spaces keeps them, and words never become a URL.
"""

import re
from typing import Final

from usp._parse.values.html_page import without_empty_block
from usp._parse.values.plain import is_plain_path
from usp._parse.values.script_messages import MESSAGE_START, remove_messages

_QUOTES: Final = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"
_PAIRS: Final = {
    **dict.fromkeys(_QUOTES, _QUOTES),  # languages differ in which of them open and which close
    "<": ">",
    "(": ")",
    "[": "]",
}
_MAX_LENGTH: Final = 8192
"""Longer texts are left alone: browsers and servers accept no longer URLs."""
_ONLY_A_URL: Final = re.compile(r"https?://[^\s<]++", re.IGNORECASE)
_HTTP: Final = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_CDATA: Final = re.compile(r"<?!?\s*+\[CDATA\[(.*?)\]?\s?\]?\s?>?", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"</?[A-Za-z][\w:]*+(?:\s[^<>]*+)?/?>")
_END_TAGS: Final = re.compile(
    r"(?:\s{0,9}(?:</[A-Za-z][\w:]{0,20}>|<br\s?/?>)){1,9}\Z", re.IGNORECASE
)
_OPENING_JUNK: Final = re.compile(rf"[\s<>(\[=:,;|{_QUOTES}]++(?=https?://)", re.IGNORECASE)


def strip_quotes(text: str) -> str:
    """Remove quotes and brackets around a whole URL or path."""
    if text[-1:] not in _PAIRS.get(text[:1], ()):
        return text
    inside = text[1:-1].strip()
    return inside if _HTTP.match(inside) or inside.startswith("/") else text


def strip_url_junk(text: str) -> str:
    """Return the one URL in a text that contains something else around it, or the text."""
    if _ONLY_A_URL.fullmatch(text) or is_plain_path(text) or len(text) > _MAX_LENGTH:
        return text
    url = text if (removed := remove_messages(text)) == text else removed.strip()
    url = _END_TAGS.sub("", without_empty_block(url)) if url.endswith(">") else url
    if not _HTTP.match(url):
        url = _strip_leading_junk(url.strip())
    return url if _HTTP.match(url) or url.startswith("/") else text


def _strip_leading_junk(text: str) -> str:
    cdata = _CDATA.fullmatch(text)
    text = strip_quotes(_TAG.sub(" ", cdata[1] if cdata else text).strip())
    junk = _OPENING_JUNK.match(text)
    if junk:
        return _strip_closers(text[junk.end() :], junk[0])
    words = text.split()
    urls = [word for word in words if "://" in word]
    if len(words) > 1 and len(urls) == 1 and _HTTP.match(words[-1]):
        return words[-1]
    if MESSAGE_START.match(text):
        at = max(text.rfind("http://"), text.rfind("https://"))
        return text[at:] if at >= 0 and " " not in text[at:] else text
    return text


def _strip_closers(url: str, openers: str) -> str:
    """Remove the closing quotes and brackets that belong to the opening ones."""
    for opener in reversed(openers):
        if url[-1:] and url[-1] in _PAIRS.get(opener, ""):
            url = url[:-1].rstrip()
    return url
