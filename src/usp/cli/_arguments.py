"""The commands and their options; what a command does is in its own file."""

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Final, NamedTuple

from usp._version import __version__
from usp.cli._exit import Exit


class Command(NamedTuple):  # dataclasses take longer to import than all of the help to print
    """One word after ``usp``: what it is called, which options it has, where its work is done."""

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    module: str
    """Has a function ``run``; imported only when that is wanted."""

    def run(self, args: argparse.Namespace) -> Exit:
        """Do what the command does."""
        code: Exit = import_module(self.module).run(args)
        return code


FORMATS: Final = {
    "tabtree": "each sitemap with what it lists below it, indented by tabs",
    "pages": "the pages alone, one a line",
    "tried": "each URL that was tried: the result, the stage, the URL, why; tabs between",
}
"""What ``usp ls`` can print."""


def _ls(parser: argparse.ArgumentParser) -> None:
    formats = "".join(f"\n  {name}: {meaning}" for name, meaning in FORMATS.items())
    parser.add_argument(
        "url",
        help="the website (without https:// or http://, https is meant);\n"
        "or a file with a sitemap in it, gzipped or not; or - for standard input",
    )
    parser.add_argument(
        "-s",
        "--sitemap",
        action="store_true",
        help="the URL is that of one sitemap: read that, not all of the website",
    )
    parser.add_argument(
        "-f",
        "--format",
        choices=list(FORMATS),
        default="tabtree",
        metavar="FORMAT",
        help=f"what to print (default: %(default)s){formats}",
    )
    parser.add_argument(
        "-r", "--no-robots", action="store_true", help="don't look for sitemaps in robots.txt"
    )
    parser.add_argument(
        "-k", "--no-known", action="store_true", help="don't look for sitemaps at well-known paths"
    )
    parser.add_argument(
        "--homepage",
        action=argparse.BooleanOptionalAction,
        help="look for sitemaps and feeds that the homepage names, always or never\n"
        "(else: where nothing was found)",
    )
    parser.add_argument(
        "--newer",
        action=argparse.BooleanOptionalAction,
        help="look for sitemaps at newer well-known paths, always or never (else: the same)",
    )
    parser.add_argument(
        "-u", "--strip-url", action="store_true", help="print URLs of the site without its address"
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="count",
        default=0,
        dest="verbosity",
        help="say what happens on stderr (-vv: in detail)",
    )
    parser.add_argument(
        "-l",
        "--log-file",
        metavar="FILE",
        help="write what happens to the end of FILE, not to stderr",
    )


def _nothing(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


COMMANDS: Final = (
    Command("ls", "list the sitemaps and pages of a website", _ls, "usp.cli._ls"),
    Command(
        "demo", "crawl a small embedded site that has one of everything", _nothing, "usp.cli._demo"
    ),
)


def parser_of_all() -> argparse.ArgumentParser:
    """Return what reads the arguments of every command; the one that was meant is ``func``."""
    parser = argparse.ArgumentParser(
        prog="usp", description="Find, fetch and read the sitemaps of a website."
    )
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
