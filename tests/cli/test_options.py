"""The options that commands share: what each changes, through the command itself."""

from pathlib import Path

import pytest

from tests.cli.command import Finished, usp
from tests.server import LoopbackServer, index, urlset
from tests.servers import Certificate, TLSServer
from usp import ClientFields
from usp._crawl.policy import PolicyFields
from usp.cli._arguments import COMMANDS
from usp.cli._options import GROUPS, SHARED, Destination
from usp.cli._settings import Settings
from usp.cli.cli import main, parse_args


@pytest.fixture
def site(server: LoopbackServer) -> LoopbackServer:
    """A site with one index of two sitemaps: pages with and without dates."""
    dated = f"<url><loc>{server.at('/old')}</loc><lastmod>2020-01-01</lastmod></url></urlset>"
    server.robots("/index.xml")
    server.site |= {
        "/index.xml": index(server.at("/a.xml"), server.at("/b.xml")),
        "/a.xml": urlset(server.at("/one"), server.at("/two")),
        "/b.xml": urlset(server.at("/three")).replace(b"</urlset>", dated.encode()),
    }
    return server


def pages(site: LoopbackServer, *options: str) -> list[str]:
    ended = usp("ls", site.url, "-k", "-u", "-f", "pages", *options)
    assert ended.code == 0, ended.err
    return ended.out.split()


def settings(*options: str) -> Settings:
    args, _ = parse_args(["ls", "example.org", *options])
    return Settings.of(args)


def test_pages_are_chosen(site: LoopbackServer) -> None:
    assert pages(site) == ["/one", "/two", "/three", "/old"]
    assert pages(site, "--include", "/t", "--exclude", "two") == ["/three"]
    assert pages(site, "--since", "2019-12", "--until", "2021", "--undated", "drop") == ["/old"]
    assert pages(site, "--limit", "3") == ["/one", "/two", "/three"]


def test_that_no_page_was_chosen_is_said(site: LoopbackServer) -> None:
    ended = usp("ls", site.url, "-k", "-f", "pages", "--include", "nothing")
    assert (ended.code, ended.out) == (0, "")
    assert ended.messages == [f"usp: no page of {site.url} was chosen"]


def test_sitemaps_are_chosen(site: LoopbackServer) -> None:
    assert pages(site, "--include-sitemaps", "b") == ["/three", "/old"]
    assert pages(site, "--exclude-sitemaps", "/b") == ["/one", "/two"]


