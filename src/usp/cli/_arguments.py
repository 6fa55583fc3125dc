"""The commands, their options and their help; what a command does is in its own file."""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Final, NamedTuple, NoReturn

from usp._display import redact_argument, shown
from usp._version import __version__
from usp.cli._exit import Exit


class Command(NamedTuple):  # importing dataclasses would take longer than printing the help
    """One subcommand: its name, its options, and the module that runs it."""

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    module: str
    """The module with its ``run`` function; imported when the command runs."""

    def run(self, args: argparse.Namespace) -> Exit:
        """Run the command and return its exit code."""
        code: Exit = import_module(self.module).run(args)
        return code


FORMATS: Final = {
    "tabtree": "sitemaps and their pages, nested with tabs",
    "pages": "the URLs of the pages, one per line",
    "tried": "every URL that was tried: result, stage, URL, reason, with tabs between",
}
"""The output formats of ``usp ls``."""


def _ls(parser: argparse.ArgumentParser) -> None:
    formats = "".join(f"\n  {name}: {meaning}" for name, meaning in FORMATS.items())
    parser.add_argument(
        "url",
        help="the website (a bare domain means https);\n"
        "or a sitemap file, gzipped or not; or - for standard input",
    )
    parser.add_argument(
        "-s",
        "--sitemap",
        action="store_true",
        help="URL is the URL of one sitemap: read it and its sub-sitemaps,\nnot the whole website",
    )
    parser.add_argument(
        "-f",
        "--format",
        choices=list(FORMATS),
        default="tabtree",
        metavar="FORMAT",
        help=f"the output format (default: %(default)s){formats}",
    )
    parser.add_argument("-r", "--no-robots", action="store_true", help="don't read robots.txt")
    parser.add_argument(
        "-k", "--no-known", action="store_true", help="don't try known paths such as /sitemap.xml"
    )
    parser.add_argument(
        "--homepage",
        action=argparse.BooleanOptionalAction,
        help="always or never look for sitemap and feed links on the homepage\n"
        "(default: only if nothing else was found)",
    )
    parser.add_argument(
        "--newer",
        action=argparse.BooleanOptionalAction,
        help="always or never try newer known paths such as /wp-sitemap.xml\n"
        "(default: only if nothing else was found)",
    )
    parser.add_argument(
        "--max-seconds",
        type=float,
        metavar="N",
        help="end the crawl after N seconds, and print what was found",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit with 3 if some sitemaps could not be read, or only in part",
    )
    parser.add_argument(
        "-u",
        "--strip-url",
        action="store_true",
        help="print the website's URLs without scheme and host",
    )
    _log_options(parser)


def _log_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        dest="verbosity",
        help="log to stderr: progress (-v) or details (-vv)",
    )
    parser.add_argument(
        "-l",
        "--log-file",
        metavar="FILE",
        help="append the log to FILE instead of writing it to stderr",
    )


def _no_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no options."""


COMMANDS: Final = (
    Command("ls", "list the sitemaps and pages of a website", _ls, "usp.cli._ls"),
    Command(
        "demo",
        "crawl a built-in demo site",
        _no_options,
        "usp.cli._demo",
    ),
)


class _Parser(argparse.ArgumentParser):
    """A parser that quotes no credentials in its errors."""

    def error(self, message: str) -> NoReturn:
        super().error(shown(redact_argument(message) if "//" in message else message))


def build_parser() -> argparse.ArgumentParser:
    """Return the argument parser of all commands; it stores the command's function as ``func``."""
    parser = _Parser(prog="usp", description="Find, fetch and parse the sitemaps of a website.")
    parser.add_argument("-v", "--version", action="version", version=f"%(prog)s v{__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        subparser = subparsers.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            formatter_class=argparse.RawTextHelpFormatter,
        )
        command.configure(subparser)
        subparser.set_defaults(func=command.run)
    return parser
