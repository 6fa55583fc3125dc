"""What only checks need of parsing: documents read for their faults, and the markup of web pages.

Beside the package itself the only module that others import: all other commands start without it.
"""

from usp._parse.audit import Audit, AuditEntry, EntryShape, document_text, once_a_shape
from usp._parse.formats.page_markup import PageMarkup, links_of_header, read_page_markup
from usp._parse.xml.audit_builder import UNEXPECTED

__all__ = [
    "UNEXPECTED",
    "Audit",
    "AuditEntry",
    "EntryShape",
    "PageMarkup",
    "document_text",
    "links_of_header",
    "once_a_shape",
    "read_page_markup",
]
