"""From the bytes of a body to UTF-8 text of a known format.

Chunks, decompression with a limit, charsets, format detection, lines, documents that were escaped
as a whole. What an element or a field means is for ``xml`` and ``formats``.
"""
