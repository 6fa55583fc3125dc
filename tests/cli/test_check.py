"""``usp check`` and ``usp rule``: formats, exit codes, one clear line for wrong use."""

import json
import os
import re
import subprocess
from pathlib import Path
from xml.dom.minidom import parseString

import pytest

from tests.check.documents import dated, url
from tests.check.documents import urlset as entries_of
from tests.cli.command import Finished, start, usp
from tests.server import Callback, Handler, LoopbackServer, Plain, stall, urlset
from usp import Outcome
from usp import check as check_source

NOW = ("--now", "2026-11-17T12:00:00Z")
UNREACHABLE = "http://127.0.0.1:9/sitemap.xml"


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    """A file with one error on line 4, and a warning on line 3."""
    file = tmp_path / "sitemap.xml"
    text = dated("2026-11-01", "2026-1-2").replace("/a0<", "/a0?utm_source=x<")
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.fixture
def clean(tmp_path: Path) -> str:
    file = tmp_path / "clean.xml"
    file.write_text(url(), encoding="utf-8")
    return str(file)


def check(*args: str) -> Finished:
    return usp("check", *args, *NOW)


def test_the_text_says_which_line_to_change_and_how(faulty: str) -> None:
    done = check(faulty)
    assert done.code == 1
    assert done.out.splitlines()[:4] == [
        (
            "error SM451 date-form: A date can be understood, but is not written as YYYY, YYYY-MM, "
            "YYYY-MM-DD or with a time YYYY-MM-DDThh:mm, with seconds and a fraction if wanted."
        ),
        f"  {faulty}",
        "    line 4: https://example.org/a1: lastmod 2026-1-2",
        (
            "  What to do: Write 2026-01-31 or 2026-01-31T10:00:00+00:00. Its name in other tools: "
            "Invalid date."
        ),
    ]
    assert done.out.splitlines()[-1] == (
        "1 sitemap checked: 1 error, 1 warning, 0 info, 0 undecided"
    )
    assert done.found == "found: 1 sitemap"


def test_a_healthy_file_exits_with_zero(clean: str) -> None:
    done = check(clean)
    assert (done.code, done.out) == (
        0, "1 sitemap checked: 0 errors, 0 warnings, 0 info, 0 undecided\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--ignore", "SM451"], 0),
        (["--ignore", "SM451", "--fail-on", "warning"], 1),
        (["--fail-on", "never"], 0),
        (["--exit-zero"], 0),
        (["--min-pages", "3"], 1),
        (["--per-sitemap-ignore", "SM451 *.xml until 2026-12-31"], 0),
        (["--select", "SM999"], 2),
        (["--engine", "altavista"], 2),
        (["--now", "tomorrow"], 2),
        (["--write-baseline"], 2),
        (["--require", "no/such/file"], 2),
        (["--statistics", "-f", "json"], 2),
    ],
)
def test_the_exit_code_says_what_counts(options: list[str], code: int, faulty: str) -> None:
    done = usp("check", faulty, *(() if "--now" in options else NOW), *options)
    assert done.code == code
    if code == 2:
        assert len(done.err.splitlines()) == 1
        assert done.out == ""


def test_undecided_is_an_answer_of_its_own(server: LoopbackServer) -> None:
    index = (
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
        f"<sitemap><loc>{server.at('/a.xml')}</loc></sitemap></sitemapindex>"
    )
    server.site["/index.xml"] = server.site["/sitemap.xml"] = index
    server.site["/a.xml"] = urlset(server.at("/a"))
    limited = (server.at("/index.xml"), "--max-sitemaps", "1", "--ignore", "SM361")
    assert check(*limited).code == 0
    assert check(*limited, "--strict").code == 3
    server.site["/index.xml"] = index + "<!-- a fault -- in a comment -->"
    assert check(*limited, "--strict", "--fail-on", "warning").code == 1


