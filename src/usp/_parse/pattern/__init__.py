"""The pattern reader: the fast path for XML entries that look alike.

Sitemaps are generated, so their entries have the same elements in the same order, and so have those
of other sites. What expat finds in an entry with certain tags it finds in all of them:

- ``shape``: the tags of an entry, without texts and values of attributes;
- ``learning``: what the texts of a shape mean, by a sample that expat reads;
- ``known_patterns``: what was learned, for other documents as well;
- ``familiar``: which documents begin like an earlier one, so that they are worth a pattern;
- ``stretch``: many entries, split together and made into rows;
- ``exact``: one regular expression for entries that are written alike to the last blank;
- ``fits``: how the texts of each shape become a row;
- ``layout``: rows of texts, and runs of entries;
- ``unsafe``, ``text_conversion``: what is left to expat, and texts as expat gives them;
- ``pattern_reader``: matches entries, and decides when that is worth it;
- ``forget``: forgets all this.

The authority is the expat reader: nothing here may change a result.
"""
