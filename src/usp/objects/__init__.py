"""Nouns a user holds: pages, sitemaps, problems, the outcome of a crawl.

Rules of the room: nothing here fetches, parses or logs. A sitemap holds any re-iterable of pages,
so that no parser is imported; class paths are those of 1.8.1, so that old pickles open.
"""
