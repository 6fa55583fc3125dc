"""Crawls of whole lists by both engines: killed at any moment, they go on, and lose nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bulk.sites import (
    KINDS,
    QUICK,
    ManySites,
    Tables,
    assert_whole,
    expected_outcomes,
    expected_pages,
    files_below,
)
from tests.waiting import wait_until
from usp import bulk
from usp.bulk import _local
from usp.exceptions import UsageError

SITES = 60
SHARDS = 6
LONG = (pytest.mark.thorough, pytest.mark.timeout(3600))
STARTING = 40
"""Seconds in which processes start on a busy machine, at the longest."""
BAD = 3
"""Lines that name no site."""


@pytest.fixture(scope="module")
def sites() -> Iterator[ManySites]:
    with ManySites() as running:
        yield running


def lines_of(sites: ManySites, count: int) -> list[str]:
    """A list with every kind of outcome, bad lines, and its first sites again at its end."""
    return [*sites.homepages(count), *["no site"] * BAD, *sites.homepages(BAD)]


def assert_right(sites: ManySites, count: int, shards: int, folder: Path) -> None:
    """Each line has one row, each page is there once, and nothing else is left."""
    tables = Tables(folder)
    outcomes = expected_outcomes(range(count))
    outcomes |= {count + number: "bad_input" for number in range(1, BAD + 1)}
    outcomes |= {count + BAD + line: outcomes[line] for line in range(1, BAD + 1)}
    assert tables.outcomes() == outcomes
    assert tables.pages() == expected_pages(sites, range(count))
    assert_whole(folder, shards)
    found = bulk.status(folder)
    assert found.is_done
    assert found.sites_done == count + 2 * BAD


PROGRAM = """
import json, sys
import usp.bulk
sites, out, fields = json.loads(sys.argv[1])
if __name__ == "__main__":
    usp.bulk.crawl(sites, out, **fields)
