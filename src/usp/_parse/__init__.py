"""Parsing: bytes in, records out. Other packages import this file, checks ``checking`` as well, and
nothing else of it.

Nothing in this package fetches, waits, logs or reads the clock. Nothing raises because of a
document: a problem is recorded in a ``Diagnostics`` and parsing continues. The steps are::

    chunks | decompress | decode | sniff | entries (xml, pattern, json, lines) | fields | pages

- ``input``: bytes to UTF-8: decompression with a limit, charsets, format detection;
- ``xml``: the expat reader and the recovery of malformed entries;
- ``pattern``: the pattern reader, the fast path for entries that look alike;
- ``formats``: one file per format, which converts raw fields to the values of a page;
- ``values``: dates, URLs, numbers, enumerations, text; the bounded cache, deduplication.
"""

from usp._parse.children import EVERY_CHILD, Child, ChildSelection
from usp._parse.columns import ROWS_AT_ONCE, PageColumns, columns_of_pages
from usp._parse.diagnostics import Ended
from usp._parse.document import Document, Pages, inspect, known_document, restore_pages
from usp._parse.entry_count import count_entries
from usp._parse.formats.robots_rules import (
    EVERYTHING_ALLOWED,
    EVERYTHING_DISALLOWED,
    RobotsRules,
    compared_path,
    read_robots_rules,
)
from usp._parse.formats.table_header import DELIMITERS, URL_COLUMNS, plain_name
from usp._parse.input.decode import decode_document, http_charset
from usp._parse.input.decompress import MAX_DOCUMENT_BYTES, decompress_all, is_compressed
from usp._parse.input.sniff import Kind
from usp._parse.push_parser import PushParser
from usp._parse.source import Source
from usp._parse.values.bounded_cache import BoundedLookup, bounded_cache, keep
from usp._parse.values.dates import parse_date
from usp._parse.values.text import clean_text
from usp._parse.values.timestamps import timestamp
from usp._parse.values.urls import is_http_url

__all__ = [
    "DELIMITERS",
    "EVERYTHING_ALLOWED",
    "EVERYTHING_DISALLOWED",
    "EVERY_CHILD",
    "MAX_DOCUMENT_BYTES",
    "ROWS_AT_ONCE",
    "URL_COLUMNS",
    "BoundedLookup",
    "Child",
    "ChildSelection",
    "Document",
    "Ended",
    "Kind",
    "PageColumns",
    "Pages",
    "PushParser",
    "RobotsRules",
    "Source",
    "bounded_cache",
    "clean_text",
    "columns_of_pages",
    "compared_path",
    "count_entries",
    "decode_document",
    "decompress_all",
    "http_charset",
    "inspect",
    "is_compressed",
    "is_http_url",
    "keep",
    "known_document",
    "parse_date",
    "plain_name",
    "read_robots_rules",
    "restore_pages",
    "timestamp",
]
