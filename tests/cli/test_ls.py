"""``usp ls``: its output, option by option."""

import re
from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.command import redirected, script, usp
from tests.server import LoopbackServer, index, urlset
from usp._crawl.discovery import KNOWN_PATHS


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    """A small site without faults: an index in robots.txt, and one sitemap at a known path."""
    server.robots("/index.xml")
    server.site |= {
        "/index.xml": index(server.at("/a.xml"), server.at("/b.xml")),
        "/a.xml": urlset(server.at("/one"), server.at("/two?a=1&b=2")),
        "/b.xml": urlset(server.at("/three"), "http://other.example/é"),
        "/sitemap.xml": urlset(server.at("/known")),
    }
    return server


def expanded(text: str, server: LoopbackServer) -> str:
    """The expected output, from a text with ``>`` for tabs and ``~`` for the server's URL."""
    return dedent(text).lstrip("\n").replace(">", "\t").replace("~", server.url.rstrip("/"))


TREE = """
    ~/
    >~/robots.txt
    >>~/index.xml
    >>>~/a.xml
    >>>>~/one
    >>>>~/two?a=1&b=2
    >>>~/b.xml
    >>>>~/three
    >>>>http://other.example/é
    >~/sitemap.xml
    >>~/known
    """


@pytest.mark.parametrize("options", [[], ["-f", "tabtree"], ["--format=tabtree"]])
def test_tabtree_nests_with_tabs(site: LoopbackServer, options: list[str]) -> None:
    ended = usp("ls", site.url, *options)
    assert ended.out == expanded(TREE, site)
    assert (ended.code, ended.messages) == (0, [])
    assert ended.found == "found: 4 sitemaps, 5 pages"


def test_the_pages_format_prints_pages_only(site: LoopbackServer) -> None:
    ended = usp("ls", site.url, "-f", "pages")
    assert ended.out == expanded(
        """
        ~/one
        ~/two?a=1&b=2
        ~/three
        http://other.example/é
        ~/known
        """,
        site,
    )
    assert (ended.code, ended.messages) == (0, [])
    assert ended.found == "found: 4 sitemaps, 5 pages"


def test_the_tried_format_prints_result_stage_url_and_reason(site: LoopbackServer) -> None:
    site.robots("/a.xml", "/lost.xml")
    ended = usp("ls", site.url, "-u", "-f", "tried")
    first, *rest = [line.split("\t") for line in ended.out.splitlines()]
    assert first == ["sitemap", "robots.txt", "/robots.txt", ""]
    assert rest[:3] == [
        ["sitemap", "robots.txt", "/a.xml", ""],
        ["missing", "robots.txt", "/lost.xml", "404 Not Found"],
        ["sitemap", "known paths", "/sitemap.xml", ""],
    ]
    assert {tuple(line[:2] + line[3:]) for line in rest[3:]} == {
        ("missing", "known paths", "404 Not Found")
    }
    assert ended.code == 0
    assert ended.partial == "partial: 1 sitemap could not be read"
    assert ended.found == "found: 3 sitemaps (1 failed), 3 pages, 1 problem"


@pytest.mark.parametrize("option", ["-u", "--strip-url"])
def test_strip_url_keeps_the_first_line(site: LoopbackServer, option: str) -> None:
    first, rest = expanded(TREE, site).split("\n", 1)
    stripped = rest.replace(site.url.rstrip("/"), "")
    assert usp("ls", site.url, option).out == f"{first}\n{stripped}"


def test_strip_url_with_the_pages_format(site: LoopbackServer) -> None:
    ended = usp("ls", site.url, "-u", "-f", "pages")
    assert ended.out == "/one\n/two?a=1&b=2\n/three\nhttp://other.example/é\n/known\n"


def test_strip_url_leaves_other_hosts_and_query_strings_alone(server: LoopbackServer) -> None:
    home = server.url.rstrip("/")
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(home, f"{home}/x?of={home}/y", f"{home}0/z", f"{home}//w")
    ended = usp("ls", home, "-k", "-u", "-f", "pages")
    assert ended.out.splitlines() == ["/", f"/x?of={home}/y", f"{home}0/z", "//w"]