def test_a_sitemap_that_is_cut_off_was_checked_in_part(tmp_path: Path) -> None:
    (tmp_path / "cut.xml").write_bytes(urlset("https://example.org/a")[:-25])
    options = ("cut.xml", "--select", "SM457")
    done = usp("check", *options, cwd=tmp_path)
    assert (done.code, "; partial: 1 sitemap incomplete" in done.err) == (0, True)
    assert usp("check", *options, "--strict", cwd=tmp_path).code == 3
    checked = check_source(str(tmp_path / "cut.xml"))
    assert "SM207" in {finding.code for finding in checked}
    assert checked.outcome is Outcome.PARTIAL


def test_a_site_that_does_not_answer_is_not_called_broken() -> None:
    done = check(UNREACHABLE, "--max-attempts", "1", "--fail-on", "never")
    assert done.code == 3


@pytest.mark.parametrize(("answer", "errors"), [(stall, 0), (429, 1)], ids=["silent", "blocked"])
def test_3_if_nothing_of_a_site_could_be_read_whatever_its_robots_txt_is_blamed_for(
    answer: Plain | Callback, errors: int, server: LoopbackServer
) -> None:
    server.otherwise = answer
    done = check(server.url, "--max-seconds", "1", "--max-attempts", "1", "--fail-on", "warning")
    assert f"0 sitemaps checked: {errors} error" in done.out
    assert done.code == 3


def begin(handler: Handler) -> None:
    """Send a head and the first line of a document, and then nothing."""
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"User-agent: *\n")
    handler.owner.closing.wait()


@pytest.mark.parametrize("name", ["", "sitemap.xml"], ids=["site", "sitemap"])
def test_what_the_time_limit_cut_is_undecided_and_no_error(
    name: str, server: LoopbackServer
) -> None:
    server.otherwise = begin
    limits = ("--max-seconds", "1", "--min-pages", "5", "--max-attempts", "1")
    done = check(f"{server.url}{name}", *limits)
    assert "0 sitemaps checked: 0 errors" in done.out
    assert "SM370: a limit ended the crawl before everything was read" in done.out
    assert ("SM652: a limit ended the crawl before the robots.txt" in done.out) is (not name)
    assert done.code == 3


def test_a_pipe_that_stays_silent_was_not_checked() -> None:
    silent = start("check", "-", "--max-seconds", "1", *NOW, stdin=subprocess.PIPE)
    with silent:
        assert silent.stdout
        assert b"0 sitemaps checked: 0 errors" in silent.stdout.read()
    assert silent.returncode == 3


@pytest.mark.parametrize("options", [(), ("--exit-zero",), ("--fail-on", "never")])
def test_3_if_the_time_was_over_before_any_sitemap_was_read(
    options: tuple[str, ...], server: LoopbackServer
) -> None:
    server.robots("/silent.xml")
    server.site["/silent.xml"] = stall
    limits = ("--max-seconds", "1", "--max-attempts", "1", "-k")
    assert check(server.url, *limits, *options).code == 3


def test_a_declared_sitemap_that_is_missing_is_an_error_and_not_unchecked(
    server: LoopbackServer,
) -> None:
    server.robots("/missing.xml")
    assert check(server.url, "--max-attempts", "1", "-k").code == 1


def test_concise_has_a_line_for_each_finding(faulty: str) -> None:
    assert check(faulty, "-f", "concise").out.splitlines() == [
        f"{faulty}:4: SM451 error date-form: https://example.org/a1: lastmod 2026-1-2",
        (
            f"{faulty}:3: SM360 warning tracking-parameter: https://example.org/a0?utm_source=x: "
            "the parameter utm_source"
        ),
    ]


