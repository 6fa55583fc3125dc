"""The Dask engine: real scheduler and worker processes, one of which is killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bulk.sites import QUICK, USER_AGENT, ManySites, Tables, assert_whole, expected_outcomes
from tests.bulk.test_engines import assert_right, lines_of

pytest.importorskip("distributed", reason="needs the extra scale")

COUNT, SHARDS = 42, 8


@contextmanager
def dask(*arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command of Dask, until it is killed."""
    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s"}
    command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def crawl_command(lines: list[str], folder: Path, *options: str) -> list[str]:
    file = folder / "domains.txt"
    file.write_text("".join(f"{line}\n" for line in lines))
    quick = ["--max-attempts", "1", "--no-known", "--no-homepage", "--no-newer"]
    limit = ["--max-pages-per-site", str(QUICK["max_pages_per_site"])]
    agent = ["--user-agent", USER_AGENT, "--allow-private", "--no-progress"]
    program = [sys.executable, "-m", "usp", "crawl", str(file), "-o", str(folder / "crawl")]
    return [*program, *agent, *quick, *limit, "--engine", "dask", *options]


@pytest.mark.slow
def test_a_lost_worker_neither_loses_nor_doubles_rows(tmp_path: Path) -> None:
    address = tmp_path / "scheduler.json"
    worker = ("worker", "--scheduler-file", str(address), "--nthreads", "1", "--no-nanny")
    with (
        ManySites(delay=0.02) as sites,
        dask("scheduler", "--port", "0", "--scheduler-file", str(address)),
    ):
        while not (address.exists() and address.read_text().endswith("}")):
            time.sleep(0.05)
        with dask(*worker) as first, dask(*worker):
            scheduler = json.loads(address.read_text())["address"]
            options = ["--scheduler", scheduler, "--shards", str(SHARDS)]
            options += ["--sites-at-once", "2"]
            lines = lines_of(sites, COUNT)
            with subprocess.Popen(crawl_command(lines, tmp_path, *options)) as running:
                while not list(tmp_path.glob("crawl/_done/*.json")):
                    time.sleep(0.05)
                    assert running.poll() is None
                os.kill(first.pid, signal.SIGKILL)
                assert running.wait(90) == 0
        assert_right(sites, COUNT, SHARDS, tmp_path / "crawl")


@pytest.mark.slow
def test_without_a_scheduler_one_is_started_on_this_machine(tmp_path: Path) -> None:
    with ManySites() as sites:
        command = crawl_command(sites.homepages(7), tmp_path, "--workers", "1", "--shards", "2")
        done = subprocess.run(command, capture_output=True, check=False, timeout=90, text=True)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(r"crawled: 7 sites .*\n", done.stderr), "Dask's own log is left out"
        assert Tables(tmp_path / "crawl").outcomes() == expected_outcomes(range(7))
        assert_whole(tmp_path / "crawl", 2)
