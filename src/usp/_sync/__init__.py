"""What changed on a site since the last run, and nothing falsely removed.

- ``changes``: the kinds of changes, and one change as a value;
- ``formats``: changes as text, URLs, JSON lines, an Atom feed;
- ``listing``: what a sitemap listed, small enough to be kept;
- ``rules``: pure functions from what was known and what was read to changes;
- ``confirming``: when a URL that is absent is gone, by what a run has read;
- ``state``, ``state_path``: the file that keeps what is known, and connections to it;
- ``known_sitemap``: what the row of a sitemap says;
- ``site_run``: one run of one site: what was read, compared with the state, and committed to it;
- ``reader``: takes the sitemaps of a crawl, in threads or asyncio, to a run;
- ``session``: a sync from its beginning to its end: the open state, what was taken;
- ``sync``, ``aio``: the functions that users call.

How a site is crawled belongs in ``_crawl`` and ``_drive``; what a command prints, in ``cli``.
"""
