"""Parsing: bytes in, records out. This file is the only door: others import from here alone.

Nothing in this package fetches, waits, logs or asks the time. Nothing raises on what the web sent:
a problem is recorded in a ``Diagnostics`` and parsing continues. A document passes through::

    chunks | decompress | decode | sniff | entries (xml, pattern, json, lines) | fields | pages

- ``input``: bytes to UTF-8: decompression with a limit, charsets, format detection;
- ``xml``: the expat reader and recovery of malformed entries;
- ``pattern``: the pattern reader, the fast path for entries that look alike;
- ``formats``: one file a format, which turns raw fields into the values of a page;
- ``values``: dates, URLs, numbers, text, the bounded cache, deduplication.
"""

from usp._parse.document import Child, Document, Pages, Source, inspect, restore_pages
from usp._parse.input.decode import decode_document, http_charset
from usp._parse.input.decompress import MAX_DOCUMENT_BYTES, decompress_all, is_compressed
from usp._parse.input.sniff import Kind
from usp._parse.push_parser import PushParser
from usp._parse.values.dates import parse_date
from usp._parse.values.text import clean_text
from usp._parse.values.urls import is_http_url

__all__ = [
    "MAX_DOCUMENT_BYTES",
    "Child",
    "Document",
    "Kind",
    "Pages",
    "PushParser",
    "Source",
    "clean_text",
    "decode_document",
    "decompress_all",
    "http_charset",
    "inspect",
    "is_compressed",
    "is_http_url",
    "parse_date",
    "restore_pages",
]
