"""Tables: the rows of a crawl (pages, sitemaps, problems, attempts, sites) as batches of columns.

- ``schema``: every table and column, as data; files, databases and the docs are made from it;
- ``batch``: some rows of one table, column by column.

How a table is written to a file or a database belongs in ``usp.export``.
"""
