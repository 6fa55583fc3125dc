"""The parser of the command line, made from the tables of commands and options.

A mistyped command or option gives one line with what was probably meant.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, NoReturn

from usp._display import redact_argument, shown, without_typed_credentials
from usp._validate import hint
from usp._version import __version__
from usp.cli._arguments import COMMANDS, Command
from usp.cli._exit import Exit
from usp.cli._options import GROUPS, Option, one_of


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and quote no credentials."""

    typed: Sequence[str] = ()
    """The arguments, of which an error may quote some."""

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix("argument ")  # the name of the option is enough
        message = without_typed_credentials(message, self.typed)
        text = shown(redact_argument(message) if "//" in message else message)
        self.exit(Exit.USAGE, f"usp: error: {text}; {self.prog} --help explains the usage\n")

    def _print_message(self, message: str, file: Any = None) -> None:  # noqa: ANN401 -- as argparse has it
        """Print the help, the version or an error; argparse would hide that stdout is full."""
        if file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)


def parse(arguments: list[str]) -> tuple[argparse.Namespace, argparse.ArgumentParser]:
    """Return the parsed arguments, and the parser.

    Options that were not given are None. ``command`` is the command; None if there is none.
    """
    named = [command for command in COMMANDS if command.name in arguments[:1]]
    parser, by_name = build_parsers(named or COMMANDS)
    for each in (parser, *by_name.values()):
        each.typed = arguments
    # Options before a command have no values.
    at = next((i for i, word in enumerate(arguments) if not word.startswith("-")), len(arguments))
    args, unknown = parser.parse_known_args(arguments[:at])
    if at < len(arguments):
        name = arguments[at]
        if name not in by_name:
            parser.error(f"there is no command {name!r}{hint(name, by_name)}")
        args, rest = _parsed_by(by_name[name], arguments[at + 1 :])
        unknown += rest
    if unknown:
        _reject(unknown, by_name[args.command.name] if args.command else parser, args.command)
    return args, parser


def _parsed_by(
    parser: argparse.ArgumentParser, arguments: list[str]
) -> tuple[argparse.Namespace, list[str]]:
    """Return what follows the name of a command, parsed, and what is unknown of it."""
    written, words = with_meanings(arguments, parser.get_default("command").options)
    args, unknown = _in_any_order(parser, written)
    if not words.isdisjoint(unknown):  # it was meant as a value, which is wrong
        args, unknown = _in_any_order(parser, arguments)
    return args, unknown


def _in_any_order(
    parser: argparse.ArgumentParser, arguments: list[str]
) -> tuple[argparse.Namespace, list[str]]:
    """Parse options and sources, which may come in any order.

    argparse can do so, but loses a ``--`` before all sources; those are not scattered then.
    """
    args, unknown = parser.parse_known_args(arguments)
    return parser.parse_known_intermixed_args(arguments) if unknown else (args, unknown)


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


def build_parsers(
    commands: Iterable[Command] = COMMANDS,
) -> tuple["_Parser", dict[str, "_Parser"]]:
    """Return the parser of the command line, and the parsers of some commands by name.

    To make those of all commands takes a fifth of the time until the arguments are parsed.
    """
    parser = _Parser(
        prog="usp",
        description="Find, fetch and parse the sitemaps of a website.",
        epilog="usp COMMAND --help explains a command.",
    )
    parser.add_argument("-v", "--version", action="version", version=f"%(prog)s v{__version__}")
    parser.set_defaults(command=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    by_name: dict[str, _Parser] = {}
    for command in commands:
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
        more: dict[str, Any] = {"nargs": "*"} if is_repeatable else {}
        if choices:
            more |= {"choices": choices, "type": partial(one_of, choices)}
        parser.add_argument(name.lower(), metavar=name, help=help_text, **more)
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


def with_meanings(
    arguments: Sequence[str], options: Iterable[Option]
) -> tuple[list[str], set[str]]:
    """Write the meaning after each option that stands alone before a word that is no value of it.

    So ``--live FILE`` is an option and a source; argparse would take any word as the value.

    :return: the arguments, and these words.
    """
    optional = {flag: option for option in options if option.form for flag in option.flags}
    written: list[str] = []
    words: set[str] = set()
    for argument, word in zip_longest(arguments, arguments[1:], fillvalue="--"):
        option = optional.get(argument) if "--" not in written else None
        is_word = word == "-" or not word.startswith("-")
        if option and option.form and is_word and not option.form.fullmatch(word):
            written.append(f"{argument}={option.meaning}")
            words.add(word)
        else:
            written.append(argument)
    return written, words
