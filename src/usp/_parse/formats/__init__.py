"""One file per format: which raw fields an entry of that format has, and the page values they give.

What all formats share is in ``field_reader``. Parsing a single text into a value is for ``values``;
splitting a document into entries is for ``xml`` and ``pattern``, but ``json_items`` and the two
formats made of lines, ``robots`` and ``text``, do that here.
"""
