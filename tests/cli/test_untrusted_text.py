"""What the command prints and logs: no credentials, and nothing that controls a terminal."""

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import Finished, script, usp
from tests.server import Handler, LoopbackServer, index, urlset

HIDDEN = "s3cr3t"
MALFORMED = ("//http://", "////", "/", "\\\\", "")
"""How a malformed URL goes on after its scheme."""
MALFORMED_BY_PASSWORD = (
    *(("http://user:", "/y@"), ("http://user:x?", "@"), ("http://user:", "%40")),
    ("http://user%3A", "%40"),
    *(("http://user:", "\uff20"), ("http//user:", "@"), ("http;//user:", "@"), ("://user:", "@")),
)
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
NASTY = "\x1b]0;t\x07\x1b[31m \x9b31m \r \x7f \u202e \u2066 \u2028 \u2029 \x85"


def with_login(url: str) -> str:
    return url.replace("://", f"://user:{HIDDEN}@", 1)


def is_unsafe(char: str) -> bool:
    return unicodedata.category(char) in {"Cc", "Zl", "Zp"} or char in BIDI


def all_text(ended: Finished, log: Path) -> str:
    return ended.out + ended.err + (log.read_text(encoding="utf-8") if log.exists() else "")


OPTIONS = [
    [],
    ["-v"],
    ["-vv"],
    ["-f", "pages"],
    ["-f", "tried", "-u"],
    ["-u"],
    ["-l", "{log}"],
    ["-vv", "-l", "{log}"],
]


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    """A site that is full of credentials, with failures of several kinds."""
    declared = [with_login(server.at(path)) for path in ("/i.xml", "/lost.xml", "/html.xml")]
    malformed = [f"http:{start}user:{HIDDEN}@h.example/m" for start in MALFORMED]
    malformed += [f"{start}{HIDDEN}{end}127.0.0.1:1/m" for start, end in MALFORMED_BY_PASSWORD]
    server.site["/robots.txt"] = "".join(
        f"Sitemap: {url}\n" for url in [*declared, *malformed[2:3], *malformed[5:]]
    )
    server.site["/i.xml"] = index(with_login(server.at("/a.xml")), with_login("ftp://h.example/"))
    server.site["/a.xml"] = urlset(with_login(server.at("/page")), "/relative", *malformed)
    server.site["/html.xml"] = "<html><body>no</body></html>"
    return server


@pytest.mark.parametrize("form", ["text", "json"])
def test_find_prints_no_credentials_and_nothing_that_controls_a_terminal(
    site: LoopbackServer, form: str
) -> None:
    declared = (with_login(site.at("/lost.xml")), f"{site.url}{NASTY_URL[1:]}", site.at("/i.xml"))
    site.site["/robots.txt"] = "".join(f"Sitemap: {url}\n" for url in declared)
    ended = usp("find", with_login(site.url), "-k", "-f", form)
    assert ended.code == 0
    text = ended.out + ended.err
    assert HIDDEN not in text
    if form == "text":  # JSON is for programs
        assert {char for char in text if is_unsafe(char)} <= {"\n"}
    assert "/lost.xml" in ended.out


