"""The audit of sitemaps: rules as a table, what each of them finds, and the stream of findings.

- ``rules``, ``rows_*``, ``table``: every rule as a row: what, whose, what it needs, how to fix it;
- ``registry``: which function or class checks which codes;
- ``*_rules``: those functions and classes, by subject;
- ``facts``, ``site_facts``, ``page_facts``: what rules look at; ``site_robots``, ``folder``,
  ``earlier_run``, ``live``: where that comes from;
- ``findings``, ``collector``, ``suppression``: what was found, counted and with examples; select,
  ignore, baseline;
- ``run``: ``usp.check``; ``choices``, what a caller may say; ``stream`` and ``table_source``, how a
  source is read; ``check_run``, in which order rules see it; ``live_run``, requests of pages.

How findings are printed belongs in ``usp.cli``. What a document contains is told by ``usp._parse``.
"""
