"""The options that commands share, as a table: the only place where one is described.

The argument parser, the help, the config file, the manual, the man page and the completions are
made from these rows. A row says what an option is called, what it means, which values it takes, and
where its value goes; ``_settings`` takes it there. Options of a single command are rows in
``_arguments``. What a value means to a crawl is checked by the library, not here.
"""

import argparse
import math
import re
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, NamedTuple

from usp._validate import hint
from usp.cli._value_types import (
    COUNT,
    FILE,
    FLAG,
    HEADERS,
    INTEGER,
    MOMENT,
    NAMES,
    NUMBER,
    OPTIONAL_TEXT,
    OUTPUT,
    SWITCH,
    TEXT,
    TEXTS,
    ValueType,
)

GROUPS: Final = {
    "sites": "choose sites",
    "engine": "engine",
    "rules": "choose rules",
    "pages": "choose pages",
    "sitemaps": "choose sitemaps",
    "discovery": "find sitemaps",
    "network": "network",
    "recording": "record and replay",
    "state": "changes",
    "output": "output",
    "config": "configuration",
}
"""The groups of options in the help, in order, and the title of each."""


class Destination(Enum):
    """Where the value of an option goes."""

    COMMAND = "the command itself"
    POLICY = "a field of the policy"
    CLIENT = "a setting of the web client, a field of ``ClientSettings``"
    DISCOVERY = "a keyword of the function that crawls"


_WITH_VALUE: Final = frozenset({"store", "append", "extend"})


class Option(NamedTuple):
    """One option: a row of the table."""

    flags: tuple[str, ...]
    """The short one, if there is one, then the long one."""
    group: str
    """A key of ``GROUPS``."""
    help: str
    """What it does: one sentence that begins with a small letter and has no full stop."""
    type: ValueType = FLAG
    metavar: str | None = None
    target: Destination = Destination.COMMAND
    keyword: str = ""
    """The name of the value at its target."""
    meaning: object = True
    """The value that the option alone stands for."""
    form: re.Pattern[str] | None = None
    """What the value of an option that may stand alone looks like."""
    choices: tuple[str, ...] = ()
    default: object = None
    words: tuple[str, ...] = ()
    """The names that its value may have, commas between, for completions; the library checks it."""
    documents: tuple[str, ...] = ()
    """The output formats of which a file is one document: nothing can follow it."""
    is_said_by: Callable[[str], bool] | None = None
    """Tells whether the name of a file of ``-o`` says the value, too: typed, it goes before a
    config file."""
    is_written: Callable[[argparse.Namespace], bool] | None = None
    """Tells whether the file that it names is written; None if it is always only read."""

    @property
    def name(self) -> str:
        """The long option without dashes, which is also its name in a config file."""
        return self.flags[-1].removeprefix("--")

    @property
    def dest(self) -> str:
        """The name of its value among the parsed arguments."""
        return self.name.replace("-", "_")

    @property
    def is_repeatable(self) -> bool:
        """Whether each use adds a value."""
        return self.type.action == "append"

    @property
    def spellings(self) -> tuple[str, ...]:
        """All flags, with the second one of a switch."""
        return (*self.flags, f"--no-{self.name}") if self.type is SWITCH else self.flags

    @property
    def placeholder(self) -> str | None:
        """What stands for its value in the help."""
        if self.type.action not in _WITH_VALUE:
            return None
        return self.metavar or "|".join(self.choices)

    def read(self, text: str) -> object:
        """Return the value of a text on the command line."""
        try:
            value = self.type.read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"must be {self.type.expected}, not {text!r}"
            ) from None
        return one_of(self.choices, value) if self.choices else value

    def configured(self, value: object, folder: str) -> object:
        """Return a value of a config file as the command line would give it.

        :param folder: that of the config file: files are named as seen from there.
        :raises argparse.ArgumentTypeError: if it is not acceptable.
        """
        checked, beside = self._checked(value), self.type.beside
        if beside is None:
            return checked
        if isinstance(checked, list):
            return [beside(folder, item) for item in checked]
        return beside(folder, str(checked))

    def _checked(self, value: object) -> object:
        """Check a value of a config file.

        :raises argparse.ArgumentTypeError: if it is not acceptable.
        """
        if (self.is_repeatable or self.type is NAMES) and isinstance(value, list):
            if all(isinstance(item, str) for item in value):
                return value
        elif self._has_right_class(value):
            read = self.read(value) if isinstance(value, str) else value
            return [read] if self.is_repeatable else read
        raise argparse.ArgumentTypeError(f"must be {self.type.expected}, not {value!r}")

    def _has_right_class(self, value: object) -> bool:
        if self.type is MOMENT and hasattr(value, "isoformat"):  # a date or a time in TOML
            return True
        if isinstance(value, float) and not math.isfinite(value):
            return False
        is_bool = isinstance(value, bool)
        return isinstance(value, self.type.classes) and is_bool == (bool in self.type.classes)

    def add_to(self, group: argparse._ArgumentGroup) -> None:
        """Add it to a group of a parser; its default is set later, when the config is known."""
        options: dict[str, Any] = {"action": self.type.action, "default": None, "help": self.help}
        if self.type is SWITCH:
            options["action"] = argparse.BooleanOptionalAction
        if self.placeholder:
            options |= {"metavar": self.placeholder, "type": self.read}
            options["choices"] = self.choices or None
        if self.type is OPTIONAL_TEXT:
            options |= {"nargs": "?", "const": self.meaning}
        group.add_argument(*self.flags, **options)


