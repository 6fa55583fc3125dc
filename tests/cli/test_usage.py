"""Help, version, arguments, and URLs as people type them."""

from pathlib import Path

import pytest

import usp as package
from tests.cli.command import usp
from tests.server import urlset
from usp.cli._arguments import COMMANDS
from usp.cli._source import site_url
from usp.cli.cli import parse_args
from usp.exceptions import SitemapException


def test_usp_without_arguments_prints_the_help() -> None:
    ended = usp()
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == usp("--help").out
    assert ended.out.startswith("usage: usp ")


def test_every_command_is_in_the_help() -> None:
    out = usp().out
    names = ["ls", "export", "find", "check", "rule", "sync", "changes", "diff", "crawl", "report"]
    names += ["completion", "demo"]
    assert [command.name for command in COMMANDS] == names
    assert all(f"    {command.name} " in out for command in COMMANDS)
    assert all(command.summary in out for command in COMMANDS)


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_every_command_has_help(command: str) -> None:
    ended = usp(command, "-h")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"usage: usp {command}")


@pytest.mark.parametrize("option", ["-v", "--version"])
def test_version(option: str) -> None:
    ended = usp(option)
    assert (ended.code, ended.out, ended.err) == (0, f"usp v{package.__version__}\n", "")


def test_parse_args_returns_the_arguments_and_the_parser() -> None:
    args, parser = parse_args(["ls", "example.org", "-rku", "-vv", "-l", "x.log", "-f", "pages"])
    given = {name: value for name, value in vars(args).items() if value is not None}
    assert given.pop("command").name == "ls"
    assert given == {
        "source": "example.org",
        "format": "pages",
        "no_robots": True,
        "no_known": True,
        "strip_url": True,
        "verbose": 2,
        "log_file": "x.log",
    }
    assert parser.prog == "usp"


@pytest.mark.parametrize(
    ("typed", "sources"),
    [
        ("export a.xml -o x.csv b.xml --unique c.xml", ["a.xml", "b.xml", "c.xml"]),
        ("export -o x.csv a.xml b.xml", ["a.xml", "b.xml"]),
        ("export -o x.csv -- -a.xml b.xml", ["-a.xml", "b.xml"]),
        ("export a.xml -o x.csv -- -b.xml", ["a.xml", "-b.xml"]),
        ("sync a.xml --state s.db b.xml", ["a.xml", "b.xml"]),
    ],
)
def test_options_and_sources_come_in_any_order(typed: str, sources: list[str]) -> None:
    args, _ = parse_args(typed.split())
    assert args.source == sources


ACCEPTED = {
    "https://example.org/": "https://example.org/",
    "http://example.org": "http://example.org",
    "HTTP://EXAMPLE.ORG/x": "HTTP://EXAMPLE.ORG/x",
    "http://intranet/": "http://intranet/",
    " https://example.org/ ": "https://example.org/",
    "example.org": "https://example.org",
    "example.org.": "https://example.org.",
    "example.org/shop?a=1": "https://example.org/shop?a=1",
    "example.org/go?to=http://other.example/": "https://example.org/go?to=http://other.example/",
    "münchen.example": "https://münchen.example",
    "localhost": "https://localhost",
    "localhost:8000": "https://localhost:8000",
    "intranet:8000": "https://intranet:8000",
    "127.0.0.1:8000/x": "https://127.0.0.1:8000/x",
    "[::1]:8000": "https://[::1]:8000",
}


@pytest.mark.parametrize("typed", ACCEPTED)
def test_an_accepted_url(typed: str) -> None:
    assert site_url(typed) == ACCEPTED[typed]


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "foo",
        "a b.example",
        "//example.org/",
        "/etc/hosts",
        "./sitemap.xml",
        "two..dots",
        "mailto:someone@example.org",
        "ftp://example.org/",
        "https://",
        "https:///path",
        "https://exa mple.org/",
        "https://example.org:99999/",
        "https://[::1/",
        "example.org:0",
        "https://.example.org/",
        "https://exa%20mple.org/",
    ],
)
def test_a_url_that_is_not_a_website_is_rejected(typed: str) -> None:
    with pytest.raises(SitemapException, match="is not the URL of a website"):
        site_url(typed)


@pytest.mark.parametrize("command", [("report",), ("diff", "l.txt"), ("ls",), ("check",)])
@pytest.mark.parametrize("url", ["http://[::1/", "http://a]b/", "http://u:PW\uff20h/"])
def test_a_malformed_url_is_one_line(
    command: tuple[str, ...], url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("l.txt").write_text("http://h.example/\n", encoding="utf-8")
    ended = usp(*command, url)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert "PW" not in ended.err


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("ls", "--config", ""),
        ("ls", "--replay", ""),
        ("ls", "--log-file", ""),
        ("ls", "--output", ""),
        ("check", "--require", ""),
        ("ls", "--proxy", "("),
        ("check", "--live", "0"),
    ],
)
def test_a_wrong_value_is_one_line_though_a_file_may_not_need_it(
    command: str, option: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text("http://h.example/\n", encoding="utf-8")
    ended = usp(command, "s.txt", f"{option}={value}")
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert option in ended.err


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file that fails when read")
@pytest.mark.parametrize(
    "command",
    [["ls"], ["find"], ["check"], ["report"], ["diff", "a.xml"], ["sync", "--state", "s.db"]],
    ids=lambda words: words[0],
)
def test_a_source_that_fails_when_it_is_read_is_wrong_use(
    tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "a.xml").write_bytes(urlset("https://example.org/"))
    ended = usp(*command, "/proc/self/mem", cwd=tmp_path)
    message = "usp: error: /proc/self/mem can't be read: Input/output error.\n"
    assert (ended.code, ended.out, ended.err) == (2, "", message)
