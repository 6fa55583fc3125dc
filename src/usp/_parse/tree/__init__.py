"""The tree reader: the fast path for small XML documents.

- ``names``: what the names of elements mean, and which entries are rows;
- ``tree_reader``: the entries of a tree.

The authority is the expat reader: nothing here may change a result.
"""
