"""``usp sync`` and ``usp changes`` as processes: output, exit codes, one line for what is wrong."""

import json
import os
import re
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.command import Finished, start, usp
from tests.server import Callback, LoopbackServer, stall
from tests.sync.rounds import NS, PAGES, cut, kept, urlset
from tests.waiting import wait_until
from usp._sync.state import State


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def sync(server: LoopbackServer, state: Path, *args: str) -> Finished:
    return usp("sync", f"{server.url}a.xml", "--state", str(state), *args)


def test_a_first_run_is_a_baseline_and_the_next_prints_changes(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/a.xml"] = kept(urlset("1", "2"))
    first = sync(server, state)
    assert (first.code, first.out) == (0, "")
    assert "a baseline of 2 pages" in first.err
    assert (
        sync(server, state)
        .err.splitlines()[-1]
        .startswith("synced: 1 site, 1 sitemap (1 unchanged), 0 changes, 1 request, 0 B, ")
    )
    server.site["/a.xml"] = kept(urlset("1", "3"))
    second = sync(server, state)
    assert second.out == f"+ added    {PAGES}3\n? missing  {PAGES}2\n"
    assert "2 changes (1 added, 1 missing)" in second.err
    assert sync(server, state, "-q", "-f", "urls") == Finished(0, f"{PAGES}2\n", "")


def test_changes_are_printed_again_from_a_number_on(server: LoopbackServer, state: Path) -> None:
    server.site["/a.xml"] = urlset("1", "2", "3")
    assert len(sync(server, state, "--emit-initial", "-f", "jsonl").out.splitlines()) == 3
    found = usp("changes", "--state", str(state), "--after", "1", "-f", "jsonl")
    assert [json.loads(line)["seq"] for line in found.out.splitlines()] == [2, 3]
    last = usp("changes", "--state", str(state), "--last", "1", "-f", "urls")
    assert last == Finished(0, f"{PAGES}3\n", "")
    none = usp("changes", "--state", str(state), "--emit", "removed")
    assert none == Finished(0, "", "")


def test_a_feed_is_written_to_a_file(server: LoopbackServer, state: Path, tmp_path: Path) -> None:
    server.site["/a.xml"] = urlset("new-bridge")
    feed = tmp_path / "new.xml"
    done = sync(server, state, "--emit-initial", "-f", "atom", "-o", str(feed))
    assert (done.code, done.out) == (0, "")
    assert "<title>New bridge</title>" in feed.read_text()
    again = usp("changes", "--state", str(state), "-f", "atom")
    assert again.out == feed.read_text()


def test_a_feed_without_changes_names_the_site_and_the_last_run(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/a.xml"] = urlset("1")
    before = datetime.now(UTC)
    feed = sync(server, state, "-f", "atom").out
    site = f"{server.url}a.xml".removeprefix("http://")
    assert f"<title>Changes in {site}</title>" in feed
    (updated,) = re.findall("<updated>(.*)</updated>", feed)
    assert before <= datetime.fromisoformat(updated) <= datetime.now(UTC)


def test_what_could_not_be_written_comes_again(
    server: LoopbackServer, state: Path, tmp_path: Path
) -> None:
    server.site["/a.xml"] = urlset("1")
    taken = tmp_path / "there.txt"
    taken.write_text("mine")
    done = sync(server, state, "--emit-initial", "-f", "urls", "-o", str(taken))
    assert done.code == 2
    assert taken.read_text() == "mine"
    assert sync(server, state, "--emit-initial", "-f", "urls").out == f"{PAGES}1\n"


def test_too_many_removals_are_held_back_with_exit_code_3(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/a.xml"] = urlset(*map(str, range(10)))
    sync(server, state)
    server.site["/a.xml"] = urlset("0")
    assert sync(server, state).code == 0
    held = sync(server, state)
    assert (held.code, held.out) == (3, "")
    assert "9 URLs would be removed at once, so none is" in held.err
    allowed = sync(server, state, "--max-removed", "100%")
    assert allowed.code == 0
    assert allowed.out.count("- removed") == 9


@pytest.mark.parametrize(
    "answer", [cut(urlset("1", "2")), urlset("1", "2")[:-20], b"\x00\xff garbage"]
)
def test_a_body_that_is_cut_or_garbage_is_told(
    server: LoopbackServer, state: Path, answer: Callback | bytes
) -> None:
    server.site["/index.xml"] = (
        f"<sitemapindex {NS}><sitemap><loc>{server.url}a.xml</loc></sitemap></sitemapindex>"
    ).encode()
    server.site["/a.xml"] = urlset("1", "2")
    args = (f"{server.url}index.xml", "--state", str(state), "--max-attempts", "1")
    assert "could not be read" not in usp("sync", *args).err
    server.site["/a.xml"] = answer
    done = usp("sync", *args)
    assert done.out == ""
    told = f"1 document could not be read whole ({server.url}a.xml): nothing that was known"
    assert told in done.err


def test_a_robots_txt_that_is_cut_is_told_and_is_no_sitemap(
    server: LoopbackServer, state: Path
) -> None:
    robots = f"User-agent: *\nSitemap: {server.url}a.xml\n".encode()
    server.site["/robots.txt"] = robots
    server.site["/a.xml"] = urlset("1", "2")
    args = (server.url, "--state", str(state), "--max-attempts", "1")
    assert "could not be read" not in usp("sync", *args).err
    server.site["/robots.txt"] = cut(robots)
    done = usp("sync", *args)
    told = f"1 document could not be read whole ({server.url}robots.txt): nothing that was known"
    assert told in done.err
    assert "1 site (1 partial), 0 sitemaps (" in done.err


def test_a_site_whose_only_sitemap_is_empty_has_none(server: LoopbackServer, state: Path) -> None:
    server.site["/robots.txt"] = f"Sitemap: {server.url}a.xml"
    server.site["/a.xml"] = b""
    done = usp("sync", server.url, "--state", str(state))
    assert done.code == 1
    assert done.messages == [f"usp: {server.url}: no sitemap found"]


def test_the_first_pages_are_no_baseline_if_they_are_printed(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/a.xml"] = urlset("1")
    done = sync(server, state, "--emit-initial")
    assert done.out == f"+ added    {PAGES}1\n"
    assert "baseline" not in done.err


def test_a_recording_of_a_sync_can_be_compared(
    server: LoopbackServer, state: Path, tmp_path: Path
) -> None:
    pytest.importorskip("warcio")
    server.site["/a.xml"] = urlset("1")
    recording = str(tmp_path / "sync.warc.gz")
    sync(server, state, "--record", recording)
    server.site["/a.xml"] = urlset("1", "2")
    assert usp("diff", recording, f"{server.url}a.xml", "-q").out == f"+ added    {PAGES}2\n"


def test_why_a_sitemap_could_not_be_read_is_told(server: LoopbackServer, state: Path) -> None:
    server.site["/a.xml"] = urlset("1")
    sync(server, state)
    server.site["/a.xml"] = 503
    done = sync(server, state, "--max-attempts", "1")
    assert done.code == 3
    assert "503 Service Unavailable): what is known of it stays" in done.err


def test_a_robots_txt_that_disallows_everything_is_told(
    server: LoopbackServer, state: Path
) -> None:
    server.site["/robots.txt"] = "User-agent: *\nDisallow: /\n"
    ended = usp("sync", server.url, "--state", str(state), "--robots", "obey")
    assert ended.code == 3
    assert any("blocked (robots.txt disallows it for " in line for line in ended.messages)


def test_a_limit_that_ends_the_crawl_is_named_and_strict_makes_it_exit_code_3(
    server: LoopbackServer, state: Path
) -> None:
    server.robots("a.xml")
    server.site["/a.xml"] = stall
    args = ("sync", server.url, "--state", str(state), "--max-seconds", "0.4")
    done = usp(*args)
    assert (done.code, done.out) == (0, "")
    unread = f"1 sitemap could not be read ({server.at('a.xml')}: no response before the crawl"
    assert unread in done.err
    limit = f"usp: {server.url}: limit reached: The crawl took more than 0.4 seconds: "
    assert f"{limit}what was not read stays as it is known\n" in done.err
    assert done.err.splitlines()[-1].startswith("synced: 1 site (1 partial), 0 sitemaps (0 ")
    assert "baseline" not in done.err
    strict = usp(*args, "--strict", "-q")
    assert strict.code == 3
    assert limit in strict.err


def test_a_damaged_sitemap_is_named_and_sites_are_counted_by_outcome(
    server: LoopbackServer, state: Path, tmp_path: Path
) -> None:
    sources = [server.at(path) for path in ("/a.xml", "/b.xml", "/c.xml", "/d.xml")]
    server.site.update({"/a.xml": urlset("1"), "/b.xml": urlset("2")[:-12], "/c.xml": 403})
    listed = tmp_path / "sites.txt"
    listed.write_text("\n".join(sources), "utf-8")
    done = usp("sync", "--from", str(listed), "--state", str(state), "-s", "--max-attempts", "1")
    line = f"usp: {sources[1]}: 1 document could not be read whole ({sources[1]}): nothing that"
    assert line in done.err
    last = done.err.splitlines()[-1]
    assert last.startswith("synced: 4 sites (1 partial, 1 none, 1 blocked), ")
    assert last.endswith(f"; partial: 1 document incomplete: {sources[1]}")
    assert done.code == 1  # one site has no sitemap


@pytest.mark.parametrize("option", ["--since", "--until", "--undated", "--kind", "--limit"])
def test_an_option_that_would_leave_pages_out_is_not_offered(option: str) -> None:
    assert option not in usp("sync", "--help").out
    assert f"{option} can't be used here: whole sitemaps are compared" in usp("sync", option).err


def test_many_sites_of_a_file_share_a_state(
    server: LoopbackServer, state: Path, tmp_path: Path
) -> None:
    names = "abc"
    for name in names:
        server.site[f"/{name}.xml"] = urlset(name)
    listed = tmp_path / "sites.txt"
    listed.write_text("# news\n" + "".join(f"{server.url}{name}.xml\n" for name in names))
    args = ("sync", "--from", str(listed), "--state", str(state), "--jitter", "0.01")
    assert usp(*args).err.splitlines()[-1].startswith("synced: 3 sites, 3 sitemaps")
    server.site["/b.xml"] = urlset("b", "b2")
    server.site["/c.xml"] = 503
    done = usp(*args, "--max-attempts", "1", "-f", "urls")
    assert (done.code, done.out) == (3, f"{PAGES}b2\n")
    assert "503 Service Unavailable): what is known of it stays" in done.err


def test_a_state_in_a_missing_folder_is_wrong_use(tmp_path: Path) -> None:
    ended = usp("sync", "http://127.0.0.1:9/", "--state", str(tmp_path / "lost" / "state.db"))
    assert ended.code == 2
    assert "there is no folder" in ended.err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("option", ["--concurrency=32", "--concurrency=1", "--sites-at-once=1"])
def test_ctrl_c_ends_the_runs_of_silent_sites_and_a_site_that_is_done_stays_so(
    server: LoopbackServer, state: Path, option: str
) -> None:
    server.site |= {"/a.xml": urlset("1"), "/b.xml": stall}
    urls = [server.at("/a.xml"), server.at("/b.xml")]
    printed = f"+ added    {PAGES}1\n"
    command = ("sync", *urls, "--state", str(state), "--emit-initial", "-q", "-k")
    with start(*command, option) as process:
        assert process.stdout is not None
        assert process.stdout.readline().decode() == printed
        wait_until(lambda: "/b.xml" in server.requested)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        out, err = process.communicate(timeout=30)
    assert time.monotonic() - started < 15
    assert (process.returncode, out.decode(), err.decode()) == (130, "", "")
    server.site["/b.xml"] = urlset("2")
    assert usp(*command) in (
        # The last change that was printed may not be recorded yet: it comes at least once.
        Finished(0, f"+ added    {PAGES}2\n", ""),
        Finished(0, f"{printed}+ added    {PAGES}2\n", ""),
    )


@pytest.mark.slow
def test_a_state_that_another_process_uses_is_one_line_and_exit_code_3(
    server: LoopbackServer, state: Path
) -> None:
    opened = State.open_to_run(state)
    try:
        done = sync(server, state)
    finally:
        opened.close()
    assert done.code == 3
    assert done.err == f"usp: error: {state} is used by another process.\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("sync", "example.org"), "--state is missing"),
        (("sync", "--state", "s.db"), "there is no source"),
        (("changes",), "--state is missing"),
        (("sync", "example.org", "--state", "s.db", "--limit", "5"), "--limit can't be used here"),
        (("sync", "example.org", "--state", "s.db", "--since", "2d"), "--since can't be used"),
        (("sync", "example.org", "--state", "s.db", "--confirm", "0"), "--confirm must be"),
        (("sync", "example.org", "--state", "s.db", "--max-removed", "x"), "--max-removed must"),
        (
            ("sync", "example.org", "--state", "s.db", "--emit", "new"),
            "--emit must be some of",
        ),
        (("sync", "example.org", "--state", "s.db", "--keep", "x"), "--keep must be"),
        (
            ("sync", "example.org", "--state", "s.db", "-f", "atom", "-o", "a.xml", "--append"),
            "-f atom can't be used with --append",
        ),
        (
            ("changes", "--state", "s.db", "-f", "atom", "-o", "a.xml", "--append"),
            "-f atom can't be used with --append",
        ),
        (("changes", "--state", "none.db"), "none.db is not there"),
        (("changes", "--state", "none.db", "--after", "-1"), "--after must be"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    args: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = usp(*args, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are Unicode there")
def test_a_file_name_that_is_not_utf_8_is_one_line(tmp_path: Path) -> None:
    name = os.fsdecode(b"a\xff.xml")
    (tmp_path / name).write_text("https://example.org/\n")
    ended = usp("sync", name, "--state", "s.db", cwd=tmp_path)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "is not UTF-8" in ended.err
