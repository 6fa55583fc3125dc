"""Generates the tables of options in ``reference/command.md``, and the man page ``usp.1``, from the
commands and the table of options: ``python -m tests.docs.command_page``.

In ``command.md``, a table stands between ``<!-- options: ... -->`` and ``<!-- end -->``: that of a
group that commands share, or that of a command's own options. The sentences around are written by
hand. ``test_command_page.py`` compares both files with what is generated.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from usp._version import __version__
from usp.cli._arguments import COMMANDS, Command
from usp.cli._options import GROUPS, SHARED, Option

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
PAGE: Final = DOCS / "reference" / "command.md"
MAN_PAGE: Final = DOCS / "usp.1"

_BLOCK: Final = re.compile(r"(<!-- options: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def options_of(name: str) -> tuple[Option, ...]:
    """The options of a group that commands share, or a command's own ones."""
    if name in GROUPS:
        return tuple(option for option in SHARED if option.group == name)
    return next(command.own for command in COMMANDS if command.name == name)


def render(page: str) -> str:
    """The page with its tables generated anew."""
    return _BLOCK.sub(lambda block: f"{block[1]}{_table(options_of(block[2]))}{block[3]}", page)


def names_in(page: str) -> list[str]:
    """The names of the tables of a page."""
    return [block[2] for block in _BLOCK.finditer(page)]


def _table(options: Iterable[Option]) -> str:
    rows = (f"| {_flags(option)} | {_cell(option.help)} |\n" for option in options)
    return "".join(("| option | what it does |\n", "|---|---|\n", *rows))


def _flags(option: Option) -> str:
    value = f" {option.placeholder}" if option.placeholder else ""
    return ", ".join(f"`{_cell(flag + value)}`" for flag in option.spellings)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def render_man_page() -> str:
    """The man page of the command."""
    return "\n".join(_man_lines()) + "\n"


def _man_lines() -> Iterator[str]:
    yield f'.TH USP 1 "" "usp {__version__}" "User Commands"'
    yield from (".SH NAME", "usp \\- find, fetch and parse the sitemaps of a website")
    yield ".SH SYNOPSIS"
    for command in COMMANDS:
        yield from (".br", f".B {_roff(command.usage)}")
    yield ".SH COMMANDS"
    for command in COMMANDS:
        yield from (".TP", f".B usp {command.name}", _roff(f"{_sentence(command.summary)}"))
    yield ".SH OPTIONS"
    yield from (".TP", "\\fB\\-h\\fR, \\fB\\-\\-help\\fR")
    yield "Explain a command, or list the commands."
    yield from (".TP", "\\fB\\-v\\fR, \\fB\\-\\-version\\fR")
    yield "Without a command: print the version."
    yield ".PP"
    yield from _who_has_shared_options()
    for group, title in GROUPS.items():
        yield from _man_options(title, options_of(group))
    for command in COMMANDS:
        yield from _man_options(f"usp {command.name}", command.own)
    yield from _MAN_END
    yield ".SH EXAMPLES"
    for command in COMMANDS:
        yield from _man_examples(command)


def _who_has_shared_options() -> Iterator[str]:
    """Which commands have the options that are listed first."""
    fetching = [command for command in COMMANDS if command.fetches]
    every = [f"usp {command.name}" for command in fetching if not command.without]
    yield _roff(f"The first groups are options of {', '.join(every[:-1])} and {every[-1]}.")
    for command in fetching:
        if command.without:
            left_out = ", ".join(f"--{name}" for name in command.without)
            yield _roff(f"usp {command.name} has them, too, without {left_out}.")
    yield "After them come the own options of these commands, and all options of the others."


def _man_options(title: str, options: Iterable[Option]) -> Iterator[str]:
    listed = list(options)
    if listed:
        yield f".SS {_roff(title)}"
    for option in listed:
        value = f" \\fI{_roff(option.placeholder)}\\fR" if option.placeholder else ""
        flags = ", ".join(f"\\fB{_roff(flag)}\\fR{value}" for flag in option.spellings)
        yield from (".TP", flags, _roff(_sentence(option.help)))


def _man_examples(command: Command) -> Iterator[str]:
    for line, meaning in command.examples:
        yield from (".TP", f".B {_roff(line)}", _roff(_sentence(meaning)))


def _sentence(text: str) -> str:
    end = "" if text.endswith("?") else "."
    return f"{text[0].upper()}{text[1:]}{end}"


def _roff(text: str) -> str:
    """A text without what roff would obey."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


_MAN_END: Final = (
    ".SH EXIT STATUS",
    *(".TP", ".B 0", "Done."),
    *(".TP", ".B 1", "The answer is no: there is no sitemap."),
    *(".TP", ".B 2", "Wrong usage."),
    *(".TP", ".B 3", "It could not be answered: blocked, unreachable, the disk is full;"),
    "with \\fB\\-\\-strict\\fR also if only a part could be read.",
    *(".TP", ".B 130", "Stopped with Ctrl\\-C."),
    ".SH FILES",
    *(".TP", ".I usp.toml"),
    "Options by their long names without dashes, and a table for each command. The nearest file",
    "counts, from the current folder upwards.",
    *(".TP", ".I pyproject.toml", "The same in the table \\fItool.usp\\fR."),
    ".SH ENVIRONMENT",
    *(".TP", ".B HTTP_PROXY, HTTPS_PROXY, NO_PROXY", "Proxies."),
    *(".TP", ".B REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE", "The certificates to trust."),
    *(".TP", ".B NETRC", "The file with logins instead of \\fI~/.netrc\\fR."),
    *(".TP", ".B NO_COLOR", "No colours."),
)


def main() -> None:
    """Write both files."""
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    MAN_PAGE.write_text(render_man_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
