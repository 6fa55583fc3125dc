"""The manual and the man page have the same options as the help of each command."""

import re
import tomllib

import pytest

from tests.docs.command_page import (
    MAN_PAGE,
    PAGE,
    names_in,
    options_of,
    render,
    render_man_page,
)
from usp.cli._arguments import COMMANDS, Command
from usp.cli._options import GROUPS
from usp.cli._parser import build_parsers

HINT = "run: python -m tests.docs.command_page"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_tables_of_the_manual_are_generated() -> None:
    assert render(TEXT) == TEXT, HINT


def test_every_group_and_every_command_has_its_table_in_the_manual() -> None:
    shared = [group for group in GROUPS if options_of(group)]
    own = [command.name for command in COMMANDS if command.own]
    assert sorted(names_in(TEXT)) == sorted([*shared, *own])


def test_the_man_page_is_generated() -> None:
    assert MAN_PAGE.read_text(encoding="utf-8") == render_man_page(), HINT
    assert "?." not in render_man_page(), "a question needs no full stop"


def test_the_man_page_has_the_options_that_no_table_has() -> None:
    text = MAN_PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    assert all(f"\\fB{flag}\\fR" in text for flag in ("-h", "--help", "-v", "--version"))


def test_the_man_page_is_in_the_wheel() -> None:
    project = tomllib.loads((MAN_PAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert shared == {f"docs/{MAN_PAGE.name}": f"share/man/man1/{MAN_PAGE.name}"}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_help_and_the_manual_list_the_same_options(command: Command) -> None:
    _, parsers = build_parsers()
    helped = re.findall(r"^  (-.*?)(?:  |$)", parsers[command.name].format_help(), re.MULTILINE)
    in_help = {flag for line in helped for flag in re.findall(r"(?:^|, )(--?[\w-]+)", line)}
    tables = [*(GROUPS if command.fetches else ()), *([command.name] if command.own else ())]
    rows = re.findall(r"^\| (`-.*?) \| ", _tables_of(tables), re.MULTILINE)
    in_manual = {flag for row in rows for flag in re.findall(r"`(--?[\w-]+)", row)}
    assert in_manual - {f"--{name}" for name in command.without} == in_help - {"-h", "--help"}
    assert f"## `usp {command.name}" in TEXT


def test_every_command_is_in_the_table_at_the_top() -> None:
    rows = re.findall(r"^\| \[`usp (\w+)`\]\(#usp-", TEXT, re.MULTILINE)
    assert sorted(rows) == sorted(command.name for command in COMMANDS)


def test_the_two_config_files_of_the_manual_say_the_same() -> None:
    project, own = (
        tomllib.loads(text) for text in re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    )
    assert project["tool"]["usp"] == own


def test_the_man_page_says_which_commands_have_the_shared_options() -> None:
    text = render_man_page().replace("\\-", "-")
    assert "of usp ls, usp export, usp find, usp check and usp report." in text
    assert "usp sync has them, too, without --since, --until, --undated, --kind, " in text


def test_every_command_has_its_exit_codes() -> None:
    page = (PAGE.parent / "exit-codes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `usp (\w+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(command.name for command in COMMANDS)


def _tables_of(names: list[str]) -> str:
    blocks = re.findall(r"<!-- options: ([\w-]+) -->\n(.*?)<!-- end -->", TEXT, re.DOTALL)
    return "".join(table for name, table in blocks if name in names)