def one_of(choices: tuple[str, ...], value: object) -> object:
    """Return a value that is one of some words.

    :raises argparse.ArgumentTypeError: if it isn't; the message has what was probably meant.
    """
    if value not in choices:
        raise argparse.ArgumentTypeError(
            f"must be one of {', '.join(choices)}, not {value!r}{hint(value, choices)}"
        )
    return value


def always(args: argparse.Namespace) -> bool:
    """Return True, for an option whose file is written whatever the others say."""
    del args
    return True


def _policy(
    name: str, group: str, help: str, type: ValueType, metavar: str | None = None
) -> Option:
    """Return the option of a policy field of the same name."""
    keyword = name.replace("-", "_")
    return Option((f"--{name}",), group, help, type, metavar, Destination.POLICY, keyword)


_KINDS: Final = ("news", "image", "video")
_EXPRESSION: Final = "this regular expression; may be repeated"

SHARED: Final[tuple[Option, ...]] = (
    # choose pages
    _policy(
        "since", "pages", "skip pages that changed before this: 2026-11-01, 2026-11, 48h, 7d",
        MOMENT, "TIME",
    ),
    _policy("until", "pages", "skip pages that changed after this", MOMENT, "TIME"),
    _policy(
        "undated", "pages", "keep or drop pages without a date, with --since or --until "
        "(default: keep)", TEXT,
    )._replace(choices=("keep", "drop")),
    _policy("include", "pages", f"only pages whose URL matches {_EXPRESSION}", TEXTS, "RE"),
    _policy("exclude", "pages", f"no pages whose URL matches {_EXPRESSION}", TEXTS, "RE"),
    _policy(
        "kind", "pages", f"only pages with one of these: {', '.join(_KINDS)}; commas between",
        NAMES, "KINDS",
    )._replace(words=_KINDS),
    _policy("limit", "pages", "end after N pages; with several sources, of each", INTEGER, "N"),
    # choose sitemaps
    _policy(
        "include-sitemaps", "sitemaps",
        f"of what an index lists, only sitemaps whose URL matches {_EXPRESSION}", TEXTS, "RE",
    ),
    _policy(
        "exclude-sitemaps", "sitemaps", f"no sitemaps whose URL matches {_EXPRESSION}", TEXTS, "RE"
    ),
    _policy(
        "trust-index-lastmod", "sitemaps",
        "with --since, skip sitemaps that their index says are older; such dates are often wrong",
        FLAG,
    ),
    _policy("max-sitemaps", "sitemaps", "end after N sitemaps (default: 500000)", INTEGER, "N"),
    _policy("max-level", "sitemaps", "the depth of nested indexes (default: 11)", INTEGER, "N"),
    # find sitemaps
    Option(
        ("-s", "--sitemap"), "discovery",
        "SOURCE is the URL of one sitemap: read it and what it lists, not the whole site",
    ),
    Option(
        ("-r", "--no-robots"), "discovery", "don't read robots.txt",
        target=Destination.DISCOVERY, keyword="use_robots", meaning=False,
    ),
    Option(
        ("-k", "--no-known"), "discovery", "don't try known paths such as /sitemap.xml",
        target=Destination.DISCOVERY, keyword="use_known_paths", meaning=False,
    ),
    Option(
        ("--homepage",), "discovery",
        "always or never look for sitemap and feed links on the homepage (default: only if "
        "nothing else was found)",
        SWITCH, target=Destination.POLICY, keyword="use_homepage",
    ),
    Option(
        ("--newer",), "discovery",
        "always or never try newer known paths such as /wp-sitemap.xml (default: only if nothing "
        "else was found)",
        SWITCH, target=Destination.POLICY, keyword="use_newer_paths",
    ),
    # network
    Option(
        ("-H", "--header"), "network",
        "send this header ('Name: value', or @FILE with one a line); may be repeated. "
        "Authorization, Cookie and others for credentials, such as X-Api-Key, go to the site and "
        "the hosts below it only",
        HEADERS, "HEADER", Destination.CLIENT, "headers",
    ),
    Option(
        ("--user-agent",), "network", "the User-Agent header", TEXT, "TEXT", Destination.CLIENT,
        "user_agent",
    ),
    Option(
        ("--netrc",), "network", "use the logins in .netrc, or don't (default: use them)", SWITCH,
        target=Destination.CLIENT, keyword="netrc",
    ),
    Option(
        ("--proxy",), "network",
        "the URL of a proxy; empty for none, whatever the environment says. SOCKS needs PySocks, "
        "and is not for usp crawl and live pages", TEXT, "URL",
        Destination.CLIENT, "proxy",
    ),
    Option(
        ("--timeout",), "network",
        "seconds to connect, and to wait for bytes (default: 9 and 60)", NUMBER, "SECONDS",
        Destination.CLIENT, "timeout",
    ),
    _policy(
        "max-seconds", "network", "end after so many seconds, with what was found until then",
        NUMBER, "SECONDS",
    ),
    _policy("concurrency", "network", "requests at once, in all (default: 32)", INTEGER, "N"),
    _policy("per-host", "network", "requests at once to one host (default: 8)", INTEGER, "N"),
    Option(
        ("--delay",), "network", "seconds between the starts of two requests", NUMBER, "SECONDS",
        Destination.CLIENT, "delay",
    ),
    _policy(
        "max-attempts", "network", "attempts to fetch one URL, while it is worth it (default: 5)",
        INTEGER, "N",
    ),
    Option(
        ("--insecure",), "network", "accept any TLS certificate", target=Destination.CLIENT,
        keyword="insecure",
    ),
    Option(
        ("--allow-private",), "network",
        "connect to private addresses, too, wherever the site is", target=Destination.CLIENT,
        keyword="allow_private",
    ),
    _policy(
        "robots", "network",
        "obey robots.txt, with its Crawl-delay, or only read the sitemaps in it (default: ignore)",
        TEXT,
    )._replace(choices=("obey", "ignore")),
    # record and replay
    Option(
        ("--record",), "recording",
        "write every request and response to this file (WARC), without credentials; a file that "
        "exists needs --replace",
        FILE, "FILE.warc.gz", Destination.CLIENT, "record", is_written=always,
    ),
    Option(
        ("--replay",), "recording", "read from this recording instead of the network", FILE,
        "FILE.warc.gz", Destination.CLIENT, "replay",
    ),
    # output
    Option(
        ("-o", "--output"), "output", "write to this file, which is whole or absent", OUTPUT,
        "PATH", is_written=always,
    ),
    Option(("--replace",), "output", "replace the file if it exists"),
    Option(("--append",), "output", "append to the file if it exists"),
    Option(
        ("--strict",), "output",
        "exit with 3 if some sitemaps could not be read, or only in part",
    ),
    Option(("-q", "--quiet"), "output", "print nothing but errors to stderr"),
    Option(("--no-progress",), "output", "show no progress on a terminal"),
    Option(("-v", "--verbose"), "output", "log to stderr: progress (-v) or details (-vv)", COUNT),
    Option(
        ("-l", "--log-file"), "output", "append the log to this file instead", FILE, "FILE",
        is_written=always,
    ),
    # configuration
    Option(
        ("--config",), "config",
        "read options from this file instead of the nearest usp.toml or pyproject.toml", FILE,
        "FILE",
    ),
    Option(("--no-config",), "config", "read no options from a file"),
)  # fmt: skip
"""The options of every command that fetches."""


FROM: Final = Option(
    ("--from",), "discovery",
    "read the names of more sources from this file, one a line; - for standard input",
    FILE, "FILE",
)  # fmt: skip
"""More sources, for commands that read several."""


def shared(*names: str) -> tuple[Option, ...]:
    """Return some of the shared options, for a command that doesn't fetch."""
    return tuple(option for option in SHARED if option.name in names)


UNCONFIGURABLE: Final = frozenset({"config", "no-config"})
"""Options that a config file can't have."""


def format_option(formats: dict[str, str], *documents: str) -> Option:
    """Return ``-f`` for some output formats, by name with the meaning; the first is the default.

    :param documents: those of which a file is one document.
    """
    default = next(iter(formats))
    listed = "; ".join(
        f"{name}: {meaning}{' (the default)' if name == default else ''}"
        for name, meaning in formats.items()
    )
    return Option(
        ("-f", "--format"),
        "output",
        f"the output format. {listed}",
        TEXT,
        "FORMAT",
        choices=tuple(formats),
        default=default,
        documents=documents,
    )
