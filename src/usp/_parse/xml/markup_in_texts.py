"""Markup in the texts of an entry, and an HTML page in a URL: where one begins is marked there.

Tags are no part of a text. What a URL with the mark of a page means is decided in
``values.html_page``.
"""

import re
from itertools import takewhile
from typing import Final

from usp._parse.values.html_page import INTERRUPTED_OTHER, PAGE_START, is_block, is_page_element
from usp._parse.xml.grammar import URL_TEXTS, Grammar, Tag

MARKUP_IN_TEXT: Final = ("SM211", "there is markup inside a text")


class _MarkupStart(str):
    """Stands among the parts of a URL, empty, where an element in it begins."""

    __slots__ = ()


class _BlockStart(str):
    """Stands where a block of HTML begins in a URL."""

    __slots__ = ()


_AROUND_URL: Final = _MarkupStart()
_IN_URL: Final = _MarkupStart()
"""Where nothing but blanks stands before the element, and where the URL has begun."""
_MAY_BE_URL: Final = re.compile(r"\s*+(?:https?:|/|\Z)", re.IGNORECASE)


def start_in_text(
    name: str, texts: list[str], field: Tag, grammar: Grammar
) -> list[tuple[str, str]]:
    """Mark the text of a URL where an element in it begins, or a page; return the problems with it.

    That the URL of the entry itself is skipped is reported where its format does so.
    """
    problems = [MARKUP_IN_TEXT] if grammar.plain_texts else []
    if field.key not in URL_TEXTS:
        return problems
    has_begun = _has_begun(texts)
    if is_page_element(name, is_in_url=has_begun):
        texts.append(PAGE_START if is_page_element(name) else _BlockStart(PAGE_START))
        if field.key != grammar.url_field:
            problems.append(INTERRUPTED_OTHER)
    texts.append(_IN_URL if has_begun else _AROUND_URL)
    return problems


def end_in_text(name: str, texts: list[str], field: Tag | None) -> None:
    """Mark the text of a URL where a block ends that has another text: a message before the URL."""
    if field is None or field.key not in URL_TEXTS or not is_block(name):
        return
    inside: list[str] = []
    is_around = False
    for text in reversed(texts):
        if isinstance(text, _MarkupStart):
            is_around = text is _AROUND_URL
            break
        inside.append(text)
    written = "".join(reversed(inside))
    if is_around and not _MAY_BE_URL.match(written):
        texts.append(_BlockStart(PAGE_START))
    # So that what is in it is not read again at the end of what is around it.
    texts.append(_AROUND_URL if is_around and not written.strip() else _IN_URL)


def _has_begun(texts: list[str]) -> bool:
    """Tell whether there is any text before an element; what an earlier mark says is not read."""
    for text in reversed(texts):
        if isinstance(text, _MarkupStart):
            return text is _IN_URL
        if text and not text.isspace():
            return True
    return False


def joined(texts: list[str]) -> str:
    """Return a text; where nothing stands behind a block, the URL has ended before it."""
    last = len(texts) - 1
    while last > 0 and (isinstance(texts[last], _BlockStart) or not texts[last].strip()):
        last -= 1
    rest = [text for text in texts[last + 1 :] if not isinstance(text, _BlockStart)]
    return "".join([*texts[: last + 1], *rest])


def before_markup(texts: list[str]) -> str:
    """Return the text of a URL that is never closed: what is in an element in it is no part."""
    return "".join(takewhile(lambda text: not isinstance(text, _MarkupStart), texts))


def start_in_entry(name: str, texts: list[str]) -> None:
    """Mark a text that is in no field in the same way: it may be the URL of the entry."""
    if texts and is_page_element(name):
        texts.append(PAGE_START)
