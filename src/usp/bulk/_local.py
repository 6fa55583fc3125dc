"""The local engine: worker processes of this machine, which take shards as they have room.

A worker that dies is replaced, and its shards are run again. Ctrl-C lets the workers finish what
they are running; a second one drops it.
"""

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from usp.bulk._markers import ShardResult
from usp.bulk._messages import (
    FailedReport,
    FinishOrder,
    ReadyReport,
    SitesReport,
    WorkerOrder,
    WorkerReport,
    send,
)
from usp.bulk._progress import CrawlProgress, OnProgress, count_site, failed_shards_error
from usp.bulk._sites import SiteList
from usp.exceptions import StorageError

_MAX_DEATHS: Final = 3
"""So many workers may die of a shard before it is given up."""
_MAX_EARLY_DEATHS: Final = 5
"""So many workers in a row may die before their first report; then none can be started."""
_ENVIRONMENT: Final = {"MALLOC_ARENA_MAX": "2"}
"""What a worker is started with. By default, glibc gives each thread memory of its own, and gets
little of it back: measured, a worker took 15 MiB more with each shard."""
_END_SECONDS: Final = 1.5
"""How long workers have to end when what they are running is dropped; then they are killed. Each of
them ends by itself in a second, so only one that is still starting takes longer."""
_COMMAND: Final = (
    # Ctrl-C is for this process, also while a worker is still starting.
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    # The package imports pyarrow.
    "from usp._own_process import prepare_libraries; prepare_libraries(); "
    "from usp.bulk._worker import main; main()"
)


@dataclass(eq=False, slots=True)
class _Process:
    """A worker process, as the one that started it sees it."""

    process: "subprocess.Popen[bytes]"
    running: set[int] = field(default_factory=set)
    is_waiting: bool = False
    """Whether it has room for a shard, and was given none yet."""
    is_ending: bool = False
    has_reported: bool = False
    reader: threading.Thread | None = None
    """Passes on what it reports, until it ends."""

    def order(self, order: object) -> None:
        """Give an order; if it can't be given, the end of the process is noticed elsewhere."""
        if self.process.stdin is not None:
            try:
                send(self.process.stdin, order)
            except OSError:
                self.process.kill()

    def finish(self) -> None:
        """Let it finish what it is running, and end."""
        if not self.is_ending:
            self.is_ending = True
            self.order(FinishOrder())

    def drop(self) -> None:
        """Let it drop what it is running, and end."""
        if self.process.stdin is not None:
            try:
                self.process.stdin.close()
            except OSError:
                self.process.kill()

    def end(self, until: float) -> None:
        """Wait until it has ended; kill it if that takes longer than until a time."""
        try:
            self.process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.reader is not None and self.process.stdout is not None:
            self.reader.join()
            self.process.stdout.close()


