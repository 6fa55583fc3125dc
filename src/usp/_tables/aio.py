"""Tables of a site while it is crawled, in asyncio; many sites share one client.

Needs the extra ``async``, which installs aiohttp.
"""

from typing import Unpack

from usp._aio_stream import AioCrawlStream, first_crawl
from usp._crawl.options import RecurseCallback, RecurseListCallback
from usp._crawl.policy import Policy
from usp._crawl.unique_urls import UniqueUrls
from usp._drive.aio import options_for
from usp._drive.events import emitter
from usp._keywords import CrawlFields, aio_crawl_keywords
from usp._parse import ROWS_AT_ONCE
from usp._source import CrawlStart, SourceName
from usp._store import Store
from usp._tables.batch import Batch
from usp._tables.choice import ColumnNames, TableChoice, TableNames
from usp._tables.crawl import CrawlTables
from usp.objects.events import Observer
from usp.stream import StreamState
from usp.web_client.abstract_aio_client import AbstractAioWebClient


class AioTableStream(AioCrawlStream[Batch]):
    """Batches of tables as they arrive, in document order; returned by ``read_tables``."""


def read_tables(
    source: SourceName,
    tables: TableNames = ("pages",),
    *,
    columns: ColumnNames | None = None,
    unique: UniqueUrls | None = None,
    batch_rows: int = ROWS_AT_ONCE,
    web_client: AbstractAioWebClient | None = None,
    use_robots: bool = True,
    use_known_paths: bool | None = None,
    recurse_callback: RecurseCallback | None = None,
    recurse_list_callback: RecurseListCallback | None = None,
    observer: Observer | None = None,
    policy: Policy | None = None,
    **crawl_fields: Unpack[CrawlFields],
) -> AioTableStream:
    """Stream tables of a site as ``usp._tables.read`` does, as an async iterator.

    Nothing is fetched, and no file is read, before the first batch is requested. The parameters are
    those of ``usp._tables.read.read_tables``; the client is an ``AioWebClient`` by default.

    :return: an async iterator of batches, with ``outcome``, ``tried``, ``problems``, ``skipped``
        and ``aclose()``.
    :raises UsageError: if there is no such table or column, or another argument is wrong.
    """
    policy, client = aio_crawl_keywords(policy, web_client, crawl_fields, source)
    choice = TableChoice.of(tables, columns)
    policy, made = choice.policy(policy), CrawlTables(source, choice, batch_rows, unique)
    options = made.options(recurse_callback, recurse_list_callback, observer)
    store = Store(file_per_document=True)
    start = CrawlStart.for_source(
        source, policy, use_robots=use_robots, use_known_paths=use_known_paths, store=store
    )
    crawl = first_crawl(start, policy, options_for(client, options))
    state = StreamState(crawl, emitter(options.observer), made.filter)
    return AioTableStream._start(start, state, made, client, store)
