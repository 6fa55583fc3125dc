"""The page about many sites: its commands, its queries and its array job are run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.bulk.sites import QUICK, ManySites, Tables, assert_whole, expected_outcomes
from tests.docs.test_examples import PROJECT, text_of

PAGE = text_of(PROJECT / "docs" / "how-to" / "bulk.md")
BASH = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
QUERIES = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SITES = 28
CONFIG = f"""
allow-private = true
max-attempts = 1
no-known = true
homepage = false
newer = false
max-pages-per-site = {QUICK["max_pages_per_site"]}
"""
"""What loopback sites need, so that the commands of the page run unchanged."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the crawl of the tutorial."""
    made = tmp_path_factory.mktemp("bulk")
    with ManySites() as sites:
        write_list(made, sites)
        run(BASH[0].splitlines()[0], made)
    return made


def write_list(folder: Path, sites: ManySites) -> None:
    (folder / "domains.txt").write_text("".join(f"{home}\n" for home in sites.homepages(SITES)))
    (folder / "usp.toml").write_text(CONFIG)


def run(script: str, folder: Path, **variables: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["/bin/bash", "-euc", script],
        cwd=folder,
        env={**os.environ, **variables, "PATH": path},
        check=True,
        timeout=100,
    )


@pytest.mark.slow
def test_the_tutorial_leads_to_an_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = re.search(r'duckdb -c "(.*)"', BASH[0])
    assert found
    answer = {outcome: count for outcome, count, _ in duckdb.execute(found[1]).fetchall()}
    assert answer == {"found": 8, "partial": 8, "blocked": 4, "none": 4, "unreachable": 4}


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: " ".join(query.split())[:40])
def test_a_query_of_the_page_runs(
    query: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    rows = duckdb.execute(query).fetchall()
    assert rows or "LIKE '%.org'" in query  # no site has a domain here


@pytest.mark.slow
def test_the_array_job_runs_as_plain_processes(tmp_path: Path) -> None:
    script = next(block for block in BASH if "SBATCH" in block)
    count = re.search(r"--array=1-(\d+)", script)
    assert count
    with ManySites() as sites:
        write_list(tmp_path, sites)
        for task in range(1, int(count[1]) + 1):
            variables = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": count[1]}
            run(script, tmp_path, **variables)
    assert Tables(tmp_path / "crawl").outcomes() == expected_outcomes(range(SITES))
    assert_whole(tmp_path / "crawl", 6)
