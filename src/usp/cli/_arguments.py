"""The commands, their own options and their help; what a command does is in its own file.

A mistyped command or option gives one line with what was probably meant.
"""

import argparse
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn

from usp._display import redact_argument, shown, without_typed_credentials
from usp._version import __version__
from usp.cli._change_options import CHANGES_OPTIONS, DIFF_OPTIONS, SYNC_OPTIONS
from usp.cli._check_options import CHECK_OPTIONS
from usp.cli._crawl_options import CRAWL_OPTIONS
from usp.cli._exit import Exit
from usp.cli._export_options import EXPORT_OPTIONS
from usp.cli._options import GROUPS, INTEGER, SHARED, Option, format_option, hint, with_meanings
from usp.cli._report_options import REPORT_OPTIONS

_SOURCE: Final = (
    "a website (a bare domain means https), a sitemap file (gzipped or not), or - for standard "
    "input"
)

_LISTING: Final = (
    f"{_SOURCE}; an export (.csv, .tsv, .jsonl, .parquet, .arrow, .db, a folder), a recording "
    "(.warc.gz), the state of usp sync (site.db, or site.db@-1 for the run before the last), a "
    "list of URLs, or a table of another tool"
)


class Argument(NamedTuple):
    """What a command needs: a positional argument."""

    name: str
    help: str
    choices: tuple[str, ...] = ()
    is_repeatable: bool = False
    """Whether there may be several, or none."""

    @property
    def usage(self) -> str:
        """How it is shown in the usage."""
        return f"[{self.name}]..." if self.is_repeatable else self.name


