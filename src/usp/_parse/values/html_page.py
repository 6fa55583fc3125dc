"""An HTML page inside of a URL: a server failed while it wrote the URL, and sent its error page.

What stands before the page is the beginning of a URL, and what stands after it need not be the
rest: there is no URL. So it is with a message of a script whose end is missing. Other markup in a
URL, such as a line break, is removed (``strip_url_junk``) or kept as written.
"""

import re
from typing import Final

from usp._parse.values.script_messages import is_incomplete_message
from usp._parse.values.text import clean_text

INTERRUPTED: Final = (
    "SM209",
    "the URL of an entry was skipped: an HTML page or a message interrupts it",
)
PAGE_START: Final = "<html>"
"""What a URL has where a page begins in it, if the tags of the page are no part of the text."""
_ELEMENTS: Final = frozenset(
    {"html", "head", "body", "title", "script", "style", "h1", "h2", "h3", "h4", "h5", "h6"}
)
"""Elements of a page whose texts are no part of a URL; ``<b>`` or ``<a>`` may be around one."""
_BLOCKS: Final = frozenset(
    {
        *("article", "blockquote", "center", "code", "dd", "div", "dl", "dt", "error", "fieldset"),
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
"""Elements of messages, and of the errors of storage services. Around a URL they may be a
template's, but nobody writes one in the middle of it."""
_PAGE: Final = re.compile(r"<(?:!doctype\s|(?:html|head)[\s>])", re.IGNORECASE)
"""How a page begins. A URL of a search may contain a ``<script>``, but no page."""


def is_page_element(name: str, *, is_in_url: bool = False) -> bool:
    """Tell whether an element belongs to a page, or to a message, by its name as written.

    :param is_in_url: whether it is not around a URL, but stands after the beginning of one.
    """
    local = name.rpartition(":")[2].lower()
    return local in _ELEMENTS or (is_in_url and local in _BLOCKS)


def has_page(cleaned: str) -> bool:
    """Tell whether a page, or a message without an end, begins in a text that was cleaned."""
    return "<" in cleaned and (_PAGE.search(cleaned) is not None or is_incomplete_message(cleaned))


def is_interrupted(text: str) -> bool:
    """Tell whether a page begins in a URL as it is written."""
    return ("<" in text or ("&" in text and ";" in text)) and has_page(clean_text(text))
