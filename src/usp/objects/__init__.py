"""What users hold: pages, sitemaps, problems, events, the outcome of a crawl.

Nothing here fetches, parses or logs. A sitemap holds any re-iterable of pages, so no parser is
imported. Class paths are those of 1.8.1, so that old pickles open.
"""
