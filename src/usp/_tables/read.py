"""Tables of a site while it is crawled, as a stream of batches."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Unpack

from usp._crawl.options import RecurseCallback, RecurseListCallback
from usp._crawl.policy import Policy
from usp._crawl.unique_urls import UniqueUrls
from usp._drive.events import emitter
from usp._drive.run import CrawlClient
from usp._keywords import CrawlFields, crawl_keywords, explains_crawl
from usp._parse import ROWS_AT_ONCE
from usp._source import SourceName
from usp._tables.batch import Batch
from usp._tables.choice import ColumnNames, TableChoice, TableNames
from usp._tables.crawl import CrawlTables
from usp.objects.events import Observer
from usp.stream import StreamStart, StreamState, SyncStream, read_items
from usp.web_client.abstract_client import AbstractWebClient


class ReadFields(CrawlFields, total=False):
    """How a source is read: the keywords of ``usp.iter_pages``."""

    web_client: AbstractWebClient | None
    use_robots: bool
    use_known_paths: bool | None
    recurse_callback: RecurseCallback | None
    recurse_list_callback: RecurseListCallback | None
    observer: Observer | None
    policy: Policy | None


_OWN: Final = ReadFields.__optional_keys__ - CrawlFields.__optional_keys__
"""The keywords that are neither fields of the policy nor settings of the client."""


def settled(
    reading: Mapping[str, Any], source: object = None
) -> tuple[dict[str, Any], CrawlClient]:
    """Return how sources are read that share a policy and a client; and this client, to close it.

    :param reading: keywords of ``read_tables``, ``ReadFields``.
    :param source: what is read, if it is one source.
    :raises TypeError: if there is no such keyword.
    :raises UsageError: if a value is wrong.
    """
    own = {name: reading[name] for name in _OWN if name in reading}
    given = {name: value for name, value in reading.items() if name not in _OWN}
    policy, client = crawl_keywords(
        own.pop("policy", None), own.pop("web_client", None), given, source
    )
    return {**own, "policy": policy, "web_client": client}, client


class TableStream(SyncStream[Batch]):
    """Batches of tables as they arrive, in document order; it can be closed at any time.

    It has the ``outcome``, ``tried``, ``problems`` and ``skipped`` of the crawl, as a stream of
    pages has.
    """


@explains_crawl
def read_tables(
    source: SourceName,
    tables: TableNames = ("pages",),
    *,
    columns: ColumnNames | None = None,
    unique: UniqueUrls | None = None,
    batch_rows: int = ROWS_AT_ONCE,
    web_client: AbstractWebClient | CrawlClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **crawl_fields: Unpack[CrawlFields],
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
    :param crawl_fields: single fields of the policy and settings of the client, such as
        ``since="48h"`` or ``timeout=5``.
    :return: an iterator of batches, with ``outcome``, ``tried``, ``problems``, ``skipped`` and
        ``close()``.
    :raises UsageError: if there is no such table or column, or another argument is wrong.
    """
    policy, client = crawl_keywords(policy, web_client, crawl_fields, source)
    choice = TableChoice.of(tables, columns)
    policy, made = choice.policy(policy), CrawlTables(source, choice, batch_rows, unique)
    options = made.options(recurse_callback, recurse_list_callback, observer)
    start = StreamStart.of(
        source,
        policy,
        options,
        client,
        use_robots=use_robots,
        use_known_paths=use_known_paths,
    )
    state = StreamState(start.crawl, emitter(options.observer), made.filter)
    return TableStream._start(start, state, partial(read_items, made))
