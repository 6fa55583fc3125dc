"""An HTML page inside of a URL: a server failed while it wrote the URL, and sent its error page.

What stands before the page is the beginning of a URL, and what stands after it need not be the
rest: there is no URL. So it is with the error of a storage service, and with a message of a script
whose end is missing; and it is the same whether the tags are markup or a part of the text, where an
element needs its end tag. Other markup in a URL, such as a line break, is removed
(``strip_url_junk``) or kept as written.
"""

import re
from collections.abc import Mapping
from typing import Final

from usp._parse.values.script_messages import is_incomplete_message
from usp._parse.values.text import clean_text

INTERRUPTED: Final = (
    "SM209",
    "the URL of an entry was skipped: an HTML page or a message interrupts it",
)
INTERRUPTED_OTHER: Final = ("SM209", "a URL was skipped: an HTML page or a message interrupts it")
"""The same for another URL than that of the entry, such as that of an image."""
PAGE_START: Final = "<html>"
"""What a URL has where a page begins in it, if the tags of the page are no part of the text."""
_TEXT_ELEMENTS: Final = (*("head", "title", "body", "error"), *("h1", "h2", "h3", "h4", "h5", "h6"))
_ELEMENTS: Final = frozenset({"html", "script", "style", *_TEXT_ELEMENTS})
"""Elements of a page, or of a storage service's error, whose texts are no part of a URL; ``<b>`` or
``<a>`` may be around one."""
_BLOCKS: Final = frozenset(
    {
        *("article", "blockquote", "center", "code", "dd", "div", "dl", "dt", "fieldset"),
        *("font", "footer", "form", "header", "li", "main", "ol", "p", "pre", "section"),
        *("table", "tbody", "td", "th", "thead", "tr", "ul"),
    }
)
"""Elements of messages. Around a URL they may be a template's, but nobody writes one in the middle
of it."""
_DOCUMENT: Final = re.compile(r"<(?:!doctype|\?xml|html)[\s>]", re.IGNORECASE)
"""How a page begins, or another document."""
_TAG: Final = re.compile(
    rf"<(/?)({'|'.join([*_TEXT_ELEMENTS, *sorted(_BLOCKS)])})[\s>]", re.IGNORECASE
)
"""A tag as text. A URL of a search may contain a ``<script>``, which is not looked for."""
_LOOKED_AT: Final = 64 * 1024
"""How many characters of a URL are looked at: a page begins behind the beginning of one."""
_DOCUMENT_PARTS: Final = frozenset({"head", "error"})
_PART_LINE: Final = re.compile(rf"<(?:{'|'.join(sorted(_DOCUMENT_PARTS))})[\s>]", re.IGNORECASE)
_ONLY_TAGS: Final = re.compile(r"(?:\s*+<[^<>]*+>)*+\s*+")


def is_page_element(name: str, *, is_in_url: bool = False) -> bool:
    """Tell whether an element belongs to a page, or to a message, by its name as written.

    :param is_in_url: whether it is not around a URL, but stands after the beginning of one.
    """
    return name.rpartition(":")[2].lower() in _ELEMENTS or (is_in_url and is_block(name))


def is_block(name: str) -> bool:
    """Tell whether an element is a block of HTML, by its name as written."""
    return name.rpartition(":")[2].lower() in _BLOCKS


def begins_html_page(line: str) -> bool:
    """Tell whether a page, or a message without an end, begins in a line, which need be no URL."""
    return "<" in line and (
        _begins_document(line)
        or _PART_LINE.match(line) is not None
        or not _DOCUMENT_PARTS.isdisjoint(_closed_elements(line))
    )


def has_html_page(cleaned: str) -> bool:
    """Tell whether a page, or a message without an end, begins in a URL that was cleaned.

    Where the tags are a part of the text, an element has its end tag: a URL may contain the name of
    one in brackets, as ``List<Error>``. A ``data:`` URI may be a document.
    """
    if "<" not in cleaned:
        return False
    if cleaned[:5].lower() == "data:":
        return PAGE_START in cleaned
    if _begins_document(cleaned):
        return True
    elements = _closed_elements(cleaned)
    if not _BLOCKS.issuperset(elements):
        return True
    block = _block_in(cleaned, elements)
    return block > 0 and not _ONLY_TAGS.fullmatch(cleaned, block)


def without_empty_block(cleaned: str) -> str:
    """Return a URL without a block of HTML behind it that has no text."""
    block = _block_in(cleaned, _closed_elements(cleaned))
    is_empty = block > 0 and _ONLY_TAGS.fullmatch(cleaned, block)
    return cleaned[:block].rstrip() if is_empty else cleaned


def _begins_document(text: str) -> bool:
    looked_at = text[:_LOOKED_AT]
    return _DOCUMENT.search(looked_at) is not None or is_incomplete_message(looked_at)


def _closed_elements(text: str) -> dict[str, int]:
    """Return where the elements of a page begin that have an end tag, by their names."""
    opened: dict[str, int] = {}
    closed: dict[str, int] = {}
    for tag in _TAG.finditer(text, 0, _LOOKED_AT):
        name = tag[2].lower()
        if not tag[1]:
            opened.setdefault(name, tag.start())
        elif name in opened:
            closed[name] = opened[name]
    return closed


def _block_in(cleaned: str, elements: Mapping[str, int]) -> int:
    """Return where the first block begins after the beginning of a URL; 0 if there is none."""
    return 0 if cleaned.startswith("<") else min(elements.values(), default=0)


def has_written_html_page(text: str) -> bool:
    """Tell the same of a URL as it is written: its tags may be escaped."""
    return ("<" in text or ("&" in text and ";" in text)) and has_html_page(clean_text(text))
