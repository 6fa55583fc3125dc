"""Tables of a site while it is crawled, as a stream of batches."""

from functools import partial
from typing import Unpack

from usp._crawl.options import RecurseCallback, RecurseListCallback
from usp._crawl.policy import Policy, PolicyFields, explains_policy, policy_with
from usp._crawl.unique_urls import UniqueUrls
from usp._drive.events import emitter
from usp._parse import ROWS_AT_ONCE
from usp._source import SourceName
from usp._tables.batch import Batch
from usp._tables.choice import ColumnNames, TableChoice, TableNames
from usp._tables.crawl import CrawlTables
from usp.objects.events import Observer
from usp.stream import StreamStart, StreamState, SyncStream, read_items
from usp.web_client.abstract_client import AbstractWebClient


class TableStream(SyncStream[Batch]):
    """Batches of tables as they arrive, in document order; it can be closed at any time.

    It has the ``outcome``, ``tried``, ``problems`` and ``skipped`` of the crawl, as a stream of
    pages has.
    """


@explains_policy
def read_tables(
    source: SourceName,
    tables: TableNames = ("pages",),
    *,
    columns: ColumnNames | None = None,
    unique: UniqueUrls | None = None,
    batch_rows: int = ROWS_AT_ONCE,
    web_client: AbstractWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **policy_fields: Unpack[PolicyFields],
) -> TableStream:
    """Stream tables of a site: the rows of a sitemap as soon as it is fetched.

    The pages are those of ``usp.iter_pages``, in the same order, and memory use doesn't grow with
    the site.

    :param source: a homepage, a bare domain (which means https), the URL of one sitemap, a file
        (gzipped or not), or ``-`` for standard input.
    :param tables: the names of the tables; only what they need is computed.
    :param columns: the names of the columns, in the wanted order; for several tables, a dict from
        the name of each table to its columns. By default all.
    :param unique: take only pages whose URL isn't in it yet; several sources may share it.
    :param batch_rows: how many rows a batch has at most.
    :param web_client: the client to fetch with; by default a ``RequestsWebClient``.
    :param use_robots: whether to read robots.txt.
    :param use_known_paths: whether to try paths at which sitemaps are common; by default, only
        where what robots.txt declares leads to nothing.
    :param recurse_callback: as in ``usp.iter_pages``.
    :param recurse_list_callback: as in ``usp.iter_pages``.
    :param observer: called with each event of the crawl; see ``usp.objects.events``.
    :param policy: limits and options of the crawl.
    :param policy_fields: single fields of the policy, such as ``per_host=4`` or ``since="48h"``.
    :return: an iterator of batches, with ``outcome``, ``tried``, ``problems``, ``skipped`` and
        ``close()``.
    :raises UsageError: if there is no such table or column, or another argument is wrong.
    """
    policy = policy_with(policy, policy_fields)
    made = CrawlTables(source, TableChoice.of(tables, columns), batch_rows, unique)
    options = made.options(recurse_callback, recurse_list_callback, observer)
    start = StreamStart.of(
        source,
        policy,
        options,
        web_client,
        use_robots=use_robots,
        use_known_paths=use_known_paths,
    )
    state = StreamState(start.crawl, emitter(options.observer), made.filter)
    return TableStream._start(start, state, partial(read_items, made))
