"""Many sites: a list of domains to tables, on one machine or many.

``crawl_shard`` crawls some sites and writes their rows; it is the one function that any engine
maps over the shards of a list. ``crawl`` does that with processes of this machine, or with Dask;
``status`` says how far a crawl is. A crawl that was ended, however it was, goes on where it was
when it is started again: shards that are done have a marker, and the others are run again.

Needs the extras ``async`` and ``tables``; Dask and folders that aren't local, the extra ``scale``.
"""

import os
from collections.abc import Callable, Iterable
from typing import Unpack

from usp._crawl.policy import Policy, explains_policy
from usp._extras import load
from usp._validate import check_int

load("aiohttp", "usp.bulk", "async")  # its absence is told before anything needs it
load("pyarrow", "usp.bulk", "tables")
from usp.bulk._folder import crawl_folder  # noqa: E402
from usp.bulk._input import InputLine, read_input  # noqa: E402
from usp.bulk._markers import PartFile, ShardResult  # noqa: E402
from usp.bulk._options import BulkFields, BulkOptions, EngineChoice, explains_bulk  # noqa: E402
from usp.bulk._progress import CrawlProgress  # noqa: E402
from usp.bulk._run import run_crawl  # noqa: E402
from usp.bulk._shard import run_shard_alone  # noqa: E402
from usp.bulk._sites import Shard, SiteList  # noqa: E402
from usp.bulk._status import CrawlStatus, read_status  # noqa: E402

__all__ = [
    "BulkFields",
    "CrawlProgress",
    "CrawlStatus",
    "InputLine",
    "PartFile",
    "Shard",
    "ShardResult",
    "crawl",
    "crawl_shard",
    "shards",
    "status",
]

Sites = str | os.PathLike[str] | Iterable[str]
"""The name of a list (a file, an fsspec URL, ``-``), or the domains and URLs themselves."""


@explains_policy
@explains_bulk
def crawl(
    sites: Sites,
    out: str | os.PathLike[str],
    *,
    shards: int | None = None,
    shard: str | None = None,
    column: str | None = None,
    engine: str = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    on_progress: Callable[[CrawlProgress], None] | None = None,
    policy: Policy | None = None,
    **bulk_fields: Unpack[BulkFields],
) -> CrawlStatus:
    """Crawl a list of sites, and write their rows to a folder.

    Every line of the list has exactly one row in ``sites``, whatever happens. Started again, it
    runs the shards that are not done.

    :param sites: the name of a list (a file, compressed or not, an fsspec URL, ``-``), or
        the domains and URLs themselves.
    :param out: a folder, or an fsspec URL.
    :param shards: how many shards; by default one for a thousand sites, and more for a short list.
    :param shard: run only a share of the shards: ``2/8`` for the second of eight.
    :param column: the column of a CSV file that has the sites; by default found by its name.
    :param engine: ``local`` for processes of this machine, ``dask`` for Dask.
    :param workers: how many worker processes; by default one for each CPU.
    :param scheduler: the address of a Dask scheduler; by default one is started here.
    :param on_progress: called while the crawl runs, each time something was done.
    :param policy: limits and options of each crawl, instead of those for many sites.
    :param bulk_fields: these, and single fields of the policy, such as ``robots="obey"``.
    :return: what is in the folder then.
    :raises UsageError: if an argument is wrong, or the folder has the crawl of another list.
    :raises StorageError: if something can't be written, or a shard can't be run.
    """
    options = BulkOptions.of(bulk_fields, policy)
    choice = EngineChoice(engine, workers, scheduler)
    run_crawl(
        sites,
        os.fspath(out),
        options,
        choice,
        shards=shards,
        shard=shard,
        column=column,
        on_progress=on_progress or (lambda _progress: None),
    )
    return status(out)


def status(out: str | os.PathLike[str]) -> CrawlStatus:
    """Return how far the crawl in a folder is, and what came of it so far.

    :param out: a folder, or an fsspec URL.
    :raises UsageError: if there is no crawl in it.
    """
    return read_status(crawl_folder(out))


def shards(sites: Sites, count: int | None = None, *, column: str | None = None) -> list[Shard]:
    """Return a list of sites, divided into shards for any engine.

    :param sites: the name of a list, or the domains and URLs themselves.
    :param count: how many shards; by default one for a thousand sites, and more for a short list.
    :param column: the column of a CSV file that has the sites; by default found by its name.
    :raises UsageError: if the list can't be read.
    """
    return list(SiteList(read_input(sites, column), count))


@explains_policy
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
    :param bulk_fields: these, and single fields of the policy, such as ``robots="obey"``.
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

    return run_shard_alone(Shard(shard, tuple(lines)), os.fspath(out), options)
