"""Many sites: a list of domains to tables, on one machine or many.

``crawl_shard`` crawls some sites and writes their rows; it is the one function that any engine
maps over the shards of a list. ``crawl`` does that with processes of this machine, or with Dask;
``status`` says how far a crawl is. A crawl that was ended, however it was, goes on where it was
when it is started again: shards that are done have a marker, and the others are run again.

Needs the extras ``async`` and ``tables``; Dask and folders that aren't local, the extra ``scale``.
"""

import asyncio
import os
from collections.abc import Iterable
from typing import Unpack

from usp._crawl.policy import Policy
from usp._extras import load
from usp._validate import check_int

load("aiohttp", "usp.bulk", "async")  # its absence is told before anything needs it
load("pyarrow", "usp.bulk", "tables")
from usp.bulk._input import InputLine, read_input  # noqa: E402
from usp.bulk._markers import PartFile, ShardResult  # noqa: E402
from usp.bulk._options import BulkFields, BulkOptions, explains_bulk  # noqa: E402
from usp.bulk._shard import run_shard, shard_worker  # noqa: E402
from usp.bulk._sites import Shard, SiteList  # noqa: E402

__all__ = [
    "BulkFields",
    "InputLine",
    "PartFile",
    "Shard",
    "ShardResult",
    "crawl_shard",
    "shards",
]

Sites = str | os.PathLike[str] | Iterable[str]
"""The name of a list (a file, an fsspec URL, ``-``), or the domains and URLs themselves."""

for _name in ("InputLine", "Shard"):
    globals()[_name].__module__ = __name__  # where users find them


def shards(sites: Sites, count: int | None = None, *, column: str | None = None) -> list[Shard]:
    """Return a list of sites, divided into shards for any engine.

    :param sites: the name of a list, or the domains and URLs themselves.
    :param count: how many shards; by default one for a thousand sites, at least 16.
    :param column: the column of a CSV file that has the sites; by default found by its name.
    :raises UsageError: if the list can't be read.
    """
    return list(SiteList(read_input(sites, column), count))


@explains_bulk
def crawl_shard(
    sites: Iterable[str | InputLine],
    out: str | os.PathLike[str],
    *,
    shard: int = 0,
    policy: Policy | None = None,
    **bulk_fields: Unpack[BulkFields],
) -> ShardResult:
    """Crawl some sites, and write their rows to a folder: one shard of a crawl.

    The files of a shard get their names when they are whole, and its marker comes last. A shard
    that has a marker is not run again; one that has none is run from its beginning. So any engine
    may call this as often as it likes, in any process. All sites of one registered domain should
    be in one call: ``usp.bulk.shards`` sees to it.

    :param sites: domains, URLs of sites or sitemaps; or the lines of a ``Shard``.
    :param out: a folder, or an fsspec URL.
    :param shard: the number of the shard, which its files have.
    :param policy: limits and options of each crawl, instead of those for many sites.
    :param bulk_fields:
    :return: what came of it: the content of the marker.
    :raises UsageError: if an argument is wrong.
    :raises StorageError: if there is no room. Nothing that a site does raises.
    """
    check_int("shard", shard, 0)
    options = BulkOptions.of(bulk_fields, policy)
    lines = [
        one if isinstance(one, InputLine) else InputLine(number, str(one))
        for number, one in enumerate(sites, 1)
    ]

    async def run() -> ShardResult:
        async with shard_worker(options) as worker:
            return await run_shard(shard, lines, os.fspath(out), worker)

    return asyncio.run(run())
