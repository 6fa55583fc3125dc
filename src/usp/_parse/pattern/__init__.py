"""The pattern reader: the fast path for XML entries that look alike.

Sitemaps are generated, so the entries of one file have the same elements in the same order. One
regular expression is compiled from entries that expat has read, and matches the rest:

- ``shape``: the structure of an entry, read off its tags, and merged over several entries;
- ``compile``: the regular expression of a shape;
- ``groups``: what its groups mean;
- ``pattern_reader``: matches entries, and decides when that is worth it;
- ``text_conversion``: bytes, seen as characters, to the text that expat would give;
- ``extract``: the fields of a page, read from the groups of a match.

The authority is the expat reader in ``xml``: nothing here may change a result.
"""
