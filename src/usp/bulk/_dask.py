"""The Dask engine: the same function on the workers of a cluster, or of one on this machine.

The scheduler runs a shard again if its worker is lost. That is harmless: a shard that is done is
left alone, and its files have the same names wherever it is run.
"""

import logging
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from usp._extras import load
from usp.bulk._markers import ShardResult
from usp.bulk._options import BulkOptions, EngineChoice
from usp.bulk._progress import CrawlProgress, OnProgress, count_site, failed_shards_error
from usp.bulk._shard import SiteDone, run_shard_alone
from usp.bulk._sites import SiteList
from usp.exceptions import UsageError

_RETRIES: Final = 2
"""How often a shard that raises is run again; one whose worker is lost is run again anyway."""
_AHEAD: Final = 3
"""Shards for each thread of the cluster that the scheduler has at once."""


def run_on_dask(
    numbers: Iterable[int],
    sites: SiteList,
    out: str,
    options: BulkOptions,
    choice: EngineChoice,
    progress: CrawlProgress,
    on_progress: OnProgress,
) -> None:
    """Run some shards.

    :raises UsageError: if there is no scheduler at the address.
    :raises StorageError: if a shard can't be run.
    """
    distributed = load("distributed", "The engine dask", "scale")
    logging.getLogger("distributed").setLevel(
        choice.log_level
    )  # by default it tells its whole life
    waiting = iter(numbers)
    failed: dict[int, BaseException] = {}
    with _client(distributed, choice) as client:
        ahead = max(_AHEAD * sum(client.nthreads().values()), _AHEAD)
        running = distributed.as_completed()

        def submit(count: int) -> None:
            for number in islice(waiting, count):
                shard = sites.shard(number)
                future = client.submit(
                    run_shard_alone,
                    shard,
                    out,
                    options,
                    pure=False,
                    retries=_RETRIES,
                    priority=-number,
                )
                future.usp_shard = number
                running.add(future)

        submit(ahead)
        for future in running:
            if future.status == "finished":
                _count(progress, future.result())
            else:
                failed[future.usp_shard] = future.exception()
            future.release()
            submit(1)
            on_progress(progress)
    if failed:
        raise failed_shards_error(failed)


def _client(distributed: Any, choice: EngineChoice) -> Any:  # noqa: ANN401 -- it has no types
    if choice.scheduler is None:
        return distributed.Client(
            n_workers=choice.processes,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=choice.log_level,
        )
    try:
        return distributed.Client(choice.scheduler, timeout="10s")
    except (OSError, ValueError) as error:
        raise UsageError(f"There is no Dask scheduler at {choice.scheduler}: {error}") from error


def _count(progress: CrawlProgress, done: ShardResult) -> None:
    progress.shards_done += 1
    for outcome, lines in done.outcomes.items():
        count_site(progress, SiteDone(outcome, lines, 0, 0, 0))
    progress.pages += done.rows.get("pages", 0)
    progress.requests += done.requests
    progress.received += done.received