@pytest.mark.parametrize("option", ["-r", "--no-robots"])
def test_without_robots(site: LoopbackServer, option: str) -> None:
    ended = usp("ls", site.url, option)
    assert ended.out == expanded("~/\n>~/sitemap.xml\n>>~/known\n", site)
    assert "/robots.txt" not in site.requested


@pytest.mark.parametrize("option", ["-k", "--no-known"])
def test_without_known_paths(site: LoopbackServer, option: str) -> None:
    ended = usp("ls", site.url, option)
    assert ended.out == expanded(TREE, site).partition(f"\t{site.at('/sitemap.xml')}")[0]
    assert sorted(site.requested) == ["/a.xml", "/b.xml", "/index.xml", "/robots.txt"]


FURTHER: list[tuple[list[str], list[str]]] = [
    ([], []),
    (["--homepage"], ["/named"]),
    (["--newer"], ["/newer"]),
    (["--newer", "--homepage"], ["/named", "/newer"]),
    (["--no-newer", "--no-homepage"], []),
]


@pytest.mark.parametrize(("options", "more"), FURTHER)
def test_further_discovery_stages_by_option(
    site: LoopbackServer, options: list[str], more: list[str]
) -> None:
    site.site["/"] = "<!DOCTYPE html><link rel=sitemap href=/named.xml>"
    site.site["/named.xml"] = urlset(site.at("/named"))
    site.site["/wp-sitemap.xml"] = urlset(site.at("/newer"))
    found = usp("ls", site.url, "-u", "-f", "pages", "-k", *options).out.splitlines()
    assert found[4:] == more


def test_further_discovery_stages_can_be_disabled(server: LoopbackServer) -> None:
    assert usp("ls", server.url, "--no-newer", "--no-homepage").code == 1
    assert sorted(server.requested) == sorted(
        ["/robots.txt", *(f"/{path}" for path in KNOWN_PATHS)]
    )


def test_the_path_of_the_url_is_dropped_with_a_message(site: LoopbackServer) -> None:
    ended = usp("ls", site.at("/some/page?x=1"), "-f", "pages", "-k")
    assert ended.out.splitlines()[0] == site.at("/one")
    assert ended.code == 0
    assert ended.messages == [f"usp: reading the site {site.url} (use -s to read one sitemap)"]


def test_an_index_with_pages_prints_them_before_its_sitemaps(server: LoopbackServer) -> None:
    own = f"<url><loc>{server.at('/own')}</loc></url></sitemapindex>".encode()
    server.robots("/i.xml")
    server.site |= {
        "/i.xml": index(server.at("/a.xml")).replace(b"</sitemapindex>", own),
        "/a.xml": urlset(server.at("/one")),
    }
    ended = usp("ls", server.url, "-k")
    assert ended.out == expanded(
        "~/\n>~/robots.txt\n>>~/i.xml\n>>>~/own\n>>>~/a.xml\n>>>>~/one\n", server
    )


@pytest.mark.parametrize(
    ("options", "levels"),
    [([], set()), (["-v"], {"INFO"}), (["--verbose"], {"INFO"}), (["-vv"], {"INFO", "DEBUG"})],
)
def test_verbose_logs_to_stderr(site: LoopbackServer, options: list[str], levels: set[str]) -> None:
    ended = usp("ls", site.url, *options)
    assert set(re.findall(r"^(\w+):usp\.", ended.err, re.MULTILINE)) == levels
    assert ended.out == expanded(TREE, site)


def test_a_failure_is_one_line_by_default(site: LoopbackServer) -> None:
    del site.site["/b.xml"]
    failed = f"usp: {site.at('/b.xml')}: 404 Not Found"
    ended = usp("ls", site.url)
    assert ended.messages == [failed]
    assert ended.partial == "partial: 1 sitemap could not be read"
    assert ended.found == "found: 4 sitemaps (1 failed), 3 pages, 1 problem"


