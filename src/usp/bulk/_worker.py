"""A worker process of the local engine.

It takes orders from its standard input and reports to its standard output, both as pickles. It asks
for the next shard as soon as no site of the last one waits, so that a slow site of one shard keeps
no slot free. When its input ends, even after the last order, nobody wants what it is running any
more: that is dropped, and the worker ends.
"""

import asyncio
import logging
import os
import pickle
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

from usp._extras import load
from usp._own_process import tune_garbage_collection
from usp.bulk._messages import (
    FailedReport,
    FinishOrder,
    ReadyReport,
    SitesReport,
    WorkerOrder,
    WorkerReport,
    send,
)
from usp.bulk._shard import ShardWorker, SiteDone, run_shard, shard_worker
from usp.bulk._sites import Shard
from usp.exceptions import UspError

MAX_RUNNING: Final = 2
"""Shards that a worker has at once: the last sites of one, and the next."""
_REPORT_SECONDS: Final = 0.5
_LEAVE_SECONDS: Final = 1.0
"""How long a worker has to drop what it is running."""
_NOBODY_THERE: Final = (EOFError, OSError, pickle.UnpicklingError)
"""What reading an order raises if nobody gives it any more; it may end in its midst."""


class _Worker:
    """Runs the shards that it is given."""

    def __init__(
        self,
        out: str,
        worker: ShardWorker,
        done_sites: list[SiteDone],
        send_report: Callable[[WorkerReport], None],
    ) -> None:
        self._out = out
        self._worker = worker
        self._done_sites = done_sites
        self._send = send_report
        self._running = 0
        self._is_asking = False

    def ask(self) -> None:
        """Ask for a shard, if there is room for one."""
        if not self._is_asking and self._running < MAX_RUNNING:
            self._is_asking = True
            self._send(ReadyReport())

    async def run(self, shard: Shard) -> None:
        """Run a shard; report what came of it."""
        self._is_asking = False
        self._running += 1
        try:
            report: WorkerReport = await run_shard(
                shard.number, shard.lines, self._out, self._worker, self.ask
            )
        except UspError as error:
            report = FailedReport(shard.number, str(error), is_fatal=True)
        except Exception as error:  # a bug of ours; the other shards of this worker go on
            logging.getLogger(__name__).exception("Shard %s failed", shard.number)
            reason = f"{type(error).__name__}: {error}"
            report = FailedReport(shard.number, reason, is_fatal=False)
        finally:
            self._running -= 1
        self.report_sites()
        self._send(report)
        self.ask()
        load("pyarrow", "Parquet", "tables").default_memory_pool().release_unused()

    def report_sites(self) -> None:
        """Report the sites that are done since the last report."""
        if self._done_sites:
            self._send(SitesReport(tuple(self._done_sites)))
            self._done_sites.clear()

    async def report_regularly(self) -> None:
        """Report while sites are crawled."""
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            self.report_sites()


def _read_orders(
    orders: BinaryIO, take: Callable[[Shard | FinishOrder], object], leave: Callable[[], object]
) -> None:
    """Pass orders on until nobody is there to give one, then leave; runs in a thread.

    The last order is not the end: what it lets finish may be dropped all the same.
    """
    with suppress(*_NOBODY_THERE, RuntimeError):  # RuntimeError: the event loop is closed already
        while True:
            take(pickle.load(orders))  # noqa: S301 -- the process that started this one
    with suppress(RuntimeError):
        leave()
    time.sleep(_LEAVE_SECONDS)
    os._exit(1)  # a thread that waits for a name server, say, can't be ended


async def _main(first: WorkerOrder, orders: BinaryIO, reports: BinaryIO) -> None:
    """Run until the last order.

    :raises asyncio.CancelledError: if nobody is there to give one.
    """
    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    assert this is not None  # noqa: S101 -- a coroutine that runs has a task
    received: asyncio.Queue[Shard | FinishOrder] = asyncio.Queue()

    def take(order: Shard | FinishOrder) -> None:
        loop.call_soon_threadsafe(received.put_nowait, order)

    leave = partial(loop.call_soon_threadsafe, this.cancel)
    threading.Thread(target=_read_orders, args=(orders, take, leave), daemon=True).start()

    def report(message: WorkerReport) -> None:
        with suppress(OSError):  # who doesn't read reports gives no orders: that is noticed there
            send(reports, message)

    done_sites: list[SiteDone] = []
    async with shard_worker(first.options, done_sites.append) as shared:
        worker = _Worker(first.out, shared, done_sites, report)
        regularly = asyncio.create_task(worker.report_regularly())
        async with asyncio.TaskGroup() as shards:
            worker.ask()
            while isinstance(order := await received.get(), Shard):
                shards.create_task(worker.run(order))
        regularly.cancel()


def _prepare_process() -> None:
    """Choose what suits a process that does nothing else."""
    tune_garbage_collection()
    arrow = load("pyarrow", "Parquet", "tables")
    arrow.set_cpu_count(1)  # there is a worker for each CPU
    arrow.set_memory_pool(arrow.system_memory_pool())  # others keep memory for each thread


def main() -> None:
    """Run until the last order, or until nobody is there to give one."""
    # Not sys.stdin: Python aborts if it closes that at its end while a thread still reads it.
    orders = os.fdopen(os.dup(0), "rb")
    with os.fdopen(os.dup(1), "wb") as reports:
        os.dup2(2, 1)  # what anything prints must not get among the reports
        try:
            first: WorkerOrder = pickle.load(orders)  # noqa: S301 -- as above
        except _NOBODY_THERE:
            os._exit(1)
        handler = logging.FileHandler(Path(first.log_file)) if first.log_file else None
        logging.basicConfig(level=first.log_level, handlers=[handler] if handler else None)
        _prepare_process()
        try:
            asyncio.run(_main(first, orders, reports))
        except asyncio.CancelledError:
            os._exit(1)  # reports that nobody reads can't be flushed
