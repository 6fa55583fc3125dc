"""What stands before or after a document: junk, or another document, which is lost then."""

from typing import Final

from usp._parse.diagnostics import Diagnostics, Position
from usp._parse.input.sniff import is_sitemap

_LOOKED_AT: Final = 64 * 1024
"""How many bytes show what it is."""


def report_other_document(
    skipped: bytes,
    diagnostics: Diagnostics,
    *,
    at: int | None = None,
    position: Position | None = None,
) -> None:
    """Report that another document was lost, if what is skipped is one, or lines of URLs."""
    if is_sitemap(skipped[:_LOOKED_AT]):
        message = "a second document, or a list of URLs, was skipped"
        diagnostics.report_once("SM223", message, at=at, position=position)
