"""``--record``, ``--replay`` and ``--robots`` of the command."""

from pathlib import Path

import pytest

from tests.cli.command import usp
from tests.server import LoopbackServer, urlset


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    server.site = {
        "/robots.txt": "User-agent: *\nDisallow: /b\nUser-agent: mybot\nDisallow: /a\n"
        "Sitemap: /a.xml\nSitemap: /b.xml\n",
        "/a.xml": urlset("https://example.org/a"),
        "/b.xml": urlset("https://example.org/b"),
    }
    return server


def listed(*arguments: str) -> tuple[int, list[str], str]:
    ended = usp(*arguments)
    return ended.code, ended.out.splitlines(), ended.err


def test_a_command_is_recorded_and_replayed(site: LoopbackServer, tmp_path: Path) -> None:
    file = str(tmp_path / "site.warc.gz")
    recorded = listed("ls", "-f", "pages", site.url, "--record", file)
    assert recorded[:2] == (0, ["https://example.org/a", "https://example.org/b"])
    count = len(site.requests)
    assert listed("ls", "-f", "pages", site.url, "--replay", file)[:2] == recorded[:2]
    assert listed("find", site.url, "--replay", file)[0] == 0
    assert len(site.requests) == count


def test_live_pages_are_requested_with_the_same_settings_and_recorded_and_replayed(
    site: LoopbackServer, tmp_path: Path
) -> None:
    file, sent = str(tmp_path / "site.warc.gz"), ("--header", "X-Colour: blue", "--select", "SM9")
    site.site["/a.xml"] = urlset(site.at("gone"))
    recorded = listed("check", site.url, "--live", *sent, "--record", file)
    assert "SM901" in "".join(recorded[1])
    assert {r.headers.get("x-colour") for r in site.requests if r.path == "/gone"} == {"blue"}
    count = len(site.requests)
    for source in ((site.url, "--replay", file), (file,)):
        assert listed("check", *source, "--live", *sent)[:2] == recorded[:2]
    assert len(site.requests) == count


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--record", "{file}"), "site.warc.gz exists already: use --replace\n"),
        (("--replay", "{file}"), "is not a recording"),
        (("--replay", "missing.warc.gz"), "No such file"),
        (("--record", "a.warc.gz", "--replay", "b.warc.gz"), "can't be used together"),
        (("--robots", "maybe"), "obey"),
    ],
)
def test_wrong_use_is_one_clear_line(
    site: LoopbackServer,
    tmp_path: Path,
    options: tuple[str, ...],
    message: str,
) -> None:
    file = tmp_path / "site.warc.gz"
    file.write_text("precious")
    named = [option.format(file=file) for option in options]
    code, out, error = listed("ls", site.url, *named)
    assert (code, out) == (2, [])
    assert message in error
    assert file.read_text() == "precious"


def test_the_command_obeys_robots_txt_for_the_agent_that_it_names(
    site: LoopbackServer,
) -> None:
    obey = ("ls", "-f", "pages", site.url, "--robots", "obey")
    assert listed(*obey)[1] == ["https://example.org/a"]
    assert listed(*obey, "--user-agent", "mybot/1.0")[1] == ["https://example.org/b"]
    ignore = ("ls", "-f", "pages", site.url, "--robots", "ignore")
    assert len(listed(*ignore)[1]) == 2
