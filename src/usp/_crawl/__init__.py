"""The crawl core: decides what to fetch next and what the tree is.

Sans-I/O: nothing here waits, opens, logs or asks the time; ``now`` is an argument. Results may
arrive in any order, and the tree has document order all the same. Retry delays are decided here;
sleeping happens in ``_drive``. What bytes mean is for ``_parse`` to say.

- ``core``, ``messages``: the ``Crawl`` that drivers work with, its requests and their results;
- ``policy``, ``options``: what the caller sets; ``urls``: checks of start URLs;
- ``cursor``: walks the tree in document order and decides each node; ``children``: which children
  of a document it takes;
- ``nodes``, ``resource``, ``resource_table``: positions in the tree, and the URLs behind them, each
  fetched once; ``repeated_indexes``: a bound for indexes that list one another;
- ``work``: the core works in small steps, so that drivers can do other things in between;
  ``deadline``: when the time of a crawl is up; ``traffic``: what it requested and received;
- ``delivery``: documents that the caller's own driver fetched; ``unchanged``: documents that a
  server answers with 304;
- ``discovery``: robots.txt, known paths, the homepage: stages and their order; ``scheme_choice``:
  http for a site that was named without a scheme and has no https;
- ``host_queue``, ``backoff``: concurrency per host, retry delays, hosts that fail;
- ``robots``: what robots.txt says for an agent, and requests that wait for it;
- ``selection``, ``time_bounds``: which pages and sitemaps the caller wants; ``selected_pages``,
  ``row_selection``: the same applied to a document and to columns; ``unique_urls``: each URL once;
- ``report``: what was tried, and what was lost; ``assembly``: the tree of ``usp.objects`` that a
  finished crawl becomes.
"""

from usp import _installation as _installation  # warns where usp/__init__.py is 1.8.1's
from usp._crawl.core import Crawl, restore_crawl
from usp._crawl.robots import restore_robots_file
from usp._crawl.selected_pages import restore_selected_pages

__all__ = ["Crawl", "restore_crawl", "restore_robots_file", "restore_selected_pages"]