"""


def start(sites: list[str], out: Path, **fields: Any) -> "subprocess.Popen[bytes]":
    chosen = {**QUICK, "workers": 2, **fields}
    listed = out.with_name(f"{out.name}.txt")
    listed.write_text("".join(f"{site}\n" for site in sites))
    command = [sys.executable, "-c", PROGRAM, json.dumps([str(listed), str(out), chosen])]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE)


def processes_below(parent: int) -> list[int]:
    """The worker processes of a process."""
    children = Path(f"/proc/{parent}/task/{parent}/children")
    try:
        return [int(one) for one in children.read_text().split()]
    except OSError:
        return []


@pytest.mark.slow
def test_a_list_is_crawled_by_two_processes(sites: ManySites, tmp_path: Path) -> None:
    seen: list[bulk.CrawlProgress] = []
    done = bulk.crawl(
        lines_of(sites, SITES),
        tmp_path,
        workers=2,
        shards=SHARDS,
        on_progress=seen.append,
        **QUICK,
    )
    assert_right(sites, SITES, SHARDS, tmp_path)
    assert done.rows["pages"] == seen[-1].pages
    assert (seen[-1].sites_done, seen[-1].shards_done) == (SITES + 2 * BAD, SHARDS)
    count = len(sites.requests)
    again = bulk.crawl(lines_of(sites, SITES), tmp_path, **QUICK)
    assert again == done
    assert len(sites.requests) == count, "a shard that is done is not run again"


@pytest.mark.thorough  # the array job of the docs shows most of it
def test_shares_of_a_list_make_up_the_whole(sites: ManySites, tmp_path: Path) -> None:
    lines = lines_of(sites, 20)
    bulk.crawl(lines, tmp_path, shards=5, shard="1/2", workers=1, **QUICK)
    assert bulk.status(tmp_path).missing == (1, 3)
    bulk.crawl(lines, tmp_path, shards=5, shard="2/2", workers=1, **QUICK)
    assert_right(sites, 20, 5, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
@pytest.mark.parametrize(
    ("engine", "count", "shards", "kills"),
    [
        ("local", 300, 12, 4),
        pytest.param("local", 10_000, 40, 30, marks=LONG),
        pytest.param("dask", 10_000, 40, 30, marks=LONG),
    ],
)
def test_a_crawl_whose_processes_are_killed_at_random_loses_and_doubles_nothing(
    engine: str, count: int, shards: int, kills: int, tmp_path: Path
) -> None:
    chance = random.Random(count)  # noqa: S311 -- the same in every run
    chosen = {"engine": engine, "shards": shards, "sites_at_once": 30}
    with ManySites() as sites:
        lines = lines_of(sites, count)
        running = start(lines, tmp_path, **chosen)
        for number in range(kills):
            time.sleep(chance.uniform(0.5, 2.0))
            workers = processes_below(running.pid)
            if number % 2 and running.poll() is None:
                running.kill()  # the whole run; its workers notice
                running.communicate()
                running = start(lines, tmp_path, **chosen)
            elif workers:
                os.kill(chance.choice(workers), signal.SIGKILL)
        assert running.wait(3000) == 0, (running.stderr and running.stderr.read()) or b""
        running.communicate()
        assert_right(sites, count, shards, tmp_path)


@pytest.mark.slow
def test_the_first_ctrl_c_finishes_what_is_running_and_the_second_drops_it(
    tmp_path: Path,
) -> None:
    with ManySites(delay=0.05) as sites:
        lines = lines_of(sites, 70)
        running = start(lines, tmp_path, shards=10, sites_at_once=2)
        while not list(tmp_path.glob("_done/*.json")):
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)
        done = bulk.status(tmp_path)
        assert 0 < len(done.missing) < 10
        assert_no_scratch(tmp_path)
        running = start(lines, tmp_path, shards=10, sites_at_once=1)
        while not list(tmp_path.glob(".*")):  # until a shard is running
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)
        assert_no_scratch(tmp_path)
        sites.delay = 0
        bulk.crawl(lines, tmp_path, workers=1, **QUICK)
        assert_right(sites, 70, 10, tmp_path)


@pytest.mark.slow
def test_the_second_ctrl_c_does_not_wait_for_silent_sites(tmp_path: Path) -> None:
    with ManySites(delay=60) as sites:
        running = start(sites.homepages(4), tmp_path, shards=2, sites_at_once=2)
        wait_until(lambda: sites.in_flight.total() >= 2, STARTING)
        running.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert running.poll() is None, "the first one lets the shards finish"
        running.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, err = running.communicate(timeout=30)  # no process has its stderr open any more
        assert time.monotonic() - started < 15
        assert err.count(b"Traceback") == err.count(b"\nKeyboardInterrupt\n")
        assert_no_scratch(tmp_path)
        assert len(bulk.status(tmp_path).missing) == 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
def test_a_worker_leaves_ctrl_c_to_its_parent_and_ends_when_the_parent_is_gone(
    tmp_path: Path,
) -> None:
    with ManySites(delay=60) as sites:
        running = start(sites.homepages(1), tmp_path, shards=1, workers=1)
        wait_until(lambda: processes_below(running.pid), STARTING)
        (worker,) = processes_below(running.pid)
        of_worker = Path(f"/proc/{worker}")
        # Until then it is a fork of its parent; the maps show what it has imported.
        wait_until(lambda: b"_worker" in (of_worker / "cmdline").read_bytes(), STARTING)
        wait_until(lambda: "pyarrow" in (of_worker / "maps").read_text(), STARTING)
        os.kill(worker, signal.SIGINT)
        wait_until(sites.in_flight.total, STARTING)  # it has its last order by now
        running.kill()
        started = time.monotonic()
        _, err = running.communicate(timeout=30)
        assert time.monotonic() - started < 15
        assert err == b""
        assert_no_scratch(tmp_path)


FULL = """
import resource, sys
from usp.cli.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on the size of files")
def test_a_disk_without_room_ends_the_run_with_one_line_and_leaves_nothing(
    sites: ManySites, tmp_path: Path
) -> None:
    listed, out = tmp_path / "list.txt", tmp_path / "out"
    listed.write_text("\n".join(sites.homepages(7)))
    agent = ["--user-agent", str(QUICK["user_agent"]), "--allow-private"]
    limit = ["--max-pages-per-site", str(QUICK["max_pages_per_site"])]
    command = ["crawl", str(listed), "-o", str(out), "--workers", "1", *agent, *limit]
    ended = subprocess.run(
        [sys.executable, "-c", FULL, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.stderr == "usp: error: the shard can't be written: File too large\n"
    assert ended.returncode == 3
    assert list(files_below(out)) == ["_crawl.json"]
    bulk.crawl(listed, out, workers=1, **QUICK)
    assert Tables(out).outcomes() == expected_outcomes(range(7))


@pytest.mark.slow
def test_a_worker_does_without_pandas_and_numpy() -> None:
    pytest.importorskip("pandas")
    program = (
        f"{_local._COMMAND.removesuffix('main()')} import sys, pyarrow; pyarrow.array(['a']); "
        "print({'numpy', 'pandas'} & sys.modules.keys())"
    )
    assert subprocess.check_output([sys.executable, "-c", program]) == b"set()\n"


def assert_no_scratch(folder: Path) -> None:
    assert list(folder.glob(".*")) == []


def test_a_folder_has_the_crawl_of_one_list(sites: ManySites, tmp_path: Path) -> None:
    bulk.crawl(sites.homepages(2), tmp_path, shards=2, workers=1, **QUICK)
    with pytest.raises(UsageError, match="has the crawl of another list"):
        bulk.crawl(sites.homepages(3), tmp_path, **QUICK)
    with pytest.raises(UsageError, match="shards must be 2"):
        bulk.crawl(sites.homepages(2), tmp_path, shards=3, **QUICK)
    with pytest.raises(UsageError, match=r"has a crawl with another include \(, not x\)"):
        bulk.crawl(sites.homepages(2), tmp_path, include="x", **QUICK)
    with pytest.raises(UsageError, match="There is no crawl in"):
        bulk.status(tmp_path / "sites")


@pytest.mark.parametrize("share", ["0/3", "4/3", "3", "a/b", "1/0"])
def test_a_share_that_is_none_is_one_clear_line(share: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="shard must be K/N, such as 2/8"):
        bulk.crawl(["a.org"], tmp_path, shard=share, **QUICK)


def test_every_kind_of_outcome_is_among_the_sites() -> None:
    assert 2 * len(KINDS) < SITES
