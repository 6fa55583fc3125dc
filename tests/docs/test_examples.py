"""Every example in the README and the docs runs.

- The ``python`` blocks of a page are run from top to bottom in one namespace, each with the demo
  site in the place of ``https://example.org/``. A ``text`` block right after one is what it prints.
- The ``$ usp ...`` lines of ``console`` blocks are read by the command's own argument parser.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from usp.cli._demo_site import DemoSite
from usp.cli.cli import parse_args

PROJECT = Path(__file__).resolve().parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("**/*.md"))]
PLACEHOLDER = "https://example.org/"

PYTHON = re.compile(r"^```python\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def commands() -> list[str]:
    """The ``usp`` commands of all pages; what a pipe or a redirection leads to is not ours."""
    lines = [
        line.removeprefix("$ ")
        for page in PAGES
        for block in CONSOLE.findall(text_of(page))
        for line in block.splitlines()
        if line.startswith("$ usp")
    ]
    return [re.split(r"\s[|>#&]|\s\d>", line)[0] for line in dict.fromkeys(lines)]


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if PYTHON.search(text_of(page))],
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
        above = text.count("\n", 0, example.start(1))  # so that a traceback names the page's line
        code = compile("\n" * above + example[1].replace(PLACEHOLDER, site), str(page), "exec")
        exec(code, namespace)  # noqa: S102  # our own page
        printed = capsys.readouterr().out.replace(site, PLACEHOLDER)
        assert example[2] is None or printed == example[2]


@pytest.mark.parametrize("command", commands())
def test_command_example(command: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "usp"
    assert exit_code(arguments) == 0


def exit_code(arguments: list[str]) -> object:
    """What the argument parser leaves with: --help and --version answer and leave by themselves."""
    try:
        parse_args(arguments)
    except SystemExit as left:
        return left.code or 0
    return 0
