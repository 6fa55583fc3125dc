"""Counts the entries of a document, without making pages of them."""

from collections.abc import Iterable

from usp._parse.diagnostics import Diagnostics, Ended
from usp._parse.document import Pages
from usp._parse.formats.robots import sitemaps_in_robots
from usp._parse.formats.text import urls_in_text
from usp._parse.input.sniff import Kind
from usp._parse.opening import open_document
from usp._parse.pattern.layout import EntryRun


def count_entries(pages: Pages, ended: Ended | None = None) -> tuple[int, int]:
    """Return the number of entries, right or wrong, and the decompressed size in bytes.

    What is missing in a damaged document becomes known, as by a walk through its pages.

    :raises TimeoutError: if ``ended`` says so, which is asked after each part of the document.
    """
    diagnostics = Diagnostics(collecting=False, locating=False, ended=ended)
    opened = open_document(pages.source, diagnostics, pages.kind)
    pieces: Iterable[object]
    if opened.sniffed.kind is Kind.TEXT:
        pieces = urls_in_text(opened.data, diagnostics)
    elif opened.sniffed.kind is Kind.ROBOTS:
        pieces = sitemaps_in_robots(opened.data, pages.source.url, diagnostics)
    else:
        pieces, _ = pages._entries(opened, diagnostics, extensions=False)
    count = sum(len(each) if isinstance(each, EntryRun) else 1 for each in pieces)
    if not diagnostics.complete:
        pages.learn_losses(ended)
    return count, diagnostics.document_bytes
