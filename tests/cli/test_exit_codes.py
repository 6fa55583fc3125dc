"""The exit codes, and the line on stderr that explains each."""

import os
import socket
from pathlib import Path

import pytest

from tests.cli.command import USP, run, script, usp
from tests.server import Answer, Handler, LoopbackServer, index, urlset
from tests.servers import raw
from usp.cli.cli import main

PAGES = ("one", "two", "three")


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_0_if_every_sitemap_was_read(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    ended = usp("ls", server.url)
    assert (ended.code, ended.messages) == (0, [])
    assert ended.found == "found: 1 sitemap, 1 page"


def test_0_and_a_message_if_some_sitemaps_could_not_be_read(server: LoopbackServer) -> None:
    server.robots("/i.xml")
    lost = [server.at(f"/lost-{n}.xml") for n in range(2)]
    server.site["/i.xml"] = index(server.at("/a.xml"), *lost)
    server.site["/a.xml"] = urlset(server.at("/one"))
    ended = usp("ls", server.url, "-f", "pages")
    assert (ended.code, ended.out) == (0, f"{server.at('/one')}\n")
    assert ended.messages == [f"usp: {url}: 404 Not Found" for url in lost]
    assert ended.partial == "partial: 2 sitemaps could not be read"
    assert ended.found == "found: 4 sitemaps (2 failed), 1 page, 2 problems"


@pytest.mark.slow
def test_0_and_a_message_with_each_cause_if_the_tree_is_partial(server: LoopbackServer) -> None:
    def close_early(handler: Handler) -> None:
        whole = urlset(server.at("/two"), server.at("/three"))
        handler.send(Answer(body=whole[:-5], headers={"Content-Length": str(len(whole))}))

    server.robots("/a.xml", "/truncated.xml", "/lost.xml")
    server.site |= {"/a.xml": urlset(server.at("/one")), "/truncated.xml": close_early}
    ended = usp("ls", server.url, "-k", "-f", "pages")
    assert (ended.code, ended.out.split()) == (0, [server.at(f"/{n}") for n in PAGES])
    truncated = server.at("/truncated.xml")
    assert ended.partial is not None
    assert ended.partial.startswith(
        f"partial: 1 sitemap could not be read; 1 sitemap incomplete: {truncated} "
        "(the body is truncated: "
    )
    assert ended.messages[-1].startswith(f"usp: {truncated}: the body is truncated: ")


def test_3_if_the_tree_is_partial_and_that_is_not_enough(server: LoopbackServer) -> None:
    server.robots("/a.xml", "/lost.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    ended = usp("ls", server.url, "-k", "-f", "pages", "--strict")
    assert (ended.code, ended.out) == (3, f"{server.at('/one')}\n")
    assert ended.partial == "partial: 1 sitemap could not be read"
    server.robots("/a.xml")
    assert usp("ls", server.url, "-k", "--strict").code == 0


def test_0_and_a_message_if_no_page_is_listed(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset()
    ended = usp("ls", server.url, "-k", "-f", "pages")
    assert (ended.code, ended.out) == (0, "")
    assert ended.messages == [f"usp: the sitemaps of {server.url} list no pages"]
    assert ended.found == "found: 1 sitemap, 0 pages"


def test_1_if_there_is_no_sitemap(server: LoopbackServer) -> None:
    ended = usp("ls", server.url)
    assert (ended.code, ended.out) == (1, f"{server.url}\n")
    assert ended.messages == [f"usp: no sitemap found at {server.url}"]


def test_1_if_every_discovery_stage_is_disabled(server: LoopbackServer) -> None:
    ended = usp("ls", server.url, "-r", "-k")
    assert (ended.code, ended.out, server.requested) == (1, f"{server.url}\n", [])


WRONG_URLS = ["foo", "", "not a url", "http://", "http://h:port/", "ftp://example.org/"]


@pytest.mark.parametrize("url", WRONG_URLS)
def test_2_and_one_message_for_a_url_that_is_not_a_website(url: str) -> None:
    ended = usp("ls", url)
    assert (ended.code, ended.out) == (2, "")
    (line,) = ended.err.splitlines()
    assert line.startswith(f"usp: error: {url!r} is not the URL of a website")


@pytest.mark.parametrize(
    ("command", "option"),
    [
        *[("export", "--output"), ("ls", "--output"), ("report", "--output")],
        *[("sync", "--state"), ("find", "--record")],
    ],
)
def test_2_if_the_log_goes_into_another_file_that_is_written(
    server: LoopbackServer, tmp_path: Path, command: str, option: str
) -> None:
    file = tmp_path / "pages.csv"
    ended = usp(command, server.url, option, str(file), "-l", str(file))
    assert (ended.code, ended.out, server.requested) == (2, "", [])
    assert f"{option} and --log-file name the same file" in ended.err
    assert not file.exists()


@pytest.mark.parametrize("command", ["export", "ls", "find", "check", "report", "sync", "diff"])
def test_2_if_the_recording_and_the_output_are_one_file(
    server: LoopbackServer, tmp_path: Path, command: str
) -> None:
    file, link = tmp_path / "pages.csv", tmp_path / "link.csv"
    link.symlink_to(file)
    more = {"sync": ["--state", str(tmp_path / "x.db")], "diff": [server.url]}.get(command, [])
    ended = usp(command, server.url, *more, "--record", str(link), "-o", str(file), "--replace")
    assert (ended.code, ended.out, server.requested) == (2, "", [])
    assert ended.err == f"usp: error: --record and --output name the same file: {file}\n"
    assert not file.exists()


SAME_FILE = [
    ("export {file} -o {file} -f csv", "--output and SOURCE"),
    ("export {file} -o {link} -f csv --append", "--output and SOURCE"),
    ("export --from {file} -o {file} -f csv", "--from and --output"),
    ("export --from {list} -o {file} -f csv", "--output and a source"),
    ("ls {file} -o {file}", "--output and SOURCE"),
    ("ls {site} -o {file} -H @{file}", "--header and --output"),
    ("ls {site} -l {file} --replay {file}", "--replay and --log-file"),
    ("find {site} -o {file} --replay {file}", "--replay and --output"),
    ("find {site} -o {config} --config {config}", "--output and --config"),
    ("check {site} -o {file} --require {file}", "--require and --output"),
    ("check {file} --baseline {file} --write-baseline", "--baseline and SOURCE"),
    ("sync {file} --state {file}", "--state and SOURCE"),
    ("changes --state {file} -o {file}", "--state and --output"),
    ("diff {site} {file} -o {file}", "--output and B"),
    ("diff {file}@-1 {site} -o {file}", "--output and A"),
    ("report {file} -o {file} -f html", "--output and SOURCE"),
    ("report {site} --state {file} -o {file} -f html", "--state and --output"),
    ("crawl {file} -o {folder}/crawl -l {file}", "--log-file and DOMAINS"),
]
"""Commands that write a file which they also read."""


@pytest.mark.parametrize(("line", "names"), SAME_FILE)
def test_2_if_a_file_that_is_read_is_written(
    line: str,
    names: str,
    server: LoopbackServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = {name: tmp_path / name for name in ("file", "link", "list", "config")}
    paths["file"].write_text("<urlset/>")
    paths["link"].symlink_to(paths["file"])
    paths["list"].write_text(str(paths["file"]))
    paths["config"].write_text("per-host = 1\n")
    arguments = line.format(site=server.url, folder=tmp_path, **paths).split()
    can_replace = arguments[0] != "crawl" and "--append" not in arguments
    with pytest.raises(SystemExit) as ended:
        main([*arguments, *(["--replace"] if can_replace else [])])
    named = paths["config" if "{config}" in line else "file"]
    err = capsys.readouterr().err
    assert (ended.value.code, server.requested) == (2, [])
    assert err.startswith(f"usp: error: {names} name the same file: ")
    assert err.rstrip().endswith((str(named), str(paths["link"])))
    assert paths["file"].read_text() == "<urlset/>"


@pytest.mark.parametrize(
    "line",
    [
        "export {site} -o {folder}/ -f csv --record {folder}/pages.csv",
        "export --from {folder}/sites.csv -o {folder}/ -f csv",
        "check {folder} -o {folder}/pages.csv -f jsonl",
    ],
)
def test_2_if_a_table_in_a_folder_is_named_again(
    line: str, server: LoopbackServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("pages.csv", "sites.csv"):
        (tmp_path / name).write_text("url\n")
    arguments = line.format(site=server.url, folder=tmp_path).split()
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--replace"])
    assert (ended.value.code, server.requested) == (2, [])
    assert " name the same file: " in capsys.readouterr().err
    assert (tmp_path / "sites.csv").read_text() == "url\n"


def test_3_and_the_file_of_yesterday_if_nothing_could_be_compared(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.site["/robots.txt"] = server.site["/"] = 403
    server.otherwise = lambda _: 403
    (tmp_path / "urls.txt").write_text("http://h.example/1\n")
    kept = tmp_path / "kept"
    kept.write_text("yesterday")
    options = ("-o", str(kept), "--replace", "--max-attempts", "1")
    assert usp("diff", str(tmp_path / "urls.txt"), server.url, *options).code == 3
    assert kept.read_text() == "yesterday"


def test_2_if_the_config_file_that_was_found_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("usp.toml").write_text("per-host = 1\n")
    with pytest.raises(SystemExit) as ended:
        main(["ls", "http://127.0.0.1:9/", "-o", "usp.toml", "--replace"])
    message = "usp: error: --output and --config name the same file: usp.toml\n"
    assert (ended.value.code, capsys.readouterr().err) == (2, message)


def test_one_file_may_be_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.xml").write_text("<urlset><url><loc>https://example.org/</loc></url></urlset>")
    Path("list").write_text("a.xml\n")
    main(["export", "a.xml", "--from", "list", "-o", "x.csv", "-q"])
    assert Path("x.csv").read_text().count("example.org") == 2
    assert capsys.readouterr().err == ""


def test_2_if_the_log_file_cannot_be_opened(server: LoopbackServer, tmp_path: Path) -> None:
    log = tmp_path / "no" / "such" / "folder" / "log"
    ended = usp("ls", server.url, "-l", str(log))
    assert (ended.code, ended.out, server.requested) == (2, "", [])
    (line,) = ended.err.splitlines()
    assert line.startswith(f"usp: error: --log-file: cannot write {log}: ")


@pytest.mark.parametrize("args", [["nothing"], ["ls"], ["ls", "h.example", "-f", "x"], ["--what"]])
def test_2_and_one_message_for_wrong_arguments(args: list[str]) -> None:
    ended = usp(*args)
    assert (ended.code, ended.out) == (2, "")
    (line,) = ended.err.splitlines()
    assert line.startswith("usp: error: ")
    assert line.endswith("--help explains the usage")


def test_2_and_one_message_for_a_ca_bundle_that_is_none(server: LoopbackServer) -> None:
    site = server.url.replace("http:", "https:")
    ended = usp("ls", site, env={"REQUESTS_CA_BUNDLE": os.devnull})
    assert (ended.code, ended.out, server.requested) == (2, "", [])
    assert ended.err.startswith(f"usp: error: REQUESTS_CA_BUNDLE: the CA bundle {os.devnull} can't")
    assert len(ended.err.splitlines()) == 1


def test_3_if_the_site_blocks(server: LoopbackServer) -> None:
    server.otherwise = 403
    ended = usp("ls", server.url)
    assert ended.code == 3
    (line,) = ended.messages
    assert line.startswith(f"usp: blocked: {server.at('/robots.txt')}: ")
    assert "403" in line


def test_3_if_the_site_is_unreachable() -> None:
    url = f"http://127.0.0.1:{closed_port()}/"
    ended = usp("ls", url, "-k")
    assert (ended.code, ended.out) == (3, f"{url}\n")
    (line,) = ended.err.splitlines()
    assert line.startswith(f"usp: unreachable: {url}robots.txt: ")
    assert "refused" in line.lower()
    assert "Pool" not in line


def test_the_tried_format_lists_every_attempt_at_an_unreachable_site() -> None:
    ended = usp("ls", f"http://127.0.0.1:{closed_port()}/", "-f", "tried")
    lines = [line.split("\t") for line in ended.out.splitlines()]
    assert {line[0] for line in lines} == {"unreachable"}
    assert {line[1] for line in lines} == {"robots.txt", "known paths", "homepage"}
    assert all("refused" in line[3] and "Caused by" not in line[3] for line in lines)
    assert ended.code == 3


def test_an_unreachable_host_is_reported_once() -> None:
    ended = usp("ls", f"http://127.0.0.1:{closed_port()}")
    assert (ended.code, len(ended.err.splitlines())) == (3, 1)


def test_a_bare_domain_means_https() -> None:
    port = closed_port()
    ended = usp("ls", f"127.0.0.1:{port}", "-k")
    assert (ended.code, ended.out) == (3, f"https://127.0.0.1:{port}/\n")


def test_main_returns_to_a_program_that_calls_it(server: LoopbackServer) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    program = "import sys; from usp.cli.cli import main; print(main(sys.argv[1:]), 'returned')"
    ended = script(program, "ls", server.url, "-f", "pages")
    assert (ended.code, ended.out) == (0, f"{server.at('/one')}\nNone returned\n")


@pytest.mark.parametrize("word", ["(Caused by '", "'x(host=): ", "'"])
def test_a_long_reason_phrase_costs_little(server: LoopbackServer, word: str) -> None:
    """The process may take 10 s of CPU time; once it took as long for a third of the phrase."""
    phrase = "(Caused by " + word * (30_000 // len(word))
    server.otherwise = raw(f"HTTP/1.1 403 {phrase}\r\nContent-Length: 0\r\n\r\n".encode())
    ended = run("/bin/sh", "-c", 'ulimit -t 10; exec "$@"', "sh", *USP, "ls", server.url, "-k")
    assert ended.code == 3
    (line,) = ended.messages
    assert line.startswith(f"usp: blocked: {server.at('/robots.txt')}: ")
