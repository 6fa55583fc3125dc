"""The audit of sitemaps: rules as a table, what each of them finds, and the stream of findings.

- ``rules``, ``rows_*``, ``table``: every rule as a row: what, whose, what it needs, how to fix it;
- ``registry``: which function or class checks which codes;
- ``*_rules``: those functions and classes, by subject;
- ``findings``, ``collector``: what was found, counted and with examples; select, ignore, baseline;
- ``run``: ``usp.check``, which walks a source and applies the rules.

How findings are printed belongs in ``usp.cli``. What a document contains is told by ``usp._parse``.
"""
