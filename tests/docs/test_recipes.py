"""The recipes of the docs do what they say: programs and commands run against real servers."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.command import Finished, usp
from tests.docs.test_examples import CONSOLE, PROJECT, PYTHON
from tests.server import LoopbackServer

PAGE = (PROJECT / "docs" / "how-to" / "recipes.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (.*?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
RECIPES: dict[str, str] = dict(SECTION.findall(PAGE))


@pytest.fixture
def new_server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as running:
        yield running


class Recipe:
    """One recipe, with servers in the place of the sites that it names."""

    def __init__(self, heading: str, sites: dict[str, LoopbackServer]) -> None:
        self._text = RECIPES[heading]
        for name, server in sites.items():
            self._text = self._text.replace(f"https://{name}/", server.url)

    def run_program(self) -> dict[str, object]:
        """Run its program; return its names."""
        ((program, _),) = PYTHON.findall(self._text)
        namespace: dict[str, object] = {"__name__": "recipe"}
        exec(compile(program, "recipe", "exec"), namespace)  # noqa: S102 -- our own page
        return namespace

    def run_commands(self, folder: Path) -> list[Finished]:
        """Run its commands, one after the other."""
        lines = [line for block in CONSOLE.findall(self._text) for line in block.splitlines()]
        return [usp(*shlex.split(line)[2:], cwd=folder) for line in lines]


def serve(server: LoopbackServer, *names: str) -> None:
    entries = "".join(f"<url><loc>{server.url}{name}</loc></url>" for name in names)
    server.site["/robots.txt"] = f"Sitemap: {server.url}s.xml"
    server.site["/s.xml"] = f"<urlset>{entries}</urlset>"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_indexnow_gets_what_is_new_and_again_what_it_refused(
    server: LoopbackServer, new_server: LoopbackServer
) -> None:
    recipe = Recipe(
        "Tell search engines what is new: IndexNow",
        {"example.org": server, "api.indexnow.org": new_server},
    )
    serve(server, "a")
    recipe.run_program()
    assert new_server.requests == []
    serve(server, "a", "b", "c")
    new_server.site["/indexnow"] = 429
    with pytest.raises(OSError, match="429"):
        recipe.run_program()
    new_server.site["/indexnow"] = 202
    recipe.run_program()
    recipe.run_program()
    bodies = [json.loads(request.body) for request in new_server.requests]
    expected = {
        "host": server.url.removeprefix("http://").rstrip("/"),
        "key": "4f0c2a7d9e",
        "urlList": [f"{server.url}b", f"{server.url}c"],
    }
    assert bodies == [expected, expected]


def found(folder: Path, word: str) -> list[str]:
    with closing(sqlite3.connect(folder / "search.db")) as index:
        rows = index.execute("SELECT url FROM pages WHERE pages MATCH ?", (word,)).fetchall()
    return [url.rpartition("/")[2] for (url,) in rows]


def test_a_search_index_follows_a_site(server: LoopbackServer, folder: Path) -> None:
    recipe = Recipe("Keep a search index up to date", {"example.org": server})

    def refresh() -> None:
        closing_index = recipe.run_program()["index"]
        assert isinstance(closing_index, sqlite3.Connection)
        closing_index.close()

    serve(server, "red-apple", "green-apple", "blue-sea")
    refresh()
    assert sorted(found(folder, "apple")) == ["green-apple", "red-apple"]
    serve(server, "red-apple", "blue-sea", "apple-tree")
    refresh()
    assert sorted(found(folder, "apple")) == ["apple-tree", "green-apple", "red-apple"]
    server.site["/s.xml"] = 404
    refresh()
    serve(server, "red-apple", "blue-sea", "apple-tree")
    refresh()
    assert sorted(found(folder, "apple")) == ["apple-tree", "red-apple"]


def test_a_migration_is_checked(
    server: LoopbackServer,
    new_server: LoopbackServer,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    serve(server, "a", "b/", "lost")
    serve(new_server, "a/", "b", "fresh")
    recipe = Recipe("Check a migration", {"old.example": server, "new.example": new_server})
    exported, compared, lost = recipe.run_commands(folder)
    assert exported.code == 0
    assert compared.code == 0
    assert sorted(compared.out.splitlines()) == [
        f"+ added    {new_server.url}fresh",
        f"- removed  {server.url}lost",
    ]
    assert (lost.code, lost.out) == (1, f"{server.url}lost\n")
    recipe.run_program()
    assert capsys.readouterr().out == "1 old URLs have no page on the new site\n"


def test_a_sitemap_is_compared_with_a_crawl(server: LoopbackServer, folder: Path) -> None:
    serve(server, "a", "b", "orphan")
    rows = [f'"{server.url}{name}","200","Indexable"' for name in ("a/", "b", "forgotten")]
    header = '"Address","Status Code","Indexability"'
    (folder / "internal_html.csv").write_text("\r\n".join([header, *rows]), "utf-8-sig")
    every, forgotten = Recipe("A sitemap against a crawl", {"example.org": server}).run_commands(
        folder
    )
    assert every.out.splitlines() == [
        f"+ added    {server.url}forgotten",
        f"- removed  {server.url}orphan",
    ]
    assert forgotten.out == f"{server.url}forgotten\n"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("column", ["Top pages", "Páginas principales"])
def test_a_sitemap_is_compared_with_search_console(
    column: str, server: LoopbackServer, folder: Path
) -> None:
    serve(server, "a", "unseen")
    rows = [f"{server.url}{name},12,340,3.53%,8.1" for name in ("a", "old-campaign")]
    header = f"{column},Clicks,Impressions,CTR,Position"
    (folder / "Pages.csv").write_text("\n".join([header, *rows]), "utf-8")
    recipe = Recipe("A sitemap against Search Console", {"example.org": server})
    unseen, unlisted = recipe.run_commands(folder)
    assert unseen.out == f"{server.url}unseen\n"
    assert [json.loads(line)["url"] for line in unlisted.out.splitlines()] == [
        f"{server.url}old-campaign"
    ]
