"""Markup in the texts of an entry, and an HTML page in a URL: where one begins is marked there.

Tags are no part of a text. What a URL with the mark of a page means is decided in
``values.html_page``.
"""

from itertools import takewhile
from typing import Final

from usp._parse.values.html_page import PAGE_START, is_page_element
from usp._parse.xml.grammar import URL_TEXTS, Grammar, Tag

MARKUP_IN_TEXT: Final = ("SM211", "there is markup inside a text")


class _MarkupStart(str):
    """Stands among the parts of a URL, empty, where the first element in it begins."""

    __slots__ = ()


_MARKUP_START: Final = _MarkupStart()
_PAGE_IN_URL: Final = ("SM209", "a URL was skipped: an HTML page interrupts it")


def start_in_text(
    name: str, texts: list[str], field: Tag, grammar: Grammar
) -> list[tuple[str, str]]:
    """Mark the text of a URL where an element in it begins, or a page; return the problems with it.

    That the URL of the entry itself is skipped is reported where its format does so.
    """
    problems = [MARKUP_IN_TEXT] if grammar.plain_texts else []
    if field.key not in URL_TEXTS:
        return problems
    if is_page_element(name, is_in_url=not all(map(_is_blank, texts))):
        texts.append(PAGE_START)
        if field.key != grammar.url_field:
            problems.append(_PAGE_IN_URL)
    texts.append(_MARKUP_START)
    return problems


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def before_markup(texts: list[str]) -> str:
    """Return the text of a URL that is never closed: what is in an element in it is no part."""
    return "".join(takewhile(lambda text: text is not _MARKUP_START, texts))


def start_in_entry(name: str, texts: list[str]) -> None:
    """Mark a text that is in no field in the same way: it may be the URL of the entry."""
    if texts and is_page_element(name):
        texts.append(PAGE_START)