class Command(NamedTuple):
    """One subcommand: its name, its options, and the module that runs it."""

    name: str
    summary: str
    """What it does: a sentence that begins with a small letter and has no full stop."""
    module: str
    """The module with its ``run`` function; imported when the command runs."""
    argument: Argument | None = None
    own: tuple[Option, ...] = ()
    """Its own options."""
    fetches: bool = False
    """Whether it has the shared options, too."""
    without: Mapping[str, str] = MappingProxyType({})
    """The shared options that it can't have, and why."""
    examples: tuple[tuple[str, str], ...] = ()
    """Commands, and what each is for."""
    second_argument: Argument | None = None

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Its positional arguments, in order."""
        return tuple(one for one in (self.argument, self.second_argument) if one)

    @property
    def options(self) -> tuple[Option, ...]:
        """All options in the order of the groups: within one, its own come first."""
        shared = SHARED if self.fetches else ()
        every = (*self.own, *(option for option in shared if option.name not in self.without))
        return tuple(sorted(every, key=lambda option: list(GROUPS).index(option.group)))

    @property
    def is_configurable(self) -> bool:
        """Whether a config file may have its options: it has one that names the file."""
        return any(option.name == "config" for option in self.options)

    @property
    def usage(self) -> str:
        """How it is called, in one line."""
        options = " [OPTION]..." if self.options else ""
        return " ".join((f"usp {self.name}{options}", *(one.usage for one in self.arguments)))

    def run(self, args: argparse.Namespace) -> Exit:
        """Run the command and return its exit code."""
        code: Exit = import_module(self.module).run(args)
        return code


LS_FORMATS: Final = {
    "tabtree": "sitemaps and their pages, nested with tabs",
    "pages": "the URLs of the pages, one per line, while they arrive",
    "csv": "a row per page with all that is known of it, while they arrive",
    "jsonl": "the same as an object per line",
    "tried": "every URL that was tried: result, stage, URL, reason, with tabs between",
}
"""The output formats of ``usp ls``."""

FIND_FORMATS: Final = {
    "text": "columns for people",
    "json": "one object with all that was tried",
    "jsonl": "one object per URL that was tried, one per line",
}
"""The output formats of ``usp find``."""

COMMANDS: Final = (
    Command(
        "ls",
        "list the sitemaps and pages of a website",
        "usp.cli._ls",
        Argument("SOURCE", _SOURCE),
        (
            format_option(LS_FORMATS),
            Option(
                ("-u", "--strip-url"), "output", "print the site's URLs without scheme and host"
            ),
        ),
        fetches=True,
        examples=(
            ("usp ls example.org", "the tree of sitemaps and pages"),
            ("usp ls example.org -f pages --since 48h", "what changed in two days"),
            ("usp ls example.org -f pages | head", "the first ten pages"),
            ("usp ls -s https://example.org/news.xml", "one sitemap"),
            ("usp ls sitemap.xml.gz -f pages", "a file"),
        ),
    ),
    Command(
        "export",
        "write tables of websites to a file, a folder or a database",
        "usp.cli._export",
        Argument("SOURCE", f"{_SOURCE}; there may be several", is_repeatable=True),
        EXPORT_OPTIONS,
        fetches=True,
        examples=(
            ("usp export example.org -o pages.csv", "one row a page"),
            ("usp export example.org -o pages.parquet", "the same for pandas, polars, DuckDB"),
            ("usp export example.org -o site.db", "all tables, for SQLite and Datasette"),
            ("usp export example.org -o site/ -f csv", "all tables, a file for each"),
            ("usp export example.org -o - -f jsonl --columns url,lastmod", "to other programs"),
            ("usp export --from sites.txt -o all.jsonl.gz --unique", "many sites"),
        ),
    ),
    Command(
        "find",
        "say where the sitemaps are, without reading pages",
        "usp.cli._find",
        Argument("SOURCE", _SOURCE),
        (
            format_option(FIND_FORMATS),
            Option(
                ("--shallow",),
                "sitemaps",
                "don't fetch what indexes list; their entries are counted",
            ),
        ),
        fetches=True,
        examples=(
            ("usp find example.org", "each URL that was tried, and what is there"),
            ("usp find example.org --shallow", "without what indexes list"),
            ("usp find example.org --homepage --newer", "with every discovery stage"),
            ("usp find example.org -f json", "for programs"),
        ),
    ),
    Command(
        "check",
        "say whether the sitemaps are healthy, and what to change",
        "usp.cli._check",
        Argument("SOURCE", _SOURCE),
        CHECK_OPTIONS,
        fetches=True,
        examples=(
            ("usp check example.org", "all sitemaps of a site"),
            ("usp check sitemap.xml", "a file"),
            ("usp check public/ --base-url https://example.org/", "a build folder"),
            ("usp check example.org --live", "and 200 of the listed pages"),
            ("usp check example.org --state site.db", "and what changed since usp sync"),
            ("usp check example.org --select SM3,SM5", "only URLs and extensions"),
            ("usp check example.org --fail-on warning -f github", "in GitHub Actions"),
            ("usp check example.org --baseline known.json --write-baseline", "from now on, news"),
            ("usp check example.org --min-pages 1000", "nothing is lost"),
        ),
    ),
    Command(
        "rule",
        "explain a rule of usp check",
        "usp.cli._rule",
        Argument("CODE", "a code such as SM350, a prefix such as SM3, or all"),
        examples=(
            ("usp rule SM350", "what it is, whose rule, how to fix it"),
            ("usp rule SM4", "the rules about values"),
        ),
    ),
    Command(
        "sync",
        "find what changed on websites since the last run",
        "usp.cli._sync",
        Argument("SOURCE", f"{_SOURCE}; there may be several", is_repeatable=True),
        SYNC_OPTIONS,
        fetches=True,
        without=dict.fromkeys(
            ("since", "until", "undated", "kind", "limit", "trust-index-lastmod"),
            "whole sitemaps are compared",
        ),
        examples=(
            ("usp sync example.org --state site.db", "the first run: a baseline"),
            ("usp sync example.org --state site.db --emit added -f urls", "what is new"),
            ("usp sync example.org --state site.db -f jsonl", "for programs"),
            ("usp sync --from sites.txt --state all.db --due --jitter 60", "many sites"),
        ),
    ),
    Command(
        "changes",
        "print changes that usp sync has found",
        "usp.cli._changes",
        own=CHANGES_OPTIONS,
        examples=(
            ("usp changes --state site.db --after 4711 -f jsonl", "go on where you stopped"),
            (
                "usp changes --state site.db --emit added --last 50 -f atom -o new.xml --replace",
                "a feed of new pages",
            ),
        ),
    ),
    Command(
        "diff",
        "say what is different between two listings of pages",
        "usp.cli._diff",
        Argument("A", f"what to compare with: {_LISTING}"),
        DIFF_OPTIONS,
        examples=(
            ("usp diff last-week.parquet example.org", "what is new, changed or gone since then"),
            ("usp diff site.db@-1 site.db", "what the last run of usp sync changed"),
            ("usp diff sitemap.xml crawl.csv --ignore slash", "a sitemap against a crawl"),
            (
                "usp diff old.example new.example --map https://old.example/=https://new.example/",
                "a migration",
            ),
            ("usp diff a.txt b.txt --emit removed -f urls --exit-code", "in a script"),
        ),
        second_argument=Argument("B", "what is compared: the same"),
    ),
    Command(
        "crawl",
        "crawl a list of sites into tables, on one machine or many",
        "usp.cli._crawl",
        Argument(
            "DOMAINS",
            "a file with domains or URLs, one a line, or CSV; compressed or not (gzip, zstd, zip); "
            "- for standard input",
        ),
        CRAWL_OPTIONS,
        examples=(
            (
                "usp crawl domains.txt -o crawl --user-agent 'mybot/1.0 (+https://example.org/bot)'",
                "all sites of a list",
            ),
            ("usp crawl --status crawl", "how far it is"),
            (
                "usp crawl top.csv.zip -o s3://bucket/crawl --engine dask --scheduler HOST:8786",
                "on a Dask cluster",
            ),
        ),
    ),
    Command(
        "report",
        "write a page about a website: contents, faults, changes",
        "usp.cli._report",
        Argument("SOURCE", _LISTING),
        REPORT_OPTIONS,
        fetches=True,
        examples=(
            ("usp report example.org -o report.html", "a page for the browser"),
            ("usp report example.org -f markdown >> $GITHUB_STEP_SUMMARY", "in CI"),
            ("usp report example.org --no-check -o report.html", "quicker, without findings"),
            ("usp report site.db -o report.html", "of an export; nothing is fetched"),
            ("usp report example.org --state state.db -o report.html", "with what changed"),
        ),
    ),
    Command(
        "completion",
        "print the completion script of a shell",
        "usp.cli._completion",
        Argument("SHELL", "bash, zsh or fish", ("bash", "zsh", "fish")),
        examples=(
            (
                "usp completion bash > ~/.local/share/bash-completion/completions/usp",
                "for bash",
            ),
            ("usp completion zsh > ~/.zfunc/_usp", "for zsh; the folder must be in fpath"),
            ("usp completion fish > ~/.config/fish/completions/usp.fish", "for fish"),
        ),
    ),
    Command(
        "demo",
        "crawl a built-in demo site",
        "usp.cli._demo",
        own=(
            Option(
                ("--serve",),
                "network",
                "don't crawl: serve the site at this port of 127.0.0.1 (0: any that is free) until "
                "Ctrl-C, to try other commands on it",
                INTEGER,
                "PORT",
            ),
        ),
        examples=(
            ("usp demo", "does usp work here?"),
            ("usp demo --serve 8000", "a website to try commands on: http://127.0.0.1:8000/"),
        ),
    ),
)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and quote no credentials."""

    typed: Sequence[str] = ()
    """The arguments, of which an error may quote some."""

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix("argument ")  # the name of the option is enough
        message = without_typed_credentials(message, self.typed)
        text = shown(redact_argument(message) if "//" in message else message)
        self.exit(Exit.USAGE, f"usp: error: {text}; {self.prog} --help explains the usage\n")


