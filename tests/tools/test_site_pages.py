"""The pages of the site: those that are generated have what their tables have, and links hold."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from tests.package_files import public_objects
from tools.site import api, codes, commands, defaults, stage
from usp import Policy
from usp._check.table import RULES
from usp.cli._arguments import COMMANDS, Command
from usp.cli._parser import build_parsers
from usp.objects.problem import CODES

PROJECT = Path(__file__).resolve().parents[2]


def test_every_code_has_a_page_with_what_to_do() -> None:
    pages = codes.pages()
    for code in RULES.keys() | CODES.keys():
        page = pages[f"{codes.FOLDER}/{code}.md"]
        assert f"# {code} " in page
        assert "What to do" in page or "How to fix it" in page
        assert f"[{code}](codes/{code}.md)" in pages[codes.INDEX]


def test_a_code_of_both_tables_says_both() -> None:
    page = codes.pages()[f"{codes.FOLDER}/SM401.md"]
    assert "## As a finding of `usp check`" in page
    assert "## As a problem of parsing" in page


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_page_of_a_command_has_every_option_of_its_parser(command: Command) -> None:
    _, parsers = build_parsers()
    helped = re.findall(r"^  (-.*?)(?:  |$)", parsers[command.name].format_help(), re.MULTILINE)
    in_help = {flag for line in helped for flag in re.findall(r"(?:^|, )(--?[\w-]+)", line)}
    page = commands.pages()[f"{commands.FOLDER}/{command.name}.md"]
    assert set(re.findall(r"`(--?[\w-]+)`", page)) >= in_help - {"-h", "--help"}


def test_every_field_of_the_policy_has_its_default_and_its_meaning() -> None:
    page = defaults.pages()[defaults.PLACE]
    for field in fields(Policy):
        row = next(line for line in page.splitlines() if line.startswith(f"| `{field.name}` |"))
        _, _, default, _, meaning, _ = re.split(r" ?(?<!\\)\| ?", row)
        assert default
        assert len(meaning) > 10


@pytest.mark.parametrize(
    ("function", "keyword", "default"),
    [
        ("usp.sync", "sites_at_once", "`8`"),
        ("usp.export", "bom", "`False`"),
        ("usp.aio.sitemap_trees", "sites_at_once", "`100`"),
    ],
)
def test_every_function_has_its_defaults(function: str, keyword: str, default: str) -> None:
    section = defaults.pages()[defaults.PLACE].partition(f"### `{function}`\n")[2]
    assert f"| `{keyword}` | {default} | " in section.partition("\n#")[0]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "none"), ((), "none"), (500_000, "500,000"), (True, "`True`"), ("a", "`'a'`")],
)
def test_a_default_is_shown_as_people_write_it(value: object, shown: str) -> None:
    assert defaults.shown(value) == shown


def test_every_public_class_and_function_is_documented_once() -> None:
    documented = [name for names in api.names_by_home().values() for name in names]
    public = {
        name.rpartition(".")[2]
        for name, value in public_objects()
        if getattr(value, "__module__", "").startswith("usp")
    }
    assert set(documented) == public
    assert set(api.names_by_home()) == set(api.TITLES)


def test_what_only_the_site_has_is_uncovered() -> None:
    assert stage.uncovered("a <!-- site: b -->\n<!-- c -->") == "a b\n<!-- c -->"


def test_links_lead_to_the_places_of_the_files() -> None:
    places = {"SECURITY.md": "project/security.md", "docs/how-to/a.md": "how-to/a.md"}
    text = (
        "[s](../../SECURITY.md#x) [here](#y) [away](https://example.org/)\n```\n[s](lost.md)\n```"
    )
    relinked = stage.relinked(text, "docs/how-to/a.md", "how-to/a.md", places)
    assert relinked == text.replace("../../SECURITY.md", "../project/security.md")


def test_a_link_out_of_the_site_is_an_error() -> None:
    with pytest.raises(stage.DeadLinkError, match="lost"):
        stage.relinked("[x](../lost.md)", "docs/a.md", "a.md", {})


def test_an_index_lists_the_pages_of_its_folder_in_its_order() -> None:
    text = "[b](b.md) [a](a.md) [b](b.md#c) [far](../d.md) [below](e/index.md) [deep](e/f.md)"
    assert stage.with_contents("how-to/index.md", text).endswith(
        "```{toctree}\n:hidden:\n\nb\na\ne/index\n```\n"
    )
    assert stage.with_contents("how-to/other.md", text) == text


def test_every_written_page_is_in_the_contents_of_an_index() -> None:
    pages = stage.written_pages(PROJECT)
    listed = {"index.md"}
    for place, text in pages.items():
        contents = stage.with_contents(place, text)[len(text) :]
        entries = re.findall(r"^[\w./-]+$", contents.partition(":hidden:")[2], re.MULTILINE)
        listed |= {(Path(place).parent / f"{entry}.md").as_posix() for entry in entries}
    assert pages.keys() - listed == set()
