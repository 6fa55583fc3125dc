"""``usp crawl``: a list of sites into a folder of tables, as a newcomer runs it."""

import os
from pathlib import Path

import pytest

from tests.bulk.sites import QUICK, USER_AGENT, ManySites, Tables
from tests.cli.command import usp
from tests.server import LoopbackServer, urlset
from usp.bulk._options import CLIENT_SETTINGS, BulkOptions

AGENT = ("--user-agent", USER_AGENT, "--allow-private", "--max-attempts", "1", "--workers", "2")
"""Options for loopback sites."""


@pytest.mark.slow
def test_a_newcomer_goes_from_a_list_to_an_answer_with_two_commands(tmp_path: Path) -> None:
    with ManySites() as sites:
        numbers = [number for number in range(700) if number % 7 in (0, 1, 4, 2, 3)]
        file = tmp_path / "domains.txt"
        file.write_text("# my sites\n" + "".join(f"{sites.homepage(one)}\n" for one in numbers))
        done = usp(
            "crawl",
            str(file),
            "-o",
            str(tmp_path / "crawl"),
            *AGENT,
            "--no-known",
            "--max-pages-per-site",
            str(QUICK["max_pages_per_site"]),
        )
    assert done.code == 0, done.err
    assert done.out == ""
    assert done.err.splitlines()[-1].startswith(
        "crawled: 500 sites (200 found, 200 partial, 100 blocked), "
    )
    answer = Tables(tmp_path / "crawl").query(
        "SELECT outcome, count(*), sum(pages) FROM {sites} GROUP BY ALL ORDER BY ALL"
    )
    assert answer == [("blocked", 100, 0), ("found", 200, 1000), ("partial", 200, 5400)]
    told = usp("crawl", "--status", str(tmp_path / "crawl"))
    assert told.code == 0
    assert told.out.splitlines()[:2] == [
        "500 of 500 sites, 4 of 4 shards",
        "outcomes: 200 found, 200 partial, 100 blocked",
    ]


@pytest.mark.thorough  # tests/bulk shows most of it
def test_a_share_of_a_list_leaves_the_others_to_others(tmp_path: Path) -> None:
    with ManySites() as sites:
        file = tmp_path / "domains.csv"
        file.write_text("id,Website\n" + "".join(f"1,{sites.homepage(0)}?{n}\n" for n in range(4)))
        out = str(tmp_path / "crawl")
        share = ("--shards", "2", "--column", "website", *AGENT)
        first = usp("crawl", str(file), "-o", out, "--shard", "1/2", *share)
        told = usp("crawl", "--status", out)
        second = usp("crawl", str(file), "-o", out, "--shard", "2/2", *share)
    assert (first.code, second.code, told.code) == (0, 0, 1)
    assert "1 of 2 shards" in told.out
    assert len(Tables(tmp_path / "crawl").outcomes()) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "x"), "--user-agent is missing: say who you are and how to reach you"),
        (("-o", "x", "--user-agent", "me"), "--user-agent must be who you are"),
        (("--user-agent", USER_AGENT), "--output is missing"),
        (("-o", "x", *AGENT[:2], "--shard", "3/2"), "--shard must be K/N, such as 2/8"),
        (("-o", "x", *AGENT[:2], "--shards", "0"), "--shards must be an integer, at least 1"),
        (("-o", "x", *AGENT[:2], "--retry", "never"), "--retry must be some of found"),
        (("-o", "x", *AGENT[:2], "--previous", "y"), "--previous must be the folder of a crawl"),
        (("-o", "x", *AGENT[:2], "--scheduler", "a:1"), "--scheduler needs the engine dask"),
        (("-o", "x", *AGENT[:2], "--sites-at-once", "0"), "--sites-at-once must be an integer"),
        (("--status",), "There is no crawl in"),
    ],
)
def test_wrong_use_is_one_clear_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "domains.txt"
    file.write_text("example.org\n")
    done = usp(
        "crawl", str(file), *(str(tmp_path / one) if one in "xy" else one for one in arguments)
    )
    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_setting_with_which_no_worker_can_start_is_one_clear_line(tmp_path: Path) -> None:
    file, out = tmp_path / "domains.txt", tmp_path / "crawl"
    file.write_text("example.org\n")
    done = usp("crawl", str(file), "-o", str(out), *AGENT, env={"REQUESTS_CA_BUNDLE": os.devnull})
    assert done.code == 2
    assert done.err.startswith(
        f"usp: error: REQUESTS_CA_BUNDLE: the CA bundle {os.devnull} can't be"
    )
    assert len(done.err.splitlines()) == 1
    assert not out.exists()


def test_the_help_has_the_defaults_of_a_crawl_of_many_sites() -> None:
    text = " ".join(usp("crawl", "--help").out.split())
    connect, wait = CLIENT_SETTINGS["timeout"]
    assert f"wait for bytes (default: {connect:g} and {wait:g})" in text
    assert f"while it is worth it (default: {BulkOptions(USER_AGENT).policy.max_attempts})" in text


@pytest.mark.slow
def test_the_last_line_does_not_count_robots_txt(server: LoopbackServer, tmp_path: Path) -> None:
    server.robots("a.xml", "lost.xml")
    server.site["/a.xml"] = urlset(server.at("page"))
    file, out = tmp_path / "list.txt", tmp_path / "crawl"
    file.write_text(f"{server.url}\n")
    line = ("crawl", str(file), "-o", str(out), *AGENT, "--no-known")
    assert ", 2 sitemaps, 1 page, " in usp(*line).err  # one of them failed
    server.site["/lost.xml"] = urlset(server.at("other"))
    assert ", 2 sitemaps, 2 pages, " in usp(*line, "--retry", "partial").err
    assert ", 2 sitemaps, 2 pages, " in usp(*line, "--retry", "none").err  # nothing to do