def test_urls_with_at_signs_are_printed_as_they_are_listed(
    server: LoopbackServer, tmp_path: Path
) -> None:
    paths = ("//@user/x", "/u//@user:x/y@z", "/x?a=//u@v", "/x?to=http://u@v/", "/@me")
    site = server.url.rstrip("/")
    pages = [f"{site}{path}" for path in paths]
    server.site["/robots.txt"] = f"Sitemap: {site}//@u/sm.xml\n"
    server.site["/@u/sm.xml"] = urlset(*pages)
    assert usp("ls", server.url, "-f", "pages").out.splitlines() == pages
    tree = usp("ls", server.url).out.split()
    assert {f"{site}//@u/sm.xml", *pages} <= {*tree}
    short = usp("ls", server.url, "-u").out.split()
    assert {"//@u/sm.xml", *paths} <= {*short}
    assert "+ //@u/sm.xml" in usp("find", server.url, "-k").out
    none = tmp_path / "none.txt"
    none.write_text("http://other.example/\n", encoding="utf-8")
    listed = tmp_path / "listed.txt"
    listed.write_text("\n".join([*pages, ""]), encoding="utf-8")
    compared = usp("diff", str(none), str(listed)).out
    assert {line.split()[2] for line in compared.splitlines() if line[:1] == "+"} == {*pages}
    synced = usp("sync", server.url, "--state", str(tmp_path / "s.db"), "--emit-initial")
    assert {line.split()[2] for line in synced.out.splitlines() if line[:1] == "+"} == {*pages}


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_no_credentials_are_printed_or_logged(
    site: LoopbackServer, options: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    args = [option.format(log=log) for option in options]
    ended = usp("ls", with_login(site.url), *args)
    assert ended.code == 0
    text = all_text(ended, log)
    assert HIDDEN not in text
    assert "user" not in ended.out
    assert "/page" in text or "tried" in options
    one = usp("ls", "-s", with_login(site.at("/a.xml")), *args)
    assert HIDDEN not in all_text(one, log)
    assert "/relative" in one.out or "tried" in options


@pytest.mark.parametrize(
    "args",
    [
        ["ls", with_login("http://127.0.0.1:9/"), "-k"],
        ["ls", with_login("http://127.0.0.1:9/"), "-k", "-vv"],
        ["ls", with_login("http://h.example:port/")],
        ["ls", with_login("ftp://h.example/")],
        ["ls", f"user:{HIDDEN}@h.example"],
        ["ls", f"http://user:pa/{HIDDEN}@h.example:1x/"],
        ["ls", "http://127.0.0.1:9/", with_login("http://127.0.0.1:9/")],
        [with_login("http://127.0.0.1:9/")],
        ["ls", "-f", with_login("http://127.0.0.1:9/")],
        ["ls", "x", f"--what=http://user:x/{HIDDEN}@h"],
        [f"user:{HIDDEN}@h.example"],
        ["ls", "x", f"user:{HIDDEN}@h.example"],
        ["ls", "-f", f"user:{HIDDEN}@h.example"],
        ["ls", "x", f"--config=user:{HIDDEN}@h.example"],
    ],
    ids=range(14),
)
def test_no_error_message_has_credentials(args: list[str]) -> None:
    ended = usp(*args)
    assert ended.code in {2, 3}
    assert HIDDEN not in ended.out + ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "args",
    [
        ["export", "{file}", "-o"],
        ["export", "{file}", "-o", "x.csv", "--map"],
        ["ls", "{file}", "--config"],
        ["ls", "{file}", "--replay"],
        ["ls", "{file}", "--record"],
        ["ls", "{file}", "-l"],
        ["sync", "{file}", "--state"],
        ["check", "{file}", "--baseline"],
        ["check", "{file}", "--require"],
    ],
    ids=" ".join,
)
def test_a_url_as_the_value_of_an_option_is_quoted_without_its_password(
    args: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "a.xml"
    file.write_bytes(urlset("https://h.example/"))
    for url in (
        f"http://user:{HIDDEN}/y@h/",
        f"http://user:{HIDDEN}@h/",
        f"http//user:{HIDDEN}@h/y",
        f"ht\ttp://user:{HIDDEN}@h/",
    ):
        ended = usp(*(arg.format(file=file) for arg in args), url)
        assert ended.code in {2, 3}
        assert ended.err
        assert HIDDEN not in ended.out + ended.err


def test_the_password_of_a_proxy_is_not_printed() -> None:
    for proxy, code in (
        (f"http://user:pa/{HIDDEN}@127.0.0.1:1", 2),  # malformed
        (f"http://user:{HIDDEN}@127.0.0.1:9", 3),  # not there
    ):
        ended = usp("ls", "http://far.example/", "-k", "-vv", env={"http_proxy": proxy})
        assert ended.code == code
        assert HIDDEN not in ended.out + ended.err


def nasty_reason(handler: Handler) -> None:
    """A status line with everything that a terminal may obey, in UTF-8."""
    reason = NASTY.replace("\r", "\v").encode("utf-8", "surrogateescape")
    handler.wfile.write(b"HTTP/1.1 404 " + reason + b"\r\nContent-Length: 0\r\n\r\n")


def latin_reason(handler: Handler) -> None:
    """The same as single bytes, among them C1 controls."""
    handler.wfile.write(b"HTTP/1.1 404 a\x9b31m\x85b\x1b[31m\x00\r\nContent-Length: 0\r\n\r\n")


NASTY_URL = "/p\u202e\u2066\u2028\u2029\x85\x9b\u200f.xml"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("reason", [nasty_reason, latin_reason])
def test_nothing_that_controls_a_terminal_is_printed_or_logged(
    server: LoopbackServer, reason: Callable[[Handler], None], options: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    server.site["/robots.txt"] = (
        f"Sitemap: {server.at('/a.xml')}\nSitemap: {server.at('/lost.xml')}\n"
        f"Sitemap: {server.url.rstrip('/')}{NASTY_URL}\n"
    )
    server.site["/a.xml"] = urlset(f"{server.at('/page')}{NASTY_URL}")
    server.site["/lost.xml"] = reason
    ended = usp("ls", server.url, *(option.format(log=log) for option in options))
    assert ended.code == 0
    text = all_text(ended, log)
    assert {char for char in text if is_unsafe(char)} <= {"\n", "\t"}
    assert all(len(line.splitlines()) == 1 for line in text.split("\n") if line)
    if "tried" not in options:
        assert "/page/p%E2%80%AE" in ended.out, "one item a line, which is still its URL"


def test_records_of_other_libraries_are_one_line_each(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = """
import logging, sys
from usp.cli._log import setup_logging
setup_logging(logging.DEBUG, sys.argv[1])
try:
    raise ValueError("http://u:s3cr3t@h/\\x1b[31m\\u202e")
except ValueError:
    logging.getLogger("other").exception("first\\nINFO:usp:second \\x1b[2J http://u:s3cr3t@h/")
"""
    assert script(program, str(log)).code == 0
    lines = log.read_text(encoding="utf-8").split("\n")
    assert lines[0] == "ERROR:other:first%0AINFO:usp:second %1B[2J http://h/"
    assert lines[-2] == "ValueError: http://h/%1B[31m%E2%80%AE"
    assert HIDDEN not in "\n".join(lines[1:2] + lines[-2:])


@pytest.mark.parametrize(
    "args", [["check", "{b}"], ["diff", "{a}", "{b}"], ["changes", "--state", "{state}"]]
)
def test_json_lines_of_the_command_have_escapes_for_what_controls_a_terminal(
    tmp_path: Path, args: list[str]
) -> None:
    files = {name: str(tmp_path / name) for name in ("a", "b", "state")}
    Path(files["a"]).write_bytes(urlset("http://h.example/1"))
    Path(files["b"]).write_bytes(urlset("http://h.example/\x9b31m\u202e é"))
    if args[0] == "changes":
        usp("sync", files["b"], "--emit-initial", "--state", files["state"])
    printed = usp(*(arg.format(**files) for arg in args), "-f", "jsonl").out
    assert "\\u009b31m\\u202e" in printed
    assert not any(map(is_unsafe, printed.replace("\n", "")))