def parse(arguments: list[str]) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    """Return the parsed arguments, and the parser.

    Options that were not given are None. ``command`` is the command; None if there is none.
    """
    parser, by_name = build_parsers()
    for each in (parser, *by_name.values()):
        each.typed = arguments
    name = next((argument for argument in arguments if not argument.startswith("-")), None)
    if name is not None and name not in by_name:  # options before a command have no values
        parser.error(f"there is no command {name!r}{hint(name, by_name)}")
    options = [each for command in COMMANDS if command.name == name for each in command.options]
    written, words = with_meanings(arguments, options)
    args, unknown = parser.parse_known_args(written)
    if not words.isdisjoint(unknown):  # it was meant as a value, which is wrong
        args, unknown = parser.parse_known_args(arguments)
    if unknown:
        _reject(unknown, by_name[args.command.name] if args.command else parser, args.command)
    return args, parser


def _reject(unknown: list[str], parser: argparse.ArgumentParser, command: Command | None) -> None:
    """Report the first argument that is none: an option, if there is one among them."""
    options = [argument for argument in unknown if argument.startswith("-")]
    if not options:
        parser.error(f"unexpected argument: {unknown[0]!r}")
    name, is_given, _ = options[0].partition("=")
    known = ["--help", *([] if command else ["--version"])]
    known += [flag for option in (command.options if command else ()) for flag in option.spellings]
    told = options[0] if is_given and "//" in options[0] else name
    reason = command.without.get(name.removeprefix("--")) if command else None
    if reason:
        parser.error(f"{name} can't be used here: {reason}")
    parser.error(f"there is no option {told}{hint(name, known)}")


def build_parsers() -> tuple["_Parser", dict[str, "_Parser"]]:
    """Return the parser of the command line, and the parsers of the commands by name."""
    parser = _Parser(
        prog="usp",
        description="Find, fetch and parse the sitemaps of a website.",
        epilog="usp COMMAND --help explains a command.",
    )
    parser.add_argument("-v", "--version", action="version", version=f"%(prog)s v{__version__}")
    parser.set_defaults(command=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    by_name: dict[str, _Parser] = {}
    for command in COMMANDS:
        subparser = subparsers.add_parser(
            command.name,
            help=command.summary,
            usage=command.usage,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=_examples(command),
            formatter_class=argparse.RawDescriptionHelpFormatter,  # keeps the lines of the epilog
        )
        _configure(subparser, command)
        by_name[command.name] = subparser
    return parser, by_name


def _configure(parser: argparse.ArgumentParser, command: Command) -> None:
    for name, help_text, choices, is_repeatable in command.arguments:
        several: dict[str, Any] = {"nargs": "*"} if is_repeatable else {}
        parser.add_argument(
            name.lower(), metavar=name, help=help_text, choices=choices or None, **several
        )
    for group, title in GROUPS.items():
        options = [option for option in command.options if option.group == group]
        added = parser.add_argument_group(title) if options else None
        for option in options:
            if added:
                option.add_to(added)
    parser.set_defaults(command=command)


def _examples(command: Command) -> str | None:
    if not command.examples:
        return None
    width = max(len(line) for line, _ in command.examples)
    lines = (f"  {line:{width}}  {meaning}" for line, meaning in command.examples)
    return "\n".join(("examples:", *lines))
