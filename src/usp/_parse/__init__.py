"""What bytes mean.

Rules of the room: bytes in, records out. Nothing here fetches, waits, logs, or asks the time.
Nothing raises on what the web sent: what is wrong is reported to a ``Findings`` as a ``Problem``
and reading goes on. The way of a document, each step a file::

    chunks | unpack | decode | sniff | entries (xml, lines) | a format's meaning | pages
"""
