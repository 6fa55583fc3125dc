"""Inputs: everything that tables can be read from, not just sites.

- ``kinds``: what a named thing is, by its content: a site, a sitemap, an export, a recording, the
  state of a sync, a list of URLs;
- ``listing``: ``open_listing``, the one function that other packages call;
- ``reader``: what the readers have in common; ``crawled``, ``delimited``, ``json_lines``,
  ``url_list``, ``arrow``, ``database``, ``folder``, ``state``: one reader for each kind;
- ``page_rows``: which rows of pages are left out, since they have no URL;
- ``columns``: which column of a file is which column of the schema;
- ``values``: values of the schema, out of text, JSON and Arrow;
- ``text_file``: text out of files that may be compressed.

How exports are written belongs in ``_export``, how a sync keeps what it knows in ``_sync``.
"""
