"""What is different between two inputs.

- ``differences``: the kinds of differences, and one difference as a value;
- ``keys``: when two URLs count as the same;
- ``records``: the rows of both sides as lines to sort;
- ``sides``: reads a side, and knows how much of it was read;
- ``compare``: pure functions from the rows of one URL to differences;
- ``diff``: ``usp.diff``; ``formats``: differences as text, URLs, JSON lines.

What an input is, and how its rows are read, belongs in ``_inputs``. What changed on a site from run
to run is found by ``_sync``, which remembers.
"""
