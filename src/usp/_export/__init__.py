"""Exports: batches of rows written to files, one module a format.

- ``formats``: every format, as data: suffix, writer, what it can do, what it needs;
- ``values``: a value of the schema as text;
- ``delimited``, ``json_lines``, ``arrow``, ``sqlite``: the writers;
- ``compression``: ``.gz`` and ``.zst``;
- ``whole_files``: a file or folder that is there whole or not at all;
- ``target``: where an export goes, and the writers that write it.

Where the rows come from belongs in ``_tables``; what users call is in ``usp.tables``.
"""
