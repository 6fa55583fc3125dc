"""Tables: the rows of a crawl (pages, sitemaps, problems, attempts, sites) as batches of columns.

- ``schema``: every table and column, as data; files, databases and the docs are made from it;
- ``batch``: some rows of one table, column by column;
- ``choice``: which tables and columns are wanted, and what of each entry is read for them;
- ``pages``: the rows of pages and of their parts; ``nodes``, ``skipped``, ``rows``: those of
  sitemaps, problems and attempts; ``site``: what they add up to;
- ``crawl``, ``read``, ``aio``: the tables of a crawl while it runs, in threads and in asyncio;
- ``tree``, ``tree_outcome``: those of a tree that is there already, and what came of it.

What a column of a page means is decided in ``_parse``, with the formats. How a table is written
to a file or a database belongs in ``_export``.
"""
