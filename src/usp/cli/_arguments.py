"""The commands, their own options and their help; what a command does is in its own file."""

import argparse
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final, NamedTuple

from usp.cli._change_options import CHANGES_OPTIONS, DIFF_OPTIONS, SYNC_OPTIONS
from usp.cli._check_options import CHECK_OPTIONS
from usp.cli._crawl_options import CRAWL_OPTIONS
from usp.cli._exit import Exit
from usp.cli._export_options import EXPORT_OPTIONS
from usp.cli._options import GROUPS, SHARED, Option, format_option
from usp.cli._report_options import REPORT_OPTIONS
from usp.cli._value_types import INTEGER

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
            format_option(FIND_FORMATS, "json"),
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