def test_a_failure_is_logged_if_there_is_a_log(site: LoopbackServer) -> None:
    del site.site["/b.xml"]
    ended = usp("ls", site.url, "-v")
    assert re.search(r"^WARNING:usp\..*/b\.xml", ended.err, re.MULTILINE)
    assert ended.messages == []
    assert ended.partial == "partial: 1 sitemap could not be read"


def test_the_first_ten_failures_are_printed(server: LoopbackServer) -> None:
    server.robots(*(f"/lost-{n}.xml" for n in range(12)), "/a.xml")
    server.site["/a.xml"] = urlset(server.at("/one"))
    ended = usp("ls", server.url, "-k")
    *first, more = ended.messages
    assert first == [f"usp: {server.at(f'/lost-{n}.xml')}: 404 Not Found" for n in range(10)]
    assert more == "usp: and 2 more: -v shows all of them"
    assert ended.partial == "partial: 12 sitemaps could not be read"


def test_a_blocked_robots_txt_is_reported(site: LoopbackServer) -> None:
    site.site["/robots.txt"] = 403
    ended = usp("ls", site.url)
    assert ended.code == 0
    assert ended.messages == [f"usp: {site.at('/robots.txt')}: 403 Forbidden"]


def test_a_homepage_without_a_slash_prints_no_message(site: LoopbackServer) -> None:
    assert usp("ls", site.url.rstrip("/"), "-k").messages == []


@pytest.mark.parametrize("option", ["-l", "--log-file"])
def test_a_log_file_replaces_the_log_on_stderr(
    site: LoopbackServer, tmp_path: Path, option: str
) -> None:
    log = tmp_path / "usp.log"
    log.write_text("before\n")
    ended = usp("ls", site.url, "-v", option, str(log))
    assert (ended.code, ended.err.count("\n")) == (0, 1)
    assert ended.found.startswith("found: ")
    assert ended.out == expanded(TREE, site)
    before, *lines = log.read_text(encoding="utf-8").splitlines()
    assert before == "before"
    assert any(line.startswith("INFO:usp.") for line in lines)


def test_the_summary_goes_to_stderr_even_with_a_log_file(
    site: LoopbackServer, tmp_path: Path
) -> None:
    del site.site["/b.xml"]
    log = tmp_path / "usp.log"
    ended = usp("ls", site.url, "-l", str(log))
    assert (ended.code, ended.messages) == (0, [])
    assert ended.partial == "partial: 1 sitemap could not be read"
    (line,) = log.read_text(encoding="utf-8").splitlines()
    assert line.startswith("WARNING:usp.")


def test_output_is_utf8_whatever_the_locale(site: LoopbackServer) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = usp("ls", site.url, env=ascii_only)
    assert ended.out == expanded(TREE, site)
    assert ended.code == 0


def test_characters_that_utf8_cannot_encode_are_escaped() -> None:
    ended = script("from usp.cli import _output; _output.prepare(); print('a\\ud800é')")
    assert (ended.code, ended.out) == (0, "a\\ud800é\n")


def test_the_sitemap_option_reads_one_sitemap(server: LoopbackServer) -> None:
    server.robots("/other.xml")
    server.site["/a.xml"] = urlset(server.at("/1"))
    ran = usp("ls", "-s", server.at("/a.xml"))
    assert ran.code == 0
    assert ran.out.splitlines() == [server.at("/a.xml"), "\t" + server.at("/1")]
    assert server.requested == ["/a.xml"]


def test_a_file_or_standard_input_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_bytes(urlset("http://h/1"))
    ran = usp("ls", str(file))
    assert (ran.code, ran.out.splitlines()) == (0, [str(file), "\thttp://h/1"])
    ran = redirected(f"< {file}", "ls", "-f", "pages", "-")
    assert (ran.code, ran.out.splitlines()) == (0, ["http://h/1"])
    ran = usp("ls", "-f", "pages", str(tmp_path / "missing.xml"))
    assert ran.code == 2
    assert "No such file" in ran.err