def test_headers_come_from_options_and_from_a_file(site: LoopbackServer, tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_text("# a comment\nX-One: 1\n\nCookie: a=1\n")
    options = ["-H", "Accept-Language: de", "-H", f"@{file}", "--header", "cookie: b=2"]
    pages(site, *options, "--user-agent", "audit/1.0")
    sent = site.requests[-1].headers
    assert {name: sent[name] for name in ("accept-language", "x-one", "cookie", "user-agent")} == {
        "accept-language": "de",
        "x-one": "1",
        "cookie": "a=1; b=2",
        "user-agent": "audit/1.0",
    }


def test_credentials_go_to_the_own_host_only(server: LoopbackServer) -> None:
    with LoopbackServer() as other:
        foreign = other.at("/b.xml").replace("127.0.0.1", "localhost")
        server.site["/robots.txt"] = f"Sitemap: {server.at('/a.xml')}\nSitemap: {foreign}\n"
        server.site["/a.xml"] = urlset(server.at("/one"))
        other.site["/b.xml"] = urlset(other.at("/two"))
        header = ["-H", "Authorization: Bearer s3cr3t", "-H", "Cookie: s=1", "-H", "X-Plain: 1"]
        ended = usp("ls", server.url, "-k", "-f", "pages", *header)
        assert ended.out.split() == [server.at("/one"), other.at("/two")]
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer s3cr3t"}
    (request,) = other.requests
    assert request.headers.keys() & {"authorization", "cookie"} == set()
    assert request.headers["x-plain"] == "1"


def test_logins_of_netrc_are_used_unless_they_are_switched_off(
    site: LoopbackServer, tmp_path: Path
) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine 127.0.0.1 login me password it\n")
    for option, expected in (("--netrc", True), ("--no-netrc", False)):
        site.requests.clear()
        usp("ls", site.url, "-k", option, env={"NETRC": str(file)})
        assert {"authorization" in request.headers for request in site.requests} == {expected}


def test_a_proxy_is_used(site: LoopbackServer) -> None:
    ended = usp("ls", "http://far.example/", "-k", "--proxy", site.url, "-f", "tried")
    assert "http://far.example/robots.txt" in ended.out
    assert "http://far.example/robots.txt" in site.requested, "a proxy gets the whole URL"
    dead = {"http_proxy": "http://127.0.0.1:9/"}
    assert usp("ls", site.url, "-k", "--proxy", "", env=dead).code == 0


def test_any_certificate_is_accepted_on_demand(certificate: Certificate) -> None:
    with TLSServer(certificate.context()) as secure:
        secure.robots("/a.xml")
        secure.site["/a.xml"] = urlset(secure.at("/one"))
        ended = usp("ls", secure.url, "-k", "--max-attempts", "1", "--no-homepage")
        assert ended.code == 3
        assert "certificate" in ended.err
        ended = usp("ls", secure.url, "-k", "-f", "pages", "--insecure")
    assert (ended.code, ended.out, ended.messages) == (0, f"{secure.at('/one')}\n", [])
    assert "Warning" not in ended.err


def test_every_option_for_the_library_reaches_it() -> None:
    values = {
        "undated": "drop", "robots": "obey", "kind": "news,image",
        "header": "A: b", "user-agent": "x", "proxy": "p",
        "since": "48h", "until": "24h", "include": "x", "exclude": "x", "include-sitemaps": "x",
        "exclude-sitemaps": "x", "max-level": "3",
    }  # fmt: skip
    for option in SHARED:
        if option.target is Destination.COMMAND:
            continue
        value = [values.get(option.name, "7")] if option.placeholder else []
        made = settings(option.spellings[-1], *value)
        if option.target is Destination.POLICY:
            assert option.keyword in PolicyFields.__annotations__
            assert getattr(made.policy, option.keyword) != getattr(
                settings().policy, option.keyword
            )
        elif option.target is Destination.CLIENT:
            assert option.keyword in ClientFields.__annotations__
            assert getattr(made.client, option.keyword) != getattr(
                settings().client, option.keyword
            )
            if not made.is_recording:
                made.web_client().close()
        else:
            assert made.discovery[option.keyword] is False
    every = (option for command in COMMANDS for option in command.options)
    assert {option.group for option in every} == GROUPS.keys()


WRONG = [
    (["--limit", "x"], "--limit: must be an integer, not 'x'"),
    (["--limit", "0"], "--limit must be an integer, at least 1, not 0"),
    (["--since", "soon"], "--since must be a date, a time, or a duration"),
    (["--since", "2026-02", "--until", "2026-01"], "--since ("),
    (["--kind", "cats"], "--kind must be"),
    (["--include", "("], "--include must be"),
    (
        ["--undated", "kep"],
        "--undated: must be one of keep, drop, not 'kep' (did you mean 'keep'?)",
    ),
    (["--timeout", "0"], "--timeout must be a number"),
    (["--delay", "-1"], "--delay must be a number"),
    (["--delay", "inf"], "--delay: must be a finite number, not 'inf'"),
    (["--max-seconds", "1e999"], "--max-seconds: must be a finite number, not '1e999'"),
    (["--timeout", "nan"], "--timeout: must be a finite number, not 'nan'"),
    (["--kind", ""], "--kind: must be names with commas between, or a list of them, not ''"),
    (["--kind", ", "], "--kind: must be names with commas between, or a list of them, not ', '"),
    (["-H", "no colon s3cr3t"], "--header must be 'NAME: VALUE' or @FILE; there is no colon."),
    (["-H", ": s3cr3t"], "--header must be 'NAME: VALUE' or @FILE; there is no name before"),
    (["-H", "a b: s3cr3t"], "--header must be what HTTP allows"),
    (["-H", "@missing"], "--header: cannot read missing: No such file"),
    (["--limt", "3"], "there is no option --limt (did you mean '--limit'?)"),
    (["--nwer=1"], "there is no option --nwer (did you mean '--newer'?)"),
    (["more"], "unexpected argument: 'more'"),
    (["--replace", "--append"], "--replace and --append exclude each other"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[" ".join(row[0]) for row in WRONG])
def test_a_wrong_value_is_one_line_that_names_the_option(
    options: list[str], message: str, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["ls", server.url, *options])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"usp: error: {message}")
    assert "s3cr3t" not in line
    assert server.requested == []


def test_a_mistyped_command_is_suggested() -> None:
    for typed, meant in (("lss", "ls"), ("dmo", "demo")):
        ended = usp(typed, "example.org")
        assert ended.code == 2
        assert ended.err.startswith(
            f"usp: error: there is no command {typed!r} (did you mean {meant!r}?)"
        )


def said(ended: Finished) -> list[str]:
    return [line for line in ended.messages if line.startswith("usp: reading ")]


def test_what_was_understood_is_said_where_there_could_be_doubt(
    site: LoopbackServer, tmp_path: Path
) -> None:
    bare = site.url.removeprefix("http://").rstrip("/")
    assert said(usp("ls", bare, "-k")) == [f"usp: reading the site https://{bare}/"]
    hint = "(use -s to read one sitemap)"
    assert said(usp("ls", site.at("/x"), "-k")) == [f"usp: reading the site {site.url} {hint}"]
    assert said(usp("ls", site.url, "-k")) == []
    assert said(usp("ls", site.at("/x"), "-k", "-q")) == []
    file = tmp_path / "a.xml"
    file.write_bytes(urlset("http://h/1"))
    assert said(usp("ls", str(file))) == []
    assert said(usp("ls", "a.xml", cwd=tmp_path)) == ["usp: reading the file ./a.xml"]


READING = {
    "ls": ("ls", "SITE"),
    "find": ("find", "SITE"),
    "check": ("check", "SITE"),
    "sync": ("sync", "SITE", "--state", "state.db"),
    "export": ("export", "SITE", "-o", "out.csv"),
    "diff": ("diff", "SITE", "a.xml"),
    "report": ("report", "SITE"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("local", ["file", "folder"])
@pytest.mark.parametrize("command", READING)
def test_a_host_with_a_path_is_not_the_file_that_is_called_like_the_host(
    site: LoopbackServer, tmp_path: Path, command: str, local: str
) -> None:
    bare = site.url.removeprefix("http://").rstrip("/")
    (tmp_path / "a.xml").write_bytes(urlset("http://h/1"))
    if local == "folder":
        (tmp_path / bare).mkdir()
    else:
        (tmp_path / bare).write_bytes(urlset("http://h/2"))
    typed = [f"{bare}/en/" if word == "SITE" else word for word in READING[command]]
    ended = usp(*typed, cwd=tmp_path)
    assert ended.code in {0, 1}, ended.err
    assert "/index.xml" in site.requested
    assert f"https://{bare}/" in ended.err


def test_quiet_prints_errors_only(site: LoopbackServer) -> None:
    del site.site["/b.xml"]
    ended = usp("ls", site.url, "-k", "-q", "-f", "pages")
    assert (ended.code, ended.err, len(ended.out.split())) == (0, "", 2)
    ended = usp("ls", site.url, "-k", "-q", "--strict")
    assert (ended.code, ended.err) == (3, "usp: partial: 1 sitemap could not be read\n")
    site.site.clear()
    ended = usp("ls", site.url, "-k", "-q")
    assert (ended.code, ended.err) == (1, f"usp: no sitemap found at {site.url}\n")