class LocalEngine:
    """Runs shards in worker processes."""

    def __init__(
        self,
        order: WorkerOrder,
        workers: int,
        sites: SiteList,
        progress: CrawlProgress,
        on_progress: OnProgress,
    ) -> None:
        """Prepare an engine.

        :param order: what each worker is told first.
        :param workers: how many there are at most.
        """
        self._first_order = order
        self._max_workers = workers
        self._sites = sites
        self._progress = progress
        self._on_progress = on_progress
        self._pending: deque[int] = deque()
        self._deaths: dict[int, int] = {}
        self._workers: set[_Process] = set()
        self._reports: queue.SimpleQueue[tuple[_Process, WorkerReport | None]] = queue.SimpleQueue()
        self._failed: dict[int, str] = {}
        self._fatal = ""
        """Why no shard can be run, or none can be run any more."""
        self._is_interrupted = False
        self._early_deaths = 0

    def run(self, shards: Iterable[int]) -> None:
        """Run some shards.

        :raises StorageError: if they can't be written, or some of them can't be run.
        :raises KeyboardInterrupt: after Ctrl-C, when what was running is finished or dropped.
        """
        self._pending.extend(shards)
        try:
            for _ in range(min(self._max_workers, len(self._pending))):
                self._start_worker()
            while self._workers:
                try:
                    self._take_report(*self._reports.get())
                except KeyboardInterrupt:
                    if self._is_interrupted:
                        raise
                    self._is_interrupted = True
                    self._progress.is_ending = True
                    self._give_shards()
                    self._on_progress(self._progress)
        finally:
            self._drop_workers()
        if self._is_interrupted:
            raise KeyboardInterrupt
        if self._fatal:
            raise StorageError(self._fatal)
        if self._failed:
            raise failed_shards_error(self._failed)

    def _start_worker(self) -> None:
        process = subprocess.Popen(  # noqa: S603 -- our own command
            # -P: a file in the current folder must not be taken for a module.
            [sys.executable, "-P", "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**_ENVIRONMENT, **os.environ},
        )
        worker = _Process(process)
        self._workers.add(worker)
        worker.reader = threading.Thread(target=self._read_reports, args=(worker,), daemon=True)
        worker.reader.start()
        worker.order(self._first_order)

    def _read_reports(self, worker: _Process) -> None:
        """Pass on what a worker reports, then that it has ended; runs in a thread."""
        stream = worker.process.stdout
        try:
            while stream is not None:
                self._reports.put((worker, pickle.load(stream)))  # noqa: S301 -- our own process
        except (EOFError, OSError, pickle.UnpicklingError):
            pass  # it has ended, perhaps in the middle of a report
        finally:
            self._reports.put((worker, None))

    def _take_report(self, worker: _Process, report: WorkerReport | None) -> None:
        if report is not None:
            worker.has_reported = True
            self._early_deaths = 0
        match report:
            case None:
                self._take_back_shards(worker)
            case ReadyReport():
                worker.is_waiting = True
            case SitesReport(sites=sites):
                for done in sites:
                    count_site(self._progress, done)
            case ShardResult(shard=shard):
                worker.running.discard(shard)
                self._progress.shards_done += 1
            case FailedReport(shard=shard, message=message, is_fatal=is_fatal):
                worker.running.discard(shard)
                self._failed[shard] = message
                if is_fatal:
                    self._fatal = self._fatal or message
        self._give_shards()
        self._on_progress(self._progress)

    def _give_shards(self) -> None:
        """Give shards to the workers that wait; those without work end."""
        if self._is_interrupted or self._fatal:
            self._pending.clear()
        for worker in self._workers:
            if worker.is_waiting and self._pending and self._may_have(worker, self._pending[0]):
                shard = self._pending.popleft()
                worker.is_waiting = False
                worker.running.add(shard)
                worker.order(self._sites.shard(shard))
        if not self._pending:  # if a worker dies from now on, another one is started
            self._finish_workers()

    def _may_have(self, worker: _Process, shard: int) -> bool:
        """Tell whether a worker may take a shard: one of which a worker died is run alone."""
        if worker.is_ending:
            return False
        is_suspect = self._deaths.get(shard) or any(map(self._deaths.get, worker.running))
        return not (is_suspect and worker.running)

    def _finish_workers(self) -> None:
        for worker in self._workers:
            worker.finish()

    def _take_back_shards(self, worker: _Process) -> None:
        """Run the shards of a worker that has ended again; start another one if there is work."""
        self._workers.discard(worker)
        worker.drop()
        worker.end(time.monotonic() + _END_SECONDS)
        for shard in sorted(worker.running):
            self._deaths[shard] = self._deaths.get(shard, 0) + 1
            if self._deaths[shard] >= _MAX_DEATHS:
                self._failed[shard] = f"{_MAX_DEATHS} workers died of it"
            else:
                self._pending.append(shard)
        self._early_deaths += not worker.has_reported
        if self._early_deaths >= _MAX_EARLY_DEATHS:
            self._fatal = "worker processes end before they have begun"
        is_over = self._is_interrupted or self._fatal
        if self._pending and not is_over and len(self._workers) < self._max_workers:
            self._start_worker()

    def _drop_workers(self) -> None:
        """End all workers; what they are running is dropped."""
        for worker in self._workers:
            worker.drop()
        until = time.monotonic() + _END_SECONDS
        for worker in self._workers:
            worker.end(until)
