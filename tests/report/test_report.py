"""``usp.report``: from any source to one page, which loads nothing and runs nothing of a site."""

import base64
import hashlib
import json
import re
import shlex
import sqlite3
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

import usp
from tests.report.hostile import HOME as EVIL
from tests.report.hostile import TEXTS, hostile_site
from tests.report.pages import commands_of, elements_of
from tests.report.shop import HOME, NOW, SiteClient, shop
from tests.server import LoopbackServer, urlset
from usp._display import CONTROLS
from usp._report.commands import Commands
from usp.cli._parser import build_parsers
from usp.exceptions import UsageError
from usp.web_client.recording import RecordingWebClient

PAGES = 400
EMPTY = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shop in every form that a report can be made of."""
    made = tmp_path_factory.mktemp("shop")
    site = shop(PAGES)
    with RecordingWebClient(made / "site.warc.gz", SiteClient(site)) as client:
        usp.export(HOME, made / "site.db", web_client=client)
    for name in ("pages.csv", "pages.jsonl.gz", "pages.parquet", "pages.arrow"):
        usp.export(HOME, made / name, web_client=SiteClient(site))
    usp.export(HOME, f"{made}/tables/", web_client=SiteClient(site))
    list(usp.sync(HOME, state=made / "state.db", web_client=SiteClient(site)))
    urls = [page.url for page in usp.iter_pages(HOME, web_client=SiteClient(site))]
    (made / "list.txt").write_text("".join(f"{url}\n" for url in urls))
    (made / "frog.csv").write_text('"Address","Status"\n' + "".join(f'"{u}",200\n' for u in urls))
    return made


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("page") / "report.html"
    usp.report(HOME, file, web_client=SiteClient(shop(PAGES)), now=NOW)
    return file.read_text()


def test_a_report_has_the_numbers_of_the_site(tmp_path: Path) -> None:
    made = usp.report(HOME, tmp_path / "r.html", web_client=SiteClient(shop(PAGES)), now=NOW)
    tree = usp.sitemap_tree(HOME, web_client=SiteClient(shop(PAGES)))
    assert made.pages == len(list(tree.all_pages())) == PAGES + 180
    assert made.urls == len({page.url for page in tree.all_pages()})
    assert made.outcome is usp.Outcome.PARTIAL
    assert made.sitemaps_failed == 2
    assert made.path == tmp_path / "r.html"
    assert made.path.is_file()


def test_a_report_finds_what_a_check_finds_and_fetches_nothing_twice(tmp_path: Path) -> None:
    client = SiteClient(shop(PAGES))
    made = usp.report(HOME, tmp_path / "r.html", web_client=client, now=NOW)
    with usp.check(HOME, web_client=SiteClient(shop(PAGES)), now=NOW) as stream:
        list(stream)
    assert made.errors == stream.summary["error"] > 0
    assert made.warnings == stream.summary["warning"] > 0
    assert max(Counter(client.requested).values()) == 1


def test_without_a_check_the_recorded_problems_are_shown(tmp_path: Path) -> None:
    client = SiteClient(shop(PAGES))
    made = usp.report(HOME, tmp_path / "r.html", web_client=client, now=NOW, check=False)
    assert made.pages == PAGES + 180
    assert "problems that the reading recorded" in made.path.read_text()


@pytest.mark.parametrize(
    "name",
    [
        *("site.db", "site.warc.gz", "pages.csv", "pages.jsonl.gz", "pages.parquet", "pages.arrow"),
        *("tables", "state.db", "list.txt", "frog.csv"),
    ],
)
def test_every_kind_of_source_gives_the_same_numbers(
    folder: Path, tmp_path: Path, name: str
) -> None:
    made = usp.report(folder / name, tmp_path / "r.html")
    assert (made.pages, made.urls) == (PAGES + 180, PAGES + 180)
    text = made.path.read_text()
    assert f"{PAGES + 180:,} pages on 1 host" in text
    if name in {"site.db", "tables", "site.warc.gz", "state.db"}:
        assert made.outcome is usp.Outcome.PARTIAL
        assert made.sitemaps >= 12
    else:
        expected = usp.Outcome.FOUND if name == "list.txt" else None
        assert made.outcome is expected
        assert ("does not say whether everything was read" in text) == (expected is None)


def test_a_report_of_a_recording_is_checked_without_a_network(folder: Path, tmp_path: Path) -> None:
    made = usp.report(folder / "site.warc.gz", tmp_path / "r.html", now=NOW)
    live = usp.report(HOME, tmp_path / "l.html", web_client=SiteClient(shop(PAGES)), now=NOW)
    assert (made.errors, made.warnings) == (live.errors, live.warnings)


def test_a_state_says_what_changed_since_the_last_run(tmp_path: Path) -> None:
    state, site = tmp_path / "state.db", shop(PAGES)
    list(usp.sync(HOME, state=state, web_client=SiteClient(site)))
    name = "sitemaps/products-2.xml"
    body = site[name]
    assert isinstance(body, bytes)
    new = f"<url><loc>{HOME}en/shop/brand-new</loc></url></urlset>".encode()
    site[name] = body.replace(b"</urlset>", new)
    list(usp.sync(HOME, state=state, web_client=SiteClient(site)))
    for source, reading in ((state, {}), (HOME, {"web_client": SiteClient(site), "state": state})):
        made = usp.report(source, tmp_path / "r.html", replace=True, **reading)  # type: ignore[arg-type]
        text = made.path.read_text()
        assert "What usp sync found between" in text
        assert f"{HOME}en/shop/brand-new" in text
        (command,) = [words for words in commands_of(text) if words[1] == "changes"]
        after = int(command[command.index("--after") + 1])
        changes = list(usp.changes(state, after=after))
        assert [change.url for change in changes] == [f"{HOME}en/shop/brand-new"]


def test_every_command_of_a_page_is_one_that_usp_takes(page: str) -> None:
    _, parsers = build_parsers()
    commands = commands_of(page)
    assert len(commands) > 20
    for words in commands:
        assert words[0] == "usp"
        _, unknown = parsers[words[1]].parse_known_args(words[2:])
        assert unknown == []


def folder_rows(page: str) -> dict[str, int]:
    """The number of pages of each folder, by its path, from the data of the icicle."""
    (script,) = [one for one in elements_of(page, "script") if one.attributes.get("id")]
    found: dict[str, int] = {}

    def walk(row: list[object], above: str) -> None:
        path = f"{above}{row[0]}/"
        assert isinstance(row[1], int)
        assert isinstance(row[5], list)
        found[str(row[4])] = row[1]
        for child in row[5]:
            walk(child, path)

    walk(json.loads(script.text), "")
    return found


def test_the_command_of_each_folder_gives_its_pages(page: str) -> None:
    urls = [one.url for one in usp.iter_pages(HOME, web_client=SiteClient(shop(PAGES)))]
    rows = folder_rows(page)
    assert len(rows) > 50
    for command, pages in rows.items():
        pattern = re.compile(command.rpartition(" --include ")[2].strip("'"))
        assert sum(bool(pattern.search(url)) for url in urls) == pages


def in_duckdb(words: list[str]) -> int:
    assert words[:2] == ["duckdb", "-c"]
    with duckdb.connect() as database:
        rows = database.execute(f"SELECT count(*) FROM ({words[2]})").fetchone()  # noqa: S608 -- our own query
        return int(rows[0]) if rows else 0


def in_sqlite(words: list[str]) -> int:
    assert words[0] == "sqlite3"
    with sqlite3.connect(words[1]) as database:
        found = len(database.execute(words[2]).fetchall())
    database.close()
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("tables", in_duckdb),
        ("pages.csv", in_duckdb),
        ("pages.parquet", in_duckdb),
        ("frog.csv", in_duckdb),
        ("site.db", in_sqlite),
    ],
)
def test_the_queries_for_an_export_give_the_rows_of_their_figures(
    folder: Path, tmp_path: Path, name: str, run: Callable[[list[str]], int]
) -> None:
    text = usp.report(folder / name, tmp_path / "r.html").path.read_text()
    queries = [words for words in commands_of(text) if words[0] in {"duckdb", "sqlite3"}]
    assert queries
    rows = {words[-1]: run(words) for words in queries}
    by_day = re.search(r"([\d,]+) pages by day", text)
    of_days = [number for query, number in rows.items() if "lastmod >= " in query]
    assert of_days == ([int(by_day[1].replace(",", ""))] if by_day else [])
    publications = [query for query in rows if query.startswith("SELECT url, news_publication")]
    assert len(publications) == (by_day is not None), "a list of URLs has neither"
    for command, pages in list(folder_rows(text).items())[:20]:
        assert run(shlex.split(command)) == pages


def test_the_policy_of_a_page_allows_its_own_script_and_style_only(page: str) -> None:
    (policy,) = [
        meta.attributes["content"]
        for meta in elements_of(page, "meta")
        if meta.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    scripts = [one for one in elements_of(page, "script") if not one.attributes]
    styles = elements_of(page, "style")
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(one.text.encode()).digest()).decode()}'"
        for one in (*scripts, *styles)
    ]
    assert policy == (
        f"default-src 'none'; script-src {hashes[0]}; style-src {hashes[1]}; "
        "base-uri 'none'; form-action 'none'"
    )
    assert len(hashes) == 2


def test_a_page_names_nothing_that_would_be_loaded(page: str) -> None:
    assert not re.search(r"<(?:img|link|iframe|object|embed|video|audio|source)\b|\bsrc=", page)
    assert not re.search(
        r"url\(|@import|fetch\(|XMLHttpRequest|\bimport\b", page.split("<body", maxsplit=1)[0]
    )
    assert not re.search(r"\sstyle=|\son\w+=", page)


def hostile_report(tmp_path: Path, name: str = "r.html") -> str:
    made = usp.report(EVIL, tmp_path / name, web_client=SiteClient(hostile_site(), EVIL), now=NOW)
    return made.path.read_text()


def test_nothing_that_a_site_says_becomes_markup(tmp_path: Path, page: str) -> None:
    text = hostile_report(tmp_path)
    known = {one.name for one in elements_of(page)}
    assert {one.name for one in elements_of(text)} <= known
    assert len(elements_of(text, "script")) == 2
    links = [str(one.attributes["href"]) for one in elements_of(text, "a")]
    assert {link.partition(":")[0] for link in links if link[0] != "#"} == {"https"}


def test_nothing_that_a_site_says_reorders_the_text(tmp_path: Path) -> None:
    text = hostile_report(tmp_path)
    assert "%E2%80%AEgnp.exe" in text
    assert not {*map(chr, CONTROLS)} - {"\n"} & {*text}


def test_a_hostile_name_is_one_word_of_its_command(tmp_path: Path) -> None:
    for words in commands_of(hostile_report(tmp_path)):
        assert words[0] == "usp"
        assert not any(word == "touch" for word in words)
        assert all("\n" not in word and "\u202e" not in word for word in words)


@pytest.mark.parametrize("text", TEXTS)
def test_a_name_is_matched_literally(text: str) -> None:
    name = text.replace("/", "")
    command = Commands.of_crawl("example.org").folder("example.org", (name,))
    pattern = command.partition(" --include ")[2]
    (word,) = shlex.split(pattern)
    assert re.search(word, f"https://example.org/{name}/page")
    assert not re.search(word, f"https://example.org/x{name}/page")


def test_markdown_says_the_same_and_mentions_nobody(tmp_path: Path) -> None:
    text = hostile_report(tmp_path, "r.md")
    assert "<script" not in text
    assert "<img" not in text
    assert not re.search(r"@\w|(?<!\\)\]\(javascript", text)
    assert r"\@<!-- -->everyone" in text
    made = usp.report(HOME, tmp_path / "s.md", web_client=SiteClient(shop(PAGES)), now=NOW)
    shown = made.path.read_text()
    assert f"| **{made.pages:,}** | pages listed |" in shown
    assert "## Findings" in shown
    for line in shown.splitlines():
        assert "\t" not in line


def test_a_site_without_sitemaps_has_a_report_that_says_so(tmp_path: Path) -> None:
    made = usp.report(HOME, tmp_path / "r.html", web_client=SiteClient({}))
    assert made.outcome is usp.Outcome.NONE
    text = made.path.read_text()
    assert "No sitemap was found." in text
    assert "No sitemap was read, so there was nothing to check." in text
    assert "Discovery log" in text
    assert (made.pages, made.sitemaps) == (0, 0)


def test_an_empty_sitemap_has_a_report(tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_text(EMPTY)
    made = usp.report(file, tmp_path / "r.html")
    assert (made.pages, made.sitemaps) == (0, 1)


def test_a_chart_of_nothing_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "pages.csv"
    file.write_text("url,lastmod\nhttps://example.org/1,2020-01-01\n")
    text = usp.report(file, tmp_path / "r.html", now=NOW).path.read_text()
    assert "Pages by month" in text
    assert "No page has a lastmod in the last 90 days." in text
    assert "Pages by day" not in text


def test_a_report_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    file.write_text("mine")
    client = SiteClient(shop(40))
    with pytest.raises(UsageError, match=r"r\.html"):
        usp.report(HOME, file, web_client=client)
    assert file.read_text() == "mine"
    assert client.requested == []
    usp.report(HOME, file, web_client=client, replace=True)
    assert file.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "report"}, "say the format"),
        ({"path": "r.html", "format": "pdf"}, "format must be html or markdown"),
        ({"path": "r.html", "check": "yes"}, "check must be"),
        ({"path": "r.html", "now": datetime(2026, 1, 1)}, "time zone"),  # noqa: DTZ001 -- that is wrong
        ({"path": "r.html", "column": 3}, "column must be"),
        ({"path": "r.html", "state": "nowhere.db"}, "nowhere.db is not there"),
    ],
)
def test_wrong_arguments_are_told_before_anything_is_fetched(
    tmp_path: Path, arguments: dict[str, object], message: str
) -> None:
    client = SiteClient({})
    path = tmp_path / str(arguments.pop("path"))
    with pytest.raises(UsageError, match=message):
        usp.report(HOME, path, web_client=client, **arguments)  # type: ignore[arg-type]
    assert client.requested == []
    assert not path.exists()


def test_how_to_crawl_is_no_keyword_for_an_export(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="per_host is no keyword"):
        usp.report(folder / "pages.csv", tmp_path / "r.html", per_host=2)


def test_the_time_of_an_export_is_when_it_was_read(folder: Path, tmp_path: Path) -> None:
    text = usp.report(folder / "site.db", tmp_path / "r.html").path.read_text()
    assert f"Read {datetime.now(UTC):%Y-%m-%d}" in text


def test_very_long_names_make_no_large_page(tmp_path: Path) -> None:
    names = [f"{number}{'<' * 1500}" for number in range(400)]
    urls = tmp_path / "urls.txt"
    lines = [f"https://{'h' * 3000}{name[:2]}/{name}/{name}/{name}/page\n" for name in names]
    urls.write_text("".join(lines))
    made = usp.report(urls, tmp_path / "r.html")
    assert made.pages == 400
    assert made.path.stat().st_size < 3_000_000


def test_a_report_of_a_crawl_has_all_its_sites(tmp_path: Path) -> None:
    sites = [f"https://site-{number}.example/" for number in range(3)]
    for number, site in enumerate(sites):
        for table in ("pages", "sitemaps", "sites", "problems"):
            (tmp_path / "crawl" / table).mkdir(parents=True, exist_ok=True)
            file = tmp_path / "crawl" / table / f"part-{number:05}.parquet"
            documents = shop(40) if number else {}
            usp.export(site, file, table=table, web_client=SiteClient(documents, site))
    made = usp.report(tmp_path / "crawl", tmp_path / "r.html")
    text = made.path.read_text()
    assert made.outcome is usp.Outcome.PARTIAL
    assert "3 sites: 2 partial, 1 none." in text
    summary = usp.report(tmp_path / "crawl", tmp_path / "r.md").path.read_text()
    assert "**partial**: 3 sites: 2 partial, 1 none." in summary
    assert all(site in text for site in sites)


def test_a_report_that_runs_out_of_time_says_what_it_has(tmp_path: Path) -> None:
    client = SiteClient(shop(20_000))
    made = usp.report(HOME, tmp_path / "r.html", web_client=client, now=NOW, max_seconds=0.2)
    assert made.outcome is usp.Outcome.PARTIAL
    assert made.pages < 20_000
    assert "Some sitemaps could not be read, or only in part." in made.path.read_text()


@pytest.mark.parametrize("file", ["report.html", "report.md"])
def test_a_report_never_has_the_password_of_its_source(
    file: str, server: LoopbackServer, tmp_path: Path
) -> None:
    server.robots("/a.xml")
    server.site["/a.xml"] = urlset(server.at("/page"))
    out = tmp_path / file
    usp.report(server.url.replace("//", "//me:s3cret@"), out)
    text = out.read_text(encoding="utf-8")
    assert "s3cret" not in text
    assert f"usp ls {server.url}" in text
