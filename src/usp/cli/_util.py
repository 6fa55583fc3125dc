"""What the commands share: exit codes, the URL as people type it, logging, one-line talk.

Nothing here knows a command, and nothing here is slow to import.
"""

import argparse
import io
import logging
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from usp.exceptions import SitemapException


class Exit(IntEnum):
    """What the shell is told."""

    DONE = 0
    NO = 1
    """The question was answered, and the answer is no."""
    USAGE = 2
    """The command was used wrongly (argparse says the same)."""
    UNANSWERED = 3
    """The question could not be answered: blocked, unreachable, no room for the output."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it: 128 and the number of SIGINT."""


@dataclass(frozen=True, slots=True)
class Command:
    """One word after ``usp``: what it is called, which options it has, what it does."""

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Exit]


_CONTROLS: Final = {code: quote(chr(code)) for code in (*range(0x20), *range(0x7F, 0xA0))}
"""Characters that would break a line or steer a terminal, and what stands for them."""

_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_BARE_HOST: Final = re.compile(
    r"""(?: localhost | [\w-]+ (?=:) | [\w-]+ (?:\.[\w-]+)+ \.? | \[[0-9a-f:.]+\] ) (?: :\d+ )?""",
    re.IGNORECASE | re.VERBOSE,
)
"""A host as typed without its scheme. One word alone, but for localhost, is taken for a slip."""


def site_url(typed: str) -> str:
    """Return the URL that was meant; a bare domain means https.

    Raises:
        SitemapException: it can't be meant as the URL of a website.

    """
    text = typed.strip()
    url = text if _SCHEME.match(text) else _url_of_bare_domain(text)
    if url is None or not _is_web_url(url):
        raise SitemapException(
            f"{one_line(repr(typed))} is not the URL of a website: "
            "write it like https://example.org/ or example.org"
        )
    return url


def _url_of_bare_domain(text: str) -> str | None:
    host = re.split(r"[/?#]", text, maxsplit=1)[0]
    if not _BARE_HOST.fullmatch(host):
        return None
    return f"https://{text}/" if host == text else f"https://{text}"


def _is_web_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_place = bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address that is none
        return False
    clean = url.isprintable() and not re.search(r"\s", parts.netloc)
    return clean and has_place and parts.scheme in {"http", "https"}


def one_line(text: str) -> str:
    """Return the text with control characters percent-encoded: one line, and harmless."""
    return text.translate(_CONTROLS)


def tell(message: str) -> None:
    """Say one line on stderr."""
    print(f"usp: {one_line(message)}", file=sys.stderr)


def count(number: int, noun: str) -> str:
    """``1 page``, ``2 pages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def write_utf8() -> None:
    """Make stdout UTF-8 whatever the locale says; what UTF-8 can't hold is written as an escape."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")


def setup_logging(level: int, log_file: str | None = None) -> None:
    """Send the log to stderr, or to the end of a file and nowhere else.

    Raises:
        SitemapException: the file can't be opened.

    """
    try:
        handler = _file_handler(log_file) if log_file else logging.StreamHandler()
    except OSError as error:
        raise SitemapException(f"cannot write the log to {log_file}: {error.strerror}") from error
    logging.basicConfig(level=level, handlers=[handler])


def _file_handler(path: str) -> logging.Handler:
    return logging.FileHandler(Path(path), encoding="utf-8", errors="backslashreplace")
