"""Every example in the README and the docs runs, and every link leads somewhere.

- The ``python`` blocks of a page are run from top to bottom in one namespace, with the URL of the
  demo site instead of ``https://example.org/``, and that of a proxy on this machine instead of the
  proxy of the pages. A ``text`` block right after one is its output.
- The ``$ usp ...`` lines of ``console`` blocks are parsed by the command's own argument parser.
- What only the site has (``<!-- site: ... -->``) is checked when it is built.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import usp
from tests.server import LoopbackServer
from tests.servers import forward
from usp.cli._demo_site import DemoSite
from usp.cli.cli import parse_args

PROJECT = Path(__file__).resolve().parents[2]
DOCS = PROJECT / "docs"
PAGES = [PROJECT / "README.md", *sorted(DOCS.glob("**/*.md"))]
PLACEHOLDER = "https://example.org/"
PROXY = "http://10.0.0.1:3128/"
RUN_ELSEWHERE = {"recipes.md"}
"""Pages whose programs need more than the demo site: ``test_recipes.py`` runs them."""

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
SITE_ONLY = re.compile(r"<!-- site:\s.*?-->", re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = HEADING.findall(FENCE.sub("", text_of(page)))
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in kept}


def dead_links(page: Path) -> list[str]:
    dead = []
    for link in LINK.findall(SITE_ONLY.sub("", FENCE.sub("", text_of(page)))):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if "://" in link:
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    return dead


def files_named_in(page: Path) -> list[str]:
    """The files and folders of the package that a page names, such as ``_crawl/policy.py``."""
    return re.findall(r"`((?:_?[a-z]+/)+_?[a-z_]+(?:\.py)?|_s(?:tore|orting)\.py)`", text_of(page))


def commands() -> list[str]:
    """The ``usp`` commands of all pages, without pipes and redirections."""
    lines = [
        line.removeprefix("$ ")
        for page in PAGES
        for block in CONSOLE.findall(text_of(page))
        for line in block.splitlines()
        if line.startswith("$ usp")
    ]
    return [re.split(r"\s[|>#&]|\s\d>", line)[0] for line in dict.fromkeys(lines)]


@contextmanager
def proxy_of(program: str) -> Iterator[str]:
    """Yield the URL of a proxy that works, if a program names one; it must then be used."""
    if PROXY not in program:
        yield PROXY
        return
    with LoopbackServer() as server:
        server.otherwise = forward
        yield server.url
    assert server.requests


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if PYTHON.search(text_of(page)) and page.name not in RUN_ELSEWHERE],
    ids=lambda page: page.relative_to(PROJECT).as_posix(),
)
def test_python_example(
    page: Path,
    demo_site: DemoSite,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # an example may write a file
    site = demo_site.url.rstrip("/") + "/"
    text = text_of(page)
    namespace: dict[str, object] = {"__name__": "example"}
    for example in PYTHON.finditer(text):
        above = text.count("\n", 0, example.start(1))  # for the lines of a traceback
        with proxy_of(example[1]) as proxy:
            program = example[1].replace(PLACEHOLDER, site).replace(PROXY, proxy)
            exec(compile("\n" * above + program, str(page), "exec"), namespace)  # noqa: S102  # our own page
        printed = capsys.readouterr().out.replace(site, PLACEHOLDER)
        assert example[2] is None or printed == example[2]


@pytest.mark.parametrize(
    "page",
    [*PAGES, *(PROJECT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))],
    ids=lambda page: page.relative_to(PROJECT).as_posix(),
)
def test_links_lead_to_pages_and_headings(page: Path) -> None:
    assert dead_links(page) == []


@pytest.mark.parametrize("name", files_named_in(DOCS / "explanation" / "architecture.md"))
def test_files_that_the_architecture_page_names_exist(name: str) -> None:
    folder = PROJECT if name.startswith("tests/") else Path(usp.__file__).parent
    assert (folder / name).exists()


@pytest.mark.parametrize("command", commands())
def test_command_example(command: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "usp"
    assert exit_code(arguments) == 0


def exit_code(arguments: list[str]) -> object:
    """The exit code of the argument parser: --help and --version exit by themselves."""
    try:
        parse_args(arguments)
    except SystemExit as ended:
        return ended.code or 0
    return 0
