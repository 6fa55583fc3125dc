"""Standard input as a source, as a list of sources and as a file of headers; also a closed one."""

import shlex
from pathlib import Path

import pytest

from tests.cli.command import redirected, usp

CLOSED = "there is no standard input"
UNREACHABLE = "http://127.0.0.1:9/"
CRAWL = "crawl - -o {folder}/d --user-agent 'mybot/1.0 (+https://example.org/bot)'"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("export - -o {folder}/x.csv", f"- can't be read: {CLOSED}."),
        ("export --from - -o {folder}/x.csv", f"--from: cannot read -: {CLOSED}"),
        ("sync --from - --state {folder}/s.db", f"--from: cannot read -: {CLOSED}"),
        (f"ls {UNREACHABLE} -H @-", f"--header: cannot read -: {CLOSED}"),
        (f"find {UNREACHABLE} -H @-", f"--header: cannot read -: {CLOSED}"),
        (CRAWL, f"- can't be read: {CLOSED}."),
        ("report - -o {folder}/x.html", f"- can't be read: {CLOSED}."),
    ],
)
def test_a_closed_standard_input_is_one_line(line: str, message: str, tmp_path: Path) -> None:
    ended = redirected("<&-", *shlex.split(line.format(folder=tmp_path)))
    assert (ended.code, ended.out, ended.err) == (2, "", f"usp: error: {message}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_list_of_sources_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    sitemap, listed, out = (tmp_path / name for name in ("a.xml", "list.txt", "x.csv"))
    sitemap.write_text("<urlset><url><loc>https://example.org/1</loc></url></urlset>")
    listed.write_text(f"{sitemap}\n", "utf-8-sig")
    arguments = ["-o", str(out), "--columns", "url"]
    ended = usp("export", "--from", str(listed), *arguments)
    assert (ended.code, out.read_text().split()) == (0, ["url", "https://example.org/1"])
    ended = redirected(
        f"< {shlex.quote(str(listed))}", "export", "--from", "-", *arguments, "--append"
    )
    assert ended.code == 0, ended.err
    assert out.read_text().split() == ["url", *["https://example.org/1"] * 2]
