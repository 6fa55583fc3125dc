"""An HTML page inside of a URL: a server failed while it wrote the URL, and sent its error page.

What stands before the page is the beginning of a URL, and what stands after it need not be the
rest: there is no URL. So it is with the error of a storage service, and with a message of a script
whose end is missing; and it is the same whether the tags are markup or a part of the text. Other
markup in a URL, such as a line break, is removed (``strip_url_junk``) or kept as written.
"""

import re
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
_HEADINGS: Final = ("body", "h1", "h2", "h3", "h4", "h5", "h6")
_ELEMENTS: Final = frozenset({"html", "head", "title", "script", "style", "error", *_HEADINGS})
"""Elements of a page, or of a storage service's error, whose texts are no part of a URL; ``<b>`` or
``<a>`` may be around one."""
_BLOCKS: Final = frozenset(
    {
        *("article", "blockquote", "center", "code", "dd", "div", "dl", "dt", "fieldset"),
        *(
            "font",
            "footer",
            "form",
            "header",
            "li",
            "main",
            "ol",
            "p",
            "pre",
            "section",
            "table",
            "tbody",
        ),
        *("td", "th", "thead", "tr", "ul"),
    }
)
"""Elements of messages. Around a URL they may be a template's, but nobody writes one in the middle
of it."""
_PAGE: Final = re.compile(r"<(?:!doctype\s|\?xml\s|(?:html|head|error)[\s>])", re.IGNORECASE)
"""How a page begins, or another document."""
_HEADING: Final = re.compile(rf"<(?:{'|'.join(_HEADINGS)})[\s>]", re.IGNORECASE)
"""How it goes on. A URL of a search may contain a ``<script>``, and a template a ``<title>``."""
_BLOCK: Final = re.compile(rf"<(?:{'|'.join(sorted(_BLOCKS))})(?:\s[^<>]*+)?+>", re.IGNORECASE)
_ONLY_TAGS: Final = re.compile(r"(?:\s*+<[^<>]*+>)*+\s*+")


def is_page_element(name: str, *, is_in_url: bool = False) -> bool:
    """Tell whether an element belongs to a page, or to a message, by its name as written.

    :param is_in_url: whether it is not around a URL, but stands after the beginning of one.
    """
    return name.rpartition(":")[2].lower() in _ELEMENTS or (is_in_url and is_block(name))


def is_block(name: str) -> bool:
    """Tell whether an element is a block of HTML, by its name as written."""
    return name.rpartition(":")[2].lower() in _BLOCKS


def begins_page(line: str) -> bool:
    """Tell whether a page, or a message without an end, begins in a line, which need be no URL."""
    return "<" in line and (_PAGE.search(line) is not None or is_incomplete_message(line))


def has_page(cleaned: str) -> bool:
    """Tell whether a page, or a message without an end, begins in a URL that was cleaned."""
    if "<" not in cleaned:
        return False
    if begins_page(cleaned) or _HEADING.search(cleaned):
        return True
    block = _block_in(cleaned)
    return block is not None and not _ONLY_TAGS.fullmatch(cleaned, block.start())


def without_empty_block(cleaned: str) -> str:
    """Return a URL without a block of HTML behind it that has no text."""
    block = _block_in(cleaned)
    is_empty = block is not None and _ONLY_TAGS.fullmatch(cleaned, block.start())
    return cleaned[: block.start()].rstrip() if block and is_empty else cleaned


def _block_in(cleaned: str) -> re.Match[str] | None:
    """Return the first block of HTML after the beginning of a URL."""
    return None if cleaned.startswith("<") else _BLOCK.search(cleaned, 1)


def is_interrupted(text: str) -> bool:
    """Tell whether a page begins in a URL as it is written."""
    return ("<" in text or ("&" in text and ";" in text)) and has_page(clean_text(text))
