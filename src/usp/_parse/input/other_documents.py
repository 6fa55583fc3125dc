"""What stands before or after a document: junk, or another document, which is lost then."""

import re
from typing import Final

from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.input.sniff import is_sitemap

_LOOKED_AT: Final = 64 * 1024
"""How many bytes show what it is."""
_SITEMAP_LINE: Final = re.compile(
    rb"^[^\S\n]*+site-?map[^\S\n]*+:[^\S\n]*+\S", re.IGNORECASE | re.MULTILINE
)


def report_other_document(
    skipped: bytes,
    diagnostics: Diagnostics,
    *,
    at: int | None = None,
    position: Position | None = None,
) -> None:
    """Report that another document was lost, if what is skipped is one, or lines that name URLs."""
    part = skipped[:_LOOKED_AT]
    # A line of robots.txt in a page or in a comment is none.
    if is_sitemap(part) or (b"<" not in part and _SITEMAP_LINE.search(part)):
        message = "a second document, or a list of URLs, was skipped"
        diagnostics.report_once("SM223", message, at=at, position=position)
