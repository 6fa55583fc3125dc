"""A URL that is in its entry, but not in the element that should contain it."""

import re
from typing import Final

from usp._parse.values.urls import is_http_url
from usp._parse.xml.grammar import Grammar
from usp.objects.page import Record

_CHILD: Final = "sitemap"
_ESCAPED_LOC: Final = re.compile(r"<loc>([^<>]*)</loc>", re.IGNORECASE)
"""A field that was escaped, or put into CDATA, together with its tags."""


def add_bare_url(
    text: str, entry: str, record: list[tuple[str, str]], grammar: Grammar
) -> list[tuple[str, str]]:
    """Add the URL in a text that is in no element to its entry; return the problem, if it has one.

    Such as ``<sitemap>https://…</sitemap>``.
    """
    url, key = _find_bare_url(text, entry, record, grammar), grammar.url_field
    if not url:
        return []
    record.append((key, url))
    return [("SM211", f"the URL of an entry is not in a <{key}>")]


def _find_bare_url(text: str, entry: str, record: Record, grammar: Grammar) -> str:
    """Return the URL in a text that is in no element; empty if there is none.

    It counts only if the entry has no other. In a feed the element for the URL must be there, and
    empty: ``<link/>https://…``.
    """
    urls = {text.strip() for key, text in record if key == grammar.url_field}
    if any(urls) or not (urls or grammar.plain_texts):
        return ""
    escaped = _ESCAPED_LOC.search(text)
    url = escaped[1].strip() if escaped else text
    is_path = entry == _CHILD and url.startswith("/") and " " not in url
    return url if is_path or is_http_url(url) else ""
