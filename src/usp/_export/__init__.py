"""Exports: batches of rows written to files, one module a format.

- ``formats``: every format, as data: suffix, writer, what it can do, what it needs;
- ``values``: a value of the schema as text;
- ``delimited``, ``json_lines``, ``arrow``, ``sqlite``: the writers;
- ``compression``: ``.gz`` and ``.zst``;
- ``target``: where an export goes, and which tables it has;
- ``output``: its files while they are written.

Where the rows come from belongs in ``_tables``; what users call is in ``usp.tables``.
"""
