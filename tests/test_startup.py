"""Which modules an import or a command loads, counted in processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = frozenset(
    {
        "aiohttp",
        "asyncio",
        "dateutil",
        "email",
        "http.client",
        "publicsuffixlist",
        "pyarrow",
        "requests",
        "rich",
        "shtab",
        "sqlite3",
        "ssl",
        "tempfile",
        "urllib3",
    }
)
"""Modules that take long to import and that many programs don't need."""
SITEMAP = "<urlset><url><loc>https://example.org/</loc><lastmod>2026-01-02</lastmod></url></urlset>"


def loaded_by(program: str) -> set[str]:
    """Return the modules that a program loads, without those that Python itself starts with."""
    code = f"import sys; before = set(sys.modules)\n{program}\nprint(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_importing_usp_loads_nothing_but_itself() -> None:
    assert loaded_by("import usp") == {"usp", "usp._installation", "usp._version"}


@pytest.mark.parametrize(
    "program",
    [
        "import usp.tree",
        "from usp.tree import sitemap_tree_for_homepage",
        "from usp import Crawl, Policy, iter_pages, parse, sitemap_tree, sitemap_tree_for_homepage",
        "from usp import FetchFailed, FetchRequest, NotModified, Outcome, Problem",
        "import usp.fetch_parse, usp.helpers, usp.exceptions, usp.objects.sitemap",
        f"import usp; assert len(list(usp.parse({SITEMAP!r}).all_pages())) == 1",
        "import usp; usp.sitemap_from_str('https://example.org/')",
    ],
)
def test_programs_that_fetch_nothing_load_nothing_heavy(program: str) -> None:
    loaded = loaded_by(program)
    assert "usp" in loaded
    assert loaded & HEAVY == set()


def test_the_client_is_at_its_path_of_1_8_1_and_loads_requests() -> None:
    program = (
        "from usp.web_client.requests_client import RequestsWebClient\n"
        "import usp.web_client.requests_client\n"
        "assert usp.web_client.requests_client.RequestsWebClient is RequestsWebClient"
    )
    assert "requests" in loaded_by(program)


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], ["ls", "--help"], ["find", "--help"]]
)
def test_the_help_and_version_of_the_command_load_nothing_that_crawls(arguments: list[str]) -> None:
    program = (
        "from usp.cli.cli import main\n"
        "from io import StringIO\n"
        "sys.stdout, stdout = StringIO(), sys.stdout\n"
        f"try: main({arguments!r})\n"
        "except SystemExit as end: assert not end.code\n"
        "assert sys.stdout.getvalue()\n"
        "sys.stdout = stdout"
    )
    loaded = loaded_by(program)
    assert "argparse" in loaded
    assert loaded & (HEAVY | {"usp.tree", "usp._parse.document", "dataclasses"}) == set()


UNUSED = {
    "aiohttp",
    "asyncio",
    "pyarrow",
    "pandas",
    "polars",
    "rich",
    "shtab",
    "sqlite3",
    "tomllib",
}
"""What these commands need for other formats, on a terminal, or with a config file alone."""


@pytest.mark.parametrize("arguments", [["ls"], ["ls", "-f", "pages"], ["find"]])
def test_a_command_loads_nothing_that_it_does_not_use(arguments: list[str], tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_text(SITEMAP)
    program = (
        "from usp.cli.cli import main\n"
        "from io import StringIO\n"
        "sys.stdout, stdout = StringIO(), sys.stdout\n"
        f"main([{arguments[0]!r}, {str(file)!r}, *{arguments[1:]!r}, '--no-config'])\n"
        "assert 'example.org' in sys.stdout.getvalue() or 'urlset' in sys.stdout.getvalue()\n"
        "sys.stdout = stdout"
    )
    loaded = loaded_by(program)
    assert loaded & UNUSED == set()
    assert not any(name.startswith(("usp._export", "usp._tables")) for name in loaded)


@pytest.mark.parametrize("name", ["pages.csv", "pages.jsonl.gz"])
def test_an_export_loads_nothing_for_other_formats(name: str, tmp_path: Path) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_text(SITEMAP)
    program = (
        "from usp.cli.cli import main\n"
        f"main(['export', {str(file)!r}, '-o', {str(tmp_path / name)!r}, '--no-config'])"
    )
    loaded = loaded_by(program)
    assert "usp._export.output" in loaded
    assert loaded & UNUSED == set()


def test_the_command_leaves_its_objects_to_the_system(tmp_path: Path) -> None:
    """Python looked at tens of thousands of them at its end."""
    program = (
        "import atexit, gc, sys; from usp.__main__ import run\n"
        "atexit.register(lambda: print(len(gc.get_objects()), gc.get_freeze_count()))\n"
        f"sys.argv = ['usp', 'ls', {str(tmp_path / 's.xml')!r}, '-o', {str(tmp_path / 'o')!r}]\n"
        "run()"
    )
    (tmp_path / "s.xml").write_text(SITEMAP)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    left, frozen = map(int, done.stdout.split())
    assert left < 1000
    assert frozen > 10_000
