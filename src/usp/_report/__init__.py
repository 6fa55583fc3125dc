"""The report: what a site lists, on one page.

- ``figures``: the frozen values that a page shows; nothing else reaches it;
- ``counting``, ``dates``, ``folders``, ``sitemaps``, ``findings``, ``changes``: make them of
  batches and findings, exactly, in memory that doesn't grow with the site;
- ``collect``: takes the tables of a source apart for them; ``read``: reads a source;
- ``commands``, ``input_commands``: which command gives the rows of a figure;
- ``markup``, ``charts``, ``parts``, ``sections``, ``row_sections``, ``html``, ``assets``: the page;
- ``markdown``: the summary for CI;
- ``run``: ``usp.report``.

What a column means belongs in ``_tables``, what a rule means in ``_check``.
"""
