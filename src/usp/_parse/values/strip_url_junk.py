"""What stands around a URL and is no part of it: quotes, brackets, CDATA marks, a script's message.

It is taken off only where an http(s) URL, or a quoted path, is left; all else stays as written. So
a URL with blanks in it keeps them, and words are never turned into a URL.
"""

import re
from typing import Final

_QUOTES: Final = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a"
_PAIRS: Final = {
    **dict.fromkeys(_QUOTES, _QUOTES),  # languages disagree which of them open and which close
    "<": ">",
    "(": ")",
    "[": "]",
}
_LONGEST: Final = 8192
"""Longer texts than this are left alone: browsers and servers take no longer URLs."""
_WHOLE: Final = re.compile(r"https?://[^\s<]+", re.IGNORECASE)
_HTTP: Final = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_KINDS: Final = (
    r"(?:PHP\s+)?(?:Warning|Notice|Deprecated|Strict Standards|(?:[A-Z][a-z]+ )?[Ee]rror)\s*:"
)
_MESSAGE: Final = re.compile(rf"{_KINDS}.{{0,1000}}?\son line [0-9]+\s*", re.DOTALL)
"""What PHP prints. Its length is bounded, so that looking for its end stays cheap."""
_BEGINS_AS_MESSAGE: Final = re.compile(_KINDS)
_CDATA: Final = re.compile(r"<?!?\s*\[CDATA\[(.*?)\]?\s?\]?\s?>?", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"</?[A-Za-z][\w:]*(?:\s[^<>]*)?/?>")
_END_TAGS: Final = re.compile(
    r"(?:\s{0,9}(?:</[A-Za-z][\w:]{0,20}>|<br\s?/?>)){1,9}\Z", re.IGNORECASE
)
_LEAD: Final = re.compile(rf"[\s<>(\[=:,;|{_QUOTES}]+(?=https?://)", re.IGNORECASE)


def strip_quotes(text: str) -> str:
    """Take off quotes and brackets that stand around the whole of a URL or path."""
    if text[-1:] not in _PAIRS.get(text[:1], ()):
        return text
    found = text[1:-1].strip()
    return found if _HTTP.match(found) or found.startswith("/") else text


def strip_url_junk(text: str) -> str:
    """Return the one URL in a text that holds something else around it, or the text."""
    if _WHOLE.fullmatch(text) or len(text) > _LONGEST:
        return text
    found = _MESSAGE.sub("", text).strip() if " on line " in text else text
    found = _END_TAGS.sub("", found) if found.endswith(">") else found
    if not _HTTP.match(found):
        found = _behind_junk(found.strip())
    return found if _HTTP.match(found) or found.startswith("/") else text


def _behind_junk(text: str) -> str:
    marked = _CDATA.fullmatch(text)
    text = strip_quotes(_TAG.sub(" ", marked[1] if marked else text).strip())
    lead = _LEAD.match(text)
    if lead:
        return _without_closers(text[lead.end() :], lead[0])
    words = text.split()
    urls = [word for word in words if "://" in word]
    if len(words) > 1 and len(urls) == 1 and _HTTP.match(words[-1]):
        return words[-1]
    if _BEGINS_AS_MESSAGE.match(text):
        at = max(text.rfind("http://"), text.rfind("https://"))
        return text[at:] if at >= 0 and " " not in text[at:] else text
    return text


def _without_closers(url: str, openers: str) -> str:
    for opener in reversed(openers):
        if url[-1:] and url[-1] in _PAIRS.get(opener, ""):
            url = url[:-1].rstrip()
    return url