def test_json_is_sorted_and_the_same_each_time(faulty: str) -> None:
    done = check(faulty, "-f", "json")
    found = json.loads(done.out)
    assert list(found) == ["schema_version", "source", "now", "summary", "findings"]
    assert found["now"] == "2026-11-17T12:00:00Z"
    assert found["summary"] == {"error": 1, "warning": 1, "info": 0, "undecided": 0}
    assert [one["code"] for one in found["findings"]] == ["SM451", "SM360"]
    assert list(found["findings"][0]) == [
        *("code", "name", "severity", "message", "sitemap_url", "count", "examples")
    ]
    assert list(found["findings"][0]["examples"][0]) == ["url", "line", "offset", "detail"]
    assert check(faulty, "-f", "json").out == done.out


def test_jsonl_has_every_single_occurrence(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_text(dated(*["2026-1-2"] * 12), encoding="utf-8")
    rows = [json.loads(line) for line in check(str(file), "-f", "jsonl").out.splitlines()]
    assert [row["line"] for row in rows if row["code"] == "SM451"] == list(range(3, 15))


def test_github_gets_annotations_and_a_job_summary(faulty: str, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    env = {"GITHUB_STEP_SUMMARY": str(summary), "PATH": os.environ["PATH"]}
    done = usp("check", faulty, "-f", "github", *NOW, env=env)
    error, warning = done.out.splitlines()
    assert error.startswith(f"::error file={faulty},line=4,title=SM451 date-form::A date can be")
    assert warning.startswith(f"::warning file={faulty},line=3,title=SM360 tracking-parameter::")
    assert "| error | SM451 date-form |" in summary.read_text(encoding="utf-8")


def test_markdown_is_a_table(faulty: str) -> None:
    lines = check(faulty, "-f", "markdown").out.splitlines()
    assert lines[0] == f"## usp check: {faulty}"
    assert len([line for line in lines if line.startswith("| ")]) == 3


def test_what_a_url_contains_makes_no_markup_in_markdown(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_text(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>'
        "<loc>https://example.org/![x](https://example.net/a_b.png)|`*&lt;b></loc></url></urlset>"
    )
    out = check(str(file), "-f", "markdown", "--select", "SM355").out
    shown = r"<https://example.org/![x](https://example.net/a_b.png>)\|\`\*&lt;b>: "
    assert f"| line 1: {shown}" in out


def test_markdown_mentions_nobody_and_no_issue(tmp_path: Path) -> None:
    file = tmp_path / "@everyone #1.xml"
    file.write_text(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>'
        "<loc>https://example.org/a</loc><lastmod>@everyone #1 ~~x~~</lastmod></url></urlset>"
    )
    out = check(str(file), "-f", "markdown").out
    assert out.count(r"\@<!-- -->everyone \#<!-- -->1") >= 3, "title, sitemap and value"
    assert not re.search(r"[@#]\w|(?<!\\)~", out)


def test_junit_has_a_case_for_each_sitemap_and_block(faulty: str) -> None:
    suite = parseString(check(faulty, "-f", "junit").out)  # noqa: S318 -- our own output
    cases = suite.getElementsByTagName("testcase")
    failed = [case for case in cases if case.getElementsByTagName("failure")]
    assert [case.getAttribute("name") for case in failed] == ["SM4 Values"]
    assert {case.getAttribute("classname") for case in cases} == {faulty}
    root = suite.documentElement
    assert root is not None
    assert (root.getAttribute("tests"), root.getAttribute("failures")) == (str(len(cases)), "1")


def test_sarif_points_into_files_and_is_refused_for_urls(faulty: str) -> None:
    log = json.loads(check(faulty, "-f", "sarif").out)
    results = log["runs"][0]["results"]
    place = results[0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == (faulty, 4)
    rules = {rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in results} == rules == {"SM451", "SM360"}
    done = check("https://example.org/sitemap.xml", "-f", "sarif")
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_statistics_count_each_rule(faulty: str) -> None:
    assert check(faulty, "--statistics").out.splitlines()[0].split() == [
        *("1", "SM451", "error", "date-form", "(1", "sitemap)")
    ]


def test_a_baseline_is_written_and_then_covers_what_it_has(faulty: str, tmp_path: Path) -> None:
    known = str(tmp_path / "known.json")
    assert check(faulty, "--baseline", known, "--write-baseline").code == 0
    done = check(faulty, "--baseline", known, "--fail-on", "warning")
    assert (done.code, done.out.count("SM")) == (0, 0)


def test_required_urls_are_read_from_a_file(clean: str, tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("# ours\nhttps://example.org/a\nhttps://example.org/b\n")
    done = check(clean, "--require", str(tmp_path / "urls.txt"), "-f", "concise")
    assert done.code == 1
    assert done.out == (
        f"{clean}: SM369 error required-url-missing: https://example.org/b: no sitemap lists it\n"
    )


def test_ignores_may_be_in_the_config_file(faulty: str, tmp_path: Path) -> None:
    (tmp_path / "usp.toml").write_text(
        '[check]\nfail-on = "warning"\nignore = ["SM360"]\n'
        'per-sitemap-ignore = ["SM451 *.xml until 2026-12-31"]\n'
    )
    done = usp("check", faulty, *NOW, "--config", str(tmp_path / "usp.toml"))
    assert (done.code, done.out.count("SM")) == (0, 0)


def test_a_rule_is_explained() -> None:
    done = usp("rule", "sm350")
    assert done.code == 0
    assert done.out.startswith("SM350 url-over-2048 (error)\n\nA URL has more than 2,048")
    assert "What to do:" in done.out


def test_rules_with_a_prefix_are_listed() -> None:
    lines = usp("rule", "SM35").out.splitlines()
    assert [line.split()[0] for line in lines] == [f"SM35{digit}" for digit in range(10)]


def test_an_unknown_rule_gives_one_line() -> None:
    done = usp("rule", "SM999")
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_a_folder_is_checked_and_sarif_names_its_files(tmp_path: Path) -> None:
    public = tmp_path / "public"
    public.mkdir()
    (public / "sitemap.xml").write_text(url(loc="https://example.org/a"), encoding="utf-8")
    (public / "new.html").write_text("<title>New</title><p>Text</p>")
    folder = (str(public), "--base-url", "https://example.org/")
    done = check(*folder, "-f", "concise")
    assert done.code == 1
    site = "https://example.org"
    assert done.out.splitlines() == [
        f"{public}/sitemap.xml:3: SM920 error not-built: {site}/a: there is no file for it",
        f"{public}: SM921 warning not-listed: {site}/new.html: no sitemap lists new.html",
        f"{public}: SM651 info not-in-robots: no robots.txt that was read has a Sitemap line",
    ]
    results = json.loads(check(*folder, "-f", "sarif").out)["runs"][0]["results"]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert [
        (result["ruleId"], place["artifactLocation"]["uri"], place["region"]["startLine"])
        for result, place in zip(results, places, strict=True)
    ] == [("SM920", f"{public}/sitemap.xml", 3), ("SM921", f"{public}/new.html", 1)]
    annotation = check(*folder, "-f", "github").out.splitlines()[0]
    assert annotation.startswith(f"::error file={public}/sitemap.xml,line=3,title=SM920")


def test_live_pages_are_summed_up_with_an_interval(server: LoopbackServer) -> None:
    server.robots("/sitemap.xml")
    server.site["/sitemap.xml"] = urlset(*(server.at(f"/{n}") for n in range(30)))
    server.site |= {f"/{n}": "<p>text</p>" for n in range(15)}
    options = (server.url, "--live=20", "--seed", "3", "--select", "SM9", "--max-attempts", "1")
    done = check(*options)
    assert done.code == 1
    lines = done.out.splitlines()
    assert "Requested 20 of 30 listed pages (seed 3); 20 of them could be verified." in lines
    assert any(line.startswith("  SM901 page-gone: ") and "(95 %)" in line for line in lines)
    live = json.loads(check(*options, "-f", "json").out)["live"]
    assert (live["requested"], live["verified"], live["listed"], live["seed"]) == (20, 20, 30, 3)
    assert live["estimates"][0].keys() == {"code", "found", "low", "high"}


def test_live_alone_requests_two_hundred_pages(server: LoopbackServer) -> None:
    server.site["/sitemap.xml"] = urlset(server.at("/a"))
    server.site["/a"] = "<p>text</p>"
    done = check(server.at("/sitemap.xml"), "--select", "SM9", "--live")
    assert (done.code, done.out.splitlines()[0]) == (
        0, "Requested 1 of 1 listed pages (seed 0); 1 of them could be verified."
    )  # fmt: skip


def test_a_state_is_compared_with_and_its_absence_is_undecided(
    server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("/sitemap.xml")
    server.site["/sitemap.xml"] = urlset(*(server.at(f"/{n}") for n in range(10)))
    state = ("--state", str(tmp_path / "site.db"))
    options = (server.url, *state, "--select", "SM8,SM750")
    assert (check(*options).code, check(*options, "--strict").code) == (0, 3)
    assert usp("sync", server.url, *state).code == 0
    server.site["/sitemap.xml"] = urlset(server.at("/0"))
    done = check(*options)
    assert (done.code, done.out.splitlines()[2].strip()) == (
        1, "10 pages in the earlier run, 1 now: 90% fewer"
    )  # fmt: skip
    assert check(*options, "--max-drop", "95%").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["https://example.org/", "--base-url", "https://example.org/"], "is no folder"),
        (["no-such", "--base-url", "https://example.org/"], "--base-url is the URL of a folder"),
        ([".", "--base-url", "https://example.org/", "--live"], "live and twice need a network"),
        (["https://example.org/", "--live", "many"], "--live must be a number of pages"),
        (["https://example.org/", "--live="], "--live must be a number of pages"),
        (["https://example.org/", "--max-drop", "5%"], "--max-drop needs a state"),
        (["https://example.org/", "--live", "--replay", "no.warc.gz"], "no.warc.gz can't be read"),
        (["."], "--base-url"),
    ],
)
def test_wrong_use_of_other_sources_gives_one_line(options: list[str], message: str) -> None:
    done = check(*options)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert message in done.err


@pytest.mark.parametrize("size", [[], ["5%"], ["ALL"], ["3"]])
def test_live_may_stand_before_the_source(tmp_path: Path, size: list[str]) -> None:
    file = tmp_path / "empty.xml"  # no page is requested
    file.write_bytes(urlset())
    for arguments in (["--live", *size, str(file)], [str(file), "--live", *size]):
        done = check(*arguments, "-f", "json")
        assert (done.code, json.loads(done.out)["live"]["requested"]) == (0, 0)


TEN_FAULTS = {
    "SM350": f"<loc>https://example.org/{'a' * 2040}</loc>",
    "SM357": "<loc>https://example.org/a#b</loc>",
    "SM361": "<loc>http://localhost/a</loc>",
    "SM450": "<loc>https://example.org/c</loc><lastmod/>",
    "SM451": "<loc>https://example.org/d</loc><lastmod>2026-1-2</lastmod>",
    "SM454": "<loc>https://example.org/e</loc><lastmod>2099-01-01</lastmod>",
    "SM401": "<loc>https://example.org/f</loc><lastmod>soon</lastmod>",
    "SM256": "<loc>https://example.org/g</loc><author>A</author>",
    "SM301": "<lastmod>2026-01-01</lastmod>",
    "SM302": "<loc>/h</loc>",
}


def test_the_text_alone_says_which_line_to_change_for_ten_faults(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_text(entries_of(*TEN_FAULTS.values()), encoding="utf-8")
    text = check(str(file)).out
    for line, code in enumerate(TEN_FAULTS, 3):
        (paragraph,) = (part for part in text.split("\n\n") if f" {code} " in part.split(":")[0])
        assert f"  {file}\n    line {line}: " in paragraph
        assert "\n  What to do: " in paragraph
