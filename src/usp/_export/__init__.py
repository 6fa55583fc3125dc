"""Exports: batches of rows written to files, one module a format.

- ``formats``: every format, as data: suffix, writer, what it can do, what it needs;
- ``values``, ``lines``: a value of the schema as text, and lines of them;
- ``delimited``, ``json_lines``, ``arrow``, ``sqlite``: the writers;
- ``compression``: ``.gz`` and ``.zst``;
- ``target``, ``options``: where an export goes, which tables it has, and how they are written;
- ``plan``: an export that was checked; ``output``: its files while they are written.

Where the rows come from belongs in ``_tables``; what users call is in ``usp.tables``.
"""
