"""Reading XML into raw entries: the expat reader, recovery after faults, names and grammar.

Which elements exist is in ``grammar``; what their texts mean as values of a page is for
``formats``. The fast path for entries that look alike is in ``pattern``.
"""
